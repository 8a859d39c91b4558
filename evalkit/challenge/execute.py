"""Showing the cases of a set to a gate, each exactly once, with every decision recorded.

Order of writing, so that a crash at any point is read correctly afterwards:
``started`` row, decision in the run's ledger, ``finished`` row. Decisions and
finished rows are written in groups (``GROUP`` cases or ``GROUP_US``), one sync
each. A case that was started and not finished is in doubt: when its decision
is in the run's ledger already it is taken from there, and the gate has to
give it again; else it is shown again, as its next attempt.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from evalkit.challenge.case import POST, PRE, SEQUENTIAL, Case, ChallengeSet, Step
from evalkit.challenge.earlier import Earlier
from evalkit.challenge.journal import Journal, Progress
from evalkit.challenge.mechanism import Mechanism, broken_link
from evalkit.challenge.ordered import alone, by_processes, by_threads
from evalkit.challenge.score import UNSCORED, Result
from evalkit.errors import RefusedError
from evalkit.gates.choice import AnyGate
from evalkit.gates.inprocess import Answer, Gate, ask, call_of, said_by
from evalkit.gates.outside import OutsideCase, OutsideGate
from toolgate.gate.decision import LEDGER_STATE
from toolgate.gate.facts.session import Session
from toolgate.gate.recorded import fields_of
from toolgate.ledger.index import decision_digest_of
from toolgate.records import DecisionFields
from toolgate.verify.workers import cpus

GROUP = 100
GROUP_US = 50_000
WORTH_FORKING, MOST_FORKED = 1000, 4
"""From how many cases on our own gate is asked in several processes, and in how many at most."""
SHARED_TURN = "cases"
STATE_OF = {recorded: state for state, recorded in LEDGER_STATE.items()}


class RunLedger(Protocol):
    """What is asked of a run's ledger."""

    def decide_lines(
        self, session: str, *, key: str, fields: list[DecisionFields], policy: bytes, ts: int
    ) -> list[bytes]:
        """Append decisions to a turn and return their entries."""


class Recorded(NamedTuple):
    """A decision found in a run's ledger.

    Args:
        state: the ledger's decision_state.
        rule: the deciding rule.
        args_digest: digest of the tool input.
        decision_digest: digest of the decision event.
        line: the entry.
    """

    state: str
    rule: str
    args_digest: str
    decision_digest: str
    line: bytes


class Desk(NamedTuple):
    """What a run works with.

    Args:
        run: the run's id, which is also its session's.
        build: digest of the build.
        salt: the ledger's salt.
        gate: the gate.
        jobs: how many single calls are asked about at the same time; None for one, or with
            our gate and a large set for as many as there are processors.
        ledger: the run's ledger.
        journal: the run's journal.
        clock: the time now, microseconds UTC.
        stopping: whether the user has asked to stop.
        on_progress: told how many cases are finished.
    """

    run: str
    build: str
    salt: bytes
    gate: AnyGate
    jobs: int | None
    ledger: RunLedger
    journal: Journal
    clock: Callable[[], int]
    stopping: Callable[[], bool]
    on_progress: Callable[[int], None]


class _Done(NamedTuple):
    """A case that was shown: its result, and what is to be appended for it."""

    result: Result
    fields: list[DecisionFields]


def execute(
    made: ChallengeSet, desk: Desk, before: Progress, recorded: dict[str, Recorded]
) -> dict[str, Result]:
    """Show every case that is not finished, and return all results by case id.

    Args:
        made: the set.
        desk: what the run works with.
        before: what the journal says already.
        recorded: decisions already in the run's ledger, by call id.

    Returns:
        Results by case id; fewer than cases when the user stopped the run.

    Raises:
        RefusedError: the gate does not repeat a decision it has recorded.
    """
    results = dict(before.finished)
    group = _Group(desk, results)

    def begun(case: Case) -> bool:
        if desk.stopping():
            return False
        desk.journal.started(case.id, before.attempts.get(case.id, 0) + 1, desk.clock())
        group.turn_to(_turn_of(made, case))
        return True

    def shown(case: Case) -> _Done:
        return _show(made, case, desk, recorded)

    left = [case for case in made.cases if case.id not in results]
    jobs = _at_once(made, desk, len(left))
    if jobs == 1:
        answers = alone(left, begun, shown)
    else:
        several = by_threads if isinstance(desk.gate, OutsideGate) else by_processes
        answers = several(left, begun, shown, jobs)
    for case, done in answers:
        known = recorded.get(case.id)
        group.take(done if known is None else _adopt(done, known, case, desk))
    group.flush()
    return results


def _at_once(made: ChallengeSet, desk: Desk, cases: int) -> int:
    """Return how many cases are shown at the same time, in threads or in processes."""
    if made.form == SEQUENTIAL:
        return 1  # such a case is a turn of its own, written while it is shown
    if desk.jobs is not None or isinstance(desk.gate, OutsideGate):
        return desk.jobs or 1
    return min(cpus(), MOST_FORKED) if cases >= WORTH_FORKING else 1


def _turn_of(made: ChallengeSet, case: Case) -> str:
    return case.id if made.form == SEQUENTIAL else SHARED_TURN


class _Group:
    """Collects finished cases and writes them together."""

    def __init__(self, desk: Desk, results: dict[str, Result]) -> None:
        self._desk = desk
        self._results = results
        self._waiting: list[_Done] = []
        self._key = SHARED_TURN
        self._since = desk.clock()

    def turn_to(self, key: str) -> None:
        """Write the group when the next case belongs to another turn."""
        if key != self._key:
            self._append()
            self._key = key

    def take(self, done: _Done) -> None:
        """Add a case of the present turn."""
        self._waiting.append(done)
        late = self._desk.clock() - self._since >= GROUP_US
        if late or len(self._waiting) >= GROUP:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting to the ledger, then to the journal."""
        self._append()
        self._since = self._desk.clock()

    def _append(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        desk = self._desk
        fields = [item for done in waiting for item in done.fields]
        digests: list[str] = []
        if fields:
            lines = _append(desk, self._key, fields)
            digests = [decision_digest_of(line) for line in lines]
        finished, used = [], 0
        for done in waiting:
            used += len(done.fields)
            result = done.result
            # The scored call is the last one of its case.
            if done.fields and result.decided != UNSCORED:
                result = result._replace(decision_digest=digests[used - 1])
            finished.append(result)
        desk.journal.finished(finished, desk.clock())
        self._results.update((result.case, result) for result in finished)
        desk.on_progress(len(self._results))


def _append(desk: Desk, key: str, fields: list[DecisionFields]) -> list[bytes]:
    return desk.ledger.decide_lines(
        desk.run, key=key, fields=fields, policy=desk.gate.policy_bytes, ts=desk.clock()
    )


def _show(made: ChallengeSet, case: Case, desk: Desk, recorded: dict[str, Recorded]) -> _Done:
    """Deliver a case's calls in order; only the scored one makes the result.

    A call before the scored one is recorded at once, because what follows rests on its
    entry; one that an interrupted run has recorded already is not recorded again.
    """
    earlier = Earlier(desk.salt)
    with _one_case(made, case, desk.gate) as gate:
        for number, step in enumerate(case.delivered()):
            if step.event == POST:
                earlier.ended(step.result)
                if isinstance(gate, OutsideCase):
                    gate.ended(step.result)
            if step.event != PRE:
                continue
            call_id = case.id if step.scored else f"{case.id}#{number}"
            answer = _deliver(made, case, step, desk, gate, call_id, earlier.session)
            fields = _fields(answer, call_id, desk)
            if step.scored:
                wanted = None if isinstance(gate, OutsideCase) else case.mechanism
                return _Done(_result(case, answer, wanted), [] if fields is None else [fields])
            if fields is not None:
                before = recorded.get(call_id)
                line = before.line if before else _append(desk, _turn_of(made, case), [fields])[0]
                earlier.decided(fields, line)
    raise AssertionError("a set that was read has a scored step in every case")


@contextmanager
def _one_case(made: ChallengeSet, case: Case, gate: AnyGate) -> Iterator[Gate | OutsideCase]:
    """Give a gate that is not ours a place of its own for a case."""
    if not isinstance(gate, OutsideGate):
        yield gate
        return
    fixtures = made.fixtures
    prompts = (*fixtures.assumptions, *case.prompts)
    with gate.case(f"{made.name} {case.id}", prompts, fixtures.home, fixtures.cwd) as one:
        yield one


def _fields(answer: Answer, call_id: str, desk: Desk) -> DecisionFields | None:
    if answer.decision is None:
        return None
    return fields_of(
        answer.call,
        answer.decision,
        call_id=call_id,
        salt=desk.salt,
        ts=answer.call.ts,
        build=desk.build,
        args_digest=answer.args_digest,
    )


def _deliver(
    made: ChallengeSet,
    case: Case,
    step: Step,
    desk: Desk,
    gate: Gate | OutsideCase,
    call_id: str,
    session: Session,
) -> Answer:
    said = said_by(made, case, step)
    call = call_of(made, case, step, session=desk.run, call_id=call_id, ts=desk.clock())
    return ask(gate, call, said, session)


def _result(case: Case, answer: Answer, wanted: Mechanism | None) -> Result:
    decision = answer.decision
    common: dict[str, Any] = {
        "case": case.id,
        "pair": case.pair,
        "category": case.category,
        "expected": case.expected,
        "decision_digest": None,
    }
    if decision is None:
        return Result(
            **common, decided=UNSCORED, rule=answer.failure, axis=None, action_class="",
            proof="", effects=(), sentence=answer.reason, stated=wanted is not None,
        )  # fmt: skip
    effects = frozenset(effect.type for effect in decision.effects)
    facts = frozenset(fact.code for fact in decision.facts)
    return Result(
        **common,
        decided=decision.state,
        rule=decision.rule,
        axis=decision.axis,
        action_class=decision.action_class,
        proof=decision.proof,
        effects=tuple(sorted(effects)),
        sentence=decision.sentence,
        facts=tuple(sorted(facts)),
        stated=wanted is not None,
        broken="" if wanted is None else broken_link(wanted, facts, effects, decision.axis),
    )


def _adopt(done: _Done, recorded: Recorded, case: Case, desk: Desk) -> _Done:
    """Take an in-doubt case's decision from the ledger instead of appending a second one.

    Our gate has to give it again. Nobody can hold another gate to that: its first answer
    counts, and the result says what it answered when it was shown the case again.
    """
    again = done.fields[-1] if done.fields else None
    same = again is not None and (again.decision_state, again.rule, again.args_digest)
    if same != recorded[:3] and isinstance(desk.gate, OutsideGate):
        said = f"{done.result.decided} when it was shown again"
        first = done.result._replace(
            decided=STATE_OF[recorded.state], rule=recorded.rule, sentence=said
        )
        return _Done(first._replace(decision_digest=recorded.decision_digest), [])
    if same != recorded[:3]:
        raise RefusedError(
            f"case {case.id}: its decision is recorded as {recorded.state} by {recorded.rule}, "
            "but the gate now answers otherwise; the run cannot be continued"
        )
    return _Done(done.result._replace(decision_digest=recorded.decision_digest), [])
