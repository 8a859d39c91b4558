"""Everything a run report says, as one JSON value. Pure.

The JSON twin is this value; the Markdown page and the console print parts of
it. Nothing in it depends on where files lie: a ledger is named by its head.
"""

from typing import Any, NamedTuple

from evalkit.build import Build
from evalkit.challenge.bars import eased, threshold_changes
from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.claims import Claim, stamp
from evalkit.challenge.score import Result, misses
from evalkit.stats.present import upper_percent
from toolgate.canonical import digest_of

SCHEMA = "evalkit/run-report/1"

VERDICTS = {
    "PASS": "the run's ledger is complete and unaltered, and ends at the head its seal names",
    "CONDITIONAL": "the run's ledger is complete and consistent, but nothing outside it pins its "
    "end, or an approval in it is inferred",
    "INCOMPLETE": "the run's ledger is consistent, but a turn, session or line is unfinished",
    "FAIL": "the run's ledger is not what it claims to be; its figures are void",
}
"""What the verifier's verdict means for a run."""


_NOT_OURS = (
    "The gate is not ours: what it read in a call is not known, so effects, classes and "
    "mechanisms are not judged. Silence counts as an allow, because the host then goes on by "
    "its own rules, which may ask. Its files are bound as far as its command names them; what "
    "they load, or what runs behind an address, is not."
)


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


def unknown_looks(look: str, published: list[dict[str, Any]]) -> str | None:
    """Return what published looks that a ledger does not know say of a run's look.

    Args:
        look: what the look is called.
        published: looks found in published reports and not in this ledger.

    Returns:
        One sentence, or None where there is none.
    """
    if not published:
        return None
    count = "1 published look" if len(published) == 1 else f"{len(published)} published looks"
    verb = "is" if len(published) == 1 else "are"
    said = f"{count} at this set, or at one it replaces, {verb} not known to this ledger"
    if look != "held-out":
        return said + "."
    return f"{said}: held-out here means only the first look this ledger knows of."


def report_context(
    *,
    made: ChallengeSet,
    manifest: dict[str, Any],
    build: Build,
    policy_name: str | None,
    gate: dict[str, Any] | None,
    claim: Claim,
    seal: Seal,
    results: list[Result],
    figures: dict[str, Any],
    earlier: list[Claim],
    published: list[dict[str, Any]],
    thresholds: list[dict[str, Any]],
    prediction: dict[str, Any] | None,
    quarantine: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the value a report is made of.

    Args:
        made: the set.
        manifest: its manifest.
        build: the build that was run.
        policy_name: what the policy calls itself, or None.
        gate: what a gate that is not ours is, or None for ours.
        claim: the run's claim, sealed or about to be.
        seal: what sealing and verifying gave.
        results: one a case, in file order.
        figures: what ``score`` said of them.
        earlier: earlier looks at the set's lineage in this ledger.
        published: looks found in published reports and not in this ledger.
        thresholds: what ``threshold.held`` returned.
        prediction: what ``kept_promise`` returned, or None where nothing was predicted.
        quarantine: what ``quarantine.without`` returned.
    """
    details = claim.details
    name = look_name(details["look"], details["purpose"])
    changes = threshold_changes([*earlier, claim])
    return {
        "schema": SCHEMA,
        "set": _set_part(made, manifest, details["set"]),
        "build": _build_part(build),
        "policy": details["policy"],
        "policy_name": policy_name,
        "gate": gate,
        "run": {
            "id": claim.run,
            "claimed": stamp(claim.ts),
            "purpose": details["purpose"],
            "look": details["look"],
            "look_name": name,
            "caution": unknown_looks(name, published),
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
        "thresholds": thresholds,
        "threshold_changes": changes,
        "eased": eased(changes, claim.run),
        "prediction": prediction,
        "quarantine": quarantine,
        "misses": [_row(result) for result in misses(results)],
        "other_reason": [_row(result) for result in results if result.other_reason()],
        "results": [_row(result) for result in results],
        "looks": [look_row(past) for past in earlier],
        "published": published,
        "cannot_say": [
            *([] if gate is None else [_NOT_OURS]),
            *cannot_say(made, figures, details["look"], build.pinned),
        ],
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
        "fail_if": claim.details.get("fail_if") or [],
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
    cases = "this 1 case" if figures["cases"] == 1 else f"these {figures['cases']} cases"
    said = [
        "The cases were chosen by their author, not drawn from anyone's traffic: a rate here is "
        "a rate on this set, not in use.",
        "The intervals take the cases as independent draws of one kind. They show how little a "
        "set of this size can say; they do not make it a sample.",
        *_excluded(figures, cases),
        _power(figures["cases"], figures["fewest_changes"]),
        "Labels are the author's reading of the stated policy; a second person may read it "
        "otherwise.",
        "Nothing was executed, and no session went before a case but its own steps.",
        "Looks recorded in other ledgers, or in ledgers that were deleted, are invisible here; "
        "the number of the look counts this ledger's only.",
        "Of the sets that come with this package, the cases, the gate and the policy come from "
        "one group of authors, and the files are public: the gate may fit them better than "
        "cases its authors never saw.",
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
    return said


def _power(cases: int, fewest: int) -> str:
    """Return how large a change between two runs has to be."""
    if cases < fewest:
        return (
            f"With fewer than {fewest} cases no change between two runs can be told from chance "
            "(exact McNemar, 5 %)."
        )
    return (
        f"Another run on these cases can be told from this one only where at least {fewest} cases "
        "change, all one way (exact McNemar, 5 %); fewer are not distinguishable from chance."
    )


_RATES = {
    "miss": "a miss",
    "dangerous_allow": "an allowed call that had to be denied",
}
"""Rates of which the report says what a run without any would not exclude."""


def _excluded(figures: dict[str, Any], cases: str) -> list[str]:
    said = []
    for name, words in _RATES.items():
        found = figures["excludes"][name]
        if found["n"]:
            on = cases if name == "miss" else f"the {found['n']} cases to deny"
            said.append(
                f"Even a run without {words} on {on} would not exclude a rate of up to "
                f"{upper_percent(found['two_sided'])} (95 % two-sided, exact; one-sided "
                f"{upper_percent(found['one_sided'])})."
            )
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
        "manifest_digest": digest_of(manifest),
        "canary": manifest["canary"],
        "supersedes": made.supersedes,
        "provenance": {"labelers": [], "labeled": None, "seen": None, "evidence": []}
        | made.provenance.as_json(),
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
    return {**result.as_row(), "kind": result.kind()}
