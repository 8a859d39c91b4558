"""A sentence as constructions are looked for in it: what stands where, in which form. Pure."""

from toolgate.gate.task.grammar import (
    BREAKS,
    COORDINATORS,
    DOUBTS,
    OPENERS,
    PERIODS,
    QUALIFIERS,
    RESTRAINTS,
)
from toolgate.gate.task.lexicon import BASE, GERUND, NOUN, PARTICIPLE, Lexicon
from toolgate.gate.task.names import is_name
from toolgate.gate.task.tokens import MARK, QUOTED, WORD, Token

FORMS = {"verb": BASE, "doing": GERUND, "deed": NOUN, "done": PARTICIPLE}
"""What may have to follow a construction, by the form of an act."""


class Phrase:
    """A sentence.

    Args:
        tokens: the user's own words of it.
        lexicon: the lexicon.
    """

    __slots__ = ("lexicon", "tokens", "words")

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.words = ["" if token.kind == QUOTED else token.text for token in tokens]

    @staticmethod
    def said(text: str) -> list[Token]:
        """Return plain words as tokens."""
        return [Token(word, WORD if word[0].isalnum() else MARK, word) for word in text.split()]

    def is_mark(self, at: int) -> bool:
        """Say whether a clause can end before a position: a mark, or the sentence's end."""
        return at >= len(self.tokens) or self.tokens[at].kind == MARK

    def clause_end(self, at: int) -> int:
        """Return the next mark from a position on, or the sentence's end."""
        while not self.is_mark(at):
            at += 1
        return at

    def starts(self, at: int) -> bool:
        """Say whether a clause begins at a word, or in front of its openers."""
        while at > 0 and self.tokens[at - 1].kind == WORD and self.words[at - 1] in OPENERS:
            at -= 1
        if at == 0 or self.tokens[at - 1].kind == MARK:
            return True
        return self.words[at - 1] in (*COORDINATORS, *BREAKS, "so", "that", "because")

    def acts(self, at: int) -> tuple[list[tuple[str, str]], int]:
        """Return the acts named at a word with their forms, and where they end."""
        if at >= len(self.words) or not self.words[at] or self.tokens[at].kind == MARK:
            return [], at
        return self.lexicon.verbs.at(self.words, at)

    def has_form(self, at: int, form: str) -> bool:
        """Say whether an act of a form is named at a word."""
        return any(one == form for _, one in self.acts(at)[0])

    def is_thing(self, at: int) -> bool:
        """Say whether a name, a place or a kind of thing stands at a word."""
        if at >= len(self.words) or self.tokens[at].kind == MARK:
            return False
        return self.is_named(at) or self.words[at] in self.lexicon.kinds

    def is_named(self, at: int) -> bool:
        """Say whether a name, a place or a known thing such as the tests stands at a word."""
        if at >= len(self.words) or self.tokens[at].kind == MARK:
            return False
        trees = (self.lexicon.environments, self.lexicon.nouns)
        return is_name(self.tokens[at]) or any(self.words[at] in tree for tree in trees)

    def behind_small(self, at: int) -> int:
        """Return the first position from one on that holds no determiner or adverb."""
        while at < len(self.words) and (
            self.words[at] in self.lexicon.determiners
            or self.words[at] in QUALIFIERS
            or self.words[at].endswith("ly")
        ):
            at += 1
        return at

    def follows(self, what: str, at: int) -> bool:
        """Say whether what a construction needs stands behind it."""
        if what == "end":
            return self.is_mark(at) or self.words[at] in ("and", "but", "or")
        if what == "negation":
            return self.words[at : at + 1] in (["no"], ["never"], ["without"], ["only"]) or (
                self.words[at + 1 : at + 2] == ["not"]
            )
        if what == "restraint":
            return at < len(self.words) and self.words[at] in RESTRAINTS
        if what == "doubt":
            return not DOUBTS.isdisjoint(self.words[at : at + 3])
        end = self.behind_small(at)
        if what in FORMS and any(self.has_form(place, FORMS[what]) for place in range(at, end)):
            return True  # "new packages" is what an act is named by
        at = end
        if self.is_mark(at):
            return False
        if what == "name":
            return self.is_thing(at) and not self.words[at][:1].isdigit()
        if what == "verb" and self.words[at] in self.lexicon.light:
            return True
        return self.has_form(at, FORMS[what])

    def ends_with_act(self, at: int) -> bool:
        """Say whether an act has no more than an object and a time with it.

        "We are not pushing anything today" says what is not to be done; "we are not pushing the
        event to the queue because ..." tells how something works.
        """
        at = max(self.acts(at)[1], min(at + 1, len(self.words)))
        while not self.is_mark(at):
            word = self.words[at]
            if word in (*COORDINATORS, "but", "unless", "until"):
                return True
            acts, end = self.acts(at)
            if not (
                acts
                or word in PERIODS
                or word in self.lexicon.determiners
                or word in self.lexicon.anything
                or word in self.lexicon.pronouns
                or word in self.lexicon.prepositions
                or self.is_thing(at)
            ):
                return False
            at = max(end, at + 1)
        return True
