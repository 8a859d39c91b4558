"""What stands at the words of one sentence: cues, acts, names, lists. Pure."""

from toolgate.gate.task.grammar import ADJECTIVES, COORDINATORS, ENDS_OF_NO, FILLERS, OPENERS
from toolgate.gate.task.lexicon import BASE, GERUND, NOUN, Lexicon, longest
from toolgate.gate.task.names import is_name
from toolgate.gate.task.tokens import MARK, QUOTED, Token


class Sight:
    """Looks at a sentence; each place is looked up once.

    Args:
        tokens: the user's own words of it.
        lexicon: the lexicon.
    """

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon) -> None:
        self._tokens = tokens
        self._lexicon = lexicon
        self._words = ["" if token.kind == QUOTED else token.text for token in tokens]
        self._cues: dict[int, tuple[list[str], int]] = {}
        self._acts: dict[int, tuple[list[tuple[str, str]], int]] = {}
        self._cue_end = 0

    def _cue_at(self, at: int) -> tuple[list[str], int]:
        """Return the longest cues that begin at a word, and where they end."""
        found = self._cues.get(at)
        if found is None:
            found = self._cues[at] = self._lexicon.cue_at(self._words, at)
        return found

    def _acts_at(self, at: int) -> tuple[list[tuple[str, str]], int]:
        """Return the acts named at a word, also behind a verb that says nothing by itself."""
        found = self._acts.get(at)
        if found is None:
            found = self._acts[at] = self._acts_from(at)
        return found

    def _acts_from(self, at: int) -> tuple[list[tuple[str, str]], int]:
        found, end = self._lexicon.verbs.at(self._words, at)
        light, light_end = longest(self._lexicon.light, self._words, at)
        if light is None:
            return found, end
        behind = light_end
        while behind < len(self._words) and (
            self._words[behind] in self._lexicon.determiners or self._words[behind] in ADJECTIVES
        ):
            behind += 1
        if behind < len(self._words) and self._words[behind]:
            nouns, noun_end = self._lexicon.verbs.at(self._words, behind)
            meant = [(act, form) for act, form in nouns if form == NOUN]
            if meant and noun_end > end:
                form = GERUND if self._words[at].endswith("ing") else BASE
                return [(act, form) for act, _ in meant], noun_end
        return found, end

    def _all_joined(self, acts: list[tuple[str, str]]) -> bool:
        return any(act in self._lexicon.joined for act, _ in acts)

    def _later_coordinator(self, at: int) -> str:
        for position in range(at, len(self._words)):
            word = self._words[position]
            if word in (";", "but", "then", "(", ")"):
                return ""
            if word in COORDINATORS and position + 1 < len(self._words):
                acts, _ = self._acts_at(position + 1)
                if acts:
                    return word
        return ""

    def _is_list(self, at: int) -> bool:
        """Say whether up to the clause's end nothing stands but things and small words."""
        things = 0
        for position in range(at, len(self._words)):
            word, token = self._words[position], self._tokens[position]
            if token.kind == MARK:
                break
            named = token.kind == QUOTED or is_name(token)
            known = longest(self._lexicon.nouns, self._words, position)[0]
            if named or known is not None:
                things += 1
            elif word not in (*COORDINATORS, "please") and not (
                word in self._lexicon.determiners
                or word in self._lexicon.kinds
                or word in self._lexicon.anything
            ):
                return False
        return things > 0

    def _follows_cue(self, at: int) -> bool:
        """Say whether nothing but adverbs stands between a cue and the verb it governs."""
        return all(
            word in self._lexicon.idle or word.endswith("ly") or word in OPENERS
            for word in self._words[self._cue_end : at]
        )

    def _near_cue(self, at: int, *, strictly: bool) -> bool:
        """Say whether the noun a cue governs stands with it, behind no other phrase."""
        between = self._words[self._cue_end : at]
        if strictly:
            return all(word in self._lexicon.determiners or word in ADJECTIVES for word in between)
        return not any(word in self._lexicon.prepositions for word in between)

    def _ends_no(self, end: int) -> bool:
        """Say whether a clause with ``no`` ends where the act does, or goes on with its object."""
        if end >= len(self._words):
            return True
        word = self._words[end]
        if word in FILLERS:
            return self._ends_no(end + 1)
        return word in ENDS_OF_NO or self._tokens[end].kind != "word" or is_name(self._tokens[end])

    def _is_known(self, at: int) -> bool:
        """Say whether a name, an environment or a kind of thing stands at a word."""
        trees = (self._lexicon.environments, self._lexicon.nouns)
        return is_name(self._tokens[at]) or any(
            longest(tree, self._words, at)[0] is not None for tree in trees
        )
