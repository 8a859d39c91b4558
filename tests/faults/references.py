"""What entries name: nearly right parents, clocks that are equal, faults in two turns at once."""

import json
from typing import Any

from catalogue import fault, legal
from legal import FILE, writer

from toolgate.canonical import digest, profile_bytes

NOTHING = "sha256:" + "0" * 64
"""What no entry is; it stands first among parents."""


def entries(kit: Any, call: str, kind: str) -> list[Any]:
    """Return the entries of one kind about a call, in order: they are the plain session's."""
    decided = [
        row
        for _, row in kit.rows()
        if row.body["kind"] == "decision" and row.body["intent"]["call"] == call
    ]
    if kind == "decision":
        return decided
    events = {row.old_event for row in decided}
    return [row for _, row in kit.rows() if row.body["ev"].get("decision_digest") in events]


def at(row: Any, ts: int) -> None:
    row.body["ts"] = row.body["ev"]["ts"] = ts


def miscount(kit: Any, turn: int) -> None:
    row = kit.find("turn_close", "alpha", turn=turn)
    row.body["ev"]["count"] += 1
    row.keep.add("count")


def double(kit: Any, row: Any) -> None:
    rows = kit.alpha
    rows.insert(rows.index(row) + 1, kit.copy(row))


@fault("call-closed-as-unresolved", "H", "log.orphan_allow", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.close()


@fault("closed-as-unresolved-twice", "R", "log.two_outcomes", "log.orphan_allow", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.close()
    kit.reload()
    (row,) = entries(kit, "d0", "outcome")
    again = kit.copy(row)
    again.old = digest(b"again")
    at(again, row.body["ts"] + 1)
    kit.files[FILE].append(again)
    kit.rehash()


def late(kit: Any) -> list[Any]:
    """Close a call as unresolved behind its turn, report on it later; return both outcomes."""
    made = writer(kit)
    made.decide("d0")
    made.stop()
    made.close()
    made.outcome("d0")
    kit.reload()
    return entries(kit, "d0", "outcome")


@legal(
    "late-outcome-replaces-a-late-one",
    beside="late-outcome-older-than-what-it-replaces",
    base="plain",
)
def _(kit: Any) -> None:
    late(kit)


@fault("late-outcome-older-than-what-it-replaces", "R", "log.clock_backwards", base="plain")
def _(kit: Any) -> None:
    unresolved, final = late(kit)
    at(final, unresolved.body["ts"] - 1)
    kit.rehash()


@legal("all-clocks-equal", beside="outcome-older-than-its-decision")
def _(kit: Any) -> None:
    for _, row in kit.rows():
        at(row, 1_800_000_000_000_000)
    kit.rehash()


@fault("second-decision-older-than-the-first", "R", "log.clock_backwards")
def _(kit: Any) -> None:
    first, second = entries(kit, "a5", "decision")
    at(second, first.body["ts"] - 1)
    kit.rehash()


@fault("duplicate-in-one-turn-count-in-another", "R", "log.duplicate_entry", "log.count")
def _(kit: Any) -> None:
    double(kit, kit.outcome("a0"))
    miscount(kit, 2)
    kit.rehash()


@fault(
    "duplicate-in-one-turn-two-outcomes-in-another", "R", "log.duplicate_entry", "log.two_outcomes"
)
def _(kit: Any) -> None:
    double(kit, kit.outcome("a5"))
    row = kit.outcome("a0")
    double(kit, row)
    again = kit.alpha[kit.alpha.index(row) + 1]
    again.old = digest(b"again")
    at(again, row.body["ts"] + 1)
    kit.rehash()


@fault("parent-lacks-in-one-turn-root-in-another", "R", "log.outcome_parent", "log.root")
def _(kit: Any) -> None:
    kit.outcome("a0").body["parents"] = []
    row = kit.find("turn_close", "alpha", turn=2)
    row.body["ev"]["root"] = digest(b"other")
    row.keep.add("root")
    kit.rehash()


@fault("outcome-names-nothing-and-is-older", "R", "log.parent_unknown", "log.clock_backwards")
def _(kit: Any) -> None:
    row = kit.outcome("a0")
    row.body["parents"] = [NOTHING, kit.decision("a0").old]
    at(row, kit.decision("a0").body["ts"] - 1)
    kit.rehash()


def decided_twice(kit: Any, prompt: str | None) -> Any:
    """Decide a call twice, in two turns if there is a prompt; return the second decision."""
    made = writer(kit)
    made.decide("d0")
    if prompt is not None:
        made.stop()
        made.prompt(prompt)
    made.decide("d0")
    made.stop()
    made.outcome("d0")
    made.close()
    kit.reload()
    return entries(kit, "d0", "decision")[1]


@fault("second-decision-names-nothing-of-its-turn", "R", "log.parent_foreign", base="plain")
def _(kit: Any) -> None:
    row = decided_twice(kit, "p2")
    row.body["parents"] = [entries(kit, "d0", "decision")[0].old]
    kit.rehash()


@fault("second-decision-names-nothing-as-well", "R", "log.parent_unknown", base="plain")
def _(kit: Any) -> None:
    row = decided_twice(kit, None)
    row.body["parents"] = [NOTHING, entries(kit, "d0", "decision")[0].old]
    kit.rehash()


@fault("outcome-on-the-spine-before-its-turn", "R", "log.parent_unknown", base="plain")
def _(kit: Any) -> None:
    row = decided_twice(kit, "p2")
    row.body["parents"] = [entries(kit, "d0", "decision")[0].old]
    kit.rehash()  # so that it no longer rests on the opening of its turn, which may then move
    kit.reload()
    (row,) = entries(kit, "d0", "outcome")
    rows = kit.spine
    rows.remove(row)
    rows.insert(rows.index(kit.find("turn_open", turn=3)), row)
    kit.rehash()


@fault("outcome-names-a-recovery", "R", "log.parent_foreign", "log.turn_open", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    path = kit.root / FILE
    with path.open("ab") as file:
        file.write(b'{"axis":null,"ba')
    made.outcome("d0")
    *before, recovery, last = path.read_bytes().split(b"\n")[:-1]
    body = json.loads(last)
    body["parents"] = sorted([*body["parents"], digest(recovery)])
    path.write_bytes(b"\n".join([*before, recovery, profile_bytes(body), b""]))


@legal("reports-without-ids", beside="outcome-names-another-decision", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    for call in ("d0", "d1", "d2"):
        made.decide(call)
    for call in ("d1", "d2", "d0"):
        made.outcome(call, call=None)
    made.close()
