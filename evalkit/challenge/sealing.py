"""From a claim to a report: execute, seal, verify, publish.

Every step looks first whether it was done already, so a run that was killed
anywhere can be finished by going through the same steps again.
"""

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from evalkit.build import Build
from evalkit.challenge.anchor import keep_head_locked
from evalkit.challenge.case import Fixtures
from evalkit.challenge.claims import SEALED, Claim, read_claims
from evalkit.challenge.execute import Desk, execute
from evalkit.challenge.freeze import Frozen
from evalkit.challenge.hold import CLAIMS
from evalkit.challenge.journal import Journal, read_journal
from evalkit.challenge.loss import weights_of
from evalkit.challenge.predict import kept_promise
from evalkit.challenge.quarantine import read_quarantines, without
from evalkit.challenge.rundir import (
    hold_to_ledger,
    recorded_decisions,
    run_directory,
    session_closed,
)
from evalkit.challenge.score import Result, comparable, score
from evalkit.challenge.threshold import held, threshold
from evalkit.errors import IncompleteError, StorageError
from evalkit.gates.choice import AnyGate
from evalkit.gates.inprocess import HOST
from evalkit.gates.outside import OutsideGate
from evalkit.report.context import Seal, report_context
from evalkit.report.publish import publish, published_looks, report_name, tag_of
from toolgate.canonical import digest_of, parse
from toolgate.errors import CanonicalizationError
from toolgate.ledger.append import Ledger
from toolgate.ledger.files import Locked
from toolgate.ledger.salt import salt
from toolgate.verify import Finding, verify

_MOST_FINDINGS = 20
_NEVER_US = 10**18
_COUNTS = ("cases", "match", "permissive", "dangerous_allow", "stricter", "unscored")


class Watch(NamedTuple):
    """How a run speaks with the person who waits for it.

    Args:
        stopping: whether the person has asked to stop.
        on_progress: told how many cases are finished, out of how many.
    """

    stopping: Callable[[], bool] = lambda: False
    on_progress: Callable[[int, int], None] = lambda _done, _total: None


class Work(NamedTuple):
    """A claimed run and everything it needs.

    Args:
        root: the ledger's directory.
        reports: the reports' directory.
        frozen: the set.
        gate: the gate.
        jobs: how many cases are asked about at the same time, as ``execute.Desk`` has it.
        build: the build.
        main: the ledger the claim is in.
        claim: the claim.
        earlier: earlier looks at the set's lineage.
    """

    root: str
    reports: str
    frozen: Frozen
    gate: AnyGate
    jobs: int | None
    build: Build
    main: Ledger
    claim: Claim
    earlier: list[Claim]


class Finished(NamedTuple):
    """A sealed run.

    Args:
        context: everything its report says.
        report: path of the Markdown report.
    """

    context: dict[str, Any]
    report: str


def now() -> int:
    """Return the time, microseconds UTC."""
    return time.time_ns() // 1000


def finish(work: Work, watch: Watch) -> Finished:
    """Show what is left to show, then seal, verify and report.

    Args:
        work: the claimed run.
        watch: who waits.

    Raises:
        IncompleteError: the person stopped the run; it can be continued.
        StorageError: journal and ledger of the run contradict each other.
    """
    directory = run_directory(work.root, work.claim.run)
    own = Ledger(directory, durability="fsync", executes=False, host=HOST)
    results, repeated = _execute(work, watch, directory, own)
    pin = _close(work, directory, own, results)
    head = _as_text(pin)
    results_digest = digest_of([comparable(result) for result in results])
    weights = weights_of(work.frozen.set)
    figures = score(results, weights)
    claim, main_head = _seal(work, figures, head, results_digest)
    verified = verify(directory, expect_head=pin)
    seal = Seal(
        head=main_head,
        run_head=head,
        results_digest=results_digest,
        verdict=verified.verdict,
        findings=_sentences(verified.primary),
        repeated=repeated,
    )
    context = report_context(
        made=work.frozen.set,
        manifest=work.frozen.manifest,
        build=work.build,
        policy_name=_policy_name(work.gate.policy_bytes),
        gate=_gate_part(work.gate, work.frozen.set.fixtures),
        claim=claim,
        seal=seal,
        results=results,
        figures=figures,
        earlier=work.earlier,
        published=published_looks(
            work.reports,
            claim.details,
            {known.run for known in read_claims(work.root)},
        ),
        thresholds=held([threshold(text) for text in claim.details.get("fail_if") or ()], figures),
        prediction=_kept(claim, results),
        quarantine=without(results, read_quarantines(work.root, work.frozen.digest), weights),
    )
    report = publish(context, work.frozen.set, work.reports, work.main, now())
    keep_head_locked(work.root, work.reports)
    return Finished(context, report)


def _execute(
    work: Work, watch: Watch, directory: str, own: Ledger
) -> tuple[list[Result], list[str]]:
    """Return the results in file order, and the cases that were started more than once."""
    cases = work.frozen.set.cases
    run = work.claim.run
    before = read_journal(directory)
    recorded = recorded_decisions(directory, run)
    journal = Journal(directory)
    try:
        if before.fragment:
            journal.recovered(before.fragment, now())
        if len(before.finished) < len(cases):
            if not recorded:
                own.session_open(run, ts=now())
            desk = Desk(
                run=run,
                build=work.build.digest,
                salt=salt(work.root),
                gate=work.gate,
                jobs=work.jobs,
                ledger=own,
                journal=journal,
                clock=now,
                stopping=watch.stopping,
                on_progress=lambda done: watch.on_progress(done, len(cases)),
            )
            found = execute(work.frozen.set, desk, before, recorded)
        else:
            found = before.finished
    finally:
        journal.close()
    if len(found) < len(cases):
        raise IncompleteError(
            f"run {run}: stopped after {len(found)} of {len(cases)} cases; what is done is kept. "
            f"Continue it: evalkit resume {run}"
        )
    repeated = [
        case
        for case, attempt in before.attempts.items()
        if attempt > 1 or case not in before.finished
    ]
    return [found[case.id] for case in cases], repeated


def _close(work: Work, directory: str, own: Ledger, results: list[Result]) -> tuple[int, str]:
    """Hold the results to the run's ledger, close its session, and return its head."""
    run = work.claim.run
    hold_to_ledger(results, recorded_decisions(directory, run), run)
    if not session_closed(directory):
        own.recover(ts=now(), idle_us=_NEVER_US)  # what a kill left behind the last whole line
        own.session_close(run, closed_by="session_end", ts=now())
    return own.head()


def _seal(work: Work, figures: dict[str, Any], head: str, results_digest: str) -> tuple[Claim, str]:
    """Put the seal into the main ledger, once; return the sealed claim and that ledger's head."""
    with Locked(os.path.join(work.root, CLAIMS)):
        claims = read_claims(work.root)
        claim = next((claim for claim in claims if claim.run == work.claim.run), work.claim)
        if claim.sealed is None:
            claim = _append_seal(work, figures, head, results_digest)
    sealed = claim.sealed or {}
    for name, found in (("run_head", head), ("results_digest", results_digest)):
        if sealed.get(name) != found:
            raise StorageError(
                f"run {claim.run}: {name} was sealed as {sealed.get(name)}, is {found}; "
                "nothing was reported"
            )
    return claim, _as_text(work.main.head())


def _append_seal(work: Work, figures: dict[str, Any], head: str, results_digest: str) -> Claim:
    details = {
        "run_head": head,
        "results_digest": results_digest,
        "report": _report_path(work),
        **{name: figures[name] for name in _COUNTS},
        "loss": figures["loss"]["lost"],
    }
    ts = now()
    work.main.audit(action=SEALED, actor=HOST, target=work.claim.run, details=details, ts=ts)
    return work.claim._replace(sealed={**details, "ts": ts})


def _report_path(work: Work) -> str:
    """Return where the report will lie, as a ledger may say it: never an absolute path."""
    tag = tag_of(work.build.short, _gate_part(work.gate, work.frozen.set.fixtures))
    name = report_name(work.frozen.label, tag, work.claim.run, work.reports) + ".md"
    directory = os.path.normpath(work.reports)
    if os.path.isabs(directory) or directory.startswith(os.pardir):
        return name
    return os.path.join(directory, name)


def _kept(claim: Claim, results: list[Result]) -> dict[str, Any] | None:
    predicted = claim.details.get("predicted")
    return None if predicted is None else kept_promise(predicted, results)


def _gate_part(gate: AnyGate, fixtures: Fixtures) -> dict[str, Any] | None:
    """Return what a gate that is not ours is, and where it was asked; None for ours."""
    if not isinstance(gate, OutsideGate):
        return None
    return {
        **{name: value for name, value in parse(gate.policy_bytes).items() if name != "place"},
        "room": gate.room(fixtures.home, fixtures.cwd),
        "name": gate.name,
        "short": gate.policy_digest[7:19],
    }


def _policy_name(compiled: bytes) -> str | None:
    """Return the name a compiled policy gives itself, or None."""
    try:
        body = parse(compiled)
    except CanonicalizationError:
        return None
    name = body.get("name") if type(body) is dict else None
    return name if type(name) is str else None


def _sentences(findings: list[Finding]) -> list[str]:
    """Return the first findings as sentences; a damaged ledger may have thousands."""
    more = len(findings) - _MOST_FINDINGS
    said = [f"{found.code}: {found.message}" for found in findings[:_MOST_FINDINGS]]
    return [*said, f"and {more} more: toolgate ledger verify names them all"] if more > 0 else said


def _as_text(head: tuple[int, str]) -> str:
    return f"{head[0]}:{head[1]}"
