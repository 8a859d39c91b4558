"""A call of a class that principals decide: allowed on their approvals, else denied with who.

Loaded only for such a call. A hook never waits, and a click in the host is no
signed approval, so a host that could ask is answered deny as well.
"""

from collections.abc import Mapping
from shlex import quote

from toolgate.approval import Approval, Approvers
from toolgate.gate.decision import ALLOW, Decision
from toolgate.gate.engine import Gate
from toolgate.gate.policy.compose import STAGED, Rule
from toolgate.hook.event import Event
from toolgate.ledger.append import Ledger
from toolgate.ledger.approvals import Composing
from toolgate.records import DecisionFields

_SHOWN_DIGITS = 16


def settle(
    ledger: Ledger,
    gate: Gate,
    event: Event,
    decision: Decision,
    fields: DecisionFields,
    environ: Mapping[str, str],
    ts: int,
) -> Decision:
    """Record the decision on a composed call and return it.

    Args:
        ledger: where approvals and decisions stand.
        gate: the gate that decided.
        event: the host's event.
        decision: the gate's answer as long as nobody approved.
        fields: that answer in the form the ledger keeps.
        environ: the process environment; names the ledger in the command to type.
        ts: when the call was received, microseconds UTC.
    """
    rule = gate.policy.approvers(decision.action_class)
    settled = ledger.decide_composed(
        event.session,
        key=event.key,
        composing=Composing(fields, Approvers(rule, gate.policy.principals)),
        policy=gate.policy_bytes,
        ts=ts,
    )
    if settled.allowed:
        by = ", ".join(item.principal for item in rule.choose(settled.standing))
        sentence = f"Allowed: class {decision.action_class}, approved by {by} (rule composition)."
        return decision._replace(state=ALLOW, sentence=sentence)
    digits = settled.decision_digest[7 : 7 + _SHOWN_DIGITS]
    said = unmet(rule, settled.standing, digits, environ.get("TOOLGATE_LEDGER"))
    return decision._replace(sentence=f"{decision.sentence} {said}")


def unmet(rule: Rule, standing: list[Approval], decision: str, ledger: str | None) -> str:
    """Say what is missing and how to give it.

    Args:
        rule: the class's composition.
        standing: the approvals there are.
        decision: enough digits of the decision to name it by.
        ledger: where the ledger lies, if not at its usual place.
    """
    missing = rule.missing(standing)
    names = missing[:1] if rule.operator == STAGED else missing
    place = "" if ledger is None else f" --ledger {quote(ledger)}"
    commands = [f"toolgate approve {decision} --as {quote(name)}{place}" for name in names]
    given = ", ".join(dict.fromkeys(item.principal for item in standing))
    so_far = f"Approved so far by {given}; {rule.phrase(standing)}. " if standing else ""
    return (
        f"{so_far}A click in the host is no signed approval. To give one, run "
        f"{' or '.join(commands)}, then let the agent try again."
    )
