"""Cues that forbid the acts or things before or behind them. Pure."""

from toolgate.gate.task.draft import MENTIONS
from toolgate.gate.task.grammar import (
    BEFORE_NO,
    COORDINATORS,
    DEONTIC,
    MODALS,
    NEGATED,
    OFF_LINE,
    OPENERS,
    RULED_OUT,
    STOPS,
    WITHOUTS,
)
from toolgate.gate.task.lexicon import BASE, GERUND, NOUN, PARTICIPLE
from toolgate.gate.task.names import Found
from toolgate.gate.task.statement import (
    ENVIRONMENT,
    FORBIDS,
    WORD,
    Name,
)
from toolgate.gate.task.tokens import MARK
from toolgate.gate.task.walk import Walk


class Forbidding(Walk):
    """Follows what forbids."""

    def _addressed(self, at: int) -> bool:
        """Say whether a clause with a negated verb still speaks to the agent."""
        if at == 0:
            return True
        token = self._tokens[at - 1]
        if token.kind == MARK:
            return True
        if token.text in DEONTIC and at > 1 and self._words[at - 2] in ("you", "we"):
            return True  # "you must never, ever, touch it"
        return token.text in self._lexicon.addressed or token.text in OPENERS

    def _cue_forbid(self, at: int, end: int, before: str) -> int:
        starts = self._words[at]
        spoken_to = self._addressed(at) or before in ("careful", "sure")
        if starts in NEGATED and not spoken_to:
            return self._passive(at, end)
        passive = self._words[end : end + 1] == ["be"]
        if passive and not self._addressed(at):
            return self._passive(at, end)
        self._begin("forbid")
        return end

    def _passive(self, at: int, end: int) -> int:
        """Read ``main must not be touched``: the things before are what is not to be done to."""
        position = end
        if self._words[position : position + 1] == ["be"]:
            position += 1
        elif self._words[at] in ("do", "can") or position >= len(self._words):
            self._begin("mention")
            return end
        else:
            self._begin("mention")
            return end
        if position >= len(self._words):
            return end
        acts, act_end = self._lexicon.verbs.at(self._words, position)
        kept = [act for act, form in acts if form == PARTICIPLE]
        known = self._loose.anything or any(one.kind != WORD for one in self._loose.names)
        if not kept or not known:
            self._begin("mention")
            return end
        loose = self._loose
        self._begin("forbid")
        self._take(list(dict.fromkeys(kept)), PARTICIPLE)
        self._target[-1].found.add(loose)
        return act_end

    def _cue_forbid_noun(self, at: int, end: int, before: str) -> int:
        first = self._words[at]
        self._no_cue = first
        if first in ("no", "zero", "free", "not"):
            clean = (
                at == 0
                or (before in ("make", "do", "perform") and not self._target)
                or self._tokens[at - 1].kind == MARK
                or before in BEFORE_NO
            )
            if not clean:
                return at
            acts, act_end = self._acts_at(end) if end < len(self._words) else ([], end)
            if not acts or not self._ends_no(act_end):
                return at
        elif first in STOPS:
            # The agent is told to stop doing it; with a thing for an object it is an act itself.
            acts, _ = self._acts_at(end) if end < len(self._words) else ([], end)
            if not (self._open or before in ("and", "but", "please", "to", "or")):
                return at
            near = end - at == 1
            if not any(form == NOUN or (form == GERUND and near) for _, form in acts):
                return at
        elif first in WITHOUTS:
            acts, behind = self._acts_at(end) if end < len(self._words) else ([], end)
            if not any(form in (GERUND, NOUN) or first == "rather" for _, form in acts):
                return at
            gerund = any(form == GERUND for _, form in acts)
            if self._open and first == "without" and not gerund and not self._ends_no(behind):
                return at  # "without a commit message git refuses"
            wished = any(draft.says != MENTIONS for draft in self.drafts)
            if self._mode == "mention" or not (self._imperative or wished):
                return at
        self._begin("forbid-noun")
        if first in ("nothing", "none"):
            self._loose.anything = True
        return end

    def _cue_hands_off(self, at: int, end: int, before: str) -> int:
        if not self._addressed(at) and before not in ("to",):
            return at
        self._begin("forbid")
        # What is to be kept away from is not to be looked at either where looking matters.
        away = self._words[at] != "hands" and "hands" not in self._words[at:end]
        self._take(["change", "secret"] if away else ["change"], BASE)
        self._after = ""
        return end

    def _cue_off_limits(self, at: int, end: int, before: str) -> int:
        said = [draft for draft in self._target if draft.says == MENTIONS]
        if said:
            for draft in said:
                draft.says, draft.sure = FORBIDS, not self._conditional
            self._begin("mention")
            return end
        known = [one for one in self._loose.names if one.kind != WORD]
        tells = not RULED_OUT.isdisjoint(self._words[at:end])
        named = self._loose.names if self._words[at] in ("is", "are") and not tells else known
        if not named and not self._loose.anything:
            return at
        if self._words[at] not in ("is", "are", "stay", "stays", "not") and not known:
            return at
        loose = self._loose
        self._begin("forbid")
        self._take(["change"], PARTICIPLE)
        self._target[-1].found.add(loose)
        self._target = []
        return end

    def _cue_leave(self, at: int, end: int, before: str) -> int:
        closing = self._closing(end)
        mine = self._is_left_to_me(end)
        if closing < 0 and self._words[at] == "leave" and mine and self._open:
            self._no_cue = "mine"
            self._begin("forbid-noun")
            return end
        if closing < 0:
            return at
        if not (self._open or self._addressed(at) or before in ("to", "and")):
            return at
        self._begin("forbid")
        self._take(["change"], BASE)
        self._leaving = True
        return end

    def _is_left_to_me(self, start: int) -> bool:
        """Say whether a clause behind ``leave`` ends with ``to me``."""
        stop = start
        while stop < len(self._words) and self._tokens[stop].kind != MARK:
            stop += 1
        return self._words[stop - 2 : stop] in (["to", "me"], ["for", "me"], ["to", "us"])

    def _closing(self, start: int) -> int:
        for position in range(start, min(len(self._words), start + 14)):
            if self._words[position] in (";", ".", "but", "then"):
                return -1
            cues, _ = self._cue_at(position) if self._words[position] else ([], 0)
            if "alone" in cues:
                return position
        return -1

    def _cue_alone(self, at: int, end: int, before: str) -> int:
        if not self._leaving:
            return at
        self._leaving = False
        self._target = []
        self._mode = "mention"
        return end

    def _cue_local(self, at: int, end: int, before: str) -> int:
        stays = self._words[at].startswith(("stay", "remain", "is", "are", "must", "should"))
        stays = stays or self._words[at] in ("has", "have", "shall", "belongs")
        if not (self._open or self._asked_of_agent(at) or self._target or stays):
            return at
        self._begin("forbid")
        self._take(["push", "publish", "deploy", "submit", "remote"], BASE)
        self._target = []
        here = Found()
        here.names.append(Name(ENVIRONMENT, "local"))
        self.limits.append(here)
        return end

    def _cue_offline(self, at: int, end: int, before: str) -> int:
        if before in OFF_LINE:
            return at
        self._begin("forbid")
        self._take(["network"], BASE)
        self._target = []
        return end

    def _asked_of_agent(self, at: int) -> bool:
        """Say whether it is the agent that is to ask, and nobody a program is written for."""
        position = at - 1
        while position >= 0 and self._words[position] in MODALS:
            position -= 1
        return (
            position < 0
            or self._tokens[position].kind == MARK
            or self._words[position]
            in (*COORDINATORS, "you", "we", "but", "not", "then", "first", "please", *OPENERS)
        )
