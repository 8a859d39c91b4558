"""Entries that stand in no turn, in no chain, or where nothing of their kind can."""

from typing import Any

from catalogue import fault
from legal import FILE, writer
from references import at

from toolgate.canonical import digest


@fault("entry-of-turn-zero", "R", "log.not_open", "log.parent_unknown", base="plain")
def _(kit: Any) -> None:
    row = kit.decision("c0")
    row.body["turn"] = 0
    kit.rehash()


@fault("entry-of-turn-zero-behind-a-gap", "R", "log.turn_gap", base="plain")
def _(kit: Any) -> None:
    for kind in ("turn_open", "turn_close"):
        kit.find(kind, turn=1).body["turn"] = 2
    kit.decision("c0").body["turn"] = 0
    kit.rehash()


@fault("session-opened-again-as-its-next-part", "R", "log.session_link", base="plain")
def _(kit: Any) -> None:
    row = kit.find("session_open")
    again = kit.copy(row)
    again.old = digest(b"again")
    again.body["ev"]["part"] = 2
    kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()


@fault("recovery-before-everything", "R", "log.false_recovery", base="plain")
def _(kit: Any) -> None:
    made = kit.copy(kit.find("policy_set"))
    made.old = digest(b"made")
    made.body["kind"] = "recovery"
    made.body["ev"] = {"offset": 0, "length": 5, "digest": digest(b"x")}
    at(made, 1_800_000_000_000_000)
    kit.spine.insert(0, made)
    kit.rehash()


@fault("linear-entry-without-its-place", "N", "log.spine_broken")
def _(kit: Any) -> None:
    row = kit.decision("c0")
    del row.body["seq"], row.body["prev_digest"]
    kit.write()


@fault("turn-of-another-part", "R", "log.turn_gap", base="plain")
def _(kit: Any) -> None:
    kit.find("turn_open").body["ev"]["part"] = 7
    kit.rehash()


@fault("turn-zero-opened", "R", "log.turn_gap", base="plain")
def _(kit: Any) -> None:
    for kind in ("turn_open", "turn_close"):
        kit.find(kind, turn=1).body["turn"] = 0
    for row in kit.files[FILE]:
        row.body["turn"] = 0
    kit.rehash()


@fault("session-close-records-another-head", "R", "log.head_digest", base="plain")
def _(kit: Any) -> None:
    row = kit.find("session_close")
    row.body["ev"]["ledger_head_digest"] = digest(b"other")
    row.keep.add("ledger_head_digest")
    kit.rehash()


@fault("second-part-older-than-the-first", "R", "log.clock_backwards", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.ledger.session_open(made.session, ts=made.tick())
    made.close()
    kit.reload()
    closed = kit.find("session_close")
    opened = next(row for row in kit.spine if row.body["parents"] == [closed.old])
    at(opened, closed.body["ts"] - 1)
    kit.rehash()
