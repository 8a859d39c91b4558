"""Merges what several sources say of one session.

What is merged is kept apart by source, and each source's part grows only by
taking the larger of two values. So the order of merging, its grouping and
repeats change nothing.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from toolgate.sessions.record import UNKNOWN, Record
from toolgate.sessions.trust import CONFIDENCE, RANK

_SCALARS = (
    "harness_version",
    "vendor_user",
    "unit",
    "agents",
    "release",
    "ring",
    "experiment",
    "variant",
)
_LISTS = ("models", "mcp_servers", "tools", "repos", "files")
_COUNTS = (
    "files_touched",
    "input_tokens",
    "output_tokens",
    "cost_micros",
    "dlp_secrets",
    "dlp_injections",
    "redacted",
)


class Evidence(NamedTuple):
    """What is known of one session, source by source.

    Args:
        parts: one record a source, the most trusted first.
    """

    parts: tuple[Record, ...]


class Resolved(NamedTuple):
    """One record, and what it rests on.

    Args:
        record: the record.
        rests: the sources of each field that says something, by its name.
    """

    record: Record
    rests: dict[str, list[str]]


def evidence(record: Record, source: str) -> Evidence:
    """Return a record as the word of one source, whatever it says of its own sources."""
    said = record._replace(sources=(source,), confidence=CONFIDENCE[source], user="")
    return Evidence((said,))


def merge(one: Evidence, other: Evidence) -> Evidence:
    """Return what two pieces of evidence about the same session say together."""
    parts = {part.sources[0]: part for part in one.parts}
    for part in other.parts:
        source = part.sources[0]
        parts[source] = _same_source(parts[source], part) if source in parts else part
    return Evidence(tuple(sorted(parts.values(), key=lambda part: RANK[part.sources[0]])))


def _same_source(one: Record, other: Record) -> Record:
    fields: dict[str, Any] = {
        name: _larger(getattr(one, name), getattr(other, name)) for name in _SCALARS
    }
    fields |= {name: _union((one, other), name) for name in _LISTS}
    fields |= {name: max(getattr(one, name), getattr(other, name)) for name in _COUNTS}
    fields["outcome"] = max(one.outcome, other.outcome, key=lambda said: (said != UNKNOWN, said))
    fields["start"], fields["end"] = _first((one, other)), _last((one, other))
    return one._replace(**fields)


def _larger(one: Any, other: Any) -> Any:
    """Return the larger of two texts, or the longer of two chains."""
    if isinstance(one, tuple):
        return max(one, other, key=lambda chain: (len(chain), chain))
    return max(one, other)


def _union(parts: Iterable[Record], name: str) -> tuple[str, ...]:
    return tuple(sorted({value for part in parts for value in getattr(part, name)}))


def _first(parts: Iterable[Record]) -> int | None:
    return min((part.start for part in parts if part.start is not None), default=None)


def _last(parts: Iterable[Record]) -> int | None:
    return max((part.end for part in parts if part.end is not None), default=None)


def resolve(held: Evidence) -> Resolved:
    """Return the record that some evidence makes.

    Single values come from the most trusted source that has one, lists are
    united, counts are the largest reading, the span is the widest.
    """
    parts = held.parts
    rests: dict[str, list[str]] = {}
    fields: dict[str, Any] = {}
    for name in (*_SCALARS, "outcome"):
        nothing = UNKNOWN if name == "outcome" else ""
        telling = [part for part in parts if getattr(part, name) not in (nothing, ())]
        if telling:
            fields[name] = getattr(telling[0], name)
            rests[name] = list(telling[0].sources)
    for name in _LISTS:
        fields[name] = _union(parts, name)
        rests[name] = [part.sources[0] for part in parts if getattr(part, name)]
    for name in _COUNTS:
        most = fields[name] = max(getattr(part, name) for part in parts)
        rests[name] = [part.sources[0] for part in parts if most and getattr(part, name) == most]
    start, end = _first(parts), _last(parts)
    for name, value in (("start", start), ("end", end)):
        fields[name] = value
        rests[name] = [
            part.sources[0] for part in parts if value is not None and getattr(part, name) == value
        ]
    record = parts[0]._replace(
        **fields,
        sources=tuple(sorted(part.sources[0] for part in parts)),
        confidence=parts[0].confidence,
    )
    touched = max(record.files_touched, len(record.files))
    return Resolved(
        record._replace(files_touched=touched), {name: by for name, by in rests.items() if by}
    )
