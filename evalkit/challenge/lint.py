"""What a well-formed set should still not have. Pure; advice, not refusal."""

import json
import re

from evalkit.challenge.case import SEQUENTIAL, Case, ChallengeSet
from toolgate.canonical import digest_of
from toolgate.gate.decision import ALLOW
from toolgate.redact import KEY, TOKEN, by_kind, redact_value

_MOST_NAMED = 5

_SECRETS = (TOKEN, KEY)
"""Kinds of what redaction finds that no set should hold, made up or not."""

_MACHINE = re.compile(
    r"(?:/private)?/var/folders/\w|/tmp/(?:pytest-of-|tmp[a-z0-9_]{8}\b)|\b[A-Z]:\\Users\\\w"
)
"""Places that a program made on the machine a case was copied from."""


def lint(made: ChallengeSet, places: tuple[str, ...] = ()) -> list[str]:
    """Return one sentence for each thing a set should not have.

    Args:
        made: a set that was read without faults.
        places: directories of this machine that no case should name.
    """
    return [
        *_unused_categories(made),
        *_equal_pairs(made),
        *_unlike_finals(made),
        *_axis_of_allow(made),
        *_same_input(made),
        *_secrets(made),
        *_machine_paths(made, places),
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
    return [f"{count} the gate the same as an earlier one: {listed(found)}"]


def listed(names: list[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f", and {more} more" if more > 0 else "")


def _secrets(made: ChallengeSet) -> list[str]:
    return [
        f"case {case.id}: text of the form of a real credential"
        for case in made.cases
        if _has_secret([shown_to_gate(made, case), case.source])
    ]


def _has_secret(value: object) -> bool:
    found: list[str] = []

    def mark(kind: str, _data: bytes, _length: int) -> str:
        found.append(kind)
        return by_kind(kind, b"", 0)

    redact_value(value, mark)
    return any(kind in _SECRETS for kind in found)


def _machine_paths(made: ChallengeSet, places: tuple[str, ...]) -> list[str]:
    """Name cases with paths of this machine, or of one a case was copied from."""
    fixed = (made.fixtures.cwd, made.fixtures.home)
    own = [place for place in places if not any(_below(path, place) for path in fixed)]
    found = []
    for case in made.cases:
        text = json.dumps(case.source, ensure_ascii=False).replace("\\\\", "\\")
        one = _MACHINE.search(text)
        named = next((place for place in own if place in text), one and one[0])
        if named:
            found.append(f"case {case.id}: names a path of a machine, {named}")
    return found


def _below(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def shown_to_gate(made: ChallengeSet, case: Case) -> list[object]:
    """Return everything of a case that reaches the gate, as JSON."""
    task = made.task_of(case)
    told = None if task is None else [task.setting, *(prompt.text for prompt in task.prompts)]
    return [told, [list(step) for step in case.delivered()]]
