"""Whether a policy lets a person lift what a decision says, as its entry and approvals show."""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from toolgate.verify.given import Approval, Resting
from toolgate.verify.policy import Policy
from toolgate.verify.shapes import Decision

TAMPER = "gate.tamper"
_MINUTE_US = 60_000_000


def matter_of(entry: Decision) -> bytes:
    """Return 32 bytes that stand for what somebody who is asked about a call can see of it."""
    said = (entry.ev.args_digest, entry.action_class, entry.rule, entry.effects)
    return sha256(msgspec.json.encode(said)).digest()


def not_lifted(one: Resting, policy: Policy, good: Sequence[Approval]) -> str:
    """Return why approvals that answer no ask let a call through in vain; "" if they may.

    Args:
        one: the allowed decision, of a class without composition.
        policy: its policy.
        good: the signed approvals it cites that are good by themselves.
    """
    if not good:
        return ""  # what is wrong with them was found already
    if one.tampers:
        return "it changes the gate, which no signature lets through"
    answer = _answer(policy, one.rule)
    if answer not in ("ask", "deny"):
        return f"{one.rule} is no rule of the policy that asks or denies"
    lift = policy.lift
    if one.rule in lift.never or (lift.ask if answer == "ask" else lift.deny) != "person":
        return f"the policy lets nobody lift rule {one.rule}, which says {answer}"
    for item in good:
        why = _too_wide(item, answer, lift.minutes) or _unseen(item, one.seen_at)
        if why:
            return f"the approval by {item.principal!r} ({item.entry}) {why}"
    return ""


def _answer(policy: Policy, name: str) -> str | None:
    if name == "default":
        return policy.default
    answers = [(one.rule, one.decide) for one in policy.rules]
    answers += [(one.override, one.decide) for one in policy.overrides]
    return next((answer for rule, answer in answers if rule == name), None)


def _too_wide(item: Approval, answer: str, minutes: int) -> str:
    ev = item.ev
    if ev["class"] is None:
        return "names no class"
    if ev["args_digest"] is None and answer == "deny":
        return "names no arguments, and the rule denies"
    if ev["expiry"] - ev["ts"] > minutes * _MINUTE_US:
        return f"holds longer than the {minutes} minutes the policy gives it"
    return ""


def _unseen(item: Approval, seen_at: int | None) -> str:
    """Say that nobody who signed for a call's arguments could see what it does."""
    if item.ev["args_digest"] is None or (seen_at is not None and seen_at <= item.ev["ts"]):
        return ""
    return "was given before a call with these effects was asked about or denied by this rule"
