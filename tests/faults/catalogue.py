"""Faults as data: how to damage a ledger, and what a verifier must say about it.

A row names the fault, the layer that sees it, the attacker, whether an outside
copy of the head is needed, and the codes of the faults found (not of what
follows from them). Attackers: N edits a line and leaves the rest; R rewrites
everything so that it fits again; B writes bytes; H is no attacker but a host or
a crash.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from toolgate.canonical import digest, digest_of


class Fault(NamedTuple):
    """One row.

    Args:
        id: short name.
        layer: the layer that sees it first.
        attacker: N, R, B or H.
        pin: whether it is seen only with an outside copy of the head.
        damage: does it to a kit.
        expect: codes of the findings that are faults of their own.
        verdict: FAIL or INCOMPLETE.
    """

    id: str
    layer: str
    attacker: str
    pin: bool
    damage: Callable[[Any], None]
    expect: frozenset[str]
    verdict: str


CATALOGUE: list[Fault] = []


def fault(
    name: str, attacker: str, *codes: str, pin: bool = False, verdict: str = "FAIL"
) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    def add(damage: Callable[[Any], None]) -> Callable[[Any], None]:
        layer = codes[0].partition(".")[0]
        CATALOGUE.append(Fault(name, layer, attacker, pin, damage, frozenset(codes), verdict))
        return damage

    return add


# -- edits that leave the rest of the ledger as it was


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
    kit.drop(*_turn(kit, "alpha", 2))
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


# -- a rewriter who makes everything fit again


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
    kit.drop(*_turn(kit, "alpha", 2), kit.outcome("a7"))
    kit.rehash()


@fault("turn-removed-and-renumbered", "R", "execution.no_decision")
def _(kit: Any) -> None:
    kit.spans = kit.trace()
    kit.drop(*_turn(kit, "alpha", 2), kit.outcome("a7"))
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


@fault("outcomes-swapped", "R", "entries.swapped_outcome")
def _(kit: Any) -> None:
    one, two = kit.outcome("a0").body["ev"], kit.outcome("a1").body["ev"]
    names = ("decision_digest",)
    for name in names:
        one[name], two[name] = two[name], one[name]
    kit.rehash()


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


@fault("deny-flipped-to-allow", "R", "log.orphan_allow")
def _(kit: Any) -> None:
    kit.decision("a3").body["ev"]["decision_state"] = "allowed"
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


@fault("linear-fork", "R", "log.fork")
def _(kit: Any) -> None:
    row = kit.decision("c1")
    row.keep.add("prev_digest")
    kit.rehash()
    before = kit.spine[kit.spine.index(row) - 1]
    row.body["prev_digest"] = before.body["prev_digest"]
    kit.rehash()


@fault("linear-relabelled-dag", "R", "log.shape")
def _(kit: Any) -> None:
    kit.find("session_open", "gamma").body["ev"]["shape"] = "dag"
    kit.rehash()


@fault("dag-relabelled-linear", "R", "log.shape")
def _(kit: Any) -> None:
    kit.find("session_open", "Beta_2").body["ev"]["shape"] = "linear"
    kit.rehash()


@fault("shape-changes-with-the-part", "R", "log.shape")
def _(kit: Any) -> None:
    kit.find("session_open", "alpha", part=2).body["ev"]["shape"] = "linear"
    kit.rehash()


@fault("parent-from-another-turn", "R", "log.parent_foreign")
def _(kit: Any) -> None:
    row = kit.decision("a6")
    row.body["parents"] = sorted([*row.body["parents"], kit.outcome("a1").old])
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


@fault("head-digest-altered", "R", "log.head_digest")
def _(kit: Any) -> None:
    row = kit.find("turn_close", "alpha", turn=1)
    row.body["ev"]["ledger_head_digest"] = digest(b"other")
    row.keep.add("ledger_head_digest")
    kit.rehash()


@fault("turn-close-removed", "R", "log.turn_not_closed")
def _(kit: Any) -> None:
    kit.drop(kit.find("turn_close", "alpha", turn=1))
    kit.rehash()


@fault("last-turn-close-removed", "R", "log.turn_not_closed")
def _(kit: Any) -> None:
    kit.drop(kit.find("turn_close", "Beta_2"))
    kit.rehash()


@fault("session-close-removed", "R", "log.session_open", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.drop(kit.find("session_close", "Beta_2"))
    kit.rehash()


@fault("session-closed-twice", "R", "log.not_open")
def _(kit: Any) -> None:
    row = kit.find("session_close", "Beta_2")
    again = kit.copy(row)
    again.old = digest(b"again")
    kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()


@fault("session-opened-twice", "R", "log.session_link")
def _(kit: Any) -> None:
    row = kit.find("session_open", "Beta_2")
    again = kit.copy(row)
    again.old = digest(b"again")
    kit.spine.insert(kit.spine.index(row) + 1, again)
    kit.rehash()


@fault("session-opening-removed", "R", "log.session_unknown")
def _(kit: Any) -> None:
    kit.drop(*[row for row in kit.spine if row.body["session"] == "Beta_2"])
    kit.rehash()


@fault("decision-of-a-turn-never-opened", "R", "log.not_open")
def _(kit: Any) -> None:
    again = kit.copy(kit.decision("a3"))
    again.old, again.old_event = digest(b"again"), digest(b"event")
    again.body["turn"] = 99
    again.body["intent"]["call"] = "a3-again"
    kit.alpha.append(again)
    kit.rehash()


@fault("linear-decision-outside-a-turn", "R", "log.not_open")
def _(kit: Any) -> None:
    again = kit.copy(kit.decision("c0"))
    again.old, again.old_event = digest(b"again"), digest(b"event")
    again.body["intent"]["call"] = "c0-again"
    again.body["ev"]["decision_state"] = "denied"
    kit.spine.insert(kit.spine.index(kit.find("session_close", "gamma")), again)
    row = kit.find("turn_close", "gamma")
    kit.rehash()
    assert row.body["ev"]["count"] == 4


@fault("entries-of-two-turns-mixed", "R", "log.turn_order")
def _(kit: Any) -> None:
    rows = kit.alpha
    rows.append(rows.pop(rows.index(kit.decision("a3"))))
    kit.rehash()


@fault("rollback-to-a-shorter-ledger", "R", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.drop(*[row for row in kit.spine if row.body["session"] == "run-1"])
    kit.files["sessions/run-1.jsonl"] = []
    kit.rehash()


@fault("session-link-cut", "R", "log.session_link")
def _(kit: Any) -> None:
    kit.find("session_open", "alpha", part=2).body["parents"] = []
    kit.rehash()


@fault("part-that-no-longer-executes", "R", "log.session_link", "execution.in_run")
def _(kit: Any) -> None:
    kit.find("session_open", "alpha", part=2).body["ev"]["executes"] = False
    kit.rehash()


@fault("bytes-in-the-file-of-a-linear-session", "B", "log.shape")
def _(kit: Any) -> None:
    (kit.root / "sessions" / "gamma.jsonl").write_bytes(b'{"axis":null')


@fault("session-file-removed", "B", "log.file_missing")
def _(kit: Any) -> None:
    (kit.root / "sessions" / "run-1.jsonl").unlink()


@fault("policy-not-held", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    kit.decision("a3").body["ev"]["policy_version"] = digest(b"another policy")
    kit.rehash()


@fault("policy-removed", "B", "entries.policy_unknown")
def _(kit: Any) -> None:
    next((kit.root / "policies").iterdir()).unlink()


@fault("policy-not-announced", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    kit.drop(kit.find("policy_set"))
    kit.rehash()


@fault("policy-announced-after-the-turn", "R", "entries.policy_unknown")
def _(kit: Any) -> None:
    rows = kit.spine
    rows.append(rows.pop(rows.index(kit.find("policy_set"))))
    kit.rehash()


@fault("policy-text-altered", "B", "entries.policy_altered")
def _(kit: Any) -> None:
    path = next((kit.root / "policies").iterdir())
    path.write_bytes(path.read_bytes().replace(b"look", b"lool"))


@fault("class-relabelled", "R", "entries.class")
def _(kit: Any) -> None:
    kit.decision("a0").body["class"] = "shell"
    kit.rehash()


@fault("effects-weakened", "R", "entries.scope")
def _(kit: Any) -> None:
    kit.decision("a0").body["effects"][0]["scope"] = "temp"
    kit.rehash()


@fault("basis-of-another-action", "R", "entries.basis_other_action")
def _(kit: Any) -> None:
    kit.decision("a6").body["basis"] = [kit.decision("a4").old_event]
    kit.rehash()


@fault("basis-that-is-nothing", "R", "entries.basis_unknown")
def _(kit: Any) -> None:
    kit.decision("a6").body["basis"] = [digest(b"nothing")]
    kit.rehash()


@fault("fact-that-is-nothing", "R", "log.fact_unknown")
def _(kit: Any) -> None:
    kit.decision("a6").body["facts"][0]["entry"] = digest(b"nothing")
    kit.rehash()


@fault("replacement-changes-the-intent", "R", "entries.intent_differs")
def _(kit: Any) -> None:
    first = kit.decision("a5")
    second = next(
        row
        for _, row in kit.rows()
        if row.body["kind"] == "decision"
        and row.body["intent"]["call"] == "a5"
        and row is not first
    )
    second.body["intent"]["agent_id"] = "other"
    second.old_ref = "second"
    kit.outcome("a5").body["ev"]["action_ref"] = "second"
    kit.rehash()


@fault("action_ref-not-derived", "R", "entries.action_ref")
def _(kit: Any) -> None:
    row = kit.decision("a3")
    row.body["ev"]["action_ref"] = digest(b"other")
    row.keep.add("action_ref")
    kit.rehash()


@fault("action-decided-in-two-sessions", "R", "entries.action_ref_reused")
def _(kit: Any) -> None:
    kit.decision("b0").body["intent"] = dict(kit.decision("a0").body["intent"])
    kit.rehash()


@fault("action-decided-twice", "R", "entries.action_ref_reused")
def _(kit: Any) -> None:
    kit.decision("a3").body["intent"] = dict(kit.decision("a0").body["intent"])
    kit.rehash()


@fault("decision_id-reused", "R", "entries.decision_id")
def _(kit: Any) -> None:
    row = kit.decision("a1")
    row.body["ev"]["decision_id"] = kit.decision("a0").body["ev"]["decision_id"]
    row.keep.add("decision_id")
    kit.rehash()


@fault("rule-relabelled", "R", "entries.decision_id")
def _(kit: Any) -> None:
    row = kit.decision("a1")
    row.body["rule"] = "other"
    row.keep.add("decision_id")
    kit.rehash()


@fault("outcome-commits-to-nothing", "R", "entries.outcome_unbound")
def _(kit: Any) -> None:
    kit.outcome("a0").body["ev"]["decision_digest"] = digest(b"nothing")
    kit.rehash()


@fault("session-renamed", "R", "log.session_mismatch")
def _(kit: Any) -> None:
    kit.decision("a3").body["session"] = "other"
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


@fault("another-head-is-known", "H", "log.head", pin=True)
def _(kit: Any) -> None:
    kit.pin = (kit.head[0], digest(b"another head"))


# -- bytes


def _bytes(name: str, code: str, change: Callable[[bytes], bytes]) -> None:
    @fault(name, "B", code)
    def _(kit: Any) -> None:
        kit.bytes_of(kit.decision("a0"), change)


_bytes("whitespace", "entries.noncanonical", lambda line: line.replace(b":", b": ", 1))
_bytes("trailing-space", "entries.noncanonical", lambda line: line + b" ")
_bytes("carriage-return", "entries.noncanonical", lambda line: line + b"\r")
_bytes(
    "key-order",
    "entries.noncanonical",
    lambda line: b'{"v":1,' + line[1:].replace(b',"v":1}', b"}"),
)
_bytes("duplicate-key", "entries.noncanonical", lambda line: b'{"axis":null,' + line[1:])
_bytes("escaped-ascii", "entries.noncanonical", lambda line: line.replace(b"axis", b"\\u0061xis"))
_bytes("minus-zero", "entries.noncanonical", lambda line: line.replace(b'"count":1', b'"count":-0'))
_bytes("nan", "entries.parse", lambda line: line.replace(b'"count":1', b'"count":NaN'))
_bytes("1e400", "entries.parse", lambda line: line.replace(b'"count":1', b'"count":1e400'))
_bytes("lone-surrogate", "entries.parse", lambda line: line.replace(b"alice", b"\\ud800"))
_bytes("not-utf-8", "entries.parse", lambda line: line.replace(b"alice", b"\xff\xfe"))
_bytes("byte-order-mark", "entries.parse", lambda line: b"\xef\xbb\xbf" + line)
_bytes("blank-line", "entries.parse", lambda line: b"\n" + line)
_bytes("float", "entries.profile", lambda line: line.replace(b'"count":1', b'"count":1.5'))
_bytes("integral-float", "entries.profile", lambda line: line.replace(b'"count":1', b'"count":1.0'))
_bytes(
    "minus-zero-float", "entries.profile", lambda line: line.replace(b'"count":1', b'"count":-0.0')
)
_bytes(
    "large-integer",
    "entries.profile",
    lambda line: line.replace(b'"count":1', b'"count":9007199254740993'),
)
_bytes(
    "look-alike-key",
    "entries.profile",
    lambda line: line.replace(b'"v":1}', '"v":1,"\u0475":1}'.encode()),
)
_bytes("extra-field", "entries.schema", lambda line: line.replace(b'"v":1}', b'"v":1,"w":1}'))
_bytes("missing-field", "entries.schema", lambda line: line.replace(b'"axis":null,', b""))
_bytes("unknown-kind", "entries.schema", lambda line: line.replace(b'"decision"', b'"verdict"'))
_bytes("bad-digest", "entries.schema", lambda line: line.replace(b"h:aa", b"h:AA"))
_bytes("not-an-object", "entries.schema", lambda line: b"[]")
_bytes("version-0", "entries.version", lambda line: line.replace(b'"v":1}', b'"v":0}'))
_bytes("version-2", "entries.version", lambda line: line.replace(b'"v":1}', b'"v":2}'))
_bytes("nesting-bomb", "entries.parse", lambda line: b"[" * 3000 + b"]" * 3000)
_bytes("too-long", "entries.parse", lambda line: line[:-1] + b" " * 70_000 + b"}")
_bytes("torn-middle", "entries.parse", lambda line: line[: len(line) // 2])
_bytes(
    "interleaved-writes",
    "entries.parse",
    lambda line: line[:100] + line[:100] + line[100:] + line[100:],
)


@fault("spine-line-not-canonical", "B", "entries.noncanonical")
def _(kit: Any) -> None:
    kit.bytes_of(kit.find("turn_open", "alpha", turn=2), lambda line: line + b" ")


@fault("torn-tail-of-a-session", "H", "log.fragment", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    path = kit.root / "sessions" / "alpha.jsonl"
    with path.open("ab") as file:
        file.write(b'{"axis":null,"basis":[')


@fault("torn-tail-of-the-spine", "H", "log.fragment", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    with (kit.root / "spine-000000000001.jsonl").open("ab") as file:
        file.write(b'{"ev":')


# -- what ran


@fault("ran-without-decision", "H", "execution.unmatched")
def _(kit: Any) -> None:
    details = {"call": None, "tool": "Bash", "args_digest": digest(b"x"), "result_digest": None}
    _audit(kit, "execution.unmatched", details)


@fault("ran-with-other-arguments", "H", "execution.args_differ")
def _(kit: Any) -> None:
    _ran_with(kit, "a0", digest(b"x"))


@fault("ran-with-other-arguments-in-a-linear-session", "H", "execution.args_differ")
def _(kit: Any) -> None:
    _ran_with(kit, "c0", digest(b"x"))


@fault("ran-with-other-arguments-as-the-trace-shows", "H", "execution.args_differ")
def _(kit: Any) -> None:
    _ran_with(kit, "a0", digest(b"x"))
    kit.change_span("a0", args_digest=digest(b"x"))


@fault("ran-with-other-arguments-in-a-span-without-id", "H", "execution.args_differ")
def _(kit: Any) -> None:
    _ran_with(kit, "a0", digest(b"x"))
    kit.change_span("a0", call=None, args_digest=digest(b"x"), decision_digest=None)


@fault("span-without-decision", "H", "execution.no_decision")
def _(kit: Any) -> None:
    at = kit.span("a0")
    kit.spans.append(kit.spans[at]._replace(call="unheard-of"))


@fault("span-missing", "H", "execution.no_span")
def _(kit: Any) -> None:
    at = kit.span("a0")
    del kit.spans[at]


@fault("decision-used-by-two-spans", "H", "execution.span_reused")
def _(kit: Any) -> None:
    at = kit.span("a0")
    kit.spans.append(kit.spans[at])


@fault("denied-call-in-the-trace", "H", "execution.after_deny")
def _(kit: Any) -> None:
    _show_call(kit, "a3")


@fault("ask-in-the-trace", "H", "execution.ask_unanswered")
def _(kit: Any) -> None:
    _show_call(kit, "a4")


@fault("run-in-the-trace", "H", "execution.in_run")
def _(kit: Any) -> None:
    _show_call(kit, "r0")


@fault("other-arguments", "H", "execution.args_differ")
def _(kit: Any) -> None:
    kit.change_span("a0", args_digest=digest_of({"command": "rm -rf /"}))


@fault("span-of-another-decision", "H", "execution.other_decision")
def _(kit: Any) -> None:
    kit.change_span("a0", decision_digest=kit.decision("a1").old_event)


@fault("failed-in-the-trace", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.change_span("a0", status="error")


@fault("fine-in-the-trace", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.change_span("a1", status="ok")


@fault("no-trace-of-a-session", "H", "execution.trace_missing", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.span("a0")
    kit.spans = [span for span in kit.spans if span.session != "Beta_2"]


@fault("trace-ends-early", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.span("a0")
    kit.spans = [span for span in kit.spans if span.call not in ("b1", "b2")]


# -- how the rows above do it


def _turn(kit: Any, session: str, turn: int) -> list[Any]:
    return [
        row for _, row in kit.rows() if (row.body["session"], row.body["turn"]) == (session, turn)
    ]


def _audit(kit: Any, action: str, details: dict[str, Any], session: str | None = None) -> None:
    made = kit.copy(kit.find("policy_set"))
    made.body |= {"kind": "audit", "session": session}
    made.body["ev"] = {
        "action": action,
        "actor": "claude-code",
        "target": None,
        "details": details,
        "ts": made.body["ts"],
    }
    made.old = digest(b"made")
    kit.spine.append(made)
    kit.rehash()


def _ran_with(kit: Any, call: str, ran: str) -> None:
    body = kit.decision(call).body
    details = {
        "call": call,
        "tool": "Bash",
        "args_digest": ran,
        "decided": body["ev"]["args_digest"],
    }
    _audit(kit, "execution.args_differ", details, body["session"])


def _show_call(kit: Any, call: str) -> None:
    at = kit.span("a0")
    row = kit.decision(call)
    kit.spans.append(
        kit.spans[at]._replace(
            where=f"trace {call}",
            call=call,
            session=row.body["session"],
            args_digest=row.body["ev"]["args_digest"],
            decision_digest=None,
            result_digest=None,
        )
    )
