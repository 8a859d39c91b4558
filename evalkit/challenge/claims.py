"""Claims on looks: which runs of which sets a ledger knows.

``run.claimed`` is in the ledger's spine before a run's first case, so a crash
cannot hide a look. ``read_claims`` reads the spine; the rest is pure.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from evalkit.challenge.spine import audit_events

CLAIMED, SEALED = "run.claimed", "run.sealed"


class Claim(NamedTuple):
    """One run that was claimed.

    Args:
        run: the run's id.
        ts: when it was claimed, microseconds UTC.
        details: what the claim says.
        sealed: what the seal says, or None while there is none.
    """

    run: str
    ts: int
    details: dict[str, Any]
    sealed: dict[str, Any] | None

    def key(self) -> tuple[str, str, str]:
        """Return what may be claimed once: set, build and policy digests."""
        return key_of(self.details)


def key_of(details: dict[str, Any]) -> tuple[str, str, str]:
    """Return set, build and policy digests of a claim's details."""
    return (details["set_digest"], details["build"], details["policy"])


def read_claims(ledger: str) -> list[Claim]:
    """Return every claim in a ledger's spine, oldest first.

    Args:
        ledger: the ledger's directory; a missing one has no claims.
    """
    claims: dict[str, Claim] = {}
    for ev in audit_events(ledger, b'"run.'):
        run, details = ev["target"], ev["details"]
        if ev["action"] == CLAIMED:
            claims.setdefault(run, Claim(run, ev["ts"], details, None))
        elif ev["action"] == SEALED and run in claims and claims[run].sealed is None:
            claims[run] = claims[run]._replace(sealed={**details, "ts": ev["ts"]})
    return list(claims.values())


def spent(claims: list[Claim], details: dict[str, Any]) -> list[Claim]:
    """Return the claims that already hold the same set, build and policy."""
    return [claim for claim in claims if claim.key() == key_of(details)]


def lineage(claims: list[Claim], details: dict[str, Any]) -> list[Claim]:
    """Return the earlier looks at a set: at itself, under its name, or at what it replaces.

    A set that supersedes another continues its count: whoever has seen the
    one has seen most of the other.
    """
    related = names_of(details)
    found: list[Claim] = []
    # Newest first, so that a chain of superseded sets is followed back.
    for claim in reversed(claims):
        if names_of({**claim.details, "supersedes": None}) & related:
            related |= names_of(claim.details)
            found.append(claim)
    return found[::-1]


def names_of(details: dict[str, Any]) -> set[str]:
    """Return what a set is known by, and what it replaces."""
    names = {details["set_digest"], details["set_name"], details["set"], details["supersedes"]}
    return names - {None}


def receipt(claim: Claim, *, running: bool = False) -> str:
    """Return one sentence on a claim, for a refusal.

    Args:
        claim: the claim.
        running: whether a process is executing the run.
    """
    claimed = f"run {claim.run}, claimed {stamp(claim.ts)}"
    if claim.sealed is None and running:
        return f"{claimed}, running in another process"
    if claim.sealed is None:
        return f"{claimed}, not sealed; continue it: evalkit resume {claim.run}"
    return f"{claimed}, sealed, report {claim.sealed['report']}"


def stamp(ts: int) -> str:
    """Return a time for people.

    Args:
        ts: microseconds UTC.
    """
    return datetime.fromtimestamp(ts / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
