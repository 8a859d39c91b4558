"""What a user's sentence says of acts, and the things it names. Pure."""

from typing import NamedTuple

FORBIDS, RESERVES, PERMITS, REQUESTS, DECIDES = (
    "forbids",
    "reserves",
    "permits",
    "requests",
    "decides",
)
"""What a statement says of its acts; ``decides`` makes a choice that was left open."""

EVERY_ACT = "*"
"""Stands for the acts of any earlier statement that names the same things."""

THERE = "there"
"""Stands for whatever is done in an environment that is named, looking from afar included."""

ELSEWHERE = "elsewhere"
"""Stands for whatever is done in another environment."""

NAME, ENVIRONMENT, THING, KIND, WORD = "name", "environment", "thing", "kind", "word"
"""Kinds of names: a path, branch, host, number or quoted text; where something runs; things such
as the tests; a kind of thing without a name, such as a branch; a word that describes something."""


class Name(NamedTuple):
    """What a sentence calls a thing by.

    Args:
        kind: ``name``, ``environment``, ``thing``, ``kind`` or ``word``.
        text: the name; of an environment or a thing the lexicon's name of it.
        after: the small word before it (``to``, ``from``, ``in``, ...), "" for a plain object.
    """

    kind: str
    text: str
    after: str = ""


class Statement(NamedTuple):
    """What one clause says.

    Args:
        says: ``forbids``, ``reserves``, ``permits``, ``requests`` or ``decides``.
        name: what was read: ``prohibition``, ``limit``, ``reservation``, ``choice``, ...
        acts: the lexicon's acts it is about; empty where ``names`` are what can be chosen.
        names: what it is about; empty for anything.
        but: what it is not about.
        spare: acts it is not about, with the names they are meant for; none for any.
        sure: whether it holds without a condition.
        prompt: number of its prompt, 0 for the goal.
        words: the sentence it stands in.
    """

    says: str
    name: str
    acts: tuple[str, ...]
    names: tuple[Name, ...] = ()
    but: tuple[Name, ...] = ()
    spare: tuple[tuple[str, tuple[Name, ...]], ...] = ()
    sure: bool = True
    prompt: int = 0
    words: str = ""
