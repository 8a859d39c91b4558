"""Decoding of shell words: quotes, escapes, braces.

While a word is put together, a *quoted* character that would be special when
unquoted is held at a private code point, so that one string carries both text
and quoting. ``finish`` gives the text back.
"""

from itertools import pairwise

from toolgate.gate.shell.model import HOLE

_SPECIAL = "*?[]{},~"
_BASE = 0x10F000
_MARK = {ord(char): chr(_BASE + ord(char)) for char in _SPECIAL}
_UNMARK = {_BASE + ord(char): char for char in _SPECIAL}
_EXPANDS = frozenset("*?[{~\\` \n")
MAX_FIELDS = 64
MAX_BRACED = 2_048

_ANSI_C = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_DIGITS = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}


def is_plain(raw: str) -> bool:
    """Say whether unquoted source text stands for itself: nothing escaped, nothing to expand."""
    return _EXPANDS.isdisjoint(raw)


def quoted(text: str) -> str:
    """Return text whose special characters have been quoted."""
    return text.translate(_MARK)


def unquoted(raw: str) -> str:
    """Return the value of unquoted source text: escapes removed, the rest still special."""
    if "\\" not in raw:
        return raw
    out: list[str] = []
    position = 0
    while position < len(raw):
        char = raw[position]
        if char == "\\" and position + 1 < len(raw):
            follower = raw[position + 1]
            if follower != "\n":
                out.append(quoted(follower))
            position += 2
        else:
            out.append(char)
            position += 1
    return "".join(out)


def double_quoted(raw: str) -> str:
    """Return the value of literal text inside double quotes."""
    if "\\" not in raw:
        return quoted(raw)
    out: list[str] = []
    position = 0
    while position < len(raw):
        char = raw[position]
        follower = raw[position + 1 : position + 2]
        if char == "\\" and follower in ('"', "\\", "$", "`", "\n") and follower:
            if follower != "\n":
                out.append(follower)
            position += 2
        else:
            out.append(char)
            position += 1
    return quoted("".join(out))


def ansi_c(raw: str) -> str:
    """Return the value of the inside of ``$'...'``.

    Source: bash reference manual, ANSI-C Quoting.
    """
    out: list[str] = []
    position = 0
    while position < len(raw):
        char = raw[position]
        if char != "\\" or position + 1 >= len(raw):
            out.append(char)
            position += 1
            continue
        code = raw[position + 1]
        position += 2
        if code in _ANSI_C:
            out.append(_ANSI_C[code])
        elif code in _DIGITS:
            base, most = _DIGITS[code]
            digits = _run(raw, position, most, "0123456789abcdefABCDEF")
            position += len(digits)
            out.append(_char(int(digits, base)) if digits else HOLE)
        elif code in "01234567":
            digits = _run(raw, position - 1, 3, "01234567")
            position += len(digits) - 1
            out.append(_char(int(digits, 8) & 0xFF))
        elif code == "c":
            out.append(_char(ord(raw[position : position + 1] or "@") & 0x1F))
            position += 1
        else:
            out.append("\\" + code)
    return quoted("".join(out))


def _char(code: int) -> str:
    # NUL ends the string in bash; a surrogate or a number beyond Unicode has no text.
    if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return HOLE
    return chr(code)


def _run(text: str, start: int, most: int, digits: str) -> str:
    end = start
    while end < len(text) and end - start < most and text[end] in digits:
        end += 1
    return text[start:end]


def is_glob(marked: str) -> bool:
    """Say whether a marked word holds an unquoted pattern character."""
    return "*" in marked or "?" in marked or "[" in marked


def finish(marked: str) -> str:
    """Return a marked word's plain text."""
    return marked.translate(_UNMARK)


def braces(marked: str) -> list[str]:
    """Return the words a brace expansion makes; the word itself when it has none.

    More than ``MAX_FIELDS`` words become one with a hole in it, and so does a word too
    long to be tried.
    """
    if "{" not in marked or "}" not in marked:
        return [marked]
    if len(marked) > MAX_BRACED:
        return [HOLE]
    done: list[str] = []
    work = [marked]
    while work:
        if len(done) + len(work) > MAX_FIELDS:
            return [HOLE]
        item = work.pop(0)
        group = _group(item)
        if group is None:
            done.append(item)
            continue
        start, end, parts = group
        work[:0] = [item[:start] + part + item[end:] for part in parts]
    return done


def _group(text: str) -> tuple[int, int, list[str]] | None:
    """Find the first brace group that expands: start, end and its alternatives."""
    start = text.find("{")
    while start != -1:
        if start == 0 or text[start - 1] != "$":
            parts = _alternatives(text, start)
            if parts is not None:
                end, alternatives = parts
                return start, end, alternatives
        start = text.find("{", start + 1)
    return None


def _alternatives(text: str, start: int) -> tuple[int, list[str]] | None:
    depth = 0
    cuts = [start]
    for position in range(start, len(text)):
        char = text[position]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                cuts.append(position)
                break
        elif char == "," and depth == 1:
            cuts.append(position)
    else:
        return None
    end = cuts[-1] + 1
    if len(cuts) > 2:
        return end, [text[a + 1 : b] for a, b in pairwise(cuts)]
    return _sequence(text[start + 1 : end - 1], end)


def _sequence(inside: str, end: int) -> tuple[int, list[str]] | None:
    ends = inside.split("..")
    if len(ends) not in (2, 3) or not all(ends):
        return None
    if all(part.lstrip("-").isdigit() and len(part) < 10 for part in ends):
        first, last = int(ends[0]), int(ends[1])
        step = abs(int(ends[2])) if len(ends) == 3 and int(ends[2]) else 1
        if abs(last - first) // step >= MAX_FIELDS:
            return end, [HOLE]
        sign = 1 if last >= first else -1
        return end, [str(n) for n in range(first, last + sign, sign * step)]
    if len(ends) == 2 and all(len(part) == 1 and part.isascii() for part in ends):
        first, last = ord(ends[0]), ord(ends[1])
        sign = 1 if last >= first else -1
        return end, [chr(n) for n in range(first, last + sign, sign)]
    return None


def has_private(text: str) -> bool:
    """Say whether text already holds a private code point this module marks with."""
    return not text.isascii() and max(text) >= "\U0010f000"
