"""Constructions that span clauses, or a clause as a whole: ``neither a nor b``. Pure."""

from toolgate.gate.task.grammar import BE, COMMUNICATE, DEONTIC, ME, OPENERS, PAST
from toolgate.gate.task.lexicon import PARTICIPLE
from toolgate.gate.task.phrase import Phrase
from toolgate.gate.task.tokens import WORD, Token

_FAR = 36
"""How many words may stand between a choice and whose it is."""

_NONE = ("nothing", "none", "no")


def whole_clause(phrase: Phrase) -> tuple[Token, ...]:
    """Return a sentence in which constructions that span clauses are in plain words."""
    if not phrase.tokens:
        return phrase.tokens
    return _neither(phrase) or _asked_in_front(phrase) or _whose_choice(phrase) or phrase.tokens


def _neither(phrase: Phrase) -> tuple[Token, ...] | None:
    """Put ``neither a nor b`` into ``not a or b``, before a verb and around names."""
    words = phrase.words
    if "neither" not in words:
        return None
    at = words.index("neither")
    nor = next((place for place in range(at + 1, len(words)) if words[place] == "nor"), -1)
    if nor < 0:
        return None
    either = Token("or", WORD, "or")
    joined = [either if token.text == "nor" else token for token in phrase.tokens]
    for what, said in (("verb", "do not"), ("doing", "no"), ("deed", "no")):
        if phrase.follows(what, at + 1):
            return (*joined[:at], *phrase.said(said), *joined[at + 1 :])
    for position in range(nor + 1, len(words) - 1):
        if words[position] in DEONTIC or words[position] in BE:
            behind = position + 1
            while behind < len(words) and words[behind] in ("be", "get", "to", "ever"):
                behind += 1
            both = Token("and", WORD, "and")
            subject = [both if token.text == "or" else token for token in joined]
            return (
                *subject[:at],
                *subject[at + 1 : position],
                *must_not(phrase, behind),
                *joined[behind:],
            )
    return None


def must_not(phrase: Phrase, at: int) -> list[Token]:
    """Return ``must not``, with the ``be`` that the participle at a word needs."""
    changes = phrase.words[at : at + 1] == ["change"]
    return phrase.said("must not" if changes else "must not be")


def _asked_in_front(phrase: Phrase) -> tuple[Token, ...] | None:
    """Put ``before you delete anything, talk to me`` into ``ask me before ...``."""
    words = phrase.words
    at = 0
    while at < len(words) and words[at] in OPENERS:
        at += 1
    comma = phrase.clause_end(at)
    if comma >= len(words) or words[comma] != ",":
        return None
    behind = comma + 1
    while behind < len(words) and words[behind] in (*OPENERS, "you", "must", "should", "always"):
        behind += 1
    told = words[behind : behind + 6]
    if words[at : at + 1] and words[at] in ("before", "ahead", "prior"):
        asks = bool(told) and told[0] in COMMUNICATE and not ME.isdisjoint(told)
    elif _is_topic(words, at):
        asks = told[:2] in (["i", "decide"], ["we", "decide"], ["i", "choose"], ["i", "say"])
        asks = asks or (
            told[:1] == ["i"] and not {"call", "say", "word", "decide"}.isdisjoint(told)
        )
        at += 2 if words[at : at + 2] == ["as", "for"] else 0
        at += 4 if words[at : at + 4] == ["when", "it", "comes", "to"] else 0
        at += 1 if words[at] in ("regarding", "concerning") else 0
        if asks:
            ask = phrase.said("ask me before")
            return (*ask, *phrase.tokens[at:comma])
        return None
    else:
        return None
    if not asks:
        return None
    start = at + (2 if words[at] in ("ahead", "prior") else 1)
    return (*phrase.said("ask me before"), *phrase.tokens[start:comma])


def _is_topic(words: list[str], at: int) -> bool:
    return (
        words[at : at + 4] == ["when", "it", "comes", "to"]
        or words[at : at + 2] == ["as", "for"]
        or words[at : at + 1] in (["regarding"], ["concerning"])
    )


def _whose_choice(phrase: Phrase) -> tuple[Token, ...] | None:
    """Put ``the choice between a and b is mine`` into ``i will choose between a and b``."""
    words = phrase.words
    at = 1 if words[0] in ("the", "this", "that", "which") else 0
    if words[at : at + 1] not in (["choice"], ["decision"], ["question"], ["call"], ["selection"]):
        return None
    for position in range(at + 2, min(len(words), at + _FAR)):
        if words[position] in ("is", "are", "stays", "remains", "rests", "lies", "belongs"):
            told = words[position + 1 : position + 6]
            if {*ME, "mine", "ours", "open", "pending", "undecided"}.isdisjoint(told):
                return None
            return (*phrase.said("i will choose"), *phrase.tokens[at + 1 : position])
    return None


def wished(phrase: Phrase, begin: int) -> tuple[list[Token], int]:
    """Read what is wished in a clause of its own as what is to be: ``you not push this``."""
    words = phrase.words
    if words[begin : begin + 1] == ["you"]:
        for start in (["never"], ["not"], ["did", "not"], ["do", "not"], ["would", "not"]):
            end = begin + 1 + len(start)
            if words[begin + 1 : end] == start and phrase.follows("verb", end):
                return phrase.said("do not"), end
        verb = words[begin + 1] if begin + 1 < len(words) else ""
        base = PAST.get(verb) or phrase.lexicon.verbs.base_of(verb)
        return (phrase.said(base), begin + 2) if base else ([], begin)
    end = phrase.clause_end(begin)
    for position in range(begin + 1, end):
        if words[position] in (*BE, "do", "does", "did", "will") and words[
            position + 1 : position + 2
        ] == ["not"]:
            behind = position + 2 + (words[position + 2 : position + 3] in (["be"], ["get"]))
            if words[behind : behind + 1] == ["change"] or phrase.has_form(behind, PARTICIPLE):
                said = must_not(phrase, behind)
                return [*phrase.tokens[begin:position], *said], behind
        none = words[begin] in _NONE and words[position] in BE
        if none and phrase.has_form(position + 1, PARTICIPLE):
            said = phrase.said("should be")
            return [*phrase.tokens[begin:position], *said], position + 1
    return [], begin
