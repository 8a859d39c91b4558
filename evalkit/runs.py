"""Running a challenge set once: claim, execute, seal, verify, report.

A run is claimed in the ledger before its first case is shown, so neither a
crash nor a retry makes a second look invisible. What may be claimed once is
(set, build, policy); everything else is a further look and is counted.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple

from evalkit.build import Build, changed
from evalkit.challenge.anchor import hold_to_anchors, keep_head
from evalkit.challenge.claims import CLAIMED, Claim, lineage, read_claims, receipt, spent
from evalkit.challenge.find import find_set
from evalkit.challenge.freeze import Frozen, load_frozen
from evalkit.challenge.hold import CLAIMS, held, is_running
from evalkit.challenge.predict import read_prediction
from evalkit.challenge.rundir import Start, new_run_id, read_start, run_directory, write_start
from evalkit.challenge.sealing import Finished, Watch, Work, finish, now
from evalkit.challenge.threshold import threshold
from evalkit.errors import RefusedError, UsageError
from evalkit.gates.choice import AnyGate, Choice, chosen, kept
from evalkit.gates.inprocess import HOST
from evalkit.gates.outside import OutsideGate
from evalkit.report.publish import refuse_unwritable
from toolgate.canonical import warm
from toolgate.ledger.append import Ledger
from toolgate.ledger.files import Locked, make_directory

PURPOSES = ("held-out", "regression", "development")


class Request(NamedTuple):
    """What is asked for.

    Args:
        set_path: the set's file, or a bare name.
        choice: which gate.
        purpose: one of ``PURPOSES``, or None: held-out for the first look, else regression.
        rerun_of: the run that is repeated on purpose, or None.
        reason: why it is repeated, or None.
        ledger: the ledger's directory.
        reports: the reports' directory.
        fail_if: thresholds the run is held to, as they were given.
        predict: a file of predicted misses, or None.
    """

    set_path: str
    choice: Choice
    purpose: str | None
    rerun_of: str | None
    reason: str | None
    ledger: str
    reports: str
    fail_if: tuple[str, ...] = ()
    predict: str | None = None


def start(request: Request, gate: AnyGate, build: Build, watch: Watch) -> Finished:
    """Run a frozen set, once per (set, build, policy).

    Args:
        request: what is asked for.
        gate: the gate.
        build: the build it is part of.
        watch: who waits.

    Raises:
        UsageError, SetError: the set cannot be read, or the options contradict each other.
        RefusedError: unfrozen, edited, unpinned or spent, or the report could not be written.
        StorageError: the ledger contradicts a head of it that was kept beside the reports.
        IncompleteError: the person stopped the run; it can be continued.
    """
    warm()
    _check_options(request)
    frozen = load_frozen(find_set(request.set_path))
    if request.purpose != "development" and not build.pinned:
        raise RefusedError(
            f"build {build.short}: expected a pinned build, got: {'; '.join(build.refusals[:3])}; "
            "install the package with pip, or run with --purpose development, which is "
            "reported as not pinned and counts as a look"
        )
    refuse_unwritable(request.reports)
    ledger = Ledger(request.ledger, durability="fsync", host=HOST)
    with ExitStack() as holding:
        claim, earlier = _claim(request, frozen, build, gate, ledger, holding)
        work = _work(request, frozen, gate, build, ledger, claim, earlier)
        return finish(work, watch)


def resume(
    run: str,
    request: Request,
    gate_of: Callable[[Choice], tuple[AnyGate, Build]],
    watch: Watch,
) -> Finished:
    """Continue a run that was interrupted, on identical set, build and policy.

    Args:
        run: the run's id.
        request: only its ``ledger`` and ``reports`` matter.
        gate_of: the gate that was chosen, and the build.
        watch: who waits.

    Raises:
        RefusedError: no such run, another process is running it, or something is
            not what it was; names every field.
        IncompleteError: the person stopped it again.
    """
    warm()
    directory = run_directory(request.ledger, run)
    _claim_of(run, read_claims(request.ledger))
    with ExitStack() as holding:
        with Locked(os.path.join(request.ledger, CLAIMS)):
            hold_to_anchors(request.ledger, request.reports)
            holding.enter_context(held(directory, run))
        return _continue(run, request, gate_of, watch)


def _continue(
    run: str,
    request: Request,
    gate_of: Callable[[Choice], tuple[AnyGate, Build]],
    watch: Watch,
) -> Finished:
    """Go on with a run that this process holds."""
    directory = run_directory(request.ledger, run)
    # Read again: before the run was held, another process may have sealed it.
    claims = read_claims(request.ledger)
    claim = _claim_of(run, claims)
    begun = read_start(directory)
    frozen = load_frozen(begun.set_path)
    choice = Choice(begun.policy_path) if begun.gate is None else chosen(begun.gate)
    gate, build = gate_of(choice)
    _refuse_drift(claim, begun, frozen, build, gate)
    refuse_unwritable(request.reports)
    earlier = lineage(claims[: claims.index(claim)], claim.details)
    ledger = Ledger(request.ledger, durability="fsync", host=HOST)
    request = request._replace(set_path=begun.set_path, choice=choice)
    work = _work(request, frozen, gate, build, ledger, claim, earlier)
    return finish(work, watch)


def _work(
    request: Request,
    frozen: Frozen,
    gate: AnyGate,
    build: Build,
    ledger: Ledger,
    claim: Claim,
    earlier: list[Claim],
) -> Work:
    return Work(
        root=request.ledger,
        reports=request.reports,
        frozen=frozen,
        gate=gate,
        jobs=request.choice.jobs,
        build=build,
        main=ledger,
        claim=claim,
        earlier=earlier,
    )


def _claim_of(run: str, claims: list[Claim]) -> Claim:
    claim = next((claim for claim in claims if claim.run == run), None)
    if claim is None:
        raise RefusedError(f"run {run}: expected a claim in this ledger, got none")
    return claim


def _check_options(request: Request) -> None:
    if (request.rerun_of is None) is not (request.reason is None):
        raise UsageError("--rerun: expected both --of RUN and --reason TEXT, got one of them")
    if request.reason is not None and not request.reason.strip():
        raise UsageError("--reason: expected why the run is repeated, got nothing")
    if request.rerun_of is not None:
        run_directory(request.ledger, request.rerun_of)


def _claim(
    request: Request,
    frozen: Frozen,
    build: Build,
    gate: AnyGate,
    ledger: Ledger,
    holding: ExitStack,
) -> tuple[Claim, list[Claim]]:
    """Put the claim on the disk, under a lock, or refuse; return it and the earlier looks.

    The run is held from before its claim until ``holding`` is left.
    """
    make_directory(request.ledger)
    with Locked(os.path.join(request.ledger, CLAIMS)):
        hold_to_anchors(request.ledger, request.reports)
        claims = read_claims(request.ledger)
        details = _details(request, frozen, build, gate)
        _refuse_spent(request, spent(claims, details), build)
        earlier = lineage(claims, details)
        details["look"] = len(earlier) + 1
        details["purpose"] = _purpose(request, earlier)
        ts, choice = now(), request.choice
        run = new_run_id(ts)
        begun = Start(
            os.path.abspath(frozen.path),
            choice.policy and os.path.abspath(choice.policy),
            details,
            build.body,
            None if choice.gate is None else kept(choice),
        )
        directory = run_directory(request.ledger, run)
        make_directory(directory)
        holding.enter_context(held(directory, run))
        write_start(directory, begun)
        ledger.audit(action=CLAIMED, actor=HOST, target=run, details=details, ts=ts)
        keep_head(request.ledger, request.reports)
    return Claim(run, ts, details, None), earlier


def _details(request: Request, frozen: Frozen, build: Build, gate: AnyGate) -> dict[str, Any]:
    return {
        "set": frozen.label,
        "set_name": frozen.set.name,
        "set_digest": frozen.digest,
        "raw_digest": frozen.manifest["raw_digest"],
        "manifest_digest": frozen.manifest_digest,
        "supersedes": frozen.set.supersedes,
        "cases": len(frozen.set.cases),
        "build": build.digest,
        "pinned": build.pinned,
        "commit": build.commit,
        "tree": build.tree,
        "policy": build.body["policy"],
        "model": build.body["model"],
        "gate": gate.name if isinstance(gate, OutsideGate) else None,
        "rerun_of": request.rerun_of,
        "reason": request.reason,
        "fail_if": [threshold(text).text for text in request.fail_if],
        "predicted": request.predict and read_prediction(request.predict, frozen.set),
    }


def _refuse_spent(request: Request, same: list[Claim], build: Build) -> None:
    if request.rerun_of is None:
        if same:
            raise RefusedError(
                f"this set was already run on build {build.short} with this policy: "
                f"{_receipt(request, same[0])}. A second look needs --rerun --of {same[-1].run} "
                "--reason TEXT"
            )
    elif request.rerun_of not in [claim.run for claim in same]:
        known = ", ".join(claim.run for claim in same) or "none"
        raise RefusedError(
            f"--of {request.rerun_of}: expected a run of the same set, build and policy in this "
            f"ledger, got another; known: {known}"
        )


def _receipt(request: Request, claim: Claim) -> str:
    """Return a claim's receipt; the caller holds the claims' lock."""
    return receipt(claim, running=is_running(run_directory(request.ledger, claim.run)))


def _purpose(request: Request, earlier: list[Claim]) -> str:
    if request.purpose == "held-out" and earlier:
        raise RefusedError(
            f"--purpose held-out: expected a first look, got look {len(earlier) + 1}; the first "
            f"was {_receipt(request, earlier[0])}. Leave the option out to run it as regression"
        )
    return request.purpose or ("regression" if earlier else "held-out")


def _refuse_drift(claim: Claim, begun: Start, frozen: Frozen, build: Build, gate: AnyGate) -> None:
    details = claim.details
    found = [
        f"{name}: was {details.get(name)}, is {value}"
        for name, value in (
            ("set_digest", frozen.digest),
            ("raw_digest", frozen.manifest["raw_digest"]),
            ("manifest_digest", frozen.manifest_digest),
            ("build", build.digest),
            ("policy", gate.policy_digest),
        )
        if details.get(name) != value
    ]
    if details["build"] != build.digest:
        found += changed(begun.build, build.body)
    if begun.details != details:
        found.append("run.json: does not say what the claim says")
    if found:
        raise RefusedError(
            f"run {claim.run} cannot be continued, it would mix two builds: " + "; ".join(found)
        )
