"""The walk over one sentence: where acts and names stand, and what governs them. Pure.

A sentence is walked once. A cue (``do not``, ``ask me before``, ``only``) sets what is said of
the acts that follow, or changes what was said of those before (``cues``); names are collected for
the act they follow. What no cue and no imperative governs is only mentioned and says nothing.
"""

from toolgate.gate.task.draft import MENTIONS, Draft
from toolgate.gate.task.grammar import (
    AUXILIARIES,
    BREAKS,
    COORDINATORS,
    OPENERS,
    SUBJECTS,
)
from toolgate.gate.task.lexicon import BASE, GERUND, NOUN, PARTICIPLE, Lexicon, longest
from toolgate.gate.task.names import Found, beside, name_at
from toolgate.gate.task.sight import Sight
from toolgate.gate.task.statement import FORBIDS, PERMITS, REQUESTS, RESERVES, WORD, Name
from toolgate.gate.task.tokens import MARK, QUOTED, Token

_SAYS = {
    "forbid": FORBIDS,
    "forbid-noun": FORBIDS,
    "ask": RESERVES,
    "open": RESERVES,
    "permit": PERMITS,
    "forget": PERMITS,
    "want": REQUESTS,
    "only": REQUESTS,
    "mention": MENTIONS,
    "": REQUESTS,
}
_ANY_FORM = frozenset(("ask", "open", "permit", "forget", "mention", "only", "forbid-noun"))
_PENDING = ("forbid", "forbid-noun", "ask", "open", "permit", "forget")
"""What a colon, and a list behind it, goes on with."""


class Walk(Sight):
    """Walks over one sentence.

    Args:
        tokens: the user's own words of it.
        lexicon: the lexicon.
    """

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon) -> None:
        super().__init__(tokens, lexicon)
        self.drafts: list[Draft] = []
        self.looks = False
        """Whether only looking is wanted."""
        self.nothing_else = False
        self.limits: list[Found] = []
        """What all work is limited to, where no act is named."""
        self.asks_first = False
        """Whether to ask about what the sentence, or the one before it, names."""
        self.decides: list[Name] = []
        self.lifts: list[Name] = []
        """Names about which something said earlier does not hold any more."""
        self.lifts_looks = False
        self._mode = ""
        self._open = True
        self._imperative = True
        self._conditional = False
        self._coordinator = ""
        self._after = ""
        self._target: list[Draft] = []
        self._loose = Found()
        self._first_in_mode = True
        self._leaving = False
        self._only_pending = False
        self._excepting = False
        self._no_cue = ""
        self._seen: Name | None = None
        self._inserted = False
        self._just = False

    def walk(self) -> None:
        """Read the sentence; what it says stands in the attributes."""
        at, end = 0, len(self._tokens)
        while at < end:
            at = self._step(at)
        self._clause()

    # -- walking ----------------------------------------------------------------------------

    def _step(self, at: int) -> int:
        token, word = self._tokens[at], self._words[at]
        if token.kind == MARK:
            self._mark(word, at)
            return at + 1
        if token.kind == QUOTED:
            return self._object(at)
        cues, cue_end = self._cue_at(at)
        acts, act_end = self._acts_at(at)
        place_end = longest(self._lexicon.environments, self._words, at)[1]
        if place_end >= max(act_end, cue_end, at + 1) and not self._is_verb_here(acts):
            return self._object(at)
        if cues and cues[0] in ("idle", "clause"):
            cues, cue_end = self._unless_inside(at, cues, cue_end)
        if cues and (cue_end >= act_end or cues[0] in ("forbid", "forbid-noun")):
            for cue in dict.fromkeys(cues):
                end = self._cue(cue, at, cue_end)
                if end > at:
                    self._cue_end = end
                    return end
        if acts and self._act(acts, at, act_end):
            return self._kind_of(at, act_end)
        if word in COORDINATORS:
            self._coordinator = word
            self._after = ""
            return at + 1
        if word in BREAKS and not self._excepting:
            if word != "yet":
                self._clause()
            return at + 1
        return self._object(at)

    def _kind_of(self, at: int, end: int) -> int:
        """Take the name behind an act that ends with a kind of thing: ``drop the table x``."""
        if (
            end - at < 2
            or end >= len(self._words)
            or self._words[end - 1] not in self._lexicon.kinds
        ):
            return end
        found, behind = beside(self._tokens, self._words, end - 1, "", self._lexicon)
        if not found.names:
            return end
        for draft in self._target:
            draft.found.add(found)
        return behind

    def _is_verb_here(self, acts: list[tuple[str, str]]) -> bool:
        return any(form == BASE for _, form in acts) and (self._open or self._first_in_mode)

    def _unless_inside(self, at: int, cues: list[str], end: int) -> tuple[list[str], int]:
        """Return a cue that means little, or none where one that means more begins inside it."""
        for inside in range(at + 1, end):
            found, further = self._cue_at(inside)
            if found and further > end and found[0] not in ("idle", "clause"):
                return [], at
        return cues, end

    def _mark(self, mark: str, at: int) -> None:
        if mark == "," and self._mode == "forbid" and not self._target:
            # "Do not, under any circumstances, ..." goes on; what ends an unknown verb does not.
            inserted = at == self._cue_end
            if inserted or self._inserted:
                self._inserted = inserted
                self._cue_end = at + 1
                return
        pending = self._mode in _PENDING and self._first_in_mode
        if mark == ":" and pending:
            return
        if mark != ",":
            if mark in ";()-\u2014\u2013:":
                self._clause()
            return
        following = at + 1
        while following < len(self._words) and self._words[following] in (*COORDINATORS, "also"):
            following += 1
        if following >= len(self._words):
            return
        coordinator = self._words[following - 1] if following > at + 1 else ""
        if self._continues(following, coordinator):
            self._coordinator = coordinator or ","
            self._after = ""
            return
        self._clause()

    def _continues(self, at: int, coordinator: str) -> bool:
        """Say whether a comma goes on with the list of acts or things before it."""
        if not self._target:
            return False
        if self._cue_at(at)[0]:
            return False
        acts, _ = self._acts_at(at)
        forms = {form for _, form in acts}
        if acts and self._mode:
            last = self._target[-1].form
            if last != BASE and last in forms:
                return True
            if BASE in forms:
                if coordinator in ("or", "nor"):
                    return True
                return self._later_coordinator(at) in ("or", "nor", "and") and self._all_joined(
                    acts
                )
        if acts and BASE in forms:
            return False
        return self._is_list(at)

    def _clause(self) -> None:
        """Begin a new clause."""
        self._only_pending = False
        if self._mode in ("forget", "permit") and self._first_in_mode:
            self.lifts += [one for one in self._loose.names if one.kind != WORD]
        self._mode = ""
        self._open = True
        self._imperative = True
        self._coordinator = ""
        self._after = ""
        self._target = []
        self._loose = Found()
        self._first_in_mode = True
        self._leaving = False
        self._excepting = False

    def _act(self, acts: list[tuple[str, str]], at: int, end: int) -> bool:
        """Take acts named at a word, if they stand there as acts; say whether they do."""
        forms = {form for _, form in acts}
        form = next(one for one in (BASE, GERUND, NOUN, PARTICIPLE) if one in forms)
        before = self._words[at - 1] if at else ""
        follows = self._words[end] if end < len(self._words) else ""
        determined = before in self._lexicon.determiners and not (
            self._mode == "forbid-noun" and before == "no"
        )
        coordinated = bool(self._coordinator)
        mode = self._mode
        if mode == "":
            return self._act_without_cue(acts, forms, determined, before, follows)
        if mode == "leave" or (self._target and not coordinated and not self._first_in_mode):
            infinitive = (
                before == "to" and BASE in forms and mode in ("forbid", "permit", "want", "ask")
            )
            started = (
                self._target and set(self._target[-1].acts) <= {"start", "run"} and GERUND in forms
            )
            if not (infinitive and not self._target[-1].found.names) and not started:
                return False
            if infinitive or started:
                self._target[-1].acts = [act for act, one in acts if one in (BASE, GERUND)]
                return True
        if mode == "forbid":
            if BASE not in forms and GERUND not in forms:
                return False
            if determined or not (coordinated or before == "to" or self._follows_cue(at)):
                return False
            form = BASE if BASE in forms else GERUND
            if (
                coordinated
                and self._coordinator in ("and", "&", "plus")
                and not self._all_joined(acts)
            ):
                self._clause()
                return self._act_without_cue(acts, forms, False, "and", follows)
        elif mode == "want":
            if BASE not in forms or determined:
                return False
            form = BASE
        elif mode == "forbid-noun":
            if forms == {PARTICIPLE} and not self._loose.anything and not self._loose.names:
                return False
            if self._first_in_mode and self._no_cue == "no" and not self._ends_no(end):
                return False
            if self._first_in_mode and not self._near_cue(at, strictly=forms == {BASE}):
                return False
            form = next(one for one in (GERUND, NOUN, BASE, PARTICIPLE) if one in forms)
        elif coordinated and determined and not forms & {NOUN, GERUND}:
            return False
        kept = [act for act, one in acts if one == form] or [act for act, _ in acts]
        if form in (BASE, GERUND) and mode in _ANY_FORM:
            kept = list(dict.fromkeys(act for act, one in acts if one in (form, NOUN)))
        self._take(kept, form)
        self._target[-1].phrase = end - at > 1
        return True

    def _act_without_cue(
        self,
        acts: list[tuple[str, str]],
        forms: set[str],
        determined: bool,
        before: str,
        follows: str,
    ) -> bool:
        base = [act for act, one in acts if one == BASE]
        if determined and follows in self._lexicon.kinds and NOUN in forms:
            return False  # "the deploy script" is a script
        if self._open and base and not determined and follows not in AUXILIARIES:
            self._take(base, BASE)
            return True
        joined = self._coordinator and (self._target or not self._open)
        if joined and base and self._imperative and not determined:
            self._take(base, BASE)
            return True
        if self._open and (forms & {GERUND, NOUN} or base):
            self._mention([act for act, one in acts if one in (GERUND, NOUN)] or base, follows)
            return True
        if before == "to" and base:
            self._mention(base, follows)
            return True
        if forms & {NOUN, GERUND, PARTICIPLE} and not self._target:
            self._mention([act for act, one in acts], follows)
            return True
        return False

    def _mention(self, acts: list[str], follows: str) -> None:
        if not self._loose.names and not self._target:
            self._imperative = False
        draft = Draft(MENTIONS, list(dict.fromkeys(acts)), NOUN, "")
        draft.found.add(self._loose)
        self.drafts.append(draft)
        self._target = [draft]
        self._open = False
        self._coordinator = ""

    def _take(self, acts: list[str], form: str) -> None:
        says = _SAYS[self._mode]
        draft = Draft(says, list(dict.fromkeys(acts)), form, self._mode)
        draft.sure = not self._conditional
        draft.seen = self._seen
        draft.choice = self._mode == "open"
        draft.compared = self._mode == "forbid-noun" and self._no_cue in ("instead", "rather", "as")
        draft.just = self._just and form == BASE and self._mode in ("", "want")
        self._just = False
        if form == PARTICIPLE:
            draft.found.add(self._loose)
        bare = self._target and not self._target[-1].found.names and self._coordinator
        if bare and self._target[-1].says == says:
            self._target = [*self._target, draft]
        else:
            self._target = [draft]
        self.drafts.append(draft)
        if self._only_pending:
            draft.limits = []
            self._only_pending = False
        self._first_in_mode = False
        self._open = False
        self._coordinator = ""
        self._after = ""

    def _object(self, at: int) -> int:
        word, token = self._words[at], self._tokens[at]
        lexicon = self._lexicon
        if token.kind == "word":
            if word in lexicon.aside:
                self._after = "-"
                self._open = False
                return at + 1
            if word in lexicon.prepositions:
                self._after = word
                if not self._target and self._open:
                    self._imperative = False
                return at + 1
            if self._open and word not in OPENERS:
                if word in SUBJECTS:
                    self._imperative = False
                    self._open = False
                elif not self._is_known(at):
                    self._open = False
        found, end = name_at(self._tokens, self._words, at, self._after, lexicon)
        if self._after == "-":
            return end
        self._loose.add(found)
        self._seen = next((one for one in reversed(found.names) if one.kind != WORD), self._seen)
        if self._excepting:
            for draft in self._target or self.drafts[-1:]:
                draft.but += found.names
            if not self._target and not self.drafts and found.names and self._imperative:
                self.limits.append(found)
            return end
        for draft in self._target:
            only_last = bool(self._after) and draft is not self._target[-1]
            if only_last:
                continue
            draft.found.add(found)
            if draft.limits is not None:
                draft.limits += found.names
        return end

    def _cue(self, cue: str, at: int, end: int) -> int:
        """Follow a cue; return where to go on, or ``at`` if it means nothing here."""
        raise NotImplementedError

    def _begin(self, mode: str) -> None:
        self._only_pending = False
        self._mode = mode
        self._target = []
        self._first_in_mode = True
        self._open = False
        self._coordinator = ""
        self._after = ""
        self._loose = Found()
        self._excepting = False
