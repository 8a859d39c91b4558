"""Running a challenge set once: claim, execute, seal, verify, report.

A run is claimed in the ledger before its first case is shown, so neither a
crash nor a retry makes a second look invisible. What may be claimed once is
(set, build, policy); everything else is a further look and is counted.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import evalkit
from evalkit.build import Build, changed
from evalkit.challenge.claims import CLAIMED, Claim, lineage, read_claims, receipt, spent
from evalkit.challenge.freeze import Frozen, load_frozen
from evalkit.challenge.rundir import Start, new_run_id, read_start, run_directory, write_start
from evalkit.challenge.sealing import Finished, Watch, Work, finish, now
from evalkit.errors import RefusedError, UsageError
from evalkit.gates.inprocess import HOST, Gate
from toolgate.canonical import warm
from toolgate.ledger.append import Ledger
from toolgate.ledger.files import Locked, make_directory

PURPOSES = ("held-out", "regression", "development")


class Request(NamedTuple):
    """What is asked for.

    Args:
        set_path: the set's file, or a bare name.
        policy_path: a policy file, or None for the shipped one.
        purpose: one of ``PURPOSES``, or None: held-out for the first look, else regression.
        rerun_of: the run that is repeated on purpose, or None.
        reason: why it is repeated, or None.
        ledger: the ledger's directory.
        reports: the reports' directory.
    """

    set_path: str
    policy_path: str | None
    purpose: str | None
    rerun_of: str | None
    reason: str | None
    ledger: str
    reports: str


def find_set(name: str) -> str:
    """Return the file a set's name stands for.

    It is sought as given, in ``./challenge_sets``, then among the sets that
    came with the package; ``.json`` may be left out.

    Raises:
        UsageError: there is no such file; names the places.
    """
    shipped = os.path.join(os.path.dirname(str(evalkit.__file__)), "challenge_sets")
    places = [name, os.path.join("challenge_sets", name), os.path.join(shipped, name)]
    if os.path.dirname(name):
        places = [name]
    for place in places:
        for path in (place, place + ".json"):
            if os.path.isfile(path):
                return path
    sought = "as given" if len(places) == 1 else "here, in ./challenge_sets and in the package"
    raise UsageError(f"{name}: expected a challenge set, got no such file (sought {sought})")


def start(request: Request, gate: Gate, build: Build, watch: Watch) -> Finished:
    """Run a frozen set, once per (set, build, policy).

    Args:
        request: what is asked for.
        gate: the gate, in this process.
        build: the build it is part of.
        watch: who waits.

    Raises:
        UsageError, SetError: the set cannot be read, or the options contradict each other.
        RefusedError: unfrozen, edited, unpinned or spent.
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
    ledger = Ledger(request.ledger, durability="fsync", host=HOST)
    claim, earlier = _claim(request, frozen, build, ledger)
    work = Work(request.ledger, request.reports, frozen, gate, build, ledger, claim, earlier)
    return finish(work, watch)


def resume(
    run: str,
    request: Request,
    gate_of: Callable[[str | None], tuple[Gate, Build]],
    watch: Watch,
) -> Finished:
    """Continue a run that was interrupted, on identical set, build and policy.

    Args:
        run: the run's id.
        request: only its ``ledger`` and ``reports`` matter.
        gate_of: the gate and build for a policy file (None for the shipped policy).
        watch: who waits.

    Raises:
        RefusedError: no such run, or something is not what it was; names every field.
        IncompleteError: the person stopped it again.
    """
    warm()
    directory = run_directory(request.ledger, run)
    claims = read_claims(request.ledger)
    claim = next((claim for claim in claims if claim.run == run), None)
    if claim is None:
        raise RefusedError(f"run {run}: expected a claim in this ledger, got none")
    begun = read_start(directory)
    frozen = load_frozen(begun.set_path)
    gate, build = gate_of(begun.policy_path)
    _refuse_drift(claim, begun, frozen, build, gate)
    earlier = lineage(claims[: claims.index(claim)], claim.details)
    ledger = Ledger(request.ledger, durability="fsync", host=HOST)
    request = request._replace(set_path=begun.set_path, policy_path=begun.policy_path)
    work = Work(request.ledger, request.reports, frozen, gate, build, ledger, claim, earlier)
    return finish(work, watch)


def _check_options(request: Request) -> None:
    if (request.rerun_of is None) is not (request.reason is None):
        raise UsageError("--rerun: expected both --of RUN and --reason TEXT, got one of them")
    if request.reason is not None and not request.reason.strip():
        raise UsageError("--reason: expected why the run is repeated, got nothing")


def _claim(
    request: Request, frozen: Frozen, build: Build, ledger: Ledger
) -> tuple[Claim, list[Claim]]:
    """Put the claim on the disk, under a lock, or refuse; return it and the earlier looks."""
    make_directory(request.ledger)
    with Locked(os.path.join(request.ledger, "runs.lock")):
        claims = read_claims(request.ledger)
        details = _details(request, frozen, build)
        _refuse_spent(request, spent(claims, details), build)
        earlier = lineage(claims, details)
        details["look"] = len(earlier) + 1
        details["purpose"] = _purpose(request, earlier)
        ts = now()
        run = new_run_id(ts)
        begun = Start(
            os.path.abspath(frozen.path),
            request.policy_path and os.path.abspath(request.policy_path),
            details,
            build.body,
        )
        write_start(run_directory(request.ledger, run), begun)
        ledger.audit(action=CLAIMED, actor=HOST, target=run, details=details, ts=ts)
    return Claim(run, ts, details, None), earlier


def _details(request: Request, frozen: Frozen, build: Build) -> dict[str, Any]:
    return {
        "set": frozen.label,
        "set_name": frozen.set.name,
        "set_digest": frozen.digest,
        "raw_digest": frozen.manifest["raw_digest"],
        "supersedes": frozen.set.supersedes,
        "cases": len(frozen.set.cases),
        "build": build.digest,
        "pinned": build.pinned,
        "commit": build.commit,
        "tree": build.tree,
        "policy": build.body["policy"],
        "model": build.body["model"],
        "rerun_of": request.rerun_of,
        "reason": request.reason,
    }


def _refuse_spent(request: Request, same: list[Claim], build: Build) -> None:
    if request.rerun_of is None:
        if same:
            raise RefusedError(
                f"this set was already run on build {build.short} with this policy: "
                f"{receipt(same[0])}. A second look needs --rerun --of {same[-1].run} "
                "--reason TEXT"
            )
    elif request.rerun_of not in [claim.run for claim in same]:
        known = ", ".join(claim.run for claim in same) or "none"
        raise RefusedError(
            f"--of {request.rerun_of}: expected a run of the same set, build and policy in this "
            f"ledger, got another; known: {known}"
        )


def _purpose(request: Request, earlier: list[Claim]) -> str:
    if request.purpose == "held-out" and earlier:
        raise RefusedError(
            f"--purpose held-out: expected a first look, got look {len(earlier) + 1}; the first "
            f"was {receipt(earlier[0])}. Leave the option out to run it as regression"
        )
    return request.purpose or ("regression" if earlier else "held-out")


def _refuse_drift(claim: Claim, begun: Start, frozen: Frozen, build: Build, gate: Gate) -> None:
    details = claim.details
    found = [
        f"{name}: was {details[name]}, is {value}"
        for name, value in (
            ("set_digest", frozen.digest),
            ("raw_digest", frozen.manifest["raw_digest"]),
            ("build", build.digest),
            ("policy", gate.policy_digest),
        )
        if details[name] != value
    ]
    if details["build"] != build.digest:
        found += changed(begun.build, build.body)
    if begun.details != details:
        found.append("run.json: does not say what the claim says")
    if found:
        raise RefusedError(
            f"run {claim.run} cannot be continued, it would mix two builds: " + "; ".join(found)
        )
