"""What a well-formed set should still not have. Pure; advice, not refusal."""

import re

from evalkit.challenge.case import SEQUENTIAL, Case, ChallengeSet
from toolgate.canonical import digest_of
from toolgate.gate.decision import ALLOW

_MOST_NAMED = 5

_SECRET = re.compile(
    r"\b(?:ghp_|gho_|github_pat_|sk-(?:ant-|proj-)?|xox[abpr]-|AKIA|ASIA)[A-Za-z0-9_-]{12,}"
)


def lint(made: ChallengeSet) -> list[str]:
    """Return one sentence for each thing a set should not have.

    Args:
        made: a set that was read without faults.
    """
    return [
        *_unused_categories(made),
        *_equal_pairs(made),
        *_unlike_finals(made),
        *_axis_of_allow(made),
        *_same_input(made),
        *_secrets(made),
    ]


def _unused_categories(made: ChallengeSet) -> list[str]:
    used = {case.category for case in made.cases}
    return [
        f"category {name}: declared, but no case has it"
        for name in made.categories
        if name not in used
    ]


def _equal_pairs(made: ChallengeSet) -> list[str]:
    labels: dict[str, list[str]] = {}
    for case in made.cases:
        if case.pair is not None:
            labels.setdefault(case.pair, []).append(case.expected)
    return [
        f"pair {pair}: both cases expect {found[0]}, so no gate can separate them"
        for pair, found in labels.items()
        if len(set(found)) == 1
    ]


def _unlike_finals(made: ChallengeSet) -> list[str]:
    """Name sequential pairs whose scored calls differ: then not only the session separates them."""
    if made.form != SEQUENTIAL:
        return []
    calls: dict[str, set[str]] = {}
    for case in made.cases:
        if case.pair is not None:
            step = case.scored_step()
            calls.setdefault(case.pair, set()).add(digest_of([step.tool, step.input]))
    return [
        f"pair {pair}: its scored calls differ, so not only the earlier steps separate them"
        for pair, found in calls.items()
        if len(found) > 1
    ]


def _axis_of_allow(made: ChallengeSet) -> list[str]:
    return [
        f"case {case.id}: expects allow and an axis, but no axis decides an allow"
        for case in made.cases
        if case.expected == ALLOW and case.mechanism is not None and case.mechanism.axis
    ]


def _same_input(made: ChallengeSet) -> list[str]:
    first: dict[str, str] = {}
    found = []
    for case in made.cases:
        seen = first.setdefault(digest_of(shown_to_gate(made, case)), case.id)
        if seen != case.id:
            found.append(f"{case.id} as {seen}")
    if not found:
        return []
    count = "1 case shows" if len(found) == 1 else f"{len(found)} cases show"
    more = len(found) - _MOST_NAMED
    rest = f", and {more} more" if more > 0 else ""
    return [f"{count} the gate the same as an earlier one: {', '.join(found[:_MOST_NAMED])}{rest}"]


def _secrets(made: ChallengeSet) -> list[str]:
    return [
        f"case {case.id}: text of the form of a real credential"
        for case in made.cases
        if _SECRET.search(str(shown_to_gate(made, case)))
    ]


def shown_to_gate(made: ChallengeSet, case: Case) -> list[object]:
    """Return everything of a case that reaches the gate, as JSON."""
    task = made.task_of(case)
    told = None if task is None else [task.setting, *(prompt.text for prompt in task.prompts)]
    return [told, [list(step) for step in case.delivered()]]
