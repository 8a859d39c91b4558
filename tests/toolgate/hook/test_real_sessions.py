"""A recorded session replayed through the hook, one process an event, then verified.

The expected findings are derived here from the rows and the hook's answers
alone, without the ledger or its verifier. The recorded calls are no part of
the project; without them these tests are skipped.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from toolgate.verify import verify

ROOT = Path(__file__).resolve().parents[3]
CORPORA = Path(os.environ.get("TOOLGATE_SHARED", ROOT.parent / "shared")) / "corpora"
MAIN, OTHER = "agent-claude-hooklogs.jsonl", "agent-claude-hooklogs-secondary.jsonl"

pytestmark = pytest.mark.skipif(
    not (CORPORA / MAIN).is_file(), reason="recorded sessions are not available here"
)


def rows(name: str, session: str) -> list[dict]:
    found = []
    with (CORPORA / name).open() as lines:
        found = [row for row in map(json.loads, lines) if row["session_id"] == session]
    return sorted(found, key=lambda row: row["step"])


def key(row: dict) -> str:
    return json.dumps([row["tool_name"], row["tool_input"]], sort_keys=True)


def payload(row: dict, name: str, **more) -> dict:
    return {
        "session_id": row["session_id"],
        "cwd": row.get("cwd", "/home/dev"),
        "hook_event_name": name,
        "tool_name": row["tool_name"],
        "tool_input": row["tool_input"],
        **more,
    }


def replay_without_ids(send, pre: list[dict], post: list[dict]):
    """Send every call and the first unused end of an equal call; return what must be found."""
    unused: dict[str, list[dict]] = {}
    for row in post:
        unused.setdefault(key(row), []).append(row)
    table: Counter = Counter()
    for row in pre:
        decision = send(payload(row, "PreToolUse")).decision
        ends = unused.get(key(row))
        ran = bool(ends)
        if ends:
            answer = send(payload(ends.pop(0), "PostToolUse", tool_response={}))
            assert answer.code == 0, answer.message
        table[decision, "ran" if ran else "no end"] += 1
    left = [row for ends in unused.values() for row in ends]
    for row in left:
        send(payload(row, "PostToolUse", tool_response={}))
    send({"session_id": pre[0]["session_id"], "hook_event_name": "SessionEnd", "reason": "x"})
    return table, len(left)


def found(ledger: Path) -> tuple[Counter, object]:
    report = verify(str(ledger))
    return Counter(finding.code for finding in report.findings if finding.cause is None), report


@pytest.mark.parametrize(
    "calls",
    [pytest.param(30, id="first 30 calls"), pytest.param(None, id="whole", marks=pytest.mark.slow)],
)
def test_session_without_ids_or_times(send, ledger, calls):
    pre = rows(MAIN, "63ea1eb95707")[:calls]
    post = rows(OTHER, "63ea1eb95707")
    wanted = Counter(map(key, pre))
    if calls:
        kept = []
        for row in post:
            if wanted[key(row)] > 0:
                wanted[key(row)] -= 1
                kept.append(row)
        post = kept
    table, unmatched = replay_without_ids(send, pre, post)
    findings, report = found(ledger)
    expected = Counter(
        {
            "log.orphan_allow": table["allow", "no end"],
            "execution.after_deny": table["deny", "ran"],
            "execution.unmatched": unmatched,
        }
    )
    assert +findings == +expected
    print(dict(table), "unmatched", unmatched, report.verdict)
