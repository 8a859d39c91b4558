"""Everything a run report says, as one JSON value. Pure.

The JSON twin is this value; the Markdown page and the console print parts of
it. Nothing in it depends on where files lie: a ledger is named by its head.
"""

from typing import Any, NamedTuple

from evalkit.build import Build
from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.claims import Claim, stamp
from evalkit.challenge.score import Result, misses

SCHEMA = "evalkit/run-report/1"

VERDICTS = {
    "PASS": "the run's ledger is complete and unaltered, and ends at the head its seal names",
    "CONDITIONAL": "the run's ledger is complete and consistent, but nothing outside it pins its "
    "end",
    "INCOMPLETE": "the run's ledger is consistent, but a turn, session or line is unfinished",
    "FAIL": "the run's ledger is not what it claims to be; its figures are void",
}
"""What the verifier's verdict means for a run."""


class Seal(NamedTuple):
    """What is known once a run is sealed.

    Args:
        head: head of the main ledger with the seal, ``seq:digest``.
        run_head: head of the run's own ledger, ``seq:digest``.
        results_digest: digest of the results.
        verdict: the three-layer verifier's verdict on the run's ledger.
        findings: its findings, each ``code: sentence``.
        repeated: cases that were started more than once.
    """

    head: str
    run_head: str
    results_digest: str
    verdict: str
    findings: list[str]
    repeated: list[str]


def look_name(look: int, purpose: str) -> str:
    """Return what a look is called: only the first is held-out, and only if it was meant so."""
    if look == 1:
        return purpose
    return "development" if purpose == "development" else "regression"


def report_context(
    *,
    made: ChallengeSet,
    manifest: dict[str, Any],
    build: Build,
    claim: Claim,
    seal: Seal,
    results: list[Result],
    figures: dict[str, Any],
    earlier: list[Claim],
    published: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return the value a report is made of.

    Args:
        made: the set.
        manifest: its manifest.
        build: the build that was run.
        claim: the run's claim, sealed or about to be.
        seal: what sealing and verifying gave.
        results: one a case, in file order.
        figures: what ``score`` said of them.
        earlier: earlier looks at the set's lineage in this ledger.
        published: looks found in published reports and not in this ledger.
    """
    details = claim.details
    return {
        "schema": SCHEMA,
        "set": _set_part(made, manifest, details["set"]),
        "build": _build_part(build),
        "policy": details["policy"],
        "run": {
            "id": claim.run,
            "claimed": stamp(claim.ts),
            "purpose": details["purpose"],
            "look": details["look"],
            "look_name": look_name(details["look"], details["purpose"]),
            "rerun_of": details["rerun_of"],
            "reason": details["reason"],
            "repeated": seal.repeated,
        },
        "ledger": {
            "head": seal.head,
            "run_head": seal.run_head,
            "results_digest": seal.results_digest,
        },
        "verification": {
            "verdict": seal.verdict,
            "meaning": VERDICTS.get(seal.verdict, ""),
            "findings": seal.findings,
        },
        "scores": figures,
        "misses": [_row(result) for result in misses(results)],
        "results": [_row(result) for result in results],
        "looks": [look_row(past) for past in earlier],
        "published": published,
        "cannot_say": cannot_say(made, figures, details["look"], build.pinned),
    }


def short_rate(rate: dict[str, Any]) -> str:
    """Return a rate without the name of its method, for tables that name it once.

    Args:
        rate: what ``rate_json`` returned.
    """
    text = str(rate["text"]).partition(" (")[0]
    head, named, _ = text.partition("; ")
    return head + "]" if named else text


def look_row(claim: Claim) -> dict[str, Any]:
    """Return one line of a look history."""
    sealed = claim.sealed or {}
    return {
        "run": claim.run,
        "claimed": stamp(claim.ts),
        "set": claim.details["set"],
        "build": claim.details["build"],
        "policy": claim.details["policy"],
        "look": claim.details["look"],
        "purpose": claim.details["purpose"],
        "match": sealed.get("match"),
        "cases": claim.details["cases"],
        "sealed": claim.sealed is not None,
    }


def cannot_say(made: ChallengeSet, figures: dict[str, Any], look: int, pinned: bool) -> list[str]:
    """Return what a reader may not conclude from a run.

    Args:
        made: the set.
        figures: the run's figures.
        look: number of the look.
        pinned: whether the build is pinned.
    """
    excluded = f"{figures['all_pass_excludes'] * 100:.1f}"
    said = [
        "The cases were chosen by their author, not drawn from anyone's traffic: a rate here is "
        "a rate on this set, not in use.",
        "The intervals take the cases as independent draws of one kind. They show how little a "
        "set of this size can say; they do not make it a sample.",
        f"Even a run without a miss on these {figures['cases']} cases would not exclude a miss "
        f"rate of up to {excluded} % (95 % two-sided, exact).",
        "Labels are the author's reading of the stated policy; a second person may read it "
        "otherwise.",
        "Nothing was executed, and no session went before a case but its own steps.",
    ]
    if look > 1:
        said.append(
            "Somebody has seen this set, or one it replaces, before this run: the result is a "
            "regression check, not held-out evidence."
        )
    if not pinned:
        said.append(
            "The build is not pinned: nobody can fetch the exact code behind these figures."
        )
    if made.form == "sequential":
        said.append("Facts from earlier steps of a case are not yet given to the gate.")
    return said


def _set_part(made: ChallengeSet, manifest: dict[str, Any], label: str) -> dict[str, Any]:
    return {
        "label": label,
        "name": made.name,
        "form": made.form,
        "author": made.author,
        "labels_mean": made.labels_mean,
        "frozen": made.frozen,
        "frozen_at": manifest["frozen_at"],
        "digest": manifest["canonical_digest"],
        "raw_digest": manifest["raw_digest"],
        "merkle_root": manifest["merkle_root"],
        "canary": manifest["canary"],
        "supersedes": made.supersedes,
        "expected": manifest["counts"]["expected"],
    }


def _build_part(build: Build) -> dict[str, Any]:
    return {
        "digest": build.digest,
        "short": build.short,
        "pinned": build.pinned,
        "refusals": list(build.refusals),
        "commit": build.commit,
        "tree": build.tree,
        "model": build.body["model"],
        "python": build.body["python"],
        "distributions": build.body["distributions"],
    }


def _row(result: Result) -> dict[str, Any]:
    return {**result._asdict(), "effects": list(result.effects), "kind": result.kind()}
