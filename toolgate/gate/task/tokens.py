"""A prompt's text as sentences of tokens. Linear, whatever the text. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

MAX_CHARACTERS = 262_144
"""Of a longer prompt the rest is not read, and the task is not whole."""

WORD, QUOTED, MARK = "word", "quoted", "mark"
_FENCES = ("```", "~~~")
_MOST_QUOTED = 400
_MOST_TOKENS = 400
"""Of a sentence; what goes on without an end is cut there."""


_INSIDE = frozenset("~./@#$%*+&=<>:?\\^[]{}-_!")
_QUOTES = {"`": "`", '"': '"', "\u201c": "\u201d", "\u00ab": "\u00bb", "'": "'"}
_APOSTROPHES = "\u2019\u2018\u00b4\u02bc\uff07"
_LONGEST_WORD = 400
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
        yield from _of_line(bare)


def _of_line(line: str) -> Iterator[Sentence]:
    for mark in _APOSTROPHES:
        line = line.replace(mark, "'")
    line = line.lstrip("-*\u2022# \t")
    made: list[Token] = []
    begin = at = 0
    while at < len(line):
        char = line[at]
        if char.isspace():
            at += 1
            continue
        closing = _quoted_to(line, at) if char in _QUOTES else -1
        if closing > 0:
            made.append(Token(line[at + 1 : closing], QUOTED, line[at : closing + 1]))
            at = closing + 1
            continue
        end = _word_to(line, at)
        if end == at:
            made.append(Token(char, MARK, char))
            at += 1
            continue
        word, mark = _trimmed(line[at:end])
        if word:
            made += _words(word)
        at = end
        if mark and _closes(mark, line, end) and word.lower() not in _NO_END:
            if made:
                yield Sentence(tuple(made), mark, line[begin:end].strip())
            made, begin = [], end
        elif mark:
            made.append(Token(mark, MARK, mark))
        if len(made) >= _MOST_TOKENS:
            yield Sentence(tuple(made), "", line[begin:at].strip())
            made, begin = [], at
    if made:
        ends = ":" if made[-1].text == ":" else ""
        yield Sentence(tuple(made), ends, line[begin:].strip())


def _quoted_to(line: str, at: int) -> int:
    """Return where the quotation ends that a mark begins; -1 where it begins none."""
    mark = line[at]
    if mark == "'" and at and line[at - 1].isalnum():
        return -1
    closing = line.find(_QUOTES[mark], at + 1, at + 2 + _MOST_QUOTED)
    if closing <= at + 1:
        return -1
    if mark == "'" and line[closing + 1 : closing + 2].isalnum():
        return -1
    return closing


def _word_to(line: str, at: int) -> int:
    """Return where a word ends: letters, digits, and what paths and refs are made of."""
    end = at
    most = min(len(line), at + _LONGEST_WORD)
    while end < most:
        char = line[end]
        if (
            char.isalnum()
            or char in _INSIDE
            or (char == "'" and end > at and line[end + 1 : end + 2].isalnum())
        ):
            end += 1
        else:
            break
    return end


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
