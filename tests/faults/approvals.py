"""Faults of approvals and of what rests on them, and the legal forms beside them.

Most are done by a writer that keeps the form and not the rules: it may write
any decision, but it has no key but its own.
"""

from typing import Any

from approved import SECOND, THIRD, Desk, key, policy
from catalogue import fault, legal
from ledgers import START

from toolgate.approval import rotation_message
from toolgate.canonical import digest, digest_of

BASE = "approved"


def desk(kit: Any, session: str = "more", **setting: Any) -> Desk:
    """Return a desk that goes on where the approved ledger ends, in a session of its own."""
    made = Desk(kit.root, session, ts=START + 1_000_000, **setting)
    made.prompt("p1")
    return made


def cheat(one: Desk, action_class: str, *basis: str, call: str = "z0", **more: Any) -> None:
    """Allow a call on a basis that is given, let it run, and end the session."""
    args = more.pop("args", "x")
    one.say(call, "allowed", action_class, args=args, basis=tuple(basis), **more)
    one.done(call, action_class, args=args)
    one.close()


def cite(one: Desk, event: str, **details: Any) -> None:
    """Say on the spine that a decision uses up approvals."""
    one.ledger.audit(
        action="approval.cited", actor="agent", target=event, details=details, ts=one.tick()
    )


def rotation(one: Desk, name: str, old: str, new: str, *signers: str) -> dict[str, Any]:
    """Return a rotation of an approver's key, signed by whom one likes."""
    ev = {
        "role": "approver",
        "name": name,
        "old": key(old).public,
        "new": key(new).public,
        "ts": one.tick(),
    }
    said = rotation_message(ev)
    return {**ev, "signatures": [key(signer).sign(said) for signer in signers]}


# -- composition


@fault("two-of-two-with-one", "R", "entries.composition_unmet", base=BASE)
def _(kit: Any) -> None:
    """One of two needed approvals is left out"""
    row = kit.decision("e2")
    left = row.body["basis"].pop()
    row.body["parents"].remove(left)
    kit.rehash()


@fault("one-of-two-in-any-of-two", "R", "entries.composition_unmet", base=BASE)
def _(kit: Any) -> None:
    row = kit.decision("f0")
    left = row.body["basis"].pop()
    row.body["parents"].remove(left)
    kit.rehash()


@fault("composed-class-without-any-approval", "R", "entries.composition_unmet", base=BASE)
def _(kit: Any) -> None:
    cheat(desk(kit), "pay")


@fault("composed-ask-answered-by-its-execution", "H", "entries.composition_unmet", base=BASE)
def _(kit: Any) -> None:
    """A click in the host ran what principals decide"""
    one = desk(kit)
    one.say("z0", "asked", "deploy")
    one.done("z0", "deploy")
    one.close()


@fault("composed-ask-answered-by-telemetry", "R", "entries.composition_unmet", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked", "deploy")
    assert one.report("z0", asked, "8" * 32) == "collected"
    given = digest((kit.root / "spine-000000000001.jsonl").read_bytes().split(b"\n")[-2])
    cheat(one, "deploy", asked, given)


@fault("staged-order-reversed", "R", "entries.approval_order", base=BASE)
def _(kit: Any) -> None:
    kit.decision("g0").body["basis"].reverse()
    kit.rehash()


@fault("basis-not-in-the-order-of-the-spine", "R", "entries.approval_order", base=BASE)
def _(kit: Any) -> None:
    kit.decision("e2").body["basis"].reverse()
    kit.rehash()


@fault("staged-approvals-that-name-no-other", "R", "entries.approval_order", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    first = one.approve("alice", "drop")
    binding = {"args_digest": digest_of("x"), "session": "more", "class": "drop"}
    second = one.force(one.signed("bob", **binding))
    cheat(one, "drop", first, second)


@fault("approval-behind-one-that-is-none", "R", "entries.approval_order", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.force(one.signed("bob", **{"class": "drop"}), digest(b"nothing"))
    one.close()


@fault("same-approver-twice", "R", "entries.approver_twice", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    cheat(one, "pay", one.approve("bob", "pay"), one.approve("bob", "pay"))


@fault("same-approval-twice", "R", "entries.approver_twice", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("bob", "pay")
    cheat(one, "pay", given, given)


@fault("denied-although-approved", "R", "entries.composition_denied", base=BASE)
def _(kit: Any) -> None:
    """Unused approvals that satisfy the class stood there before the turn"""
    one = desk(kit)
    one.approve("alice", "drop")
    one.approve("bob", "drop")
    one.prompt("p2")
    one.say("z0", "denied", "drop", rule="composition")
    one.close()


@fault("denied-although-approved-in-a-linear-session", "R", "entries.composition_denied",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    """The approvals stand in the denial's own turn, and the spine says which came first"""
    one = desk(kit, shape="linear")
    one.approve("alice", "drop")
    one.approve("bob", "drop")
    one.say("z0", "denied", "drop", rule="composition")
    one.close()


@fault("unmet-behind-a-policy-that-is-not-held", "R", "entries.policy_unknown",
       "entries.composition_unmet", base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    """What rests on approvals is judged under each policy that is held, whatever is not"""
    one = desk(kit, "zeta", text=SECOND)
    one.say("z0", "allowed", "deploy")
    one.done("z0", "deploy")
    one.close()
    (kit.root / "policies" / f"{digest(THIRD)[7:]}.json").unlink()


@fault("approval-that-names-two-before-it", "R", "entries.approval_order", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    two = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.force(one.signed("bob", session="more"), *two)
    one.close()


@fault("denied-although-it-cites-approvals", "R", "entries.composition_denied", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    basis = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.say("z0", "denied", "deploy", basis=basis)
    one.close()


@fault("ask-denied-although-approved", "R", "entries.composition_denied", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    given = one.force(one.signed("bob", decision_digest=asked))
    one.say("z0", "denied", basis=(asked, given))
    one.close()


@fault("citation-that-lists-nothing", "R", "entries.composition_denied", base=BASE)
def _(kit: Any) -> None:
    """What says that approvals were used up names none of them"""
    one = desk(kit)
    one.approve("alice", "drop")
    one.approve("bob", "drop")
    cite(one, digest(b"z1"), approvals=2)
    one.prompt("p2")
    one.say("z0", "denied", "drop", rule="composition")
    one.close()


# -- what an approval is about


@fault("approval-borrowed-from-other-arguments", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    cheat(one, "pay", one.approve("bob", "pay"), one.approve("alice", "pay", args="other"))


@fault("approval-borrowed-from-another-class", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("alice", "deploy", args_digest=None)
    cheat(one, "pay", given, one.approve("bob", "pay"))


@fault("approval-borrowed-from-another-session", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.force(one.signed("alice", **{"class": "pay", "session": "ops"}))
    cheat(one, "pay", given, one.approve("bob", "pay"))


@fault("approval-borrowed-from-another-ask", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked, other = one.say("z0", "asked"), one.say("z1", "asked")
    given = one.force(one.signed("bob", decision_digest=other))
    cheat(one, "look", asked, given)


@fault("approval-of-an-ask-used-by-a-call-that-was-not-asked", "R", "entries.approval_other",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z1", "asked", "pay")
    given = one.force(one.signed("alice", decision_digest=asked))
    cheat(one, "pay", given, one.approve("bob", "pay"))


@fault("report-of-the-host-about-no-ask", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    ev = one.signed("alice", **{"class": "look"})
    given = one.force({**ev, "evidence": "telemetry", "key": None, "sig": None})
    cheat(one, "look", given)


@fault("approval-of-a-decision-nobody-holds", "R", "entries.approval_unbound", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.force(one.signed("bob", decision_digest=digest(b"nothing")))
    one.close()


@fault("decision-older-than-its-approval", "R", "log.clock_backwards", base=BASE)
def _(kit: Any) -> None:
    approvals = [row for row in kit.spine if row.body["kind"] == "approval"]
    body = kit.decision("e2").body
    body["ts"] = body["ev"]["ts"] = approvals[2].body["ts"] - 1
    kit.rehash()


# -- used again


@fault("approval-replayed-in-a-later-turn", "R", "entries.approval_reused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    basis = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.say("z0", "allowed", "deploy", basis=basis)
    one.done("z0", "deploy")
    one.prompt("p2")
    cheat(one, "deploy", *basis, call="z1")


@fault("approval-replayed-in-the-same-turn", "R", "entries.approval_reused", base=BASE)
def _(kit: Any) -> None:
    """Two equal calls side by side rest on one approval"""
    one = desk(kit)
    basis = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.say("z0", "allowed", "deploy", basis=basis)
    one.say("z1", "allowed", "deploy", basis=basis)
    one.done("z0", "deploy")
    one.done("z1", "deploy")
    one.close()


@fault("approval-replayed-in-another-session", "R", "entries.approval_reused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    used = kit.decision("f0").body["basis"][0]
    cheat(one, "pay", used, one.approve("alice", "pay"))


@fault("approval-replayed-after-a-rotation", "R", "entries.approval_reused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("alice", "pay", session=None), one.approve("carol", "pay",
        session=None, signer="carol 2")  # fmt: skip
    one.say("z0", "allowed", "pay", basis=given)
    one.done("z0", "pay")
    one.ledger.rotate_approver("carol", old=key("carol 2"), new=key("carol 3"), ts=one.tick())
    cheat(one, "pay", *given, call="z1")


@fault("signature-copied-into-a-second-approval", "R", "entries.approval_reused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    ev = one.signed("bob", **{"class": "pay"})
    first, second = one.force(ev), one.force(ev)
    other = one.approve("alice", "pay"), one.approve("alice", "pay")
    one.say("z0", "allowed", "pay", basis=(first, other[0]))
    one.done("z0", "pay")
    cheat(one, "pay", second, other[1], call="z1")


@fault("approval-that-had-expired", "R", "entries.approval_expired", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("alice", "pay", expiry=one.ts + 2000)
    other = one.approve("bob", "pay")
    one.tick()
    cheat(one, "pay", given, other)


# -- whose signature


@fault("approval-edited-after-it-was-signed", "R", "entries.approval_signature", base=BASE)
def _(kit: Any) -> None:
    row = next(row for row in kit.spine if row.body["ev"].get("class") == "deploy")
    row.body["ev"]["expiry"] += 1
    kit.rehash()


@fault("approval-signed-by-nobody", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.force(one.signed("alice", signer="mallory", **{"class": "pay"}))
    cheat(one, "pay", given, one.approve("bob", "pay"))


@fault("approval-under-a-key-of-small-order", "R", "entries.approval_signature", base=BASE)
def _(kit: Any) -> None:
    """The policy gives alice the neutral point as her key: one signature fits every text"""
    weak, anything = ("ed25519:01" + "00" * more for more in (31, 63))
    text = policy("weak", None, principals={"alice": [weak]})
    one = desk(kit, text=text)
    asked = one.say("z0", "asked")
    ev = one.signed("alice", decision_digest=asked)
    cheat(one, "look", asked, one.force({**ev, "key": weak, "sig": anything}))


@fault("approval-by-a-name-the-policy-does-not-know", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    cheat(one, "look", asked, one.force(one.signed("mallory", decision_digest=asked)))


@fault("approval-by-a-retired-key", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.force(one.signed("carol", **{"class": "pay"}))
    cheat(one, "pay", given, one.approve("bob", "pay"))


@fault("approver-rotation-not-signed-by-the-old-key", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.force(rotation(one, "alice", "alice", "mallory", "mallory", "mallory"))
    given = one.force(one.signed("alice", signer="mallory", **{"class": "pay"}))
    cheat(one, "pay", given, one.approve("bob", "pay"))


@fault("approver-rotation-of-a-key-nobody-has", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.force(rotation(one, "alice", "mallory", "mallory 2", "mallory", "mallory 2"))
    one.close()


@fault("approver-rotation-of-a-retired-key", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.force(rotation(one, "carol", "carol", "mallory", "carol", "mallory"))
    one.close()


@fault("approver-rotation-to-the-same-key", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.force(rotation(one, "alice", "alice", "alice", "alice", "alice"))
    one.close()


@fault("approver-rotation-to-another-principals-key", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    """One key would speak for two principals"""
    one = desk(kit)
    one.force(rotation(one, "alice", "alice", "bob", "alice", "bob"))
    one.close()


# -- refusals and answers


@fault("allowed-on-a-refusal", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    cheat(one, "look", asked, one.force(one.signed("bob", decision_digest=asked, verdict="refuse")))


@fault("approval-that-was-taken-back", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.approve("alice", "deploy", verdict="refuse")
    one.prompt("p2")
    cheat(one, "deploy", *given)


@fault("approval-taken-back-before-it-was-cited", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    """In the decision's own turn, where only the citation says what stood before it"""
    one = desk(kit)
    given = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.approve("alice", "deploy", verdict="refuse")
    event = one.say("z0", "allowed", "deploy", basis=given)
    cite(one, event, approvals=sorted(given))
    one.done("z0", "deploy")
    one.close()


@fault("refusal-by-a-stranger", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    refusal = one.signed("bob", signer="mallory", decision_digest=asked, verdict="refuse")
    one.say("z0", "denied", basis=(asked, one.force(refusal)))
    one.close()


@fault("refusal-buried-under-refusals-of-a-stranger", "R", "entries.approval_refused",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    """A refusal is followed by many in the same name that another key signed"""
    one = desk(kit)
    given = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    one.approve("alice", "deploy", verdict="refuse")
    binding = {"args_digest": digest_of("x"), "session": "more", "class": "deploy"}
    for _ in range(70):
        one.force(one.signed("alice", signer="mallory", verdict="refuse", **binding))
    one.prompt("p2")
    cheat(one, "deploy", *given)


@fault("refused-ask-that-ran", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    """A signed refusal stands, and the denial it brought about was left out"""
    one = desk(kit)
    asked = one.say("z0", "asked")
    one.force(one.signed("bob", decision_digest=asked, verdict="refuse"))
    one.done("z0")
    one.close()


@fault("refused-ask-answered-by-telemetry", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    """What a host reports stands against a signature"""
    one = desk(kit)
    asked = one.say("z0", "asked")
    one.force(one.signed("bob", decision_digest=asked, verdict="refuse"))
    ev = one.signed("user:dev", decision_digest=asked)
    cheat(one, "look", asked, one.force({**ev, "evidence": "telemetry", "key": None, "sig": None}))


@fault("ask-rejected-at-the-host-that-ran", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    ev = one.signed("user:dev", decision_digest=asked, verdict="refuse")
    one.force({**ev, "evidence": "telemetry", "key": None, "sig": None})
    one.done("z0")
    one.close()


@fault("denied-call-answered-like-an-ask", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    """A denial is no question, whoever says yes to it"""
    one = desk(kit)
    denied = one.say("z0", "denied")
    cheat(one, "look", denied, one.force(one.signed("bob", decision_digest=denied)))


@fault("older-than-an-approval-it-does-not-name-as-parent", "R", "log.clock_backwards", base=BASE)
def _(kit: Any) -> None:
    """A decision is dated back to when its approval had not expired, past when it was given"""
    body = kit.decision("e2").body
    given = [row for row in kit.spine if row.old in body["basis"]]
    body["parents"] = [one for one in body["parents"] if one not in body["basis"]]
    body["ts"] = body["ev"]["ts"] = max(row.body["ts"] for row in given) - 1
    kit.rehash()


@fault("ask-answered-twice", "R", "entries.ask_twice", base=BASE)
def _(kit: Any) -> None:
    """One ask is approved and refused"""
    answer = next(
        row
        for row in kit.files["sessions/ops.jsonl"]
        if len(row.body.get("basis", [])) == 2 and row.body["intent"]["call"] == "q0"
    )
    again = kit.copy(answer)
    again.old, again.old_event = digest(b"again"), digest(b"event")
    again.body["ev"]["decision_state"] = "denied"
    again.body["basis"] = again.body["basis"][:1]
    rows = kit.files["sessions/ops.jsonl"]
    rows.insert(rows.index(answer) + 1, again)
    kit.rehash()


# -- legal forms


@legal("approved", beside="two-of-two-with-one", base=BASE)
def _(kit: Any) -> None:
    pass


@legal("approved-with-pin-and-trace", beside="composed-ask-answered-by-its-execution",
       verdict="PASS", base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    kit.spans, kit.pin = kit.trace(), kit.head


@legal("retry-after-denial-cites-the-approvals", beside="denied-although-approved", base=BASE)
def _(kit: Any) -> None:
    """A call is denied, then approved in the same turn, and its retry runs"""
    one = desk(kit)
    assert not one.attempt("z0", "drop").allowed
    one.approve("alice", "drop")
    one.approve("bob", "drop")
    assert one.attempt("z1", "drop").allowed
    one.done("z1", "drop")
    one.close()


@legal("replacing-decision-cites-again", beside="approval-replayed-in-the-same-turn", base=BASE)
def _(kit: Any) -> None:
    """The host asks again about one pending call"""
    one = desk(kit)
    one.approve("alice", "deploy")
    one.approve("bob", "deploy")
    assert one.attempt("z0", "deploy").allowed
    assert one.attempt("z0", "deploy").allowed
    one.prompt("p2")
    assert one.attempt("z0", "deploy").allowed
    one.done("z0", "deploy")
    one.close()


@legal("refused-by-one-and-then-approved-by-another", beside="refused-ask-that-ran", base=BASE)
def _(kit: Any) -> None:
    """Any one of the people may answer, and the later word counts"""
    one = desk(kit)
    asked = one.say("z0", "asked")
    one.force(one.signed("bob", decision_digest=asked, verdict="refuse"))
    cheat(one, "look", asked, one.force(one.signed("alice", decision_digest=asked)))


def refused_late(one: Desk, *, closed: bool) -> None:
    """Let an asked call run, and refuse it afterwards as if it had been before."""
    asked, then = one.say("z0", "asked"), one.ts
    one.done("z0")
    if closed:
        one.stop()
    one.force(one.signed("bob", decision_digest=asked, verdict="refuse", ts=then))
    one.close()


@legal("refused-once-the-turn-was-closed", beside="refused-ask-that-ran", base=BASE)
def _(kit: Any) -> None:
    refused_late(desk(kit), closed=True)


@legal("refused-behind-the-answer-in-a-linear-session", beside="refused-ask-that-ran", base=BASE)
def _(kit: Any) -> None:
    refused_late(desk(kit, shape="linear"), closed=False)


@legal("denied-with-approvals-behind-it-in-a-linear-session",
       beside="denied-although-approved-in-a-linear-session", base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = desk(kit, shape="linear")
    one.approve("alice", "drop")
    one.say("z0", "denied", "drop", rule="composition")
    one.approve("bob", "drop")
    one.close()


@fault("refused-in-the-very-microsecond-of-the-answer", "R", "entries.approval_refused",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    ts = one.ts + 2000  # when it has run, two steps of the clock from here
    one.force(one.signed("bob", decision_digest=asked, verdict="refuse", ts=ts))
    one.done("z0")
    one.close()


@fault("refused-behind-the-refusal-of-a-stranger", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    one.force(one.signed("bob", signer="mallory", decision_digest=asked, verdict="refuse"))
    one.force(one.signed("bob", decision_digest=asked, verdict="refuse"))
    one.done("z0")
    one.close()


@legal("approved-to-the-very-microsecond", beside="approval-that-had-expired", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    ends = one.ts + 2001  # when it is decided, two steps of the clock from here
    cheat(one, "look", asked, one.force(one.signed("bob", decision_digest=asked, expiry=ends)))


@legal("composed-ask-denied-with-one-of-two-approvals", beside="ask-denied-although-approved",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked", "deploy", args="x")
    given = one.force(one.signed("alice", decision_digest=asked))
    one.say("z0", "denied", "deploy", basis=(asked, given), args="x")
    one.close()


@legal("refused-by-a-stranger-and-ran", beside="refused-ask-that-ran", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked")
    one.force(one.signed("bob", signer="mallory", decision_digest=asked, verdict="refuse"))
    one.done("z0")
    one.close()


@legal("approval-that-expired-after-the-decision", beside="approval-that-had-expired", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.approve("alice", "pay", expiry=one.ts + 4000)
    one.approve("bob", "pay")
    assert one.attempt("z0", "pay").allowed
    one.ts += 10_000
    one.done("z0", "pay")
    one.close()


@legal("approvals-that-expired-before-a-denial", beside="denied-although-approved", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    for name in ("alice", "bob"):
        one.approve(name, "deploy", expiry=one.ts + 4000)
    one.prompt("p2")
    one.ts += 10_000
    assert not one.attempt("z0", "deploy").allowed
    one.close()


@legal("equal-asks-with-an-approval-each", beside="approval-borrowed-from-another-ask", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    asks = [(call, one.say(call, "asked")) for call in ("z0", "z1")]
    for call, asked in reversed(asks):
        assert one.answer("bob", call, asked).decision_digest
        one.done(call)
    one.close()


@legal("equal-calls-of-which-one-has-the-approval", beside="denied-although-approved", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.approve("alice", "deploy", session=None)
    one.approve("bob", "deploy", session=None)
    other = desk(kit, "other")
    assert one.attempt("z0", "deploy").allowed
    assert not other.attempt("z1", "deploy").allowed
    one.done("z0", "deploy")
    one.close()
    other.close()


@legal("approval-taken-back-and-given-again", beside="approval-that-was-taken-back", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.approve("alice", "deploy")
    one.approve("bob", "deploy")
    one.approve("alice", "deploy", verdict="refuse")
    one.prompt("p2")
    assert not one.attempt("z0", "deploy").allowed
    one.approve("alice", "deploy")
    assert one.attempt("z1", "deploy").allowed
    one.done("z1", "deploy")
    one.close()


@legal("approval-taken-back-after-it-was-cited", beside="approval-taken-back-before-it-was-cited",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("alice", "deploy"), one.approve("bob", "deploy")
    event = one.say("z0", "allowed", "deploy", basis=given)
    cite(one, event, approvals=sorted(given))
    one.approve("alice", "deploy", verdict="refuse")
    one.done("z0", "deploy")
    one.close()


@legal("approvals-used-up-by-a-writer-that-died", beside="denied-although-approved", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    given = one.approve("alice", "drop"), one.approve("bob", "drop")
    cite(one, digest(b"z1"), approvals=sorted(given))
    one.prompt("p2")
    one.say("z0", "denied", "drop", rule="composition")
    one.close()


@legal("approval-given-before-a-rotation", beside="approval-by-a-retired-key", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    one.approve("carol", "pay", signer="carol 2")
    one.ledger.rotate_approver("carol", old=key("carol 2"), new=key("carol 3"), ts=one.tick())
    one.approve("bob", "pay")
    assert one.attempt("z0", "pay").allowed
    one.done("z0", "pay")
    one.close()


@legal("composed-ask-collects-until-it-is-met", beside="composed-ask-answered-by-its-execution",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = desk(kit)
    asked = one.say("z0", "asked", "deploy")
    assert one.answer("bob", "z0", asked, action_class="deploy").decision_digest is None
    one.prompt("p2")
    assert one.answer("alice", "z0", asked, action_class="deploy").decision_digest
    one.done("z0", "deploy")
    one.close()


@legal("approved-in-a-linear-session", beside="two-of-two-with-one", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit, "line", shape="linear")
    asked = one.say("z0", "asked")
    assert one.answer("alice", "z0", asked).decision_digest
    one.done("z0")
    one.approve("alice", "drop")
    assert not one.attempt("z1", "drop").allowed
    one.approve("bob", "drop")
    one.prompt("p2")
    assert one.attempt("z2", "drop").allowed
    one.done("z2", "drop")
    one.close()


@legal("refused-by-the-user-as-the-host-reports", beside="ask-denied-although-approved", base=BASE)
def _(kit: Any) -> None:
    one = desk(kit)
    assert one.report("z0", one.say("z0", "asked"), "9" * 32, yes=False) == "refused"
    one.close()
