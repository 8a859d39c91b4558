"""What a sentence names: paths, branches, hosts, numbers, places, kinds of things. Pure."""

from toolgate.gate.task.lexicon import Lexicon, longest
from toolgate.gate.task.statement import ENVIRONMENT, NAME, THING, WORD, Name
from toolgate.gate.task.tokens import QUOTED, Token

_BRANCHES = frozenset(
    ("main", "master", "trunk", "develop", "head", "origin", "upstream", "gh-pages")
)
_HYPHENATED = frozenset(
    (
        "off-limits",
        "read-only",
        "go-ahead",
        "follow-up",
        "end-to-end",
        "sign-off",
        "e-mail",
        "dry-run",
        "re-run",
        "to-do",
        "up-to-date",
        "so-called",
        "built-in",
        "well-known",
        "long-running",
        "pre-existing",
        "one-liner",
        "half-done",
        "left-over",
        "non-trivial",
        "in-place",
        "command-line",
        "third-party",
        "high-level",
        "low-level",
        "open-source",
        "step-by-step",
        "double-check",
        "hard-coded",
        "front-end",
        "back-end",
    )
)
_MARKS = frozenset("/._@*~=#\\[$+")


class Found:
    """Names in the order they stand, and whether anything at all is meant.

    Args:
        names: the names.
        anything: whether a word for anything stands there.
        nothing: whether that word is "nothing".
        rest: whether what else there is is meant (``anything else``, ``other files``).
        pronoun: whether something said before is meant (``it``).
        kinds: words for kinds of things without a name.
    """

    __slots__ = ("anything", "kinds", "names", "nothing", "pronoun", "rest")

    def __init__(self) -> None:
        self.names: list[Name] = []
        self.anything = False
        self.nothing = False
        self.rest = False
        self.pronoun = False
        self.kinds: list[str] = []

    def add(self, other: "Found") -> None:
        """Take over what another has found."""
        self.names += other.names
        self.anything = self.anything or other.anything
        self.nothing = self.nothing or other.nothing
        self.rest = self.rest or other.rest
        self.pronoun = self.pronoun or other.pronoun
        self.kinds += other.kinds


def name_at(
    tokens: tuple[Token, ...], words: list[str], at: int, after: str, lexicon: Lexicon
) -> tuple[Found, int]:
    """Return what stands at a token, and where it ends.

    Args:
        tokens: the sentence.
        words: its words, "" for quoted text.
        at: where to look.
        after: the small word before it.
        lexicon: the lexicon.
    """
    found = Found()
    token = tokens[at]
    if token.kind == QUOTED:
        found.names.append(Name(NAME, token.text.strip(), after))
        return found, at + 1
    place, end = longest(lexicon.environments, words, at)
    thing, thing_end = longest(lexicon.nouns, words, at)
    if place is not None and end >= thing_end:
        found.names.append(Name(ENVIRONMENT, place, after))
        return found, end
    word = words[at]
    named = is_name(token) and not _is_adjective(words, at, lexicon)
    if thing == "remote" and thing_end < len(words) and words[thing_end] in lexicon.kinds:
        return found, thing_end  # "the remote branch" is a branch
    if thing is not None and thing_end < len(words) and words[thing_end] in lexicon.kinds:
        found.names.append(Name(NAME, tokens[thing_end - 1].raw, after))
        return found, thing_end + 1
    if thing is not None and not named:
        found.names.append(Name(THING, thing, after))
        return found, thing_end
    if word in ("else", "rest", "other", "others", "remaining"):
        found.rest = True
    elif word in lexicon.anything:
        found.anything = True
        found.nothing = word == "nothing"
    elif word in lexicon.pronouns:
        found.pronoun = True
    elif named:
        found.names.append(Name(NAME, token.raw if word not in _BRANCHES else word, after))
    elif word in lexicon.kinds:
        return beside(tokens, words, at, after, lexicon)
    elif word not in lexicon.idle and word not in lexicon.determiners and word[:1].isalnum():
        if at + 1 < len(words) and words[at + 1] in lexicon.kinds:
            found.names.append(Name(NAME, token.raw, after))
            return found, at + 2
        found.names.append(Name(WORD, word, after))
    return found, at + 1


def beside(
    tokens: tuple[Token, ...], words: list[str], at: int, after: str, lexicon: Lexicon
) -> tuple[Found, int]:
    """Return the name beside a word for a kind of thing: ``table orders``; else the kind."""
    found = Found()
    follows = at + 1
    if follows < len(words) and words[follows] in ("named", "called"):
        follows += 1
    if follows < len(words) and tokens[follows].kind != "mark":
        word = words[follows]
        plain = word not in lexicon.anything and word not in lexicon.pronouns
        plain = (
            plain and word not in lexicon.idle and word not in lexicon.kinds and word[:1].isalnum()
        )
        known = longest(lexicon.environments, words, follows)[0] or word in lexicon.prepositions
        if tokens[follows].kind == QUOTED or (
            plain and not known and _stands_alone(words, follows)
        ):
            found.names.append(Name(NAME, tokens[follows].raw.strip("`'\""), after))
            return found, follows + 1
    found.kinds.append(words[at])
    return found, at + 1


def _stands_alone(words: list[str], at: int) -> bool:
    """Say whether nothing follows a word that would make it a verb's subject or an adverb."""
    if at + 1 >= len(words):
        return True
    return words[at + 1] in (
        ",",
        ";",
        ")",
        ".",
        "and",
        "or",
        "on",
        "in",
        "from",
        "to",
        "but",
        "now",
        "please",
        "at",
        "for",
        "with",
    )


def _is_adjective(words: list[str], at: int, lexicon: Lexicon) -> bool:
    """Say whether a hyphenated word only describes the plain word behind it."""
    bare = words[at]
    if "-" not in bare or not bare.replace("-", "").isalpha() or at + 1 >= len(words):
        return False
    behind = words[at + 1]
    return behind.isalpha() and not (
        behind in lexicon.kinds
        or behind in lexicon.idle
        or behind in lexicon.prepositions
        or behind in lexicon.aside
    )


def is_name(token: Token) -> bool:
    """Say whether a word is a name by its form: a path, a branch, a host, a number, a flag."""
    word = token.text
    if token.kind == QUOTED or word in _BRANCHES:
        return True
    if word in _HYPHENATED or not any(char.isalnum() or char in "*~." for char in word):
        return False
    if word.isdigit():
        return True
    if any(char in _MARKS for char in word) and len(word) > 1:
        return True
    if "-" in word.strip("-") or word.startswith("--"):
        return True
    raw = token.raw
    inner = raw[1:]
    if any(char.isupper() for char in inner) and any(char.islower() for char in raw):
        return True
    return any(char.isdigit() for char in word)
