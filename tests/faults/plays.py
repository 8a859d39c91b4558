"""Generated sessions: what a writer lives through, and the findings that follow from it."""

from collections import Counter
from pathlib import Path
from typing import Any

import ledgers
from hypothesis import strategies as st

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["decide", "outcome", "again", "stop", "prompt", "close", "crash"]),
        st.sampled_from(["allowed", "asked", "denied"]),
        st.sampled_from(["ok", "error", "timeout", "cancelled", "refused"]),
        st.integers(0, 5),
    ),
    max_size=25,
)


def play(root: Path, shape: str, operations: list[Any]) -> tuple[Counter[str], int]:
    """Let the writer live through some events; return the findings to expect, and asks answered."""
    writer = ledgers.Writer(root, "s", shape=shape)
    calls: list[dict[str, Any]] = []
    expect: Counter[str] = Counter()
    inferred = 0
    for what, state, terminal, which in operations:
        if what == "decide":
            call = {"id": f"c{len(calls)}", "state": state, "end": None}
            calls.append(call)
            writer.decide(call["id"], state)
        elif what == "prompt":
            writer.prompt(f"p{which}")
        elif what == "stop":
            writer.stop()
        elif what == "close":
            writer.close()
            for call in calls:
                if call["state"] == "allowed" and call["end"] is None:
                    call["end"] = "unresolved"
        elif what == "crash":
            ts = writer.ts
            writer = ledgers.Writer(root, "s", shape=shape)
            writer.ts = ts
        elif calls:
            call = calls[which % len(calls)]
            if what == "again" and call["end"] is None:
                call["state"] = state
                writer.decide(call["id"], state)
            elif what == "outcome" and call["end"] in (None, "unresolved"):
                done = writer.outcome(call["id"], terminal)
                ran = terminal != "refused"
                call["end"] = terminal
                if call["state"] == "denied" and ran:
                    assert done == "after_deny"
                    expect["execution.after_deny"] += 1
                if call["state"] == "asked" and ran:
                    assert done == "inferred"
                    inferred += 1
    writer.decide("last", "denied")
    writer.close()
    lost = sum(call["state"] == "allowed" and call["end"] in (None, "unresolved") for call in calls)
    if lost:
        expect["log.orphan_allow"] = lost
    return expect, inferred
