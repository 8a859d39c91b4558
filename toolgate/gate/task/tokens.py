"""A prompt's text as sentences of tokens. Linear, whatever the text. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_CHARACTERS = 262_144
"""Of a longer prompt the rest is not read, and the task is not whole."""

WORD, QUOTED, MARK = "word", "quoted", "mark"
_FENCES = ("```", "~~~")
_MOST_QUOTED = 400
_MOST_LINE = 20_000

_PIECES = re.compile(
    r"`(?P<code>[^`\n]{1,400})`"
    r'|"(?P<double>[^"\n]{1,400})"'
    r"|\u201c(?P<curly>[^\u201c\u201d\n]{1,400})\u201d"
    r"|\u00ab(?P<angle>[^\u00ab\u00bb\n]{1,400})\u00bb"
    r"|(?<!\w)'(?P<single>[^'\n]{1,400})'(?!\w)"
    r"|(?P<word>[\w~./@#$%*+&=<>:?\\^\[\]{}-]{1,400}(?:'\w{1,8})?)"
    r"|(?P<mark>[^\w\s])"
)
_NO_END = frozenset(("e.g", "i.e", "etc", "vs", "cf", "approx", "incl"))
_SHORT = {
    "dont": ("do", "not"),
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "doesnt": ("does", "not"),
    "didn't": ("did", "not"),
    "didnt": ("did", "not"),
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cant": ("can", "not"),
    "cannot": ("can", "not"),
    "couldn't": ("could", "not"),
    "shouldn't": ("should", "not"),
    "shouldnt": ("should", "not"),
    "mustn't": ("must", "not"),
    "mustnt": ("must", "not"),
    "wouldn't": ("would", "not"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("were", "not"),
    "hasn't": ("has", "not"),
    "haven't": ("have", "not"),
    "havent": ("have", "not"),
    "hadn't": ("had", "not"),
    "needn't": ("need", "not"),
    "shan't": ("shall", "not"),
    "let's": ("let", "us"),
    "lets": ("let", "us"),
    "i'm": ("i", "am"),
    "i'll": ("i", "will"),
    "i've": ("i", "have"),
    "i'd": ("i", "would"),
    "ive": ("i", "have"),
    "you're": ("you", "are"),
    "you'll": ("you", "will"),
    "you've": ("you", "have"),
    "you'd": ("you", "would"),
    "we're": ("we", "are"),
    "we'll": ("we", "will"),
    "we've": ("we", "have"),
    "we'd": ("we", "would"),
    "it's": ("it", "is"),
    "that's": ("that", "is"),
    "there's": ("there", "is"),
    "what's": ("what", "is"),
    "here's": ("here", "is"),
    "they're": ("they", "are"),
    "pls": ("please",),
    "plz": ("please",),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "gotta": ("have", "to"),
    "dunno": ("do", "not", "know"),
}


class Token(NamedTuple):
    """A word, a quoted text or a mark.

    Args:
        text: the word in lower case; what stands between the quotes; the mark.
        kind: ``word``, ``quoted`` or ``mark``.
        raw: as the user wrote it.
    """

    text: str
    kind: str
    raw: str


class Sentence(NamedTuple):
    """A sentence of a prompt.

    Args:
        tokens: in order, without the mark that ends it.
        ends: that mark: ``.``, ``?``, ``!``, ``:`` at a line's end, or "" for a line's end.
        words: the text, for people.
    """

    tokens: tuple[Token, ...]
    ends: str
    words: str


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a prompt, but for code blocks and quoted lines.

    Args:
        text: the prompt.
    """
    fence = ""
    for line in text[:MAX_CHARACTERS].split("\n"):
        bare = line.strip()
        if fence:
            if bare.startswith(fence):
                fence = ""
            continue
        if bare[:3] in _FENCES:
            fence = "" if bare[3:].endswith(bare[:3]) else bare[:3]
            continue
        if not bare or bare.startswith((">", "|")):
            continue
        for start in range(0, len(bare), _MOST_LINE):
            yield from _of_line(bare[start : start + _MOST_LINE])


def _of_line(line: str) -> Iterator[Sentence]:
    line = line.replace("\u2019", "'").replace("\u2018", "'").lstrip("-*\u2022# \t")
    made: list[Token] = []
    begin = 0
    for match in _PIECES.finditer(line):
        kind = match.lastgroup
        raw = match.group()
        if kind == "word":
            word, closing = _trimmed(raw)
            if word:
                made += _words(word)
            if word.lower() in _NO_END:
                continue
            if closing and _closes(closing, line, match.end()):
                if made:
                    yield Sentence(tuple(made), closing, line[begin : match.end()].strip())
                made, begin = [], match.end()
            elif closing:
                made.append(Token(closing, MARK, closing))
        elif kind == "mark":
            if raw in ".?!\u2026" and _closes(raw, line, match.end()):
                if made:
                    yield Sentence(tuple(made), raw, line[begin : match.end()].strip())
                made, begin = [], match.end()
            else:
                made.append(Token(raw, MARK, raw))
        else:
            inside = match.group(kind) if kind else raw
            made.append(Token(inside[:_MOST_QUOTED], QUOTED, raw))
    if made:
        ends = ":" if made[-1].text == ":" else ""
        yield Sentence(tuple(made), ends, line[begin:].strip())


def _trimmed(raw: str) -> tuple[str, str]:
    """Return a word without the mark that ends it, and that mark."""
    bare = raw.rstrip(".?!:,;<>")
    return bare, raw[len(bare) :][:1]


def _closes(mark: str, line: str, end: int) -> bool:
    """Say whether a mark ends a sentence: what follows is a space, a bracket or nothing."""
    return mark in ".?!\u2026" and (end >= len(line) or line[end] in " \t)\"'\u201d")


def _words(raw: str) -> list[Token]:
    if not raw.strip("-"):
        return [Token("-", MARK, raw)]
    lowered = raw.lower()
    short = _SHORT.get(lowered)
    if short is None:
        return [Token(lowered, WORD, raw)]
    return [Token(word, WORD, raw) for word in short]
