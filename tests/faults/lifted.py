"""Calls that a person let through once: what no signature lifts, and the legal forms beside it."""

import json
from typing import Any

from approvals import BASE, cheat
from approved import ALONE, Desk
from catalogue import fault, legal
from ledgers import START

from toolgate.approval import Approvers, Target
from toolgate.canonical import digest_of, profile_bytes
from toolgate.gate.policy.lift import Lifting
from toolgate.ledger.approvals import Composing, Settled

MINUTE = 60_000_000
RULES = [
    {"rule": "may-ask", "decide": "ask"},
    {"rule": "sealed-ask", "decide": "ask"},
    {"rule": "may-deny", "decide": "deny"},
    {"rule": "open", "decide": "allow"},
]
EXCEPTION = {"override": "milder", "of": "may-deny", "decide": "ask"}
ANSWERS = {"milder": "ask", "default": "deny"} | {rule["rule"]: rule["decide"] for rule in RULES}


def policy(lift: dict[str, Any] | None) -> bytes:
    """Return a policy with rules and with what it says under ``lift``, if anything."""
    body = {**json.loads(ALONE), "name": "lifting", "rules": RULES, "default": "deny"}
    body["overrides"] = [EXCEPTION]
    if lift is not None:
        body["lift"] = {"calls": 20, **lift}
    return profile_bytes(body)


SHIPPED = policy(None)
OPEN = policy({"ask": "person", "deny": "person", "never": ["sealed-ask"], "minutes": 60})


class Counter(Desk):
    """A desk at which people let calls through that the policy asks about or denies."""

    def let(self, by: str, *, answer: str = "ask", **more: Any) -> str:
        """Sign that calls may go through once; return the entry's digest."""
        binding = {"args_digest": digest_of("x"), "session": self.session, "class": "look"}
        ts = self.ts + 1000
        ev = self.signed(by, **{**binding, "expiry": ts + 10 * MINUTE, **more})
        target = Target(None, ev["args_digest"] or "", self.session, "look")
        people = self.approvers("look").principals
        lifting = Lifting(tuple(people), answer, 60)
        approvers = Approvers(lifting, people)
        return self.ledger.approve(ev, target=target, call="", approvers=approvers).entry

    def retry(
        self, call: str, rule: str = "may-ask", *, state: str = "asked", args: Any = "x"
    ) -> Settled:
        """Decide a call as the hook does that nobody may have signed for."""
        ts = self.tick()
        made = self.fields(call, state, "look", args, rule=rule)
        people = self.approvers("look").principals
        lifting = Lifting(tuple(people), ANSWERS[rule], 60)
        composing = Composing(made, Approvers(lifting, people), seen=True)
        return self.ledger.decide_composed(
            self.session, key=None, composing=composing, policy=self.text, ts=ts
        )


def counter(kit: Any, text: bytes = SHIPPED, session: str = "more", **setting: Any) -> Counter:
    """Return a counter that goes on where the approved ledger ends."""
    made = Counter(kit.root, session, text, ts=START + 1_000_000, **setting)
    made.prompt("p1")
    return made


# -- what no signature lifts


@fault("denied-by-a-rule-and-lifted", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """The policy says nothing of lifting: what it denies stays denied"""
    one = counter(kit)
    one.retry("z0", "may-deny", state="denied")
    cheat(one, "look", one.let("bob", answer="deny"), call="z1", rule="may-deny")


@fault("sealed-rule-lifted", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit, OPEN)
    one.say("z0", "asked", rule="sealed-ask")
    cheat(one, "look", one.let("bob"), call="z1", rule="sealed-ask")


@fault("asks-that-nobody-may-lift", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit, policy({"ask": "never", "deny": "never", "never": [], "minutes": 60}))
    one.say("z0", "asked", rule="may-ask")
    cheat(one, "look", one.let("bob"), call="z1", rule="may-ask")


@fault("default-deny-lifted", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    one.say("z0", "denied", rule="default")
    cheat(one, "look", one.let("bob", answer="deny"), call="z1", rule="default")


@fault("refusal-of-the-gate-lifted", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """A call that could not be judged was let through"""
    one = counter(kit, OPEN)
    one.say("z0", "denied", rule="input")
    cheat(one, "look", one.let("bob"), call="z1", rule="input")


@fault("change-of-the-gate-lifted", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """The policy lets people lift what it denies; the gate itself is beyond that"""
    one = counter(kit, OPEN)
    made = one.fields("z0", "allowed", "look", "x")
    tamper = {**made.effects[0], "type": "gate.tamper", "scope": "workspace"}
    effects = (*made.effects, tamper)
    one.say("z0", "denied", rule="may-deny", effects=effects)
    given = one.let("bob", answer="deny")
    cheat(one, "look", given, call="z1", rule="may-deny", effects=effects)


@fault("class-approved-and-a-deny-lifted", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """What is denied is let through call by call"""
    one = counter(kit, OPEN)
    cheat(one, "look", one.let("bob", args_digest=None), rule="may-deny")


@fault("lifted-for-any-class", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    one.say("z0", "asked", rule="may-ask")
    given = one.force(one.signed("bob", args_digest=digest_of("x")))
    cheat(one, "look", given, call="z1", rule="may-ask")


@fault("lifted-for-longer-than-the-policy-gives", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    given = one.force(one.signed("bob", expiry=one.ts + 61 * MINUTE, **{"class": "look"}))
    cheat(one, "look", given, rule="may-ask")


@fault("lifted-with-other-effects-than-were-seen", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """The same arguments in another directory, or once a file was rewritten"""
    one = counter(kit)
    assert not one.retry("z0").allowed
    given = one.let("bob")
    effects = one.fields("z0", "allowed", "look", "x").effects
    other = ({**effects[0], "resource": "h:" + "b" * 32},)
    cheat(one, "look", given, call="z1", rule="may-ask", effects=other)


@fault("lifted-before-it-was-seen", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """A signature for arguments that nobody was asked about yet"""
    one = counter(kit)
    given = one.let("bob")
    one.say("z0", "asked", rule="may-ask")
    cheat(one, "look", given, call="z1", rule="may-ask")


@fault("lifted-when-only-other-arguments-were-seen", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    assert not one.retry("z0", args="y").allowed
    cheat(one, "look", one.let("bob"), call="z1", rule="may-ask")


@fault("signed-for-another-rules-ask", "R", "entries.approval_lift", base=BASE)
def _(kit: Any) -> None:
    """An ask was signed for, and what a rule denies by then is let through"""
    one = counter(kit, OPEN)
    assert not one.retry("z0").allowed
    cheat(one, "look", one.let("bob"), call="z1", rule="may-deny")


@fault("policy-that-lifts-for-longer-than-any-may", "R", "entries.policy_unknown", base=BASE)
def _(kit: Any) -> None:
    """No compiler makes it: leave holds for a day at most"""
    one = counter(kit, policy({"ask": "person", "deny": "never", "never": [], "minutes": 1441}))
    one.say("z0", "denied", rule="may-ask")
    one.close()


# -- signatures that are not about the call, or spent


@fault("lifted-call-with-other-arguments", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    cheat(one, "look", one.let("bob", args_digest=digest_of("y")), rule="may-ask")


@fault("lifted-in-another-session", "R", "entries.approval_other", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    cheat(one, "look", one.force(one.signed("bob", session="ops", **{"class": "look"})),
          rule="may-ask")  # fmt: skip


@fault("lifted-after-the-approval-expired", "R", "entries.approval_expired", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    given = one.let("bob", expiry=one.ts + 1500)
    cheat(one, "look", given, rule="may-ask")


@fault("lifted-twice-by-one-approval", "R", "entries.approval_reused", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    assert not one.retry("z0").allowed
    given = one.let("bob")
    assert one.retry("z1").allowed
    one.done("z1")
    cheat(one, "look", given, call="z2", rule="may-ask")


@fault("lifted-by-a-stranger", "R", "entries.approval_key", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit)
    binding = {"args_digest": digest_of("x"), "session": "more", "class": "look"}
    given = one.force(one.signed("bob", signer="mallory", **binding))
    cheat(one, "look", given, rule="may-ask")


@fault("lifted-by-a-class-that-was-taken-back", "R", "entries.approval_refused", base=BASE)
def _(kit: Any) -> None:
    """The rest of what was granted beforehand is revoked"""
    one = counter(kit)
    given = [one.let("bob", args_digest=None) for _ in range(2)]
    assert one.retry("z0").allowed
    one.done("z0")
    one.let("bob", args_digest=None, verdict="refuse")
    one.prompt("p2")
    cheat(one, "look", given[1], call="z1", rule="may-ask")


# -- legal forms


@legal("let-through-once", beside="lifted-twice-by-one-approval", base=BASE)
def _(kit: Any) -> None:
    """What was asked, and denied where nobody could be asked, goes through once"""
    one = counter(kit)
    assert not one.retry("z0", state="denied").allowed
    one.let("bob")
    assert one.retry("z1", state="denied").allowed
    one.done("z1")
    assert not one.retry("z2", state="denied").allowed
    one.close()


@legal("deny-let-through-where-the-policy-says-so", beside="denied-by-a-rule-and-lifted",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    one = counter(kit, OPEN)
    assert not one.retry("z0", "may-deny", state="denied").allowed
    one.let("alice", answer="deny")
    assert one.retry("z1", "may-deny", state="denied").allowed
    one.done("z1")
    one.close()


@legal("ask-of-an-override-let-through", beside="denied-by-a-rule-and-lifted", base=BASE)
def _(kit: Any) -> None:
    """An exception asks about what its rule denies"""
    one = counter(kit)
    assert not one.retry("z0", "milder").allowed
    one.let("bob")
    assert one.retry("z1", "milder").allowed
    one.done("z1")
    one.close()


@legal("class-let-through-a-few-times", beside="lifted-by-a-class-that-was-taken-back", base=BASE)
def _(kit: Any) -> None:
    """Each call uses up one of the approvals that were given beforehand"""
    one = counter(kit)
    for _ in range(2):
        one.let("carol", args_digest=None, signer="carol 2")
    for call, args in (("z0", "x"), ("z1", "y")):
        assert one.retry(call, args=args).allowed
        one.done(call, args=args)
    assert not one.retry("z2").allowed
    one.stop()
    one.close()


@legal("let-through-and-never-tried-again", beside="lifted-after-the-approval-expired", base=BASE)
def _(kit: Any) -> None:
    """An approval is leave and no duty: nobody has to use it"""
    one = counter(kit)
    one.let("bob")
    one.ts += 20 * MINUTE
    assert not one.retry("z0", state="denied").allowed
    one.close()


@legal("signed-for-before-it-was-seen", beside="lifted-before-it-was-seen", base=BASE)
def _(kit: Any) -> None:
    """It stays held back, also when it is tried again: nobody has seen it and signed then"""
    one = counter(kit)
    one.let("bob")
    assert not one.retry("z0").allowed
    assert not one.retry("z1").allowed
    one.close()


@legal("signed-for-after-its-class-was-let-through", beside="lifted-before-it-was-seen",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    """A call that passed on leave for its class was shown to nobody"""
    one = counter(kit)
    one.let("bob", args_digest=None)
    assert one.retry("z0").allowed
    one.done("z0")
    one.let("bob")
    assert not one.retry("z1").allowed
    one.close()


@legal("let-through-in-a-linear-session", beside="denied-by-a-rule-and-lifted", base=BASE)
def _(kit: Any) -> None:
    one = counter(kit, session="line", shape="linear")
    assert not one.retry("z0").allowed
    one.let("bob")
    assert one.retry("z1").allowed
    one.done("z1")
    one.close()


@legal("signed-with-the-key-of-a-clock-ahead", beside="lifted-after-the-approval-expired",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    """The person's clock runs ahead: the decision takes the later time"""
    one = counter(kit)
    assert not one.retry("z0").allowed
    ts = one.ts + 5 * MINUTE
    one.let("bob", ts=ts, expiry=ts + MINUTE)
    assert one.retry("z1").allowed
    one.ts = ts
    one.done("z1")
    one.close()
