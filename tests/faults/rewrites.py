"""A rewriter who tells another story: entries changed or gone, everything re-hashed."""

from typing import Any

from catalogue import fault
from damage import show_call, turn_of
from ledgers import Kit

from toolgate.canonical import digest


@fault("principal-rewritten", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.rehash()


@fault("principal-rewritten-against-a-trace", "R", "execution.other_decision")
def _(kit: Any) -> None:
    kit.spans = kit.trace()
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.rehash()


@fault("result-rewritten", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.outcome("a0").body["ev"]["result_digest"] = digest(b"other")
    kit.rehash()


@fault("result-rewritten-against-a-trace", "R", "execution.result_differs")
def _(kit: Any) -> None:
    kit.spans = kit.trace()
    kit.outcome("a0").body["ev"]["result_digest"] = digest(b"other")
    kit.rehash()


@fault("outcome-removed", "R", "log.orphan_allow")
def _(kit: Any) -> None:
    kit.drop(kit.outcome("a0"))
    kit.rehash()


@fault("call-removed", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.drop(kit.decision("a1"), kit.outcome("a1"))
    kit.rehash()


@fault("call-removed-against-a-trace", "R", "execution.no_decision")
def _(kit: Any) -> None:
    kit.spans = kit.trace()
    kit.drop(kit.decision("a1"), kit.outcome("a1"))
    kit.rehash()


@fault("turn-removed", "R", "log.turn_gap")
def _(kit: Any) -> None:
    kit.drop(*turn_of(kit, "alpha", 2), kit.outcome("a7"))
    kit.rehash()


@fault("turn-removed-and-renumbered", "R", "execution.no_decision")
def _(kit: Any) -> None:
    kit.spans = kit.trace()
    kit.drop(*turn_of(kit, "alpha", 2), kit.outcome("a7"))
    parts: dict[str, int] = {}
    numbers: dict[int, int] = {}
    for _, row in kit.rows():
        body = row.body
        if body["session"] == "alpha" and body["turn"] is not None:
            numbers.setdefault(body["turn"], len(numbers) + 1)
            body["turn"] = numbers[body["turn"]]
            if body["kind"] == "turn_open":
                key = body["ev"]["key"]
                body["ev"]["part"] = parts[key] = parts.get(key, 0) + 1
    kit.rehash()


@fault("deny-flipped-to-allow", "R", "log.orphan_allow")
def _(kit: Any) -> None:
    kit.decision("a3").body["ev"]["decision_state"] = "allowed"
    kit.rehash()


@fault("rollback-to-a-shorter-ledger", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.drop(*[row for row in kit.spine if row.body["session"] == "run-1"])
    kit.files["sessions/run-1.jsonl"] = []
    kit.rehash()


@fault("another-head-is-known", "H", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.pin = (kit.head[0], digest(b"another head"))


@fault("call-and-its-span-removed", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.spans = [span for span in kit.trace() if span.call != "a1"]
    kit.drop(kit.decision("a1"), kit.outcome("a1"))
    kit.rehash()


@fault("ledger-and-trace-rewritten", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.rehash()
    kit.spans = Kit(kit.root).trace()


@fault("principal-that-looks-alike", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.decision("a0").body["ev"]["principal"] = "\u0430lice"
    kit.rehash()


@fault("rule-and-mode-rewritten", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.decision("a0").body |= {"rule": "other", "mode": None, "host": "other"}
    kit.rehash()


@fault("denied-call-rewritten-as-one-that-ran", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    _run(kit, "a3")
    kit.rehash()


@fault("denied-call-rewritten-against-a-trace", "R", "execution.state_differs")
def _(kit: Any) -> None:
    show_call(kit, "a3")
    kit.change_span("a3", status="error")
    _run(kit, "a3")
    kit.rehash()


@fault("session-rewritten-as-a-run", "R", "execution.in_run")
def _(kit: Any) -> None:
    kit.find("session_open", "Beta_2").body["ev"]["executes"] = False
    kit.rehash()


@fault("session-rewritten-as-a-run-that-did-nothing", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    _as_a_run(kit)


@fault("session-rewritten-as-a-run-against-a-trace", "R", "execution.in_run")
def _(kit: Any) -> None:
    kit.spans = [span._replace(decision_digest=None) for span in kit.trace()]
    _as_a_run(kit)


@fault("ledger-begun-anew", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kept = ("run-1", None)
    for name, rows in kit.files.items():
        kit.files[name] = [row for row in rows if row.body["session"] in kept]
    kit.rehash()


def _as_a_run(kit: Any) -> None:
    kit.find("session_open", "Beta_2").body["ev"]["executes"] = False
    kit.drop(*[kit.outcome(call) for call in ("b0", "b1", "b2")])
    kit.rehash()


def _run(kit: Any, call: str) -> None:
    row = kit.decision(call)
    row.body["ev"]["decision_state"] = "allowed"
    made = kit.copy(kit.outcome("a0"))
    made.old = digest(b"made")
    made.body["parents"] = [row.old]
    made.body["ev"] |= {"decision_digest": row.old_event, "action_ref": row.old_ref}
    made.body["ts"] = made.body["ev"]["ts"] = row.body["ts"]
    kit.alpha.insert(kit.alpha.index(row) + 1, made)
