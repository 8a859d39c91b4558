"""What the user wrote, from a transcript of Claude Code.

Only the user's own lines count: no results of tools, no lines of a subagent, no summary or
reminder that the host has put there. The host writes the file behind the session, so the latest
prompt may be missing; it is known to be there where it bears the id of the present one.
"""

import json
import os
from typing import Any, NamedTuple

CHUNK_BYTES = 256 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""Of a longer transcript the latest bytes are read; then it is not whole."""

MAX_LINE_BYTES = 1024 * 1024
_USER = b'"type":"user"'
_RESULT = b'"tool_result"'
_ALSO_USER = b'"type": "user"'
_NOT_THEIRS = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
_MARKUP = ("<command-", "<local-command-", "<bash-", "Caveat: ", "[Request interrupted by user")
_BLOCKS = ("system-reminder", "ide_opened_file", "ide_selection", "task-notification")


class Said(NamedTuple):
    """One prompt.

    Args:
        text: what the user wrote.
        key: the prompt's id, "" where the line has none.
        at: where its line begins in the file, bytes.
    """

    text: str
    key: str
    at: int


def prompts_in(path: str, since: int = 0) -> tuple[list[Said], bool]:
    """Return the prompts of a transcript, oldest first, and whether all of it was read.

    It is read backwards in chunks, so that its end counts where it is too long.

    Args:
        path: the transcript.
        since: where to stop, bytes: at the begin of a line. All is read where the file is shorter.

    Raises:
        OSError: the file cannot be read.
    """
    found: list[Said] = []
    whole = True
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        since = since if since < end else 0
        start = max(since, end - MAX_BYTES)
        whole = start == since
        carried = b""
        while end > start:
            begin = max(start, end - CHUNK_BYTES)
            file.seek(begin)
            data = file.read(end - begin) + carried
            first, _, rest = data.partition(b"\n")
            at = begin + len(first) + 1
            if begin == since:
                first, rest, at = b"", data, since
            # A line that began in the chunk before, unless it is longer than any that counts.
            carried = first if len(first) <= MAX_LINE_BYTES else b""
            whole = whole and len(first) <= MAX_LINE_BYTES
            found += reversed(_prompts(rest, at))
            end = begin
    return list(reversed(found)), whole


def _prompts(data: bytes, at: int) -> list[Said]:
    if _USER not in data and _ALSO_USER not in data:
        return []
    found: list[Said] = []
    for line in data.split(b"\n"):
        if (_USER in line or _ALSO_USER in line) and _RESULT not in line[:4096]:
            said = _prompt(line, at)
            if said is not None:
                found.append(said)
        at += len(line) + 1
    return found


def _prompt(line: bytes, at: int) -> Said | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or row.get("type") != "user":
        return None
    message = row.get("message")
    if any(row.get(name) is True for name in _NOT_THEIRS) or not isinstance(message, dict):
        return None
    text = own_text(_text(message.get("content")))
    key = row.get("promptId")
    return Said(text, key if isinstance(key, str) else "", at) if text else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for block in content:
        if not isinstance(block, dict) or block.get("type") == "tool_result":
            return ""
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            parts.append(own_text(block["text"]))
    return "\n".join(part for part in parts if part)


def own_text(text: str) -> str:
    """Return a prompt without what the host has put into it."""
    bare = text.strip()
    if bare.startswith(_MARKUP):
        return ""
    for name in _BLOCKS:
        opening, closing = f"<{name}>", f"</{name}>"
        while (at := bare.find(opening)) >= 0:
            stop = bare.find(closing, at)
            bare = bare[:at] + ("" if stop < 0 else bare[stop + len(closing) :])
    return bare.strip()
