"""The session record: its fields, its grammar, and its one text.

A record says who ran what, when and on whose word, in identifiers and numbers.
There is no field for prose, and no string in one can hold any: see ``IDENTIFIER``.

Source: ADR-0031, record and redaction; RFC 8785 for the text.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from toolgate.errors import RefusedError
from toolgate.sessions.moments import moment_of, moment_text
from toolgate.sessions.trust import CONFIDENCE, best

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+@:/=>#~-]*")
MAX_STRING_BYTES = 256
MAX_COUNT = 2**53 - 1
MAX_COST_MICROS = 10**15
"""A thousand million dollars: up to here a cost has one decimal text and comes back exactly."""
OUTCOMES = ("completed", "error", "cancelled", "unknown")
UNKNOWN = "unknown"

_HASHED = re.compile(r"h:[0-9a-f]{32}")
_MICROS = 1_000_000
_COST = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")


class Record(NamedTuple):
    """One session.

    Args:
        id: first 24 hex digits of SHA-256 over harness, a zero byte and session id.
        session_id: the harness's own id of the session.
        harness: which program ran it.
        harness_version: its version; empty if unknown, like every text below.
        user: userName of the directory; set by ``store`` alone.
        vendor_user: the identity the source reported.
        unit: pseudonym of gateway evidence.
        agents: delegated agents, root side first.
        release, ring, experiment, variant: the cohort.
        models, mcp_servers, tools: what was used; sorted.
        repos, files: ``h:`` and 32 hex digits each; sorted.
        files_touched: how many files were written or deleted.
        input_tokens, output_tokens: usage as reported.
        cost_micros: cost in millionths of a US dollar.
        start, end: microseconds UTC; None if unknown.
        dlp_secrets, dlp_injections: findings of the gateway.
        outcome: one of ``OUTCOMES``.
        sources: what it rests on; sorted.
        confidence: that of the most trusted source.
        redacted: values that redaction withheld.
    """

    id: str
    session_id: str
    harness: str
    harness_version: str = ""
    user: str = ""
    vendor_user: str = ""
    unit: str = ""
    agents: tuple[str, ...] = ()
    release: str = ""
    ring: str = ""
    experiment: str = ""
    variant: str = ""
    models: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    repos: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    files_touched: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    start: int | None = None
    end: int | None = None
    dlp_secrets: int = 0
    dlp_injections: int = 0
    outcome: str = UNKNOWN
    sources: tuple[str, ...] = ()
    confidence: str = ""
    redacted: int = 0


TEXT, LIST, CHAIN, PATHS, COUNT, COST, TIME, WHO = range(8)

FIELDS: dict[str, tuple[str, int]] = {
    "id": ("id", TEXT),
    "sessionId": ("session_id", TEXT),
    "harness": ("harness", TEXT),
    "harnessVersion": ("harness_version", TEXT),
    "who": ("", WHO),
    "release": ("release", TEXT),
    "ring": ("ring", TEXT),
    "experiment": ("experiment", TEXT),
    "variant": ("variant", TEXT),
    "models": ("models", LIST),
    "mcpServers": ("mcp_servers", LIST),
    "tools": ("tools", LIST),
    "repos": ("repos", PATHS),
    "files": ("files", PATHS),
    "filesTouched": ("files_touched", COUNT),
    "inputTokens": ("input_tokens", COUNT),
    "outputTokens": ("output_tokens", COUNT),
    "costUsd": ("cost_micros", COST),
    "start": ("start", TIME),
    "end": ("end", TIME),
    "dlpSecrets": ("dlp_secrets", COUNT),
    "dlpInjections": ("dlp_injections", COUNT),
    "outcome": ("outcome", TEXT),
    "sources": ("sources", LIST),
    "confidence": ("confidence", TEXT),
    "redacted": ("redacted", COUNT),
}
"""Wire names, what they are called here, and how each is written."""

WHO_FIELDS: dict[str, tuple[str, int]] = {
    "user": ("user", TEXT),
    "vendorUser": ("vendor_user", TEXT),
    "unit": ("unit", TEXT),
    "agents": ("agents", CHAIN),
}

_SORTED = sorted(FIELDS)
_WHO_SORTED = sorted(WHO_FIELDS)


def record_id(harness: str, session_id: str) -> str:
    """Return the id of a session, the same from every source and import."""
    return sha256(f"{harness}\0{session_id}".encode()).hexdigest()[:24]


def is_identifier(value: object) -> bool:
    """Say whether a value may stand in a record."""
    return (
        type(value) is str
        and len(value) <= MAX_STRING_BYTES
        and IDENTIFIER.fullmatch(value) is not None
    )


def is_hashed(value: object) -> bool:
    """Say whether a value is a path under a key, and no path."""
    return type(value) is str and _HASHED.fullmatch(value) is not None


def cost_text(micros: int) -> str:
    """Return a cost in dollars, as RFC 8785 writes that number."""
    return f"{micros // _MICROS}.{micros % _MICROS:06d}".rstrip("0").rstrip(".")


def cost_of(value: object) -> int | None:
    """Return a number of dollars in millionths, rounded half to even; None if it is none.

    Args:
        value: a ``Decimal``, float or integer.
    """
    from decimal import ROUND_HALF_EVEN, Decimal

    if type(value) not in (int, float, Decimal):
        return None
    said = str(value)
    if not _COST.fullmatch(said):
        return None
    micros = (Decimal(said) * _MICROS).to_integral_value(rounding=ROUND_HALF_EVEN)
    return int(micros) if micros <= MAX_COST_MICROS else None


def text_of(record: Record) -> str:
    """Return a record's JSON text; equal records have equal texts, byte for byte."""
    return _object(record, FIELDS, _SORTED)


def _object(record: Record, fields: Mapping[str, tuple[str, int]], names: list[str]) -> str:
    parts = []
    for wire in names:
        name, kind = fields[wire]
        if kind == WHO:
            parts.append(f'"who":{_object(record, WHO_FIELDS, _WHO_SORTED)}')
            continue
        value = getattr(record, name)
        if kind in (LIST, CHAIN, PATHS):  # the grammar leaves nothing to escape
            written = '["' + '","'.join(value) + '"]' if value else "[]"
        elif kind == COUNT:
            written = str(value)
        elif kind == COST:
            written = cost_text(value)
        elif value is None or value == "":
            continue
        else:
            written = f'"{moment_text(value) if kind == TIME else value}"'
        parts.append(f'"{wire}":{written}')
    return "{" + ",".join(parts) + "}"


def decode(body: object, where: str) -> Record:
    """Read a record strictly.

    Lists are sorted and freed of repeats; who.user is taken as it stands.

    Args:
        body: the JSON object; numbers with a fraction may be float or ``Decimal``.
        where: what it is called in messages.

    Raises:
        RefusedError: it has an unknown field, or one with a value outside its domain. The
            message names the field and never the value.
    """
    found = _fields(body, FIELDS, where, "")
    if not isinstance(body, Mapping) or "sessionId" not in body or "harness" not in body:
        raise RefusedError(f"{where}: sessionId and harness are required")
    expected = record_id(found["harness"], found["session_id"])
    found.setdefault("id", expected)
    record = Record(**found)
    check(record, where)
    return record


def _fields(
    body: object, fields: Mapping[str, tuple[str, int]], where: str, inside: str
) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise RefusedError(f"{where}: {inside or 'the record'} is no JSON object")
    found: dict[str, Any] = {}
    for number, (wire, value) in enumerate(body.items(), 1):
        if wire not in fields:
            # Its name is not shown: whoever puts content there may name it by content.
            raise RefusedError(
                f"{where}: {inside or 'the record'} has a field that no session record has "
                f"(field {number}); expected only {', '.join(fields)}"
            )
        name, kind = fields[wire]
        if kind == WHO:
            found |= _fields(value, WHO_FIELDS, where, "who")
            continue
        read = _value(kind, value)
        if read is None and value is not None:
            field = f"{inside}.{wire}" if inside else wire
            raise RefusedError(f"{where}: {field} {EXPECTED[kind]}; its value is not shown")
        if read is not None:
            found[name] = read
    return found


EXPECTED = {
    TEXT: f"is no identifier (one word of at most {MAX_STRING_BYTES} bytes, {IDENTIFIER.pattern})",
    LIST: "is no list of identifiers",
    CHAIN: "is no list of identifiers",
    PATHS: "is no list of hashed paths (h: and 32 hex digits)",
    COUNT: "is no integer from 0 to 2^53-1",
    COST: "is no amount of dollars from 0 to a thousand million",
    TIME: "is no RFC 3339 time in UTC",
}


def _value(kind: int, value: Any) -> Any:
    if kind == TEXT:
        return value if value == "" or is_identifier(value) else None
    if kind == COUNT:
        return value if type(value) is int and 0 <= value <= MAX_COUNT else None
    if kind == COST:
        return cost_of(value)
    if kind == TIME:
        return moment_of(value)
    if type(value) not in (list, tuple):
        return None
    good = is_hashed if kind == PATHS else is_identifier
    if not all(good(item) for item in value):
        return None
    return tuple(value) if kind == CHAIN else tuple(sorted(set(value)))


def check(record: Record, where: str) -> None:
    """Check everything about a record that a reader may rely on.

    Raises:
        RefusedError: something does not hold; the message names the field, not the value.
    """
    for wire, (name, kind) in _FLAT:
        value = getattr(record, name)
        if kind == TIME:
            good = value is None or (type(value) is int and value >= 0)
        elif kind == COST:
            good = type(value) is int and 0 <= value <= MAX_COST_MICROS
        elif kind in (LIST, CHAIN, PATHS):
            good = type(value) is tuple and _value(kind, value) == value
        else:
            good = _value(kind, value) is not None
        if not good:
            raise RefusedError(f"{where}: {wire} {EXPECTED[kind]}; its value is not shown")
    for wire, value in (("sessionId", record.session_id), ("harness", record.harness)):
        if not value:
            raise RefusedError(f"{where}: {wire} {EXPECTED[TEXT]}; it is empty")
    if record.id != record_id(record.harness, record.session_id):
        raise RefusedError(f"{where}: id is not that of its harness and sessionId")
    if record.outcome not in OUTCOMES:
        raise RefusedError(f"{where}: outcome is none of {', '.join(OUTCOMES)}")
    if record.start is not None and record.end is not None and record.start > record.end:
        raise RefusedError(f"{where}: start lies after end")
    if record.files_touched < len(record.files):
        raise RefusedError(f"{where}: filesTouched is less than the number of files")
    if not record.sources or not all(source in CONFIDENCE for source in record.sources):
        raise RefusedError(f"{where}: sources are not all among {', '.join(CONFIDENCE)}")
    if record.confidence != best(record.sources):
        raise RefusedError(f"{where}: confidence is not that of its most trusted source")


_FLAT = [(wire, place) for wire, place in FIELDS.items() if place[1] != WHO] + [
    (f"who.{wire}", place) for wire, place in WHO_FIELDS.items()
]
