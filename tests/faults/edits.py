"""Edits that leave the rest of the ledger as it was."""

from typing import Any

from catalogue import fault
from damage import turn_of

from toolgate.canonical import digest


@fault("args_digest-edited", "N", "log.parent_unknown")
def _(kit: Any) -> None:
    kit.decision("a0").body["ev"]["args_digest"] = digest(b"other")
    kit.write()


@fault("principal-edited", "N", "log.parent_unknown")
def _(kit: Any) -> None:
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.write()


@fault("result-edited", "N", "log.root")
def _(kit: Any) -> None:
    kit.outcome("a0").body["ev"]["result_digest"] = digest(b"other")
    kit.write()


@fault("spine-entry-edited", "N", "log.spine_broken")
def _(kit: Any) -> None:
    kit.find("turn_open", "alpha", turn=2).body["ev"]["why"] = "other"
    kit.write()


@fault("decision-dropped", "N", "log.parent_unknown")
def _(kit: Any) -> None:
    kit.drop(kit.decision("a0"))
    kit.write()


@fault("outcome-dropped", "N", "log.count")
def _(kit: Any) -> None:
    kit.drop(kit.outcome("a0"))
    kit.write()


@fault("denied-call-dropped", "N", "log.count")
def _(kit: Any) -> None:
    kit.drop(kit.decision("a3"))
    kit.write()


@fault("spine-tail-dropped", "N", "log.session_open", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.drop(kit.spine[-1])
    kit.write()


@fault("spine-tail-dropped-in-turn", "N", "log.turn_open", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.drop(*kit.spine[-2:])
    kit.write()


@fault("turn-dropped-raw", "N", "log.spine_broken")
def _(kit: Any) -> None:
    kit.drop(*turn_of(kit, "alpha", 2))
    kit.write()


@fault("outcome-before-decision", "N", "log.parent_unknown")
def _(kit: Any) -> None:
    rows = kit.alpha
    rows.insert(0, rows.pop(rows.index(kit.outcome("a0"))))
    kit.write()


@fault("entry-duplicated", "N", "log.duplicate_entry")
def _(kit: Any) -> None:
    kit.alpha.insert(1, kit.decision("a0"))
    kit.write()


@fault("linear-entry-dropped", "N", "log.spine_broken")
def _(kit: Any) -> None:
    kit.drop(kit.decision("c0"))
    kit.write()


@fault("turn-close-dropped", "N", "log.spine_broken")
def _(kit: Any) -> None:
    kit.drop(kit.find("turn_close", "alpha", turn=1))
    kit.write()


@fault("forward-reference", "N", "log.parent_unknown")
def _(kit: Any) -> None:
    later = kit.decision("a1").old
    row = kit.decision("a0")
    row.body["parents"] = sorted([*row.body["parents"], later])
    kit.write()


@fault("call-spliced-from-another-session", "N", "log.session_mismatch")
def _(kit: Any) -> None:
    kit.alpha.append(kit.decision("b0"))
    kit.write()


@fault("entries-after-turn-close", "N", "log.count")
def _(kit: Any) -> None:
    again = kit.copy(kit.decision("a8"))
    again.body["intent"]["call"] = "a8-again"
    kit.bind(again)
    again.body["ev"]["decision_state"] = "denied"
    kit.alpha.append(again)
    kit.write()


@fault("spine-entries-swapped", "N", "log.spine_broken")
def _(kit: Any) -> None:
    kit.spine[3], kit.spine[4] = kit.spine[4], kit.spine[3]
    kit.write()


@fault("spine-entry-duplicated", "N", "log.fork")
def _(kit: Any) -> None:
    kit.spine.insert(4, kit.spine[3])
    kit.write()


@fault("first-spine-entry-dropped", "N", "log.spine_broken")
def _(kit: Any) -> None:
    kit.drop(kit.spine[0])
    kit.write()


@fault("last-entry-of-a-session-dropped", "N", "log.count")
def _(kit: Any) -> None:
    kit.drop(kit.alpha[-1])
    kit.write()
