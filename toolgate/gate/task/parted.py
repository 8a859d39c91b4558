"""Constructions whose parts stand apart: ``the only file you may edit is a.py``. Pure."""

from toolgate.gate.task.grammar import (
    ALLOWING,
    BE,
    COMMUNICATE,
    COORDINATORS,
    DEONTIC,
    GIVING,
    KEEPS,
    ME,
    OPENERS,
    PERIODS,
)
from toolgate.gate.task.lexicon import BASE, PARTICIPLE
from toolgate.gate.task.phrase import Phrase
from toolgate.gate.task.spanning import must_not
from toolgate.gate.task.tokens import MARK, Token

_FAR = 12
"""How many words a construction may span."""

_NEAR = 5
"""How many words may stand between telling somebody and what that has to come before."""

Plain = tuple[list[Token], int] | None
"""What a construction says in plain words, and where it ends; None where there is none."""


def of_parts(phrase: Phrase, at: int) -> Plain:
    """Return what a construction that begins at a word says in plain words."""
    word = phrase.words[at]
    if not word or phrase.tokens[at].kind == MARK:
        return None
    if word == "the" and phrase.words[at + 1 : at + 2] and phrase.words[at + 1] in _SOLE:
        return _the_only(phrase, at)
    if word in ("nobody", "none", "no"):
        return _nobody(phrase, at) or _without_tool(phrase, at)
    if word in ("without", "avoid"):
        return _without_tool(phrase, at)
    if word == "nothing" and phrase.starts(at):
        return _nothing_in(phrase, at)
    if word.startswith("no-") and phrase.words[at + 1 : at + 2] and phrase.words[at + 1] in _RULES:
        return (phrase.said(f"no {word[3:]}"), at + 1) if _is_act(phrase, word[3:]) else None
    if word == "not" and at and phrase.words[at - 1] == ",":
        return _but_not(phrase, at)
    if word == "alone":
        return _alone(phrase, at)
    if word in COMMUNICATE:
        return _told_before(phrase, at) or _past_me(phrase, at)
    if word in _STAYS and at:
        return _must_stay(phrase, at)
    if word in ("can", "may", "could") and at:
        return _may_be(phrase, at)
    acts, end = phrase.acts(at)
    if acts and _is_denied(phrase, at, end):
        return [*phrase.said("; no"), *phrase.tokens[at:end]], phrase.clause_end(end)
    if acts and phrase.words[end : end + 1] == ["no"] and phrase.is_mark(end + 1):
        return [*phrase.said("no"), *phrase.tokens[at:end]], end + 1  # "tests yes, deploy no"
    return None


_RULES = ("rule", "policy", "ban", "restriction", "limit", "constraint", "agreement")
_SOLE = ("only", "one", "sole", "single")


def _is_act(phrase: Phrase, word: str) -> bool:
    return bool(word) and bool(phrase.lexicon.verbs.at([word], 0)[0])


def _the_only(phrase: Phrase, at: int) -> Plain:
    """Read ``the only file you may edit is X`` as ``only edit X``."""
    words = phrase.words
    position = at + 2
    while position < min(len(words), at + _FAR) and words[position] not in BE:
        position += 1
    if position >= len(words) or words[position] not in BE:
        return None
    said = words[at + 2 : position]
    if not {*DEONTIC, "to", "you", "allowed", "free", "we"} & set(said):
        return None
    for place in range(at + 2, position):
        acts, end = phrase.acts(place)
        if end > position:
            return None
        if any(form == BASE for _, form in acts) and words[place - 1] != "the":
            return phrase.said(f"only {' '.join(words[place:end])}"), position + 1
        if any(form == PARTICIPLE for _, form in acts):
            base = phrase.lexicon.verbs.base_of(words[place])
            return (phrase.said(f"only {base}"), position + 1) if base else None
    return None


def _nobody(phrase: Phrase, at: int) -> Plain:
    """Read ``nobody pushes today`` as ``do not push today``."""
    words = phrase.words
    end = at + 1
    if words[at] == "none":
        if words[at + 1 : at + 3] not in (["of", "us"], ["of", "you"]):
            return None
        end = at + 3
    elif words[at] == "no":
        if words[at + 1 : at + 2] != ["one"]:
            return None
        end = at + 2
    if end >= len(words) or not words[end].endswith("s"):
        return None
    verb = words[end]
    for bare in (verb[:-1], verb[:-2], f"{verb[:-3]}y"):
        acts, _ = phrase.lexicon.verbs.at([bare], 0) if bare else ([], 0)
        if any(form == BASE for _, form in acts) and phrase.ends_with_act(end):
            return phrase.said(f"do not {bare}"), end + 1
    return None


def _without_tool(phrase: Phrase, at: int) -> Plain:
    """Read ``no python scripts`` as ``do not use python``."""
    words = phrase.words
    end = at + 1
    while end < len(words) and words[end] in ("any", "using", "more", "the", "use", "of"):
        end += 1
    if end >= len(words) or words[end] not in phrase.lexicon.instruments:
        return None
    behind = end + 1
    while behind < len(words) and words[behind] in _USES:
        behind += 1
    if not (phrase.is_mark(behind) or words[behind] in PERIODS or words[behind] in COORDINATORS):
        return None
    if at and words[at - 1] in ("is", "are", "was", "were", "has", "have", "with"):
        return None
    return phrase.said(f"; do not use {words[end]}"), behind


_USES = frozenset(
    ("script", "scripts", "code", "command", "commands", "one-liner", "one-liners", "tool", "tools")
)


def _nothing_in(phrase: Phrase, at: int) -> Plain:
    """Read ``nothing in db/ may be altered`` as ``db/ must not be altered``."""
    words = phrase.words
    position = at + 1
    if words[position : position + 1] not in (
        ["in"],
        ["under"],
        ["inside"],
        ["within"],
        ["below"],
        ["on"],
    ):
        return None
    end = position + 1
    while end < min(len(words), at + _FAR) and words[end] not in (*DEONTIC, *BE):
        if phrase.tokens[end].kind == MARK:
            return None
        end += 1
    if end + 1 >= len(words) or words[end] not in (*DEONTIC, *BE):
        return None
    if words[end] in BE and words[end + 1] != "to":
        return None  # "nothing in db/ is older" tells of what is there
    behind = end + 1
    while behind < len(words) and words[behind] in ("be", "get", "to", "ever"):
        behind += 1
    return [*phrase.tokens[position + 1 : end], *must_not(phrase, behind)], behind


_STAYS = ("must", "should", "has", "have", "needs", "need", "shall", "is", "are")
_SURVIVES = frozenset(("kept", "preserved", "retained", "survive", "spared", "saved"))


def _must_stay(phrase: Phrase, at: int) -> Plain:
    """Read ``old.json must be kept`` as ``do not delete old.json``."""
    words = phrase.words
    end = at + 1
    while end < len(words) and words[end] in ("be", "to", "still"):
        end += 1
    still = words[at:end] in (["is", "still"], ["are", "still"])
    if still and words[end : end + 1] == ["needed"]:
        pass
    elif words[end : end + 1] == [] or words[end] not in _SURVIVES:
        return None
    elif words[at] in BE and words[at + 1 : at + 2] != ["to"]:
        return None  # "the rows are kept" tells how something works
    start = at
    while start > 0 and not phrase.is_mark(start - 1) and words[start - 1] not in ("and", "but"):
        start -= 1
    if not any(phrase.is_thing(place) for place in range(start, at)):
        return None
    return [*phrase.said("; do not delete"), *phrase.tokens[start:at]], end + 1


def _is_denied(phrase: Phrase, at: int, end: int) -> bool:
    """Say whether an act is denied what another is allowed: ``a is fine, pushes are not``."""
    words = phrase.words
    verb = words[end : end + 1]
    if not verb or (verb[0] not in BE and verb[0] not in (*DEONTIC, "do", "does")):
        return False
    denied = words[end + 1 : end + 2] == ["not"] and phrase.is_mark(end + 2)
    return denied and not ALLOWING.isdisjoint(words[:at])


def _but_not(phrase: Phrase, at: int) -> Plain:
    """Read ``give me a diagnosis, not a fix`` as ``no fix``."""
    words = phrase.words
    article = words[at + 1 : at + 2] in (["a"], ["an"], ["the"], ["any"])
    if not article or GIVING.isdisjoint(words[:4]):
        return None
    acts, end = phrase.acts(at + 2)
    if not acts or not phrase.is_mark(end):
        return None
    return phrase.said("; no"), at + 2


def _alone(phrase: Phrase, at: int) -> Plain:
    """Read ``to staging alone`` as ``to staging only``."""
    if not phrase.is_mark(at + 1) or at == 0 or not KEEPS.isdisjoint(phrase.words[:at]):
        return None
    return (phrase.said("only"), at + 1) if phrase.is_thing(at - 1) else None


def _told_before(phrase: Phrase, at: int) -> Plain:
    """Read ``give me a heads-up before`` as ``ask me before``."""
    words = phrase.words
    if not phrase.starts(at) and words[at - 1] not in ("you", "must", "should", "always", "to"):
        return None
    addressed = next(
        (
            place
            for place in range(at + 1, at + 3)
            if words[place : place + 1] and words[place] in ME
        ),
        -1,
    )
    if addressed < 0:
        return None
    for position in range(addressed + 1, min(len(words), addressed + 1 + _NEAR)):
        word = words[position]
        if phrase.is_mark(position) or word in ("what", "which", "how", "why", "whether", "if"):
            return None
        if word in ("before", "prior", "ahead"):
            return phrase.said("ask me before"), position + (1 if word == "before" else 2)
    return None


def _past_me(phrase: Phrase, at: int) -> Plain:
    """Read ``run every push past me`` as ``ask me before every push``."""
    words = phrase.words
    if words[at] not in ("run", "put", "pass", "clear", "bring"):
        return None
    for position in range(at + 1, min(len(words) - 1, at + _FAR)):
        if phrase.is_mark(position):
            return None
        if words[position] in ("past", "by", "with", "before") and words[position + 1] in ME:
            inside = range(at + 1, position)
            acts = [place for place in inside if phrase.acts(place)[0]]
            if not acts:
                return None
            return [*phrase.said("ask me before"), *phrase.tokens[at + 1 : position]], position + 2
    return None


_ALLOWED_BY = frozenset(("now", "too", "after", "all", "again", "today", "please", "and", "then"))
"""What may stand behind leave; "at any time" tells of what the thing has to bear."""


def _may_be(phrase: Phrase, at: int) -> Plain:
    """Read ``old.json can be deleted`` and ``old.json may go`` as leave to delete it."""
    words = phrase.words
    position = at + 1
    while position < len(words) and words[position] in ("now", "also", "again", "safely", "all"):
        position += 1
    if words[position : position + 1] == ["go"]:
        base, end = "delete", position + 1
    elif words[position : position + 1] == ["be"] and phrase.has_form(position + 1, PARTICIPLE):
        base = phrase.lexicon.verbs.base_of(words[position + 1])
        end = position + 2
    else:
        return None
    behind = end
    while not phrase.is_mark(behind):
        if words[behind] not in _ALLOWED_BY:
            return None
        if words[behind] == "and":
            break
        behind += 1
    start = at - 1
    while start > 0 and not phrase.is_mark(start - 1) and words[start - 1] not in OPENERS:
        start -= 1
    named = any(phrase.is_named(place) for place in range(start, at))
    if not base or not named:
        return None
    subject = phrase.tokens[start:at]
    return [*phrase.said(f"; you can {base}"), *subject, *phrase.said(";")], behind
