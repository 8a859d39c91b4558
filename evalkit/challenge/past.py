"""A run that was sealed, as its ledger or its published report says it."""

import json
import os
from typing import Any, NamedTuple

from evalkit.challenge.claims import Claim, read_claims
from evalkit.challenge.journal import read_journal
from evalkit.challenge.read import read_bytes
from evalkit.challenge.rundir import hold_to_ledger, is_run, recorded_decisions, run_directory
from evalkit.challenge.score import Result, comparable
from evalkit.errors import EvidenceError, IncompleteError, RefusedError, UsageError
from toolgate.canonical import digest_of

LEDGER, REPORT = "ledger", "report"


class PastRun(NamedTuple):
    """A sealed run.

    Args:
        run: its id.
        set: what people call the set.
        set_digest: digest of the set.
        build: digest of the build.
        policy: digest of the policy, or of what a gate that is not ours is.
        gate: name of a gate that is not ours, or None.
        look: number of the look.
        look_name: what the look is called.
        source: ``ledger`` where the results were held to the run's own ledger and its seal,
            ``report`` where a published file is taken at its word, but for the digest of
            its results.
        results: one a case, in the set's order.
        loss: what its misses cost, or None where that was not recorded.
    """

    run: str
    set: str
    set_digest: str
    build: str
    policy: str
    gate: str | None
    look: int
    look_name: str
    source: str
    results: tuple[Result, ...]
    loss: int | None = None


def load_run(name: str, ledger: str) -> PastRun:
    """Return a sealed run.

    Args:
        name: a run's id in the ledger, or the path of a report's JSON twin.
        ledger: the ledger's directory.

    Raises:
        UsageError: it is neither, or the file is no run report.
        RefusedError: the ledger knows no such run.
        IncompleteError: the run is not sealed.
        EvidenceError: results are not those that were sealed or published.
        StorageError: the run's journal and ledger contradict each other.
    """
    if is_run(name):
        return _from_ledger(name, ledger)
    if os.path.isfile(name):
        return _from_report(name)
    raise UsageError(f"{name}: expected a run's id or the JSON file of a report, got neither")


def _from_ledger(run: str, ledger: str) -> PastRun:
    claim = next((one for one in read_claims(ledger) if one.run == run), None)
    if claim is None:
        raise RefusedError(f"run {run}: expected a claim in this ledger, got none")
    if claim.sealed is None:
        raise IncompleteError(f"run {run}: not sealed; continue it: evalkit resume {run}")
    directory = run_directory(ledger, run)
    finished = read_journal(directory).finished
    results = list(finished.values())
    hold_to_ledger(results, recorded_decisions(directory, run), run)
    ordered = _sealed_order(results, claim)
    details = claim.details
    return PastRun(
        run,
        details["set"],
        details["set_digest"],
        details["build"],
        details["policy"],
        details.get("gate"),
        details["look"],
        _look_name(details),
        LEDGER,
        tuple(ordered),
        claim.sealed.get("loss"),
    )


def _sealed_order(results: list[Result], claim: Claim) -> list[Result]:
    """Hold results to what the seal says of them; the journal keeps the set's order."""
    sealed = claim.sealed or {}
    found = digest_of([comparable(result) for result in results])
    if found != sealed["results_digest"]:
        raise EvidenceError(
            f"run {claim.run}: its results were sealed as {sealed['results_digest']}, "
            f"its journal gives {found}"
        )
    return results


def _look_name(details: dict[str, Any]) -> str:
    from evalkit.report.context import look_name

    return look_name(details["look"], details["purpose"])


def _from_report(path: str) -> PastRun:
    try:
        body = json.loads(read_bytes(path, "run report"))
        results = tuple(_result(row) for row in body["results"])
        found = digest_of([_sealed_row(row) for row in body["results"]])
        past = PastRun(
            body["run"]["id"],
            body["set"]["label"],
            body["set"]["digest"],
            body["build"]["digest"],
            body["policy"],
            (body.get("gate") or {}).get("name"),
            body["run"]["look"],
            body["run"]["look_name"],
            REPORT,
            results,
            (body["scores"].get("loss") or {}).get("lost"),
        )
        sealed = body["ledger"]["results_digest"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path}: expected the JSON file of a run's report, got another") from None
    if found != sealed:
        raise EvidenceError(f"{path}: its results give {found}, it says {sealed}")
    return past


def _sealed_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a published row as it was sealed, whichever fields a row had at that time."""
    return {
        **{name: value for name, value in row.items() if name != "kind"},
        "decision_digest": None,
    }


def _result(row: dict[str, Any]) -> Result:
    """Return a published row as a result; fields that came later have their defaults."""
    fields: dict[str, Any] = {**Result._field_defaults}
    fields.update({name: row[name] for name in Result._fields if name in row or name not in fields})
    fields.update({name: tuple(fields[name]) for name in ("effects", "facts")})
    return Result(**fields)
