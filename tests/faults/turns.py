"""A rewriter inside turns: parents, outcomes, clocks, roots, counts."""

from typing import Any

from catalogue import fault, legal

from toolgate.canonical import digest, profile_bytes


@fault("outcome-replayed-in-a-later-turn", "R", "log.two_outcomes")
def _(kit: Any) -> None:
    again = kit.copy(kit.outcome("a0"))
    again.body["turn"] = 2
    again.old = digest(b"copy")
    kit.alpha.insert(kit.alpha.index(kit.outcome("a6")), again)
    kit.rehash()


@fault("two-outcomes", "R", "log.two_outcomes")
def _(kit: Any) -> None:
    again = kit.copy(kit.outcome("a0"))
    again.body["ev"]["result_digest"] = digest(b"other")
    again.old = digest(b"copy")
    kit.alpha.insert(kit.alpha.index(kit.outcome("a1")), again)
    kit.rehash()


@fault("late-outcome-does-not-name-what-it-replaces", "R", "log.two_outcomes")
def _(kit: Any) -> None:
    row = kit.outcome("a9")
    decided = kit.decision("a9").old
    row.body["parents"] = [decided]
    kit.rehash()


@fault("outcome-for-a-deny", "R", "execution.after_deny")
def _(kit: Any) -> None:
    denied = kit.decision("a3")
    made = kit.copy(kit.outcome("a0"))
    made.old = digest(b"made")
    made.body["parents"] = [denied.old]
    made.body["ev"] |= {"decision_digest": denied.old_event, "action_ref": denied.old_ref}
    made.body["ts"] = made.body["ev"]["ts"] = denied.body["ts"]
    kit.alpha.insert(kit.alpha.index(denied) + 1, made)
    kit.rehash()


@fault("outcome-for-an-ask", "R", "execution.ask_unanswered")
def _(kit: Any) -> None:
    asked = kit.decision("a4")
    made = kit.copy(kit.outcome("a0"))
    made.old = digest(b"made")
    made.body["parents"] = [asked.old]
    made.body["ev"] |= {"decision_digest": asked.old_event, "action_ref": asked.old_ref}
    made.body["ts"] = made.body["ev"]["ts"] = asked.body["ts"]
    kit.alpha.insert(kit.alpha.index(asked) + 1, made)
    kit.rehash()


@fault("outcome-older-than-its-decision", "R", "log.clock_backwards")
def _(kit: Any) -> None:
    body = kit.outcome("a0").body
    body["ts"] = body["ev"]["ts"] = kit.decision("a0").body["ts"] - 1
    kit.rehash()


@fault("decision-older-than-its-turn", "R", "log.clock_backwards")
def _(kit: Any) -> None:
    body = kit.decision("a0").body
    body["ts"] = body["ev"]["ts"] = 1
    kit.rehash()


@fault("close-older-than-its-turn", "R", "log.clock_backwards")
def _(kit: Any) -> None:
    body = kit.find("turn_close", "alpha", turn=1).body
    body["ts"] = body["ev"]["ts"] = 1
    kit.rehash()


@fault("parent-from-another-turn", "R", "log.parent_foreign")
def _(kit: Any) -> None:
    row = kit.decision("a6")
    row.body["parents"] = sorted([*row.body["parents"], kit.outcome("a1").old])
    kit.rehash()


def _again(kit: Any, call: str) -> Any:
    """Return a denied decision that replaces the one on a call."""
    made = kit.copy(kit.decision(call))
    made.old, made.old_event = digest(b"again"), digest(b"event")
    made.body["ev"]["decision_state"] = "denied"
    made.body["parents"] = [kit.decision(call).old]
    return made


@fault("decision-replaces-one-that-has-ended", "R", "log.parent_foreign")
def _(kit: Any) -> None:
    kit.alpha.insert(kit.alpha.index(kit.outcome("a0")) + 1, _again(kit, "a0"))
    kit.rehash()


@fault("decision-replaces-one-that-ended-after-its-turn", "R", "log.parent_foreign")
def _(kit: Any) -> None:
    made = _again(kit, "a7")
    made.body["turn"] = 3
    made.body["parents"] = sorted(
        [*made.body["parents"], kit.find("turn_open", "alpha", turn=3).old]
    )
    made.body["ts"] = made.body["ev"]["ts"] = kit.decision("a9").body["ts"]
    kit.alpha.insert(kit.alpha.index(kit.decision("a9")), made)
    kit.rehash()


@legal(
    "outcome-behind-a-decision-that-replaced-its-own", beside="decision-replaces-one-that-has-ended"
)
def _(kit: Any) -> None:
    """A call that was under way when the host asked about it again."""
    kit.alpha.insert(kit.alpha.index(kit.outcome("a0")), _again(kit, "a0"))
    kit.rehash()


@fault("parent-that-is-nothing", "R", "log.parent_unknown")
def _(kit: Any) -> None:
    row = kit.decision("a6")
    row.body["parents"] = sorted([*row.body["parents"], digest(b"nothing")])
    kit.rehash()


@fault("outcome-names-another-decision", "R", "log.parent_foreign")
def _(kit: Any) -> None:
    kit.outcome("a0").body["parents"] = [kit.decision("a1").old]
    kit.rehash()


@fault("outcome-names-no-decision", "R", "log.outcome_parent")
def _(kit: Any) -> None:
    kit.outcome("a0").body["parents"] = []
    kit.rehash()


@fault("root-altered", "R", "log.root")
def _(kit: Any) -> None:
    row = kit.find("turn_close", "alpha", turn=1)
    row.body["ev"]["root"] = digest(b"other")
    row.keep.add("root")
    kit.rehash()


@fault("close-names-another-turn", "R", "log.parent_unknown")
def _(kit: Any) -> None:
    row = kit.find("turn_close", "alpha", turn=2)
    row.body["parents"] = [kit.find("turn_open", "alpha", turn=1).old]
    kit.rehash()


@fault("count-altered", "R", "log.count")
def _(kit: Any) -> None:
    row = kit.find("turn_close", "alpha", turn=1)
    row.body["ev"]["count"] += 1
    row.keep.add("count")
    kit.rehash()


@fault("turn-close-removed", "R", "log.turn_not_closed")
def _(kit: Any) -> None:
    kit.drop(kit.find("turn_close", "alpha", turn=1))
    kit.rehash()


@fault("last-turn-close-removed", "R", "log.turn_not_closed")
def _(kit: Any) -> None:
    kit.drop(kit.find("turn_close", "Beta_2"))
    kit.rehash()


@fault("decision-of-a-turn-never-opened", "R", "log.not_open")
def _(kit: Any) -> None:
    again = kit.copy(kit.decision("a3"))
    again.old, again.old_event = digest(b"again"), digest(b"event")
    again.body["turn"] = 99
    again.body["intent"]["call"] = "a3-again"
    kit.alpha.append(again)
    kit.rehash()


@fault("entries-of-two-turns-mixed", "R", "log.turn_order")
def _(kit: Any) -> None:
    rows = kit.alpha
    rows.append(rows.pop(rows.index(kit.decision("a3"))))
    kit.rehash()


@fault("fact-that-is-nothing", "R", "log.fact_unknown")
def _(kit: Any) -> None:
    kit.decision("a6").body["facts"][0]["entry"] = digest(b"nothing")
    kit.rehash()


@fault("turn-too-long", "R", "log.turn_limit")
def _(kit: Any) -> None:
    base = kit.decision("a3")
    at = kit.alpha.index(base)
    for number in range(513):
        more = kit.copy(base)
        more.old, more.old_event = digest(b"%d" % number), digest(b"event %d" % number)
        more.old_ref = f"ref {number}"
        more.body["intent"]["call"] = f"more-{number}"
        kit.alpha.insert(at, more)
    kit.rehash()


@fault("recovery-over-good-bytes", "R", "log.false_recovery")
def _(kit: Any) -> None:
    made = kit.copy(kit.decision("a3"))
    opened = kit.find("turn_open", "alpha", turn=1)
    made.body = {
        "v": 1,
        "kind": "recovery",
        "session": "alpha",
        "turn": 1,
        "parents": [opened.old],
        "ts": opened.body["ts"],
        "ev": {"offset": 0, "length": 5, "digest": digest(b"x"), "ts": opened.body["ts"]},
    }
    made.old = digest(b"made")
    kit.alpha.insert(1, made)
    kit.rehash()


@fault("outcome-replayed-in-another-session", "R", "log.parent_unknown")
def _(kit: Any) -> None:
    again = kit.copy(kit.outcome("a0"))
    again.body |= {"session": "Beta_2", "turn": 1}
    again.old = digest(b"copy")
    rows = next(rows for rows in kit.files.values() if kit.decision("b0") in rows)
    rows.append(again)
    kit.rehash()


@fault("late-outcome-before-its-turn", "R", "log.parent_unknown")
def _(kit: Any) -> None:
    row = kit.outcome("a7")
    kit.drop(row)
    kit.spine.insert(1, row)
    row.body["ts"] = row.body["ev"]["ts"] = kit.decision("a7").body["ts"]
    kit.rehash()


@fault("recovery-of-another-turn", "R", "log.parent_foreign")
def _(kit: Any) -> None:
    fragment = b"{"
    opened = kit.find("turn_open", "alpha", turn=1)
    made = kit.copy(kit.decision("a3"))
    offset = len(profile_bytes(kit.alpha[0].body)) + 1
    ev = {"offset": offset, "length": 1, "digest": digest(fragment), "ts": opened.body["ts"]}
    made.body = {"v": 1, "kind": "recovery", "session": "alpha", "turn": 1}
    made.body |= {"parents": [kit.decision("a0").old], "ts": opened.body["ts"], "ev": ev}
    made.old = digest(b"made")
    kit.alpha.insert(1, made)
    kit.rehash()
    path = kit.root / "sessions" / "alpha.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first + b"\n" + fragment + b"\n" + rest)
