"""Cues that limit work to something, or to looking. Pure."""

from toolgate.gate.task.draft import MENTIONS
from toolgate.gate.task.forbidding import Forbidding
from toolgate.gate.task.grammar import (
    AUXILIARIES,
    CONFINES,
    COORDINATORS,
    DEONTIC,
    SUMMARIES,
    SUPPOSED,
    WISHES,
)
from toolgate.gate.task.lexicon import BASE, longest
from toolgate.gate.task.names import Found, is_name, name_at
from toolgate.gate.task.statement import (
    REQUESTS,
    WORD,
)
from toolgate.gate.task.tokens import MARK, QUOTED


class Limiting(Forbidding):
    """Follows what limits."""

    def _cue_look(self, at: int, end: int, before: str) -> int:
        first = self._words[at]
        if self._mode == "forget":
            self.lifts_looks = True
            return end
        if first in ("read", "read-only"):
            clean = self._open and (
                end == len(self._words) or self._tokens[end].kind == MARK or end - at > 1
            )
            if not clean or (end < len(self._words) and self._words[end] in self._lexicon.kinds):
                return at
            if (
                end < len(self._words)
                and self._tokens[end].kind == "word"
                and self._words[end - 1] in ("only", "read-only")
            ):
                return at
        elif first in ("just", "only"):
            if not (self._open or before in WISHES):
                return at
        elif first in SUMMARIES and not self._open:
            return at
        elif first == "do":
            # Only told, not done: "tell me what you would do, do not do it".
            told = SUPPOSED.isdisjoint(self._words[:at])
            if told or not (end == len(self._words) or self._tokens[end].kind == MARK):
                return self._cue_forbid(at, at + 2, before)
        self.looks = True
        self._begin("mention")
        return end

    def _cue_nothing_else(self, at: int, end: int, before: str) -> int:
        self.nothing_else = True
        self._begin("mention")
        return end

    def _cue_only(self, at: int, end: int, before: str) -> int:
        last = (
            end == len(self._words)
            or self._tokens[end].kind == MARK
            or self._words[end] in ("please", "and", "for", "but")
        )
        if last and end - at == 1:
            return self._trailing_only(end)
        if self._words[at] in CONFINES:
            if not self._addressed(at) and before != "to":
                return at
            if self._words[at] == "keep" and not self._names_follow(end):
                return at
            self._begin("mention")
            self.limits.append(Found())
            self._mode = "within"
            self._after = (
                self._words[end - 1] if self._words[end - 1] in self._lexicon.prepositions else ""
            )
            return self._within(end)
        if end < len(self._words):
            acts, _ = self._acts_at(end)
            position = end
            if any(form == BASE for _, form in acts) and self._is_wish(at, before):
                self._begin("only")
                self._only_pending = True
                return end
            if self._words[position] in self._lexicon.prepositions or self._names_follow(position):
                if self._target and self._mode in ("", "want", "permit", "only"):
                    self._only_pending = False
                    for draft in self._target:
                        draft.limits = []
                    return end
                if self._open or before in ("and", "but"):
                    if self._tells_what_is(end):
                        return at
                    self._begin("mention")
                    self.limits.append(Found())
                    return self._within(end)
        return at

    def _tells_what_is(self, at: int) -> bool:
        """Say whether a clause behind ``only`` tells how things are: no more is wished by it."""
        behind = self._words[at : at + 8]
        first = next((place for place, word in enumerate(behind) if word in AUXILIARIES), -1)
        position = at + first
        if first < 0 or "be" in behind or self._words[position + 1 : position + 2] == ["change"]:
            return False
        wished = self._words[position] in DEONTIC or self._words[position + 1 : position + 2] == [
            "to"
        ]
        position += 1 + (self._words[position + 1 : position + 2] == ["to"])
        acts = self._acts_at(position)[0] if position < len(self._words) else []
        return not (wished and any(form == BASE for _, form in acts))

    def _is_wish(self, at: int, before: str) -> bool:
        return self._open or before in WISHES

    def _names_follow(self, at: int) -> bool:
        """Say whether a name, a place or a kind of thing stands next, behind small words."""
        position = at
        while position < len(self._words) and (
            self._words[position] in self._lexicon.determiners
            or self._words[position] in self._lexicon.prepositions
            or self._words[position] in self._lexicon.kinds
        ):
            position += 1
        if position >= len(self._words) or self._tokens[position].kind == MARK:
            return False
        token = self._tokens[position]
        return (
            token.kind == QUOTED
            or is_name(token)
            or longest(self._lexicon.environments, self._words, position)[0] is not None
            or longest(self._lexicon.nouns, self._words, position)[0] is not None
            or (
                position + 1 < len(self._words) and self._words[position + 1] in self._lexicon.kinds
            )
        )

    def _within(self, at: int) -> int:
        """Collect the names of a limit on all work."""
        after = (
            self._words[at - 1] if at and self._words[at - 1] in self._lexicon.prepositions else ""
        )
        while at < len(self._words):
            word, token = self._words[at], self._tokens[at]
            if (token.kind == MARK and word != ",") or word in AUXILIARIES:
                break
            if token.kind == MARK and not self._is_list(at + 1):
                break
            if token.kind == "word" and word not in (*COORDINATORS, ","):
                if self._cue_at(at)[0] and not is_name(token):
                    break
                if word in self._lexicon.aside or word in ("but", "then"):
                    break
            if word in self._lexicon.prepositions:
                after = word
                at += 1
                continue
            if token.kind == MARK or word in COORDINATORS:
                at += 1
                continue
            found, end = name_at(self._tokens, self._words, at, after, self._lexicon)
            self.limits[-1].add(found)
            at = end
        self._mode = "mention"
        return at

    def _trailing_only(self, end: int) -> int:
        """Read ``staging only`` and ``push to staging only``."""
        names = [one for one in self._loose.names if one.kind != WORD]
        nouns = [draft for draft in self._target if draft.says == MENTIONS]
        if nouns and not names:
            for draft in nouns:
                draft.says, draft.limits, draft.cue = REQUESTS, [], "only"
            return end
        if self._target and self._mode in ("", "want", "permit"):
            for draft in self._target:
                draft.limits = [one for one in draft.found.names if one.kind != WORD]
            return end
        if names and self._open_names():
            found = Found()
            found.names = names
            self.limits.append(found)
            self._begin("mention")
            return end
        return end

    def _open_names(self) -> bool:
        """Say whether nothing but names has been said in the clause."""
        words = any(one.kind == WORD for one in self._loose.names)
        return self._open and not self._target and not words

    def _cue_just(self, at: int, end: int, before: str) -> int:
        self._just = self._open or before in ("and", "but", "please", "to", "you")
        if self._target and self._mode in ("", "want") and self._names_follow(end):
            for draft in self._target:
                if not draft.found.names and draft.limits is None:
                    draft.limits = []
            return end
        return at
