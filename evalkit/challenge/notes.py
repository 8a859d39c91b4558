"""What may be wrong with a set, seen beside other sets, a policy and the catalogue. Pure.

``lint`` names what a set should not have; a note is a sign that a person looks into.
"""

from typing import NamedTuple

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.literals import Literal
from evalkit.challenge.near import MOST_COMPARED, Text, near, text_of
from evalkit.challenge.tuned import fitted_examples, fitted_literals, told_of
from toolgate.canonical import digest_of

MOST_SAID = 20
_UNSAID = "it does not say what its labelers had seen of any gate's answers (seen)"


class Beside(NamedTuple):
    """What a set is held against.

    Args:
        others: other sets, by path.
        literals: the policy's literals.
        before: those of the policy at the time of the freeze, or None where it is not known.
        examples: example commands of the catalogue, with their programs.
        words: words that came into the catalogue after the freeze, as far as that is known.
    """

    others: dict[str, ChallengeSet]
    literals: list[Literal]
    before: list[Literal] | None
    examples: list[tuple[str, str]]
    words: tuple[Literal, ...] = ()


def notes(made: ChallengeSet, beside: Beside) -> list[str]:
    """Return one sentence for each sign.

    Args:
        made: the set.
        beside: what it is held against.
    """
    others = [other for other in beside.others.values() if not _related(made, other)]
    own, rest = told_of(made), [told_of(other) for other in others]
    told = [
        *fitted_literals(own, rest, list(beside.words), []),
        *fitted_literals(own, rest, beside.literals, beside.before),
    ]
    texts = [text_of(one, case) for one in (made, *others) for case in one.cases]
    found, whole = near(texts)
    pairs = [(texts[row.one], texts[row.other], row.share) for row in found]
    cut = [] if whole else [f"near duplicates: stopped after {MOST_COMPARED} comparisons"]
    inside = [_sentence(*row) for row in pairs if row[0].where == row[1].where == made.name]
    # The set's cases come first, so the first of two is its own where one is.
    shared = [_sentence(*row) for row in pairs if row[0].where == made.name != row[1].where]
    return [
        *([] if made.provenance.seen else [_UNSAID]),
        *cut,
        *_cut(inside),
        *_cut(shared),
        *_cut(told),
        *_cut(fitted_examples(made, beside.examples)),
    ]


def _related(made: ChallengeSet, other: ChallengeSet) -> bool:
    """Say whether one set is the other or replaces it: then they have most cases in common."""
    if other.name == made.name or digest_of(other.source) == digest_of(made.source):
        return True
    names = {digest_of(one.source): one.name for one in (made, other)}
    replaced = {made.supersedes, other.supersedes} - {None}
    return bool(replaced & (set(names) | set(names.values())))


def _sentence(one: Text, other: Text, share: float) -> str:
    where = "" if one.where == other.where else f" of {other.where}"
    labels = "" if one.label == other.label else f", labeled {one.label} and {other.label}"
    return (
        f"case {one.case}: nearly the same as {other.case}{where}{labels} "
        f"({share:.2f} of the calls' word pairs in common)"
    )


def _cut(said: list[str]) -> list[str]:
    more = len(said) - MOST_SAID
    return [*said[:MOST_SAID], f"and {more} more of this kind"] if more > 0 else said
