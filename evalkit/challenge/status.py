"""How far the runs of a ledger are, without a word of how they did before they are sealed."""

import os
from typing import Any

from evalkit.challenge.claims import Claim, read_claims, stamp
from evalkit.challenge.hold import CLAIMS, is_running
from evalkit.challenge.journal import read_journal
from evalkit.challenge.rundir import run_directory
from evalkit.errors import RefusedError
from evalkit.report.context import look_name
from toolgate.ledger.files import Locked

RUNNING, OPEN, SEALED = "running", "not sealed", "sealed"


def runs_of(ledger: str, of_set: str | None = None) -> list[dict[str, Any]]:
    """Return every run a ledger knows, oldest first.

    Args:
        ledger: the ledger's directory; a missing one knows none.
        of_set: only runs of the set with this label, name or digest.

    Returns:
        ``run, claimed, set, set_digest, build, policy, look, look_name, pinned, state,
        cases`` and, once sealed, ``match`` and ``report``; both None before.
    """
    claims = [
        claim
        for claim in read_claims(ledger)
        if of_set is None
        or of_set in (claim.details[name] for name in ("set", "set_name", "set_digest"))
    ]
    if not claims:
        return []
    with Locked(os.path.join(ledger, CLAIMS)):
        return [_row(ledger, claim) for claim in claims]


def status_of(ledger: str, run: str) -> dict[str, Any]:
    """Return how far one run is.

    Returns:
        What ``runs_of`` returns of it, and ``finished``, ``in_doubt`` (cases that were
        started and not finished) and ``next`` (what to do about it, or "").

    Raises:
        UsageError: the text is no run's id.
        RefusedError: the ledger knows no such run.
        StorageError: its journal is damaged.
    """
    directory = run_directory(ledger, run)
    row = next((row for row in runs_of(ledger) if row["run"] == run), None)
    if row is None:
        raise RefusedError(f"run {run}: expected a claim in this ledger, got none")
    progress = read_journal(directory)
    return {
        **row,
        "finished": len(progress.finished),
        "in_doubt": progress.in_doubt(),
        "next": f"evalkit resume {run}" if row["state"] == OPEN else "",
    }


def _row(ledger: str, claim: Claim) -> dict[str, Any]:
    details, sealed = claim.details, claim.sealed
    names = ("set", "set_digest", "build", "policy", "look", "pinned", "cases")
    return {
        "run": claim.run,
        "claimed": stamp(claim.ts),
        **{name: details[name] for name in names},
        "look_name": look_name(details["look"], details["purpose"]),
        "state": _state(ledger, claim),
        "match": None if sealed is None else sealed["match"],
        "report": None if sealed is None else sealed["report"],
    }


def _state(ledger: str, claim: Claim) -> str:
    if is_running(run_directory(ledger, claim.run)):
        return RUNNING
    return OPEN if claim.sealed is None else SEALED
