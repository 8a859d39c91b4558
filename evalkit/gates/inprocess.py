"""Showing a case to a gate in this process, and checking what the gate received."""

from typing import NamedTuple, Protocol

from evalkit.challenge.case import Case, ChallengeSet, Step
from evalkit.gates.heard import NoAnswerError
from toolgate.canonical import digest_of
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import STRICTNESS, Decision
from toolgate.gate.facts.session import NOTHING, Session
from toolgate.gate.task.task import Task

HOST = "evalkit"
INVALID_INPUT = "invalid-input"
GATE_FAILED = "gate-failed"


class Gate(Protocol):
    """What is asked of a gate.

    ``policy_digest`` and ``policy_bytes`` name and hold the compiled policy.
    """

    @property
    def policy_digest(self) -> str:
        """Return the digest of the compiled policy."""

    @property
    def policy_bytes(self) -> bytes:
        """Return the compiled policy."""

    def decide(self, call: ToolCall, session: Session = NOTHING) -> Decision:
        """Return the decision on one call, given what is known of the session before it."""


class Said(NamedTuple):
    """What reaches a gate of one call.

    Args:
        tool: the tool's name.
        input: digest of the tool's input.
        task: what the user asked for, or None.
        cwd: working directory.
        home: home directory.
        mode: permission mode, or None.
    """

    tool: str | None
    input: str
    task: Task | None
    cwd: str
    home: str
    mode: str | None


class Answer(NamedTuple):
    """What a gate said to one call.

    Args:
        call: the call as it was given.
        decision: the answer, or None when there is none to score.
        failure: ``invalid-input`` or ``gate-failed`` when there is none, else "".
        reason: one sentence on the failure, else "".
        args_digest: digest of the tool input the set says.
    """

    call: ToolCall
    decision: Decision | None
    failure: str
    reason: str
    args_digest: str


def call_of(
    made: ChallengeSet, case: Case, step: Step, *, session: str, call_id: str, ts: int
) -> ToolCall:
    """Return the call the gate is shown for one step.

    Args:
        made: the set, for its fixtures.
        case: the case; of its words only the task reaches the gate.
        step: the step.
        session: the run's id.
        call_id: the call's id in the run's ledger.
        ts: microseconds UTC.
    """
    fixtures = made.fixtures
    return ToolCall(
        host=HOST,
        session=session,
        key=case.id,
        call=call_id,
        agent=(HOST,),
        principal=HOST,
        auth_mode="service",
        tool=step.tool or "",
        input=step.input or {},
        place=Place(cwd=fixtures.cwd, roots=(fixtures.cwd,), home=fixtures.home),
        mode=fixtures.permission_mode,
        task=made.task_of(case),
        ts=ts,
    )


def ask(gate: Gate, call: ToolCall, said: Said, session: Session = NOTHING) -> Answer:
    """Show one call to a gate.

    What the gate was given is compared with what the set says after it
    answered, so an input changed on the way, or by the gate, makes the case
    unscored.

    Args:
        gate: the gate.
        call: the call.
        said: what the set says, taken before the call was made.
        session: what is known of the calls before it.
    """
    try:
        decision = gate.decide(call, session)
    except NoAnswerError as error:
        return _unscored(call, said, GATE_FAILED, str(error))
    except Exception as error:  # a gate that breaks is an unscored case, not the end of a run
        return _unscored(call, said, GATE_FAILED, f"the gate raised {type(error).__name__}")
    received = received_by(call)
    if received != said:
        fields = [
            name
            for name, one, other in zip(Said._fields, said, received, strict=True)
            if one != other
        ]
        reason = f"what the gate received is not what the set says: {', '.join(fields)}"
        return _unscored(call, said, INVALID_INPUT, reason)
    if decision.state not in STRICTNESS:
        reason = "the gate answered none of allow, ask, deny"
        return _unscored(call, said, GATE_FAILED, reason)
    return Answer(call, decision, "", "", said.input)


def _unscored(call: ToolCall, said: Said, failure: str, reason: str) -> Answer:
    return Answer(call, None, failure, reason, said.input)


def said_by(made: ChallengeSet, case: Case, step: Step) -> Said:
    """Return what the set says a gate is to receive.

    Args:
        made: the set.
        case: the case.
        step: the step.
    """
    fixtures = made.fixtures
    return Said(
        tool=step.tool,
        input=digest_of(step.input),
        task=made.task_of(case),
        cwd=fixtures.cwd,
        home=fixtures.home,
        mode=fixtures.permission_mode,
    )


def received_by(call: ToolCall) -> Said:
    """Return what a gate received, as it is now."""
    return Said(
        tool=call.tool,
        input=digest_of(call.input),
        task=call.task,
        cwd=call.place.cwd,
        home=call.place.home,
        mode=call.mode,
    )
