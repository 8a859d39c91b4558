"""Holding a ledger's runs to everything that binds them: chain, seals, journals, kept heads."""

import os
from typing import Any

from evalkit.challenge.anchor import about, faults_of, first_entry, read_anchors
from evalkit.challenge.claims import Claim, read_claims
from evalkit.challenge.journal import read_journal
from evalkit.challenge.past import load_run
from evalkit.challenge.rundir import is_run, run_directory
from evalkit.errors import EvidenceError, RefusedError, StorageError
from toolgate.errors import ToolgateError
from toolgate.verify import verify

FAIL, INCOMPLETE, CONDITIONAL, PASS = "FAIL", "INCOMPLETE", "CONDITIONAL", "PASS"
_ORDER = (FAIL, INCOMPLETE, CONDITIONAL, PASS)


def check(ledger: str, reports: str) -> dict[str, Any]:
    """Return what is wrong with a ledger and its runs.

    Args:
        ledger: the ledger's directory.
        reports: the directory its heads are kept in.

    Returns:
        ``verdict`` (the worst of all), ``ledger`` (its verdict, ``head`` and ``faults``),
        ``runs`` (``run, verdict, faults``, oldest first), ``anchors`` (files whose head the
        ledger holds) and ``elsewhere`` (files about other ledgers).

    Raises:
        RefusedError: there is nothing to verify.
        StorageError: a head that was kept cannot be read.
    """
    anchors = read_anchors(reports)
    ours = about(ledger, anchors)
    faults = faults_of(ledger, anchors)
    if first_entry(ledger) is None:
        if not faults:
            raise RefusedError(f"{ledger}: expected a ledger with entries, got none")
        whole: dict[str, Any] = {"verdict": FAIL, "head": None, "faults": faults}
    else:
        whole = _whole(ledger, faults, None if faults or not ours else ours[0][3:5])
    claims = read_claims(ledger)
    runs = [_run(ledger, claim) for claim in claims] + _unclaimed(ledger, claims)
    return {
        "verdict": min((whole["verdict"], *(row["verdict"] for row in runs)), key=_ORDER.index),
        "ledger": whole,
        "runs": runs,
        "anchors": [] if faults else [anchor.name for anchor in ours],
        "elsewhere": [anchor.name for anchor in anchors if anchor not in ours],
    }


def _whole(ledger: str, faults: list[str], pin: tuple[int, str] | None) -> dict[str, Any]:
    found = verify(ledger, expect_head=pin)
    said = [*faults, *(f"{one.code}: {one.message}" for one in found.primary)]
    seq, head = found.head
    verdict = FAIL if faults else found.verdict
    return {"verdict": verdict, "head": f"{seq}:{head}", "faults": said}


def _run(ledger: str, claim: Claim) -> dict[str, Any]:
    """Verify one run's own ledger, up to the head its seal names, and its sealed results."""
    directory = run_directory(ledger, claim.run)
    if claim.sealed is None:
        missing = not os.path.isdir(directory)
        said = "its directory is gone" if missing else "claimed and not sealed"
        return {"run": claim.run, "verdict": FAIL if missing else INCOMPLETE, "faults": [said]}
    seq, _, head = claim.sealed["run_head"].partition(":")
    try:
        found = verify(directory, expect_head=(int(seq), head))
        load_run(claim.run, ledger)
    except (EvidenceError, StorageError, ToolgateError) as error:
        return {"run": claim.run, "verdict": FAIL, "faults": [str(error)]}
    said_of = [f"{one.code}: {one.message}" for one in found.primary]
    return {"run": claim.run, "verdict": found.verdict, "faults": said_of}


def _unclaimed(ledger: str, claims: list[Claim]) -> list[dict[str, Any]]:
    """Return the runs that showed a case and that the ledger does not know.

    A directory without a journal is what a kill before the claim leaves behind: no look.
    """
    folder = os.path.join(ledger, "runs")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    known = {claim.run for claim in claims}
    return [
        {"run": name, "verdict": FAIL, "faults": ["it showed cases, but no claim of it is left"]}
        for name in names
        if is_run(name) and name not in known and _showed(os.path.join(folder, name))
    ]


def _showed(directory: str) -> bool:
    try:
        return bool(read_journal(directory).attempts)
    except StorageError:
        return True
