"""What each cue of a sentence does to the acts before and behind it. Pure."""

from collections.abc import Callable

from toolgate.gate.task.draft import MENTIONS
from toolgate.gate.task.grammar import (
    DONE,
    NO_WANT,
    RELATIVES,
    SETTLED_TIMES,
)
from toolgate.gate.task.lexicon import BASE, GERUND, NOUN, Lexicon
from toolgate.gate.task.names import name_at
from toolgate.gate.task.statement import (
    FORBIDS,
    PERMITS,
    WORD,
    Name,
)
from toolgate.gate.task.tokens import MARK, Token
from toolgate.gate.task.waiting import Waiting


class Clauses(Waiting):
    """Reads one sentence. After ``read`` the attributes say what was read.

    Args:
        tokens: the user's own words of it.
        lexicon: the lexicon.
    """

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon) -> None:
        super().__init__(tokens, lexicon)
        self._handlers: dict[str, Callable[[int, int, str], int]] = {
            "forbid": self._cue_forbid,
            "forbid-noun": self._cue_forbid_noun,
            "hands-off": self._cue_hands_off,
            "off-limits": self._cue_off_limits,
            "leave": self._cue_leave,
            "alone": self._cue_alone,
            "look": self._cue_look,
            "local": self._cue_local,
            "offline": self._cue_offline,
            "nothing-else": self._cue_nothing_else,
            "only": self._cue_only,
            "just": self._cue_just,
            "ask": self._cue_ask,
            "unless-asked": self._cue_unless_asked,
            "open": self._cue_open,
            "decided": self._cue_decided,
            "permit": self._cue_permit,
            "permitted": self._cue_permitted,
            "forget": self._cue_forget,
            "want": self._cue_want,
            "idle": self._cue_idle,
            "mine": self._cue_mine,
            "if": self._cue_if,
            "when": self._cue_when,
            "clause": self._cue_clause,
            "except": self._cue_except,
        }

    def read(self) -> "Clauses":
        """Read the sentence."""
        self.walk()
        return self

    def _cue(self, cue: str, at: int, end: int) -> int:
        """Follow a cue; return where to go on, or ``at`` if it means nothing here."""
        return self._handlers[cue](at, end, self._words[at - 1] if at else "")

    def _cue_decided(self, at: int, end: int, before: str) -> int:
        if not (self._open or before in ("i", "we", "us", "please", "and")) or end >= len(
            self._words
        ):
            return at
        names: list[Name] = []
        position = end
        while position < len(self._words) and position < end + 8:
            token = self._tokens[position]
            if token.kind == MARK or self._words[position] in ("for", "and", "because", "to", "as"):
                break
            found, position = name_at(self._tokens, self._words, position, "", self._lexicon)
            names += found.names
        self.decides += names
        return at if self._words[at] in ("take", "use", "choose", "pick", "select") else end

    def _cue_permit(self, at: int, end: int, before: str) -> int:
        if self._mode == "forbid" and not self._target:
            return at
        if self._conditional and self._words[at] == "you":
            self._begin("mention")
            return end
        self._begin("permit")
        return end

    def _cue_permitted(self, at: int, end: int, before: str) -> int:
        earlier = [draft for draft in self.drafts if draft.says == MENTIONS]
        if not earlier:
            self.lifts += [one for one in self._loose.names if one.kind != WORD]
            return end
        if not self._conditional:
            for draft in earlier:
                draft.says = PERMITS
        self._begin("mention")
        return end

    def _cue_forget(self, at: int, end: int, before: str) -> int:
        if not (self._open or before in ("please", "you", "can", "and", "also")):
            return at
        self._begin("forget")
        return end

    def _cue_want(self, at: int, end: int, before: str) -> int:
        if self._words[at] in ("you", "we") and before in NO_WANT:
            return at
        self._begin("want")
        return end

    def _cue_idle(self, at: int, end: int, before: str) -> int:
        if self._words[at] == "was" and self._target:
            return at
        self._begin("mention")
        self._imperative = False
        return end

    def _cue_mine(self, at: int, end: int, before: str) -> int:
        rest = self._words[end:]
        let = self._words[at] == "let" or "handle" in self._words[at:end]
        let = let or "care" in self._words[at:end]
        if not let and "myself" not in rest and "ourselves" not in rest:
            return self._cue_idle(at, end, before) if self._words[at] in ("i", "we") else at
        self._no_cue = "mine"
        self._begin("forbid-noun")
        return end

    def _cue_if(self, at: int, end: int, before: str) -> int:
        if self._target:
            self._doubt()
            self._begin("mention")
            return end
        self._conditional = True
        self._begin("mention")
        self._imperative = False
        return end

    def _doubt(self) -> None:
        """Make what the clause has said hold under a condition only."""
        for draft in self.drafts:
            if draft in self._target or draft.says == FORBIDS:
                draft.sure = False

    def _cue_when(self, at: int, end: int, before: str) -> int:
        if self._mode == "ask" and not self._target:
            return end
        rest = self._words[end - 1 :]
        clause = rest[: rest.index(",")] if "," in rest else rest
        # "When you are done" is about the agent's own work; other times are conditions.
        own = any(word in DONE for word in clause)
        if not self._target:
            earlier = self._words[at] in ("before", "prior", "until", "till")
            self._conditional = self._conditional or not (own or earlier)
        elif self._target[-1].says == FORBIDS:
            if not any(word in SETTLED_TIMES for word in clause[:3]):
                self._doubt()
        elif not own:
            self._doubt()
        self._begin("mention")
        return end

    def _cue_clause(self, at: int, end: int, before: str) -> int:
        if self._words[at] == "that" and (
            before in ("branch", "file") or self._tokens[at - 1].kind == MARK or at == 0
        ):
            return at
        if self._words[at] in RELATIVES and self._mode in ("ask", "open", "forget"):
            return end
        if self._words[at] == "as" and self._mode == "only":
            return at
        if self._words[at] == "like" and not self._target:
            return at
        self._target = []
        self._mode = "mention"
        self._first_in_mode = True
        self._open = False
        self._coordinator = ""
        self._after = ""
        return end

    def _cue_except(self, at: int, end: int, before: str) -> int:
        if self._words[at : at + 2] == ["but", "not"]:
            place = end
            while place < len(self._words) and self._words[place] in self._lexicon.determiners:
                place += 1
            acts, behind = self._acts_at(place) if place < len(self._words) else ([], place)
            thing = behind < len(self._words) and self._words[behind] in self._lexicon.kinds
            if any(form in (NOUN, GERUND) for _, form in acts) and not thing:
                self._no_cue = "except"
                self._begin("forbid-noun")
                return end
        if self._words[at] == "but" and end < len(self._words):
            acts, _ = self._acts_at(end)
            if any(form == BASE for _, form in acts):
                self._begin("forbid")
                return end
        tells = self._words[at] in ("anything", "everything", "all") and not self._imperative
        if not self._target and end < len(self._words) and not tells:
            acts, _ = self._acts_at(end)
            if any(
                form in (GERUND, NOUN) or (form == BASE and self._words[end - 1] == "but")
                for _, form in acts
            ):
                self._no_cue = "except"
                self._begin("forbid-noun")
                return end
        if self._words[at] in ("anything", "everything", "all", "anywhere"):
            for draft in self._target:
                draft.found.anything = True
        if self._words[at] in ("beyond", "outside") and not self._target:
            return at
        self._excepting = True
        self._after = ""
        return end
