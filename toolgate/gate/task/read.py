"""What a user's prompts forbid, reserve, allow and ask for. Pure.

Statements stand in the order of the text. Whoever matches them begins with the last: the latest
word that is specific to an act decides.
"""

from functools import lru_cache

from toolgate.gate.task.cues import Clauses
from toolgate.gate.task.draft import MENTIONS, Draft
from toolgate.gate.task.lexicon import Lexicon, shipped_lexicon
from toolgate.gate.task.names import Found
from toolgate.gate.task.own import announces, own_tokens
from toolgate.gate.task.plain import plain
from toolgate.gate.task.statement import (
    DECIDES,
    ELSEWHERE,
    ENVIRONMENT,
    EVERY_ACT,
    FORBIDS,
    KIND,
    NAME,
    PERMITS,
    REQUESTS,
    RESERVES,
    THERE,
    THING,
    WORD,
    Name,
    Statement,
)
from toolgate.gate.task.tokens import MAX_CHARACTERS, sentences

MAX_STATEMENTS = 400
"""Of one prompt; beyond that the prompt is not wholly read."""

_KEPT_READINGS = 64


@lru_cache(maxsize=1)
def the_lexicon() -> Lexicon:
    """Return the shipped lexicon, loaded once a process."""
    return shipped_lexicon()


@lru_cache(maxsize=_KEPT_READINGS)
def read_prompt(text: str, number: int) -> tuple[tuple[Statement, ...], bool]:
    """Return what one prompt says, in order, and whether all of it was read.

    Args:
        text: the prompt.
        number: which prompt of the task it is.
    """
    lexicon = the_lexicon()
    made: list[Statement] = []
    before: list[Draft] = []
    named: list[Draft] = []
    opened = False
    for sentence in sentences(text):
        own = plain(own_tokens(sentence, lexicon, opened=opened), lexicon)
        clauses = Clauses(own, lexicon).read()
        opened = announces(sentence, lexicon)
        said = _said(clauses, before, named, lexicon)
        made += [one._replace(prompt=number, words=sentence.words) for one in said]
        before = clauses.drafts
        named += [draft for draft in clauses.drafts if draft.says in (REQUESTS, PERMITS)]
        if len(made) > MAX_STATEMENTS:
            return tuple(made[:MAX_STATEMENTS]), False
    return tuple(made), len(text) <= MAX_CHARACTERS


def _said(
    clauses: Clauses, before: list[Draft], named: list[Draft], lexicon: Lexicon
) -> list[Statement]:
    """Return what a sentence says.

    Args:
        clauses: the sentence, read.
        before: what the sentence before it said.
        named: what the prompt has asked for before it.
        lexicon: the lexicon.
    """
    made: list[Statement] = []
    if clauses.asks_first:
        made += _asked_first(clauses, before, lexicon)
    drafts = [draft for draft in clauses.drafts if draft.says != MENTIONS]
    for draft in drafts:
        made += _of_draft(draft, [*named, *drafts], lexicon)
    for draft in clauses.drafts:
        made += _no_further(draft, [*named, *drafts], lexicon)
    for limit in clauses.limits:
        made += _limit(limit, lexicon)
    if clauses.looks:
        made += looking(lexicon)
    if clauses.lifts_looks:
        made += [one._replace(says=PERMITS, name="retraction") for one in looking(lexicon)]
    if clauses.nothing_else:
        made += _nothing_else([*named, *drafts], lexicon)
    if clauses.decides:
        made.append(Statement(DECIDES, "decision", (), tuple(clauses.decides)))
    if clauses.lifts:
        made.append(Statement(PERMITS, "retraction", (EVERY_ACT,), tuple(clauses.lifts)))
    return made


def _asked_first(clauses: Clauses, before: list[Draft], lexicon: Lexicon) -> list[Statement]:
    """Return what ``ask me first`` is about where its own sentence does not say it before."""
    own = [draft for draft in clauses.drafts if draft.says == RESERVES and draft.acts]
    if own:
        return []
    about = [draft for draft in clauses.drafts if draft.says == REQUESTS]
    for draft in about:
        draft.says = RESERVES
    if about:
        return []
    earlier = [draft for draft in before if draft.says in (REQUESTS, MENTIONS) and draft.acts][-1:]
    return [one for draft in earlier for one in _reserved(draft, lexicon)]


def _of_draft(draft: Draft, around: list[Draft], lexicon: Lexicon) -> list[Statement]:
    if draft.says == FORBIDS:
        return _forbidden(draft, around, lexicon)
    if draft.says == RESERVES:
        return _reserved(draft, lexicon)
    if draft.cue == "forget" and not draft.acts:
        return []
    if draft.found.nothing and draft.limits is None:
        return _forbidden(draft, around, lexicon)  # "push nothing"
    wanted = _wanted(draft, lexicon)
    if draft.limits is not None:
        return [*_limited(draft, lexicon), *wanted]
    return wanted


def _objects(draft: Draft, acts: list[str], lexicon: Lexicon) -> tuple[Name, ...] | None:
    """Return what a statement is about, () for anything; None where that was not understood."""
    found = draft.found
    narrow = [act for act in acts if act in lexicon.broad]
    # What an act such as a push or a commit is done to is a name or a place, or it is any.
    kinds = (NAME, ENVIRONMENT, THING) if narrow else (NAME, ENVIRONMENT)
    sure = [one for one in found.names if one.kind in kinds]
    if sure or not narrow:
        return tuple(sure)
    words = [one for one in found.names if one.kind == WORD]
    if words and "run" in acts and len(words) > 1:
        return (Name(NAME, " ".join(one.text for one in words)),)
    if words:
        # The last word of a description says what the thing is, those before it only which.
        heads = {one.after: one for one in words}
        return None if acts == ["read"] else tuple(heads.values())
    if found.kinds and not (found.pronoun or found.anything):
        meant = [kind for kind in map(singular, found.kinds) if kind in lexicon.means]
        return tuple(Name(KIND, kind) for kind in meant) or None
    return ()


def singular(noun: str) -> str:
    """Return a noun for one thing of its kind."""
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _points_back(draft: Draft, lexicon: Lexicon) -> bool:
    """Say whether a broad act has nothing but a pronoun for its object."""
    found = draft.found
    bare = found.pronoun and not (found.anything or draft.phrase)
    return bare and not set(draft.acts).isdisjoint(lexicon.broad)


def _meant_before(draft: Draft, around: list[Draft]) -> tuple[Name, ...] | None:
    """Return what a pronoun stands for: what was last named before it; None for nothing."""
    if draft.seen is not None:
        return (draft.seen,)
    before = around[: around.index(draft)] if draft in around else around
    for other in reversed(before):
        names = tuple(one for one in other.found.names if one.kind != WORD)
        if names:
            return names
    return None


def _lacks_object(draft: Draft, lexicon: Lexicon) -> bool:
    """Say whether a word means another thing without an object: "do not stop"."""
    found = draft.found
    if draft.compared and not set(draft.acts).isdisjoint(lexicon.broad):
        return not [one for one in found.names if one.kind != WORD]
    given = found.anything or found.pronoun or found.kinds or found.names or draft.phrase
    return not given and set(draft.acts) <= lexicon.transitive


def _with_named(acts: list[str], names: tuple[Name, ...], lexicon: Lexicon) -> tuple[str, ...]:
    if not names:
        return tuple(acts)
    more = [other for act in acts for other in lexicon.named_with.get(act, ())]
    if any(one.kind == ENVIRONMENT for one in names):
        more += [other for act in acts for other in lexicon.placed_with.get(act, ())]
    return tuple(dict.fromkeys((*acts, *more)))


def _forbidden(draft: Draft, around: list[Draft], lexicon: Lexicon) -> list[Statement]:
    if draft.found.rest and not draft.found.names:
        kept = [
            name
            for other in around
            if other is not draft and other.says in (REQUESTS, PERMITS)
            for name in other.found.names
            if name.kind != WORD
        ]
        if not kept:
            return []
        return [Statement(FORBIDS, "limit", tuple(draft.acts), (), tuple(kept), sure=draft.sure)]
    names = _objects(draft, draft.acts, lexicon)
    if names == () and _points_back(draft, lexicon):
        names = _meant_before(draft, around)
        if names is None and draft.acts == ["edit"]:
            names = ()  # "do not fix it": what is wrong is no thing, and nothing is to be edited
    if names is None or (not names and _lacks_object(draft, lexicon)):
        return []
    but = tuple(draft.but)
    there = tuple(one for one in names if one.kind == ENVIRONMENT)
    if there and not {"run", "read", "use", "secret"}.isdisjoint(draft.acts):
        return [Statement(FORBIDS, "prohibition", (THERE,), there, but, sure=draft.sure)]
    programs = draft.acts == ["run"] and all(
        one.text in lexicon.instruments for one in draft.found.names
    )
    if draft.acts == ["use"] or (programs and draft.found.names):
        names = tuple(one for one in draft.found.names if one.kind in (NAME, WORD))
        if not names:
            return []
        return [Statement(FORBIDS, "prohibition", ("use",), names, but, sure=draft.sure)]
    acts = _with_named(draft.acts, names, lexicon)
    return [Statement(FORBIDS, "prohibition", acts, names, but, sure=draft.sure)]


def _reserved(draft: Draft, lexicon: Lexicon) -> list[Statement]:
    if not draft.acts or (draft.choice and draft.acts == ["use"]):
        options = tuple(one for one in draft.found.names)
        return [Statement(RESERVES, "choice", (), options)] if len(options) > 1 else []
    names = _objects(draft, draft.acts, lexicon)
    if draft.acts == ["use"]:
        names = tuple(one for one in draft.found.names if one.kind in (NAME, WORD)) or None
    if names is None:
        return []
    name = "choice" if draft.choice else "reservation"
    acts = _with_named(draft.acts, names, lexicon)
    return [Statement(RESERVES, name, acts, names, tuple(draft.but))]


def _wanted(draft: Draft, lexicon: Lexicon) -> list[Statement]:
    """Return a request or a permission, and that it does not reach what it leaves out."""
    if draft.acts == ["use"]:
        return []
    names = tuple(draft.found.names)
    if not names and draft.found.pronoun and draft.seen is not None and draft.seen.kind == NAME:
        names = (draft.seen._replace(after=""),)  # "feature/old is merged, delete it"
    name = "retraction" if draft.says == PERMITS else "request"
    made = [
        Statement(
            draft.says,
            name,
            tuple(draft.acts),
            names,
            tuple(draft.but),
            sure=draft.sure and not draft.found.rest,
        )
    ]
    kept = tuple(one for one in draft.but if one.kind in (NAME, ENVIRONMENT))
    if kept:
        made.append(Statement(FORBIDS, "prohibition", tuple(draft.acts), kept, sure=draft.sure))
    return made


def _limited(draft: Draft, lexicon: Lexicon) -> list[Statement]:
    """Return what an ``only`` forbids: the same act elsewhere, or every other act."""
    names = tuple(one for one in draft.limits or () if one.kind != WORD)
    if draft.acts == ["use"]:
        return []
    if set(draft.acts) & lexicon.looking and not names:
        return looking(lexicon)
    if names and all(one.kind == ENVIRONMENT for one in names) and set(draft.acts) <= lexicon.broad:
        return [Statement(FORBIDS, "limit", (ELSEWHERE,), (), names, sure=draft.sure)]
    if names:
        acts = tuple(draft.acts)
        if {"edit", "change", "create"} & set(acts):
            acts = tuple(dict.fromkeys((*acts, "edit")))
        if {"read"} >= set(acts):
            return []
        acts = _with_named(list(acts), names, lexicon)
        return [Statement(FORBIDS, "limit", acts, (), names, sure=draft.sure)]
    if draft.cue != "only":
        return []
    spare = tuple((act, ()) for act in draft.acts)
    return [one._replace(name="limit", spare=spare) for one in looking(lexicon)]


def _no_further(draft: Draft, around: list[Draft], lexicon: Lexicon) -> list[Statement]:
    """Return what ``just commit`` forbids: the steps that would come after."""
    if not draft.just or draft.says != REQUESTS:
        return []
    asked = {act for other in around if other.says in (REQUESTS, PERMITS) for act in other.acts}
    further = [other for act in draft.acts for other in lexicon.further.get(act, ())]
    left = tuple(dict.fromkeys(act for act in further if act not in asked))
    return [Statement(FORBIDS, "prohibition", left, sure=draft.sure)] if left else []


def _limit(limit: Found, lexicon: Lexicon) -> list[Statement]:
    """Return what is forbidden where all work is limited to something."""
    names = tuple(one for one in limit.names if one.kind != WORD)
    places = tuple(one for one in names if one.kind == ENVIRONMENT)
    if places:
        return [Statement(FORBIDS, "limit", (ELSEWHERE,), (), places)]
    paths = tuple(one for one in names if one.kind in (NAME, THING))
    return [Statement(FORBIDS, "limit", ("edit",), (), paths)] if paths else []


def looking(lexicon: Lexicon) -> list[Statement]:
    """Return what is forbidden where only looking is wanted."""
    return [
        Statement(FORBIDS, "limit", lexicon.beyond_looking),
        Statement(FORBIDS, "limit", lexicon.maybe_beyond_looking, sure=False),
    ]


def _nothing_else(around: list[Draft], lexicon: Lexicon) -> list[Statement]:
    """Return what ``nothing else`` forbids: every act but those the prompt asks for."""
    spare = tuple(
        (act, tuple(one for one in draft.found.names if one.kind != WORD))
        for draft in around
        if draft.says in (REQUESTS, PERMITS)
        for act in draft.acts
    )
    return [one._replace(name="limit", spare=spare) for one in looking(lexicon)]
