"""Cues by which an act waits for the user: to be asked about, or not decided. Pure."""

from toolgate.gate.task.draft import MENTIONS, Draft
from toolgate.gate.task.grammar import (
    ASKING,
    ASKS_ABOUT,
    LOOKING,
    MINE,
    OPENERS,
    OTHERS_ASK,
)
from toolgate.gate.task.lexicon import NOUN
from toolgate.gate.task.limiting import Limiting
from toolgate.gate.task.statement import (
    FORBIDS,
    PERMITS,
    REQUESTS,
    RESERVES,
)
from toolgate.gate.task.tokens import MARK


class Waiting(Limiting):
    """Follows what makes an act wait."""

    def _cue_ask(self, at: int, end: int, before: str) -> int:
        if self._words[at] in ASKING and not self._asked_of_agent(at):
            return at
        last = end == len(self._words) or self._tokens[end].kind == MARK
        if end - at == 1 and not (last and self._conditional and self.drafts):
            return at
        if self._is_weak(at, end):
            return at
        forbidden = before == "not" and self._mode == "forbid"
        if before in OTHERS_ASK and self._words[at] != "i" and not forbidden:
            return at
        forward = self._words[end - 1] in ASKS_ABOUT or (
            end < len(self._words) and self._words[end] in ASKS_ABOUT
        )
        earlier = [
            draft for draft in self.drafts if draft.says in (REQUESTS, FORBIDS, MENTIONS, PERMITS)
        ]
        if earlier and self._words[end - 1] != "before":
            self._reserve(earlier)
            self._begin("ask" if forward else "mention")
            return end
        self._begin("ask")
        self.asks_first = True
        return end

    def _is_weak(self, at: int, end: int) -> bool:
        """Say whether wanting to see something is no more than that: no act waits for it."""
        said = self._words[at:end]
        if not LOOKING.intersection(said) or "before" in said or "first" in said:
            return False
        rest = [*self._words[:at], *self._words[end:]]
        return "before" not in rest and "first" not in rest

    def _reserve(self, drafts: list[Draft]) -> None:
        for draft in drafts:
            draft.says = RESERVES
            draft.sure = True
            draft.limits = None

    def _cue_unless_asked(self, at: int, end: int, before: str) -> int:
        governed = [draft for draft in self._target if draft.says in (FORBIDS, REQUESTS, MENTIONS)]
        governed = governed or [draft for draft in self.drafts if draft.says == FORBIDS][-1:]
        same = [draft for draft in self.drafts if governed and draft.says == governed[-1].says]
        waits = self._words[at] in ("until", "unless", "before", "till")
        leave = not waits and self._mode == "" and self._words[at] == "without"
        asked = all(draft.says == REQUESTS and not draft.found.nothing for draft in same)
        if leave and same and asked:
            for draft in same:
                draft.says = PERMITS  # "from now on commit without asking"
            self._begin("mention")
            return end
        if not same or (waits and same[-1].says != FORBIDS and same[-1].limits is None):
            return at
        self._reserve(same)
        self._begin("mention")
        return end

    def _cue_open(self, at: int, end: int, before: str) -> int:
        ours = at == 0 or before in OPENERS or before in ("we", "i")
        if self._words[at] == "have" and not ours:
            return at
        if before in ("they", "he", "she", "you", "users"):
            return at
        backward = self._words[end - 1] in MINE
        earlier = [
            draft for draft in self.drafts if draft.says == MENTIONS and draft.acts != ["use"]
        ]
        if backward and earlier and self._words[at] in ("is", "are", "tbd", "undecided"):
            self._reserve(earlier)
            for draft in earlier:
                draft.choice = True
            self._begin("mention")
            return end
        if (
            self._words[at] in ("is", "are", "am")
            and before not in ("i", "we")
            and self._words[at] != "am"
            and not backward
        ):
            return at
        self._begin("open")
        which = self._words[end - 1] == "which" and self._words[end : end + 1] == ["of"]
        if not which and not {"or", "vs", "versus", "between"}.intersection(self._words[at:]):
            return end
        choice = Draft(RESERVES, [], NOUN, "open")
        choice.choice = True
        self.drafts.append(choice)
        self._target = [choice]
        return end
