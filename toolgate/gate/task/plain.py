"""English constructions put into the plain words the walk reads: ``neither a nor b``. Pure.

A construction is a wording with what it says in plain words, and what has to follow it. It is a
class of English (a negative adverbial, an exclusive, a refusal, a wish that something not be), so
that the walk has one way to read each class. What stands where no construction is stays as it is.
"""

from toolgate.gate.task.lexicon import Lexicon
from toolgate.gate.task.parted import of_parts
from toolgate.gate.task.phrase import Phrase
from toolgate.gate.task.spanning import whole_clause, wished
from toolgate.gate.task.tokens import Token

WISHED = "wishing"
"""Stands for a wish whose clause follows."""


def plain(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Return the tokens of a sentence with its constructions in plain words.

    Args:
        tokens: the user's own words of it.
        lexicon: names the constructions.
    """
    phrase = Phrase(whole_clause(Phrase(tokens, lexicon)), lexicon)
    made: list[Token] = []
    at = 0
    while at < len(phrase.tokens):
        found = _listed(phrase, at) or of_parts(phrase, at)
        if found is None:
            made.append(phrase.tokens[at])
            at += 1
            continue
        said, at = found
        if said and said[-1].text == WISHED:
            said, at = [*said[:-1], *wished(phrase, at)[0]], wished(phrase, at)[1]
        made += said
    return tuple(made)


def _listed(phrase: Phrase, at: int) -> tuple[list[Token], int] | None:
    """Return what the longest listed construction at a word says, and where it ends."""
    if not phrase.words[at]:
        return None
    numbers, end = phrase.lexicon.constructions.at(phrase.words, at)
    for number, _ in numbers:
        construction = phrase.lexicon.plainly[int(number)]
        if construction.get("starts") and not phrase.starts(at):
            continue
        then = construction.get("then", ())
        if then and not any(phrase.follows(one, end) for one in then):
            continue
        if construction.get("ends") and not phrase.ends_with_act(end):
            continue
        return phrase.said(construction["as"].replace("$1", phrase.words[at])), end
    return None
