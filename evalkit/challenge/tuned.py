"""Signs that a policy or the catalogue was fitted to a set. Pure; signs, no proof.

A literal that stands in a policy and in the cases of one set alone, of all the sets that were
compared, may have been written for that set. One that came into the policy after the set was
frozen is the stronger sign. So is an example of the catalogue that is nearly a case.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from evalkit.challenge.case import PRE, Case, ChallengeSet
from evalkit.challenge.lint import listed
from evalkit.challenge.literals import EXPRESSION, PATH, Literal
from evalkit.challenge.near import Text, near, shingles, text_of

FEWEST_CHARACTERS = 4
"""A literal with fewer characters of its own, wildcards apart, says nothing."""
FEWEST_OTHERS = 3
"""Beside fewer sets, that a literal stands in one alone says nothing, unless it is new."""
FEWEST_WORDS = 5
"""Nor does an example with fewer words: there are few ways to write it."""


class Told(NamedTuple):
    """The text of a set's cases, as a literal is sought in it.

    Args:
        name: the set's name.
        texts: case id to text: calls and prompts.
        whole: all of them, a line feed between two.
    """

    name: str
    texts: dict[str, str]
    whole: str


def told_of(made: ChallengeSet) -> Told:
    """Return the text of a set's cases."""
    texts = {case.id: _text(case) for case in made.cases}
    return Told(made.name, texts, "\n".join(texts.values()))


def _text(case: Case) -> str:
    calls = [text for step in case.delivered() if step.event == PRE for text in _leaves(step.input)]
    return "\n".join([*calls, *case.prompts])


def _leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for child in value.values() for text in _leaves(child)]
    if isinstance(value, list):
        return [text for child in value for text in _leaves(child)]
    return [value] if isinstance(value, str) else []


def fitted_literals(
    told: Told, others: list[Told], literals: list[Literal], before: list[Literal] | None
) -> list[str]:
    """Return one sentence for each literal that occurs in this set alone.

    Args:
        told: the set.
        others: the sets it is compared with; with none nothing can be said, and beside fewer
            than ``FEWEST_OTHERS`` only of what is new.
        literals: the policy's.
        before: those of the policy as it was when the set was frozen, or None where that is
            not known; then nothing is said of when a literal came.
    """
    if not others:
        return []
    known = None if before is None else {(one.where, one.text) for one in before}
    said: list[str] = []
    for one in literals:
        new = known is not None and (one.where, one.text) not in known
        if len(others) < FEWEST_OTHERS and not new:
            continue
        holds = _sought(one)
        # A literal cannot reach over a line's end, so all texts can be searched as one.
        if one.kind != EXPRESSION and not holds(told.whole):
            continue
        cases = [case for case, text in told.texts.items() if holds(text)]
        if not cases or any(_anywhere(one, holds, other) for other in others):
            continue
        since = "came after the set was frozen, and " if new else ""
        said.append(
            f"literal {one.text!r} ({one.where}) {since}occurs in this set and in none of "
            f"{len(others)} others: {listed(cases)}"
        )
    return sorted(said, key=lambda sentence: "after the set was frozen" not in sentence)


def _anywhere(literal: Literal, holds: Callable[[str], bool], other: Told) -> bool:
    if literal.kind != EXPRESSION:
        return holds(other.whole)
    return any(holds(text) for text in other.texts.values())


def _sought(literal: Literal) -> Callable[[str], bool]:
    """Return what finds a literal in a text; nothing is found of one that is too short."""
    own = literal.text.replace("*", "").removeprefix("~/").strip("/ ")
    if len(own) < FEWEST_CHARACTERS:
        return lambda _text: False
    import re2

    if literal.kind == EXPRESSION:
        expression = re2.compile(f"(?i){literal.text}")
        return lambda text: expression.search(_unquoted(text)) is not None
    found = re2.compile(rf"(?:^|[^\w.-]){_pattern(literal)}(?:$|[^\w.-])")
    return lambda text: found.search(text) is not None


def _pattern(literal: Literal) -> str:
    text, start = literal.text, ""
    if literal.kind == PATH:
        for prefix, stands_for in (("**/", ""), ("~/", _HOMES)):
            if text.startswith(prefix):
                text, start = text.removeprefix(prefix), stands_for
    return start + r"[^\s/'\"]*".join(map(re.escape, text.split("*")))


def _unquoted(text: str) -> str:
    """Return a text as a policy's expressions read it: without quotes and backslashes."""
    return text.translate(_QUOTES)


_HOMES = r"(?:~|\$HOME|/root|/home/[^/\s]+|/Users/[^/\s]+)/"
_QUOTES = str.maketrans("", "", "\"'`\\")


def fitted_examples(made: ChallengeSet, examples: list[tuple[str, str]]) -> list[str]:
    """Return one sentence for each example of the catalogue that is nearly a case.

    Args:
        made: the set.
        examples: program and command.
    """
    texts = [text_of(made, case)._replace(where="set", task=frozenset()) for case in made.cases]
    texts += [
        Text("catalogue", f"{program}: {command}", "", "", shingles(command), frozenset())
        for program, command in examples
    ]
    long = [text for text in texts if len(text.call) > FEWEST_WORDS]
    found, _ = near(long, across=True)
    return [
        f"case {long[row.one].case}: its call is nearly an example of the catalogue, "
        f"{long[row.other].case!r:.120}"
        for row in found
    ]
