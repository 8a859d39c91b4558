"""Asking a policy's judge about a call, and putting on record what it said.

Loaded only where a policy names one.
"""

from collections.abc import Mapping

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision, Fact
from toolgate.gate.engine import Gate
from toolgate.gate.facts.session import Session
from toolgate.gate.judge.cache import users_cache
from toolgate.gate.judge.consult import consult
from toolgate.gate.judge.record import ACTION, FACT, details_of
from toolgate.gate.task.task import NO_TASK
from toolgate.ledger.append import Ledger


def judged(
    ledger: Ledger,
    gate: Gate,
    call: ToolCall,
    session: Session,
    decision: Decision,
    call_id: str,
    args_digest: str,
    environ: Mapping[str, str],
) -> Decision:
    """Return the decision with what the policy's judge says of it; the same if it is not asked.

    What was said stands in the ledger before the decision does, which names it.

    Args:
        ledger: where decisions stand.
        gate: the gate, whose policy names a judge.
        call: the call, with its task.
        session: what is known of the session before it.
        decision: what the gate finds without a judge.
        call_id: the id its decision will have.
        args_digest: digest of the tool's input.
        environ: the process environment, for the key.

    Raises:
        LedgerError: it cannot be put on record.
    """
    consulted = consult(
        gate.policy,
        call,
        call.task or NO_TASK,
        decision,
        lambda readings: gate.decide(call, session, readings=readings),
        environ,
        users_cache(),
    )
    if consulted is None:
        return decision
    judgement, made = consulted.judgement, consulted.decision
    entry = ledger.audit(
        action=ACTION,
        actor=call.host,
        target=judgement.request,
        details=details_of(judgement, call=call_id, tool=call.tool, args_digest=args_digest),
        ts=call.ts,
        session=call.session,
    )
    return made._replace(facts=(Fact(FACT, entry), *made.facts))
