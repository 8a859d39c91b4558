"""What the prompts of a session say, noted between two calls so that none is read twice.

The note holds acts, kinds and positions, and no word of a prompt: names and sentences are taken
from the prompt again, which its keyed digest names. It is a cache for this build alone: what is
missing or reads oddly is read from the prompt anew.
"""

import json
from posixpath import dirname, join
from typing import Any

from toolgate.canonical import keyed_hash
from toolgate.gate.kept_files import keep, read_kept
from toolgate.gate.open import build_digest, cache_folder
from toolgate.gate.task.statement import NAME, WORD, Name, Statement
from toolgate.gate.task.task import Prompt

MOST_PROMPTS = 400
"""The latest prompts of which a note is kept."""

_IN_PROMPT = (NAME, WORD)
_PART = "\0"


class Readings:
    """The noted readings of a session's prompts.

    Args:
        salt: keys the note's name and the digests in it.
        session: the session.
        source: where its prompts stand: a transcript or a vault.
    """

    def __init__(self, salt: bytes, session: str, source: str) -> None:
        self._salt = salt
        name = self._keyed("readings", session, source, build_digest())
        self._file = join(dirname(cache_folder()), "prompts", name)
        try:
            body = json.loads(read_kept(self._file) or b"{}")
        except ValueError:
            body = {}
        self._rows: dict[str, Any] = body if isinstance(body, dict) else {}

    def known(self, prompt: Prompt) -> Prompt:
        """Return a prompt with what it says, if that was noted."""
        rows = self._rows.get(self._keyed("prompt", prompt.text))
        if rows is None:
            return prompt
        try:
            said = tuple(_statement(row, prompt.text) for row in rows)
        except (TypeError, ValueError, IndexError):
            return prompt
        return prompt._replace(said=said)

    def note(self, prompts: tuple[Prompt, ...]) -> None:
        """Note what prompts say that were read for a call just now."""
        if all(prompt.said is not None or prompt.quiet for prompt in prompts):
            return
        from toolgate.gate.task.read import read_prompt

        made: dict[str, Any] = {}
        for prompt in prompts[-MOST_PROMPTS:]:
            said, whole = (prompt.said, True) if prompt.said is not None else (None, True)
            if said is None:
                said, whole = read_prompt(prompt.text, 1)
            rows = [_row(one, prompt.text) for one in said]
            if whole and None not in rows:
                made[self._keyed("prompt", prompt.text)] = rows
        if made != self._rows:
            keep(self._file, json.dumps(made).encode("ascii"))

    def _keyed(self, *parts: str) -> str:
        return keyed_hash(self._salt, _PART.join(parts).encode("utf-8", "surrogatepass"))


def _row(one: Statement, text: str) -> list[Any] | None:
    """Return a statement without a word of its prompt; None where it cannot be told so."""
    words = _place(one.words, text)
    names, but = _names(one.names, text), _names(one.but, text)
    spare = [[act, _names(meant, text)] for act, meant in one.spare]
    if words is None or names is None or but is None or any(meant is None for _, meant in spare):
        return None
    return [one.says, one.name, list(one.acts), names, but, spare, one.sure, words]


def _names(names: tuple[Name, ...], text: str) -> list[Any] | None:
    rows: list[Any] = []
    for one in names:
        told = _place(one.text, text) if one.kind in _IN_PROMPT else one.text
        if told is None:
            return None
        rows.append([one.kind, told, one.after])
    return rows


def _place(part: str, text: str) -> list[int] | None:
    """Return where a part of a prompt stands, its length, and 1 where it is in lower case."""
    at = text.find(part)
    if at >= 0:
        return [at, len(part), 0]
    lowered = text.lower()
    at = lowered.find(part) if len(lowered) == len(text) else -1
    return [at, len(part), 1] if at >= 0 else None


def _part(place: Any, text: str) -> str:
    at, length, lowered = place
    if at < 0 or length < 0 or at + length > len(text):
        raise ValueError(f"a part from {at} on, {length} characters of {len(text)}")
    part = text[at : at + length]
    return part.lower() if lowered else part


def _named(rows: Any, text: str) -> tuple[Name, ...]:
    return tuple(
        Name(kind, _part(told, text) if kind in _IN_PROMPT else told, after)
        for kind, told, after in rows
    )


def _statement(row: Any, text: str) -> Statement:
    says, name, acts, names, but, spare, sure, words = row
    return Statement(
        says,
        name,
        tuple(acts),
        _named(names, text),
        _named(but, text),
        tuple((act, _named(meant, text)) for act, meant in spare),
        sure=sure,
        words=_part(words, text),
    )
