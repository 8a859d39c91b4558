"""What each cue of a sentence does to the acts before and behind it. Pure."""

from collections.abc import Callable

from toolgate.gate.task.draft import MENTIONS, Draft
from toolgate.gate.task.grammar import (
    ASKING,
    ASKS_ABOUT,
    AUXILIARIES,
    BEFORE_NO,
    CONFINES,
    COORDINATORS,
    DONE,
    LOOKING,
    MINE,
    MODALS,
    NEGATED,
    NO_WANT,
    OFF_LINE,
    OPENERS,
    OTHERS_ASK,
    RELATIVES,
    SETTLED_TIMES,
    STOPS,
    SUMMARIES,
    WISHES,
    WITHOUTS,
)
from toolgate.gate.task.lexicon import BASE, GERUND, NOUN, PARTICIPLE, Lexicon, longest
from toolgate.gate.task.names import Found, is_name, name_at
from toolgate.gate.task.statement import FORBIDS, PERMITS, REQUESTS, RESERVES, WORD, Name
from toolgate.gate.task.tokens import MARK, QUOTED, Token
from toolgate.gate.task.walk import Walk


class Clauses(Walk):
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

    def _addressed(self, at: int) -> bool:
        """Say whether a clause with a negated verb still speaks to the agent."""
        if at == 0:
            return True
        token = self._tokens[at - 1]
        if token.kind == MARK:
            return True
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
            acts, _ = self._acts_at(end) if end < len(self._words) else ([], end)
            if not any(form in (GERUND, NOUN) or first == "rather" for _, form in acts):
                return at
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
        self._take(["change"], BASE)
        self._after = ""
        return end

    def _cue_off_limits(self, at: int, end: int, before: str) -> int:
        said = [draft for draft in self._target if draft.says == MENTIONS]
        if said and self._words[at] in ("is", "are", "must", "should", "may", "can", "not"):
            for draft in said:
                draft.says, draft.sure = FORBIDS, not self._conditional
            self._begin("mention")
            return end
        known = [one for one in self._loose.names if one.kind != WORD]
        named = self._loose.names if self._words[at] in ("is", "are") else known
        if not named and not self._loose.anything:
            return at
        if self._words[at] in ("must", "should", "may", "can", "shall") and not known:
            return at
        loose = self._loose
        self._begin("forbid")
        self._take(["change"], PARTICIPLE)
        self._target[-1].found.add(loose)
        self._target = []
        return end

    def _cue_leave(self, at: int, end: int, before: str) -> int:
        closing = self._closing(end)
        mine = self._words[-2:] in (["to", "me"], ["for", "me"])
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

    def _closing(self, start: int) -> int:
        for position in range(start, min(len(self._words), start + 14)):
            if self._words[position] in (";", ".", "but", "then"):
                return -1
            cues, _ = (
                self._lexicon.cue_at(self._words, position) if self._words[position] else ([], 0)
            )
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
        self.looks = True
        self._begin("mention")
        return end

    def _cue_offline(self, at: int, end: int, before: str) -> int:
        if before in OFF_LINE:
            return at
        self._begin("forbid")
        self._take(["network"], BASE)
        self._target = []
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
                    if AUXILIARIES.intersection(self._words[end : end + 6]):
                        return at
                    self._begin("mention")
                    self.limits.append(Found())
                    return self._within(end)
        return at

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
            if token.kind == MARK and word != ",":
                break
            if token.kind == MARK and not self._is_list(at + 1):
                break
            if token.kind == "word" and word not in (*COORDINATORS, ","):
                if self._lexicon.cue_at(self._words, at)[0] and not is_name(token):
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
        if self._target and self._mode in ("", "want") and self._names_follow(end):
            for draft in self._target:
                if not draft.found.names and draft.limits is None:
                    draft.limits = []
            return end
        return at

    def _cue_ask(self, at: int, end: int, before: str) -> int:
        if self._words[at] in ASKING and not self._asked_of_agent(at):
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

    def _is_weak(self, at: int, end: int) -> bool:
        """Say whether wanting to see something is no more than that: no act waits for it."""
        said = self._words[at:end]
        if not LOOKING.intersection(said) or "before" in said or "first" in said:
            return False
        rest = self._words[end:]
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
        if not same or (
            same[-1].says != FORBIDS
            and same[-1].limits is None
            and self._words[at] in ("until", "unless", "before", "till")
        ):
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
        earlier = [draft for draft in self.drafts if draft.says == MENTIONS]
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
        if not {"or", "vs", "versus", "between"}.intersection(self._words[at:]):
            return end
        choice = Draft(RESERVES, [], NOUN, "open")
        choice.choice = True
        self.drafts.append(choice)
        self._target = [choice]
        return end

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
        return at if self._words[at] in ("take", "use", "choose", "pick") else end

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
        let = self._words[at] == "let"
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
        if self._words[at] == "but" and end < len(self._words):
            acts, _ = self._acts_at(end)
            if any(form == BASE for _, form in acts):
                self._begin("forbid")
                return end
        if not self._target and end < len(self._words):
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
