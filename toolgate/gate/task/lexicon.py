"""The compiled lexicon: which words stand for which acts, things and wishes."""

import json
from typing import Any

from toolgate.canonical import digest
from toolgate.gate.task.meanings import Meanings

FILE = "lexicon.json"
END = ""
"""Key of a phrase tree's node under which stands what the words up to it say."""

BASE, GERUND, PARTICIPLE, NOUN = "base", "gerund", "participle", "noun"

CUES = (
    "forbid",
    "forbid-noun",
    "hands-off",
    "off-limits",
    "leave",
    "alone",
    "look",
    "local",
    "offline",
    "nothing-else",
    "only",
    "just",
    "ask",
    "unless-asked",
    "open",
    "decided",
    "permit",
    "permitted",
    "forget",
    "want",
    "idle",
    "mine",
    "if",
    "when",
    "clause",
    "except",
)


Steps = list[list[list[str]]]
"""A phrase: its steps in order, each a list of choices, each a list of words."""


def steps_of(phrase: str) -> Steps:
    """Return the steps of a phrase such as ``(a|the|) branch``."""
    steps: Steps = []
    rest = phrase
    while rest:
        before, bracket, rest = rest.partition("(")
        steps += [[[word]] for word in before.split()]
        if bracket:
            inside, _, rest = rest.partition(")")
            steps.append([choice.split() for choice in inside.split("|")])
    return steps


def first_words(steps: Steps) -> set[str]:
    """Return every word that a phrase can begin with."""
    found: set[str] = set()
    for step in steps:
        found.update(choice[0] for choice in step if choice)
        if all(step):
            break
    return found


class Wordings:
    """Phrases with alternatives, found by the word they begin with.

    Args:
        body: ``wordings``, each what it says, the forms of its first word and what follows, or
            the whole phrase; ``starts``, word to numbers of wordings.
    """

    def __init__(self, body: dict[str, Any]) -> None:
        self._wordings: list[tuple[str, dict[str, str], str]] = body["wordings"]
        self._starts: dict[str, list[int]] = body["starts"]
        self._steps: dict[int, Steps] = {}

    def base_of(self, word: str) -> str:
        """Return the base form of a verb's participle, "" for another word."""
        for number in self._starts.get(word, ()):
            forms = self._wordings[number][1]
            if forms.get(PARTICIPLE) == word:
                return forms[BASE]
        return ""

    def at(self, words: list[str], start: int) -> tuple[list[tuple[str, str]], int]:
        """Return what the longest wordings that begin at a word say, and where they end.

        Args:
            words: the words of a sentence.
            start: where they begin.

        Returns:
            What they say and the form of the first word, in the lexicon's order, and the
            position behind them; nothing and ``start`` if there are none.
        """
        found: list[tuple[str, str]] = []
        end = start
        first = words[start]
        for number in self._starts.get(first, ()):
            says, forms, phrase = self._wordings[number]
            steps = self._steps.get(number)
            if steps is None:
                steps = self._steps[number] = steps_of(phrase)
            kinds = [form for form, word in forms.items() if word in (first, "")]
            begin = start if "" in forms.values() else start + 1
            furthest = max(_ends(steps, words, begin), default=start)
            if furthest > end:
                found, end = [], furthest
            if furthest == end and furthest > start:
                found += [(says, form) for form in kinds]
        return found, end


def _ends(steps: Steps, words: list[str], start: int) -> set[int]:
    """Return every position at which a phrase can end that begins at a word."""
    ends = {start}
    for step in steps:
        if len(step) == 1 and len(step[0]) == 1:  # most steps are one word
            (word,) = step[0]
            ends = {at + 1 for at in ends if words[at : at + 1] == [word]}
            if not ends:
                break
            continue
        ends = {
            at + len(choice)
            for at in ends
            for choice in step
            if not choice or words[at : at + len(choice)] == choice
        }
        if not ends:
            break
    return ends


class Lexicon(Meanings):
    """A compiled lexicon in memory.

    Args:
        data: what ``task.compile`` made.

    Raises:
        UnavailableError: it is something else.
    """

    def __init__(self, data: bytes) -> None:
        body: dict[str, Any] = json.loads(data)
        super().__init__(body, digest(data))
        self.verbs = Wordings(body["verbs"])
        self.cues = Wordings(body["cues"])
        self.constructions = Wordings(body["constructions"])
        self.plainly: list[dict[str, Any]] = body["plainly"]
        """What each construction says in plain words, and what has to follow it."""
        self.nouns: dict[str, Any] = body["nouns"]
        self.environments: dict[str, Any] = body["environments"]
        self.reported: dict[str, Any] = body["reported"]
        self.texts: dict[str, Any] = body["texts"]
        self.opens: dict[str, Any] = body["opens"]
        self.beyond_looking: tuple[str, ...] = tuple(body["beyond_looking"])
        self.maybe_beyond_looking: tuple[str, ...] = tuple(body["maybe_beyond_looking"])
        self.joined = frozenset(body["joined"])
        self.transitive = frozenset(body["transitive"])
        self.looking = frozenset(body["looking"])
        self.light: dict[str, Any] = body["light"]
        self.named_with: dict[str, list[str]] = body["named_with"]
        self.prepositions = frozenset(body["prepositions"])
        self.aside = frozenset(body["aside"])
        self.placed_with: dict[str, list[str]] = body["placed_with"]
        self.further: dict[str, list[str]] = body["further"]
        self.determiners = frozenset(body["determiners"])
        self.instruments = frozenset(body["instruments"])
        self.anything = frozenset(body["anything"])
        self.pronouns = frozenset(body["pronouns"])
        self.idle = frozenset(body["idle"])
        self.addressed = frozenset(body["addressed"])
        self.reports = frozenset(body["reports"])
        self.own = frozenset(body["own"])
        self.labels = frozenset(body["labels"])
        self.writes = frozenset(body["writes"])

    def cue_at(self, words: list[str], start: int) -> tuple[list[str], int]:
        """Return the longest cues that begin at a word, and where they end."""
        found, end = self.cues.at(words, start)
        return [cue for cue, _ in found], end


def longest(tree: dict[str, Any], words: list[str], start: int) -> tuple[Any, int]:
    """Return what the longest phrase that begins at a word says, and where it ends.

    Args:
        tree: a phrase tree of the lexicon.
        words: the words of a sentence.
        start: where the phrase begins.

    Returns:
        What it says and the position behind it; None and ``start`` if there is none.
    """
    node, found, end = tree, None, start
    for position in range(start, len(words)):
        step = node.get(words[position]) if words[position] else None
        if step is None:
            break
        node = step
        if END in node:
            found, end = node[END], position + 1
    return found, end


def shipped_lexicon() -> Lexicon:
    """Return the lexicon this package was built with.

    Raises:
        UnavailableError: the package was not built.
    """
    from toolgate.gate.catalog.load import read_compiled

    return Lexicon(read_compiled(FILE))
