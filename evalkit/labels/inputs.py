"""What was asked of each tool: text for the labeler, joined by the digest of the input.

The ledger keeps no content, only ``args_digest``. A row of an inputs file
gives the content back: ``tool_input``, whose digest is computed here, or
``args_digest`` with ``text`` for a log that kept only text, which cannot be
checked and is counted as such.
"""

import json
from typing import Any, NamedTuple

from evalkit.errors import UsageError
from toolgate.canonical import digest_of, parse
from toolgate.errors import CanonicalizationError
from toolgate.records import is_digest

MAX_ROW_BYTES = 16 * 1024 * 1024


class Content(NamedTuple):
    """What a labeler is shown of one input.

    Args:
        value: the tool's input as JSON; a text stands for itself.
        cwd: working directory, or None where rows say none or differ.
        checked: whether the content has the digest the ledger committed to.
    """

    value: Any
    cwd: str | None
    checked: bool


def read_inputs(path: str, wanted: set[str]) -> dict[str, Content]:
    """Read the rows of an inputs file that are wanted.

    Args:
        path: JSON Lines.
        wanted: args_digests.

    Returns:
        Content by args_digest.

    Raises:
        UsageError: the file or a row cannot be read, or a row's input does
            not have the digest it claims; names the line.
    """
    found: dict[str, Content] = {}
    try:
        with open(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    _take(found, wanted, _row(line, f"{path}:{number}"), f"{path}:{number}")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    return found


def _row(line: bytes, where: str) -> dict[str, Any]:
    if len(line) > MAX_ROW_BYTES:
        raise UsageError(f"{where}: {len(line)} bytes; at most {MAX_ROW_BYTES} are read")
    try:
        row = parse(line)
    except CanonicalizationError as error:
        raise UsageError(f"{where}: {error}") from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: expected an object, got {type(row).__name__}")
    return row


def _take(found: dict[str, Content], wanted: set[str], row: dict[str, Any], where: str) -> None:
    claimed = row.get("args_digest")
    if claimed is not None and not is_digest(claimed):
        raise UsageError(f"{where}: args_digest is not sha256: and 64 hex digits")
    if "tool_input" in row:
        key, value, checked = digest_of(row["tool_input"]), row["tool_input"], True
        if claimed is not None and claimed != key:
            raise UsageError(f"{where}: tool_input has the digest {key}, the row says {claimed}")
    elif claimed is not None and isinstance(row.get("text"), str):
        key, value, checked = claimed, row["text"], False
    else:
        raise UsageError(f"{where}: expected tool_input, or args_digest and text")
    if key not in wanted:
        return
    cwd = row["cwd"] if isinstance(row.get("cwd"), str) else None
    earlier = found.get(key)
    if earlier is None:
        found[key] = Content(value, cwd, checked)
    else:
        best = earlier if earlier.checked or not checked else Content(value, cwd, checked)
        found[key] = best._replace(cwd=cwd if cwd == earlier.cwd else None)


def show(value: Any) -> str:
    """Return an input as text a person can read: one key a line, long texts as blocks.

    A block's lines are indented, so that no text can pose as a key.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return _compact(value)
    return "\n".join(_member(key, value[key]) for key in value)


def _member(key: str, value: Any) -> str:
    if not isinstance(value, str):
        return f"{key}: {_compact(value)}"
    if "\n" in value or "\r" in value:
        return f"{key}:\n" + "\n".join("    " + line for line in value.splitlines())
    return f"{key}: {value}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm")
_SYSTEM = ("", "bin", "boot", "dev", "etc", "lib", "sbin", "sys", "usr", "var")
_HOMES = ("home", "Users")


def cwd_class(cwd: str | None) -> str:
    """Return what kind of place a working directory is, without naming it.

    One of ``temp``, ``home``, ``project``, ``system``, ``other``, or "" when
    it is unknown.
    """
    if not cwd:
        return ""
    if any(cwd == place or cwd.startswith(place + "/") for place in _TEMPORARY):
        return "temp"
    root, *parts = cwd.rstrip("/").split("/")
    top = parts[0] if parts else ""
    if root:
        return "other"
    if (top in _HOMES and len(parts) <= 2) or parts == ["root"]:
        return "home"
    return "system" if top in _SYSTEM else "project"
