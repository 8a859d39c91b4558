"""Faults that nothing given to the verifier shows: they are listed by name, with the reason."""

from pathlib import Path
from typing import Any

from catalogue import BASES, undetectable
from ledgers import Writer

from toolgate.canonical import digest


def still_open(root: Path) -> None:
    """Write a session whose turn is open."""
    one = Writer(root, "s")
    one.prompt("p1")
    one.decide("c0")
    one.outcome("c0")
    one.decide("c1", "denied")
    one.decide("c2", "asked")


BASES["open"] = still_open

_BEHIND = "nothing outside covers what stands behind the pinned entry"


@undetectable(
    "denied-call-dropped-from-an-open-turn",
    "N",
    "no close commits to the turn's entries yet; a transcript that lists refused calls shows it",
    "log.turn_open",
    verdict="INCOMPLETE",
    base="open",
)
def _(kit: Any) -> None:
    kit.pin = kit.head
    kit.drop(kit.decision("c1"))
    kit.write()


@undetectable("tail-cut-behind-the-pin", "R", _BEHIND)
def _(kit: Any) -> None:
    _pin(kit)
    kit.drop(*[row for row in kit.spine if row.body["session"] == "run-1"])
    kit.files["sessions/run-1.jsonl"] = []
    kit.rehash()


@undetectable("entry-rewritten-behind-the-pin", "R", _BEHIND)
def _(kit: Any) -> None:
    _pin(kit)
    kit.decision("r1").body["ev"]["principal"] = "mallory"
    kit.rehash()


@undetectable(
    "decided-against-its-policy", "R", "rules are not evaluated again; a replay does that"
)
def _(kit: Any) -> None:
    row = kit.decision("a3")
    row.body["ev"]["decision_state"] = "allowed"
    row.body["rule"] = "look.ok"
    made = kit.copy(kit.outcome("a0"))
    made.old = digest(b"made")
    made.body["parents"] = [row.old]
    made.body["ev"] |= {"decision_digest": row.old_event, "action_ref": row.old_ref}
    made.body["ts"] = made.body["ev"]["ts"] = row.body["ts"]
    kit.alpha.insert(kit.alpha.index(row) + 1, made)
    kit.rehash()
    last = kit.spine[-1].body
    kit.pin = (last["seq"], _digest(kit.spine[-1]))


@undetectable(
    "ran-with-other-arguments-that-nobody-reports",
    "H",
    "neither the host's report nor the trace holds the arguments that ran",
)
def _(kit: Any) -> None:
    kit.pin = kit.head
    kit.change_span("a0", args_digest=None)


@undetectable("agent-without-the-hook", "H", "nothing was written, and no trace of it was given")
def _(kit: Any) -> None:
    kit.pin = kit.head


@undetectable("wrong-clock", "H", "times are the writer's word; only their order is checked")
def _(kit: Any) -> None:
    for _, row in kit.rows():
        for holder in (row.body, row.body["ev"]):
            holder["ts"] -= 86_400_000_000
    kit.rehash()
    kit.pin = (kit.spine[-1].body["seq"], _digest(kit.spine[-1]))


def _pin(kit: Any) -> None:
    row = next(row for row in kit.spine if row.body["session"] == "run-1")
    before = kit.spine[kit.spine.index(row) - 1]
    kit.pin = (before.body["seq"], before.old)


def _digest(row: Any) -> str:
    from toolgate.canonical import profile_bytes

    return digest(profile_bytes(row.body))
