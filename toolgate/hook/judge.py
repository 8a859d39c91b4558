"""Asking a policy's judge about a call, and putting on record what it said.

Loaded only where a policy names one.
"""

from collections.abc import Mapping

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision, Fact
from toolgate.gate.judge.cache import users_cache
from toolgate.gate.judge.consult import Weigh, consult
from toolgate.gate.judge.record import ACTION, FACT, details_of
from toolgate.gate.policy.model import Policy
from toolgate.gate.task.task import Task
from toolgate.ledger.append import Ledger


def judged(
    ledger: Ledger,
    policy: Policy,
    call: ToolCall,
    task: Task,
    decision: Decision,
    weigh: Weigh,
    *,
    call_id: str,
    args_digest: str,
    environ: Mapping[str, str],
    ts: int,
) -> Decision:
    """Return the decision with what the policy's judge says of it; the same if it is not asked.

    What was said stands in the ledger before the decision does, which names it.

    Args:
        ledger: where decisions stand.
        policy: the policy, which names a judge.
        call: the call.
        task: what the user asked for.
        decision: what the gate finds without a judge.
        weigh: decides the call once more with the judge's readings.
        call_id: the id its decision will have.
        args_digest: digest of the tool's input.
        environ: the process environment, for the key.
        ts: when the call was received, microseconds UTC.

    Raises:
        LedgerError: it cannot be put on record.
    """
    consulted = consult(policy, call, task, decision, weigh, environ, users_cache())
    if consulted is None:
        return decision
    judgement = consulted.judgement
    entry = ledger.audit(
        action=ACTION,
        actor=call.host,
        target=judgement.request,
        details=details_of(judgement, call=call_id, tool=call.tool, args_digest=args_digest),
        ts=ts,
        session=call.session,
    )
    made = consulted.decision
    return made._replace(facts=(Fact(FACT, entry), *made.facts))
