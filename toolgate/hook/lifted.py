"""A call the policy asks about or denies, which a person may have let through once.

Loaded only for such a call, and only where the policy knows whose signature counts.
"""

from collections.abc import Mapping
from shlex import quote

from toolgate.approval import Approvers, code_of
from toolgate.canonical import parse
from toolgate.gate.decision import ALLOW, ASK, Decision
from toolgate.gate.engine import Gate
from toolgate.gate.policy.lift import Lifting, answer_by, is_sealed, lift_of
from toolgate.hook.event import Event
from toolgate.ledger.append import Ledger
from toolgate.ledger.approvals import Composing
from toolgate.records import DecisionFields


def settle(
    ledger: Ledger,
    gate: Gate,
    event: Event,
    decision: Decision,
    fields: DecisionFields,
    environ: Mapping[str, str],
    ts: int,
) -> Decision:
    """Record the decision on a call that is asked about or denied, and return it.

    Args:
        ledger: where approvals and decisions stand.
        gate: the gate that decided.
        event: the host's event.
        decision: the gate's answer.
        fields: that answer in the form the ledger keeps.
        environ: the process environment; names the ledger in the command to type.
        ts: when the call was received, microseconds UTC.
    """
    lifting = _lifting(gate, decision, fields.intent.action_type)
    if lifting is None:
        policy = gate.policy_bytes
        ledger.decide(event.session, key=event.key, fields=fields, policy=policy, ts=ts)
        return decision
    settled = ledger.decide_composed(
        event.session,
        key=event.key,
        composing=Composing(fields, Approvers(lifting, gate.policy.principals), seen=True),
        policy=gate.policy_bytes,
        ts=ts,
    )
    if settled.allowed:
        (given,) = lifting.choose(settled.standing)
        sentence = f"Allowed once: {given.principal} signed for it (rule {decision.rule})."
        return decision._replace(state=ALLOW, sentence=sentence)
    code = code_of(event.session, fields.args_digest, fields.action_class)
    said = _how(decision.state, code, lifting.principals, environ.get("TOOLGATE_LEDGER"))
    return decision._replace(sentence=f"{decision.sentence} {said}")


def _lifting(gate: Gate, decision: Decision, tool: str) -> Lifting | None:
    """Return who may let a call through; None if nobody may."""
    policy = gate.policy
    if decision.action_class in policy.composition:
        return None  # the class's own approvers decide, and what a rule denies stays denied
    compiled = parse(policy.data)
    lift = lift_of(compiled.get("lift"))
    answer = answer_by(compiled, decision.rule)
    effects = (effect.type for effect in decision.effects)
    if answer is None or lift.refusal(decision.rule, answer, effects):
        return None
    if is_sealed(policy.rules, lift.never, tool, decision.effects):
        return None
    return Lifting(tuple(policy.principals), answer, lift.minutes)


def _how(state: str, code: str, people: tuple[str, ...], ledger: str | None) -> str:
    """Say how a person lets the call through, and no other."""
    place = "" if ledger is None else f" --ledger {quote(ledger)}"
    who = f" --as {quote(people[0])}" if len(people) == 1 else " --as NAME"
    command = f"toolgate allow-once {code}{who}{place}"
    if state == ASK:
        return f"To sign for it instead of a click: {command}, then let the agent try again."
    return (
        f"A person may let exactly this call through once: {command}, then let the agent try again."
    )
