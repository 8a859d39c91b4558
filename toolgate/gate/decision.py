"""What the gate answers."""

from typing import NamedTuple

from toolgate.gate.effects.model import Effect
from toolgate.gate.facts.session import Fact

__all__ = [
    "ALLOW",
    "ASK",
    "AXES",
    "COMPOSITION",
    "DENY",
    "JUDGE_RULE",
    "LEDGER_STATE",
    "STRICTNESS",
    "Decision",
    "Fact",
]

ALLOW, ASK, DENY = "allow", "ask", "deny"
STRICTNESS = {ALLOW: 0, ASK: 1, DENY: 2}
LEDGER_STATE = {ALLOW: "allowed", ASK: "asked", DENY: "denied"}
COMPOSITION = "composition"
"""Rule name of a decision on an action that its class lets principals decide."""

JUDGE_RULE = "judge"
"""Rule name of a decision that is stricter only because its judge could not be asked in full."""

AXES = (
    "destructive",
    "exfiltration",
    "privilege",
    "secret_exposure",
    "off_task",
    "violates_constraint",
    "unresolved_choice",
)


class Decision(NamedTuple):
    """An answer and everything it rests on.

    Args:
        state: ``allow``, ``ask`` or ``deny``.
        rule: name of the deciding rule.
        axis: the axis it belongs to, or None.
        action_class: the policy's class of the action.
        effects: every effect found, in order.
        facts: the facts that were used.
        proof: ``proved``, or ``unresolved(reason)`` of the first effect that is not.
        policy: digest of the compiled policy.
        sentence: one sentence for people; names no secret.
        converted: whether it was an ask before somebody found that nobody can be asked.
    """

    state: str
    rule: str
    axis: str | None
    action_class: str
    effects: tuple[Effect, ...]
    facts: tuple[Fact, ...]
    proof: str
    policy: str
    sentence: str
    converted: bool = False
