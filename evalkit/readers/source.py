"""Reading the files of a source: JSON documents and JSON Lines, strictly, within a size."""

import os
from collections.abc import Iterator
from typing import Any

from evalkit.challenge.read import MAX_BYTES, read_bytes
from evalkit.errors import UsageError
from evalkit.readers.draft import SOURCE, RowFaults
from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError


def document(path: str) -> Any:
    """Return the one JSON value of a file.

    Raises:
        UsageError: it cannot be read, or is no strict JSON.
    """
    try:
        return parse(read_bytes(path, SOURCE))
    except CanonicalizationError as error:
        raise UsageError(f"{os.path.basename(path)}: expected strict JSON, got: {error}") from None


def objects(path: str, faults: RowFaults, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file, each with the name of its row.

    Args:
        path: the file.
        faults: where a line that is no object goes.
        prefix: put before ``row N``, such as the file's name.
    """
    for number, line in enumerate(read_bytes(path, SOURCE).split(b"\n"), 1):
        if not line.strip():
            continue
        row = f"{prefix}row {number}"
        try:
            body = parse(line)
        except CanonicalizationError as error:
            faults.say(row, f"expected strict JSON, got: {error}")
            continue
        if isinstance(body, dict):
            yield row, body
        else:
            faults.say(row, "expected an object, got another value")


def files_of(path: str, endings: tuple[str, ...]) -> list[str]:
    """Return the files a path stands for: itself, or those of a directory, by name.

    Args:
        path: a file or a directory.
        endings: of a directory's files, those with one of these endings count.

    Raises:
        UsageError: there is nothing, or more than ``MAX_BYTES`` of it.
    """
    if not os.path.isdir(path):
        return [path]
    try:
        names = sorted(name for name in os.listdir(path) if name.endswith(endings))
        found = [os.path.join(path, name) for name in names]
        size = sum(os.path.getsize(file) for file in found)
    except OSError as error:
        raise UsageError(f"{path}: expected a readable directory, got: {error.strerror}") from None
    if not found:
        raise UsageError(f"{path}: expected files with {' or '.join(endings)}, got none")
    if size > MAX_BYTES:
        raise UsageError(f"{path}: expected at most {MAX_BYTES} bytes, got {size}")
    return found
