"""What a run prints when it is done. Pure."""

from typing import Any

from evalkit.challenge.case import LABELS
from evalkit.challenge.score import DECIDED
from evalkit.report.context import short_rate


def summary(context: dict[str, Any], report: str) -> list[tuple[str, str]]:
    """Return the lines of a run's result, each with its style (``head``, ``bad`` or ``""``).

    Args:
        context: what ``report_context`` returned.
        report: path of the Markdown report.
    """
    scores, run, build = context["scores"], context["run"], context["build"]
    pinned = "pinned" if build["pinned"] else "NOT PINNED"
    lines = [
        (f"{context['set']['label']}: match {scores['rates']['match']['text']}", "head"),
        *(((run["caution"], "head"),) if run["caution"] else ()),
        (_gate(context) or f"build {build['short']} ({pinned}), policy {_policy(context)}", ""),
        *_quarantined(context["quarantine"]),
        *((_eased(row), "bad") for row in context["eased"]),
        (f"look {run['look']} of this set in this ledger: {_look(run)}", ""),
        *((f"  not pinned: {sentence}", "bad") for sentence in build["refusals"]),
    ]
    lines += _table(scores)
    lines += _categories(scores)
    lines += _misses(context["misses"])
    lines += _mechanism(scores["mechanism"])
    verification = context["verification"]
    bad = "" if verification["verdict"] in ("PASS", "CONDITIONAL") else "bad"
    lines += [
        ("", ""),
        (f"verified {verification['verdict']}: {verification['meaning']}", bad),
        *((f"  {finding}", bad) for finding in verification["findings"]),
        (f"run {run['id']}, head {context['ledger']['run_head']}", ""),
        (f"report {report}", "head"),
    ]
    return lines


def _look(run: dict[str, Any]) -> str:
    known = run["caution"] is None or run["look_name"] != "held-out"
    return str(run["look_name"]) + ("" if known else ", as far as this ledger knows")


def _quarantined(held: dict[str, Any] | None) -> list[tuple[str, str]]:
    if held is None:
        return []
    count = "1 case" if len(held["cases"]) == 1 else f"{len(held['cases'])} cases"
    return [(f"that is as frozen; without {count} in quarantine {held['match']['text']}", "")]


def _eased(row: dict[str, Any]) -> str:
    after = repr(row["after"]) if row["after"] else "nothing"
    return f"held to less than the look before: {row['before']!r} became {after}"


def _gate(context: dict[str, Any]) -> str:
    """Return what is said of a gate that is not ours; "" for ours."""
    gate = context["gate"]
    if gate is None:
        return ""
    build = context["build"]["short"]
    return f"gate {gate['name']}, {context['policy'][7:19]}; shown by build {build}"


def _policy(context: dict[str, Any]) -> str:
    name, short = context["policy_name"], context["policy"][7:19]
    return short if name is None else f"{name} {short}"


def result_object(context: dict[str, Any], report: str) -> dict[str, Any]:
    """Return the one object ``--json`` prints.

    Args:
        context: what ``report_context`` returned.
        report: path of the Markdown report.
    """
    scores, run, build = context["scores"], context["run"], context["build"]
    counts = (
        "cases", "match", "permissive", "dangerous_allow", "stricter", "unscored", "pairs",
        "pairs_complete", "pairs_separable", "pairs_separated", "worst_case", "best_case",
    )  # fmt: skip
    return {
        "set": context["set"]["label"],
        "set_digest": context["set"]["digest"],
        "build": build["digest"],
        "pinned": build["pinned"],
        "policy": context["policy"],
        **{name: scores[name] for name in counts},
        "table": scores["table"],
        "loss": scores["loss"],
        "thresholds": context["thresholds"],
        "threshold_changes": context["threshold_changes"],
        "quarantine": context["quarantine"],
        "prediction": context["prediction"],
        "mechanism": scores["mechanism"],
        "misses": [row["case"] for row in context["misses"]],
        "look": run["look"],
        "look_name": run["look_name"],
        "unknown_looks": len(context["published"]),
        "purpose": run["purpose"],
        "run": run["id"],
        "head": context["ledger"]["head"],
        "run_head": context["ledger"]["run_head"],
        "results_digest": context["ledger"]["results_digest"],
        "verdict": context["verification"]["verdict"],
        "report": report,
    }


def _table(scores: dict[str, Any]) -> list[tuple[str, str]]:
    head = f"{'expected':<12}" + "".join(f"{word:>10}" for word in DECIDED)
    rows = [
        f"{expected:<12}" + "".join(f"{scores['table'][expected][word]:>10}" for word in DECIDED)
        for expected in LABELS
    ]
    more = (
        f"permissive {scores['permissive']}, dangerous allow {scores['dangerous_allow']}, "
        f"stricter {scores['stricter']}, unscored {scores['unscored']}, "
        f"loss {scores['loss']['lost']} of at most {scores['loss']['most']}"
    )
    pairs = (
        f"pairs complete {scores['pairs_complete']} of {scores['pairs']}, "
        f"separated {scores['pairs_separated']} of {scores['pairs_separable']}"
    )
    bad = "bad" if scores["dangerous_allow"] else ""
    last = [(pairs, "")] if scores["pairs"] else []
    return [("", ""), (head, "head"), *((row, "") for row in rows), (more, bad), *last]


def _categories(scores: dict[str, Any]) -> list[tuple[str, str]]:
    width = max(len(name) for name in scores["categories"])
    rows = [
        (f"{name:<{width}}  {short_rate(row['match'])}", "")
        for name, row in scores["categories"].items()
    ]
    return [("", ""), ("by category", "head"), *rows]


def _misses(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not rows:
        return [("", ""), ("no misses", "head")]
    shown = [
        (
            f"{row['case']:<8} {row['category']}: expected {row['expected']}, "
            f"decided {row['decided']} by {row['rule']}",
            "bad" if row["expected"] == "deny" and row["decided"] == "allow" else "",
        )
        for row in rows
    ]
    return [("", ""), (f"misses ({len(rows)})", "head"), *shown]


def _mechanism(mechanism: dict[str, Any]) -> list[tuple[str, str]]:
    if not mechanism["stated"]:
        return []
    places = ", ".join(f"{place} {number}" for place, number in mechanism["places"].items())
    rate = short_rate(mechanism["rate"])
    return [
        ("", ""),
        (f"right for the stated reason {rate}; for another {mechanism['other_reason']}", "head"),
        (f"where the misses lie: {places}", ""),
    ]
