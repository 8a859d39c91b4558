"""Claude Code transcripts: one JSON object a line, tool calls and their results among them.

The format is the vendor's own and may change with any release, so a line that is
not understood is passed over. Contents are hashed and never kept.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from toolgate.canonical import digest_of, parse
from toolgate.errors import CanonicalizationError
from toolgate.verify.traces.span import ERROR, OK, Span


def spans_of(lines: Iterable[bytes], name: str) -> list[Span]:
    """Return the tool calls of a transcript, refused ones included.

    A call that was denied has an error for a result, as one that failed has; a
    call without a result has the status None. A copy of a call (a resumed
    session repeats its past) is returned once.

    Args:
        lines: the transcript's lines.
        name: what the transcript is called in findings.
    """
    calls: dict[tuple[str, str | None], Span] = {}
    results: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        row = _object(line)
        content = row.get("message", {}).get("content") if _is_message(row) else None
        if not isinstance(content, list):
            continue
        for block in content:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                span = _call(row, block, f"{name}:{number}")
                calls.setdefault((block["id"], span.args_digest), span)
            elif block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
                results[block["tool_use_id"]] = ERROR if block.get("is_error") is True else OK
    return [span._replace(status=results.get(span.call or "")) for span in calls.values()]


def _object(line: bytes) -> dict[str, Any]:
    if not line.strip():
        return {}
    try:
        row = parse(line)
    except CanonicalizationError:
        return {}
    return row if isinstance(row, dict) else {}


def _is_message(row: dict[str, Any]) -> bool:
    return row.get("type") in ("assistant", "user") and isinstance(row.get("message"), dict)


def _call(row: dict[str, Any], block: dict[str, Any], where: str) -> Span:
    session, tool = row.get("sessionId"), block.get("name")
    try:
        args = digest_of(block["input"]) if "input" in block else None
    except CanonicalizationError:
        args = None
    return Span(
        where=where,
        session=session if isinstance(session, str) else None,
        call=block["id"],
        tool=tool if isinstance(tool, str) else None,
        ts=_microseconds(row.get("timestamp")),
        args_digest=args,
    )


def _microseconds(text: Any) -> int | None:
    try:
        when = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        return None
    since = when.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
