"""Records in a file, one JSON object a line: the word of whoever wrote it."""

import os
from collections.abc import Iterator
from typing import Any

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError, RefusedError, UnavailableError
from toolgate.ledger.regular import open_regular
from toolgate.sessions.merge import Evidence, evidence
from toolgate.sessions.record import FIELDS, LIST, TEXT, WHO_FIELDS, decode, is_hashed, record_id
from toolgate.sessions.redact import Paths, identifier, model_name, repository

SOURCE = "jsonl"
_MAX_LINE_BYTES = 1024 * 1024
_SET_HERE = ("id", "sources", "confidence")
_KEYS = ("sessionId", "harness", "outcome")


def read(path: str, paths: Paths) -> Iterator[Evidence]:
    """Yield what each line says.

    Raises:
        UnavailableError: the file cannot be read.
        RefusedError: a line is no record; nothing may be stored of the whole file.
    """
    name = os.path.basename(path)
    try:
        with open_regular(path) as file:
            number = 0
            while line := file.readline(_MAX_LINE_BYTES + 1):
                number += 1
                if line.strip():
                    yield _record(line, f"source jsonl: {name}:{number}", paths)
    except OSError as error:
        raise UnavailableError(f"source jsonl: cannot read {name}: {error.strerror}") from None


def _record(line: bytes, where: str, paths: Paths) -> Evidence:
    if len(line) > _MAX_LINE_BYTES:
        raise RefusedError(f"{where}: the line is longer than {_MAX_LINE_BYTES} bytes")
    try:
        body = parse(line)
    except CanonicalizationError:  # its message may hold a key, which may be content
        raise RefusedError(f"{where}: no JSON object in strict form") from None
    if not isinstance(body, dict):
        raise RefusedError(f"{where}: no JSON object")
    kept = {name: value for name, value in body.items() if name not in _SET_HERE}
    dropped = _redact(kept, FIELDS)
    if isinstance(kept.get("who"), dict):
        who = {name: value for name, value in kept["who"].items() if name != "user"}
        dropped += _redact(who, WHO_FIELDS)
        kept["who"] = who
    for field, made in (("repos", repository), ("files", str)):
        if isinstance(kept.get(field), list):
            kept[field], lost = _hashed(kept[field], made, paths)
            dropped += lost
    if paths.salt is not None and isinstance(kept.get("files"), list):
        touched = kept.get("filesTouched", 0)
        if type(touched) is int:
            kept["filesTouched"] = max(touched, len(set(kept["files"])))
    harness, session = kept.get("harness"), kept.get("sessionId")
    if identifier(harness) is None or identifier(session) is None:
        raise RefusedError(f"{where}: sessionId or harness is no identifier; it is not shown")
    count = kept.get("redacted", 0)
    whole = {
        **kept,
        "id": record_id(str(harness), str(session)),
        "sources": [SOURCE],
        "confidence": "low",
        "redacted": count + dropped if type(count) is int else count,
    }
    return evidence(decode(whole, where), SOURCE)


def _redact(body: dict[str, Any], fields: dict[str, tuple[str, int]]) -> int:
    """Drop identifiers that are none from a body; return how many."""
    dropped = 0
    for wire, (_, kind) in fields.items():
        value = body.get(wire)
        if kind == TEXT and isinstance(value, str) and value and wire not in _KEYS:
            if identifier(value) is None:
                del body[wire]
                dropped += 1
        elif (kind == LIST or wire == "agents") and isinstance(value, list):
            said = [model_name(item) if wire == "models" else item for item in value]
            body[wire] = [item for item in said if identifier(item) is not None]
            dropped += len(said) - len(body[wire])
    return dropped


def _hashed(values: list[Any], made: Any, paths: Paths) -> tuple[list[str], int]:
    """Return what may stand for some paths, and how many values are no paths."""
    texts = [value for value in values if isinstance(value, str)]
    if paths.salt is None:
        return [], len(values) - len(texts)
    found = [value if is_hashed(value) else paths.hashed(made(value)) for value in texts]
    return [value for value in found if value is not None], len(values) - len(texts)
