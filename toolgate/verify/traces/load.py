"""Reads trace files of any known kind."""

from collections.abc import Sequence
from typing import Any

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError, UnavailableError
from toolgate.verify.traces import otlp, transcript
from toolgate.verify.traces.span import Span


def load_spans(paths: Sequence[str]) -> list[Span]:
    """Return the tool calls that some trace files show.

    A file is OTLP/JSON (one document, or one a line) or a Claude Code transcript.

    Args:
        paths: the files.

    Raises:
        UnavailableError: a file cannot be read or is of no known kind.
    """
    spans: list[Span] = []
    for path in paths:
        spans += _load(path)
    return spans


def _load(path: str) -> list[Span]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UnavailableError(f"cannot read the trace {path}: {error.strerror}") from error
    name = path.rpartition("/")[2]
    documents = _documents(data)
    if any("resourceSpans" in document for document in documents):
        return otlp.spans_of(documents, name)
    if not any("type" in document for document in documents):
        raise UnavailableError(
            f"cannot read the trace {path}: expected OTLP/JSON or a Claude Code transcript"
        )
    return transcript.spans_of(data.split(b"\n"), name)


def _documents(data: bytes) -> list[dict[str, Any]]:
    """Return the file as one JSON object, or the objects on its lines."""
    texts = [data] if b'"resourceSpans"' in data and _is_object(data) else data.split(b"\n")
    found = []
    for text in texts:
        try:
            value = parse(text) if text.strip() else None
        except CanonicalizationError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(parse(data), dict)
    except CanonicalizationError:
        return False
