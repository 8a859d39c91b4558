"""A window's declaration: read from YAML, checked whole, frozen to canonical bytes.

Every fault of a file is reported at once. What a file leaves out is filled in
before freezing, so the frozen bytes say everything that closing will use.
"""

import re
from typing import Any, NamedTuple

from evalkit.errors import UsageError
from evalkit.metrics import REGISTRY
from evalkit.windows.moment import HOUR_US, parse_moment
from evalkit.windows.predicate import COLUMNS, predicate_fault
from evalkit.windows.strata import stratum_faults
from evalkit.windows.strict_yaml import load_yaml
from toolgate.canonical import canonical_bytes, digest
from toolgate.records import is_digest

VERSION = 1
MAX_FILE_BYTES = 64 * 1024
MAX_GRACE_HOURS = 24 * 366
ID_FORM = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

_KEYS = {
    "version", "id", "question", "population", "start", "end", "metrics", "interval", "level",
    "strata", "sample", "expected", "volume", "exclusions", "excluded_hosts", "grace_hours",
    "retrospective",
}  # fmt: skip
_NEEDED = ("version", "id", "question", "population", "start", "end", "metrics")


class Declaration(NamedTuple):
    """A declaration that passed every check.

    Args:
        body: the closed JSON object, defaults filled in.
        start: first microsecond of the window, UTC.
        end: first microsecond after it, UTC.
    """

    body: dict[str, Any]
    start: int
    end: int

    @property
    def id(self) -> str:
        """Return the window's id."""
        return str(self.body["id"])

    @property
    def ready(self) -> int:
        """Return when it may be closed: the end and the grace, microseconds UTC."""
        return self.end + int(self.body["grace_hours"]) * HOUR_US

    def frozen(self) -> bytes:
        """Return the canonical bytes whose digest is chained."""
        return canonical_bytes(self.body)

    def digest(self) -> str:
        """Return the digest of the frozen bytes."""
        return digest(self.frozen())


def read_yaml(data: bytes, source: str) -> Declaration:
    """Read a declaration from YAML.

    Args:
        data: the file's bytes.
        source: its name, for messages.

    Raises:
        UsageError: names every fault found.
    """
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"{source}: {len(data)} bytes; at most {MAX_FILE_BYTES} are read")
    return declaration(load_yaml(data, source), source)


def declaration(raw: Any, source: str, *, chained: bool = False) -> Declaration:
    """Check a declaration as parsed, and fill in what it leaves out.

    Args:
        raw: the parsed value.
        source: its name, for messages.
        chained: whether it is read back from the chain. Then names of strata
            are not checked: what was promised once has to stay closable.

    Raises:
        UsageError: names every fault found.
    """
    faults: list[str] = []
    if type(raw) is not dict:
        raise UsageError(f"{source}: expected a mapping of keys, got {type(raw).__name__}")
    _strict(faults, "", raw, _KEYS, _NEEDED)
    body = {
        "version": VERSION,
        "id": raw.get("id"),
        "question": raw.get("question"),
        "population": _population(faults, raw.get("population")),
        "start": raw.get("start"),
        "end": raw.get("end"),
        "metrics": _metrics(faults, raw.get("metrics")),
        "interval": raw.get("interval", "clopper-pearson"),
        "level": raw.get("level", 0.95),
        "strata": _texts(faults, "strata", raw.get("strata", [])),
        "sample": _sample(faults, raw.get("sample", {})),
        "expected": _expected(faults, raw.get("expected", {})),
        "volume": _volume(faults, raw.get("volume", {})),
        "exclusions": _exclusions(faults, raw.get("exclusions", [])),
        "excluded_hosts": _texts(faults, "excluded_hosts", raw.get("excluded_hosts", ["evalkit"])),
        "grace_hours": raw.get("grace_hours", 0),
        "retrospective": raw.get("retrospective", False),
    }
    start, end = _scalars(faults, raw, body)
    if not chained:
        faults.extend(stratum_faults(body["strata"], body["sample"]["n"]))
    if faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise UsageError(f"{source}: {count}: " + "; ".join(faults))
    return Declaration(body, start, end)


def _strict(
    faults: list[str], where: str, raw: dict[str, Any], known: set[str], needed: tuple[str, ...]
) -> None:
    faults.extend(f"{where}{key}: unknown key" for key in sorted(raw.keys() - known))
    faults.extend(f"{where}{key}: missing" for key in needed if key not in raw)


def _part(
    faults: list[str], where: str, raw: Any, known: set[str], needed: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a mapping's known keys, reporting the others."""
    if type(raw) is not dict:
        faults.append(f"{where}: expected a mapping, got {type(raw).__name__}")
        return {}
    _strict(faults, f"{where}.", raw, known, needed)
    return raw


def _scalars(faults: list[str], raw: dict[str, Any], body: dict[str, Any]) -> tuple[int, int]:
    if "version" in raw and (type(raw["version"]) is not int or raw["version"] != VERSION):
        faults.append(f"version: {raw['version']!r:.20}; expected {VERSION}")
    if "id" in raw and not (type(raw["id"]) is str and ID_FORM.fullmatch(raw["id"])):
        faults.append(f"id: {raw['id']!r:.70}; expected {ID_FORM.pattern}")
    if "question" in raw and not _sentence(raw["question"]):
        faults.append("question: expected one line of 1 to 500 characters")
    if body["interval"] != "clopper-pearson":
        faults.append(f"interval: {body['interval']!r:.40}; known is clopper-pearson")
    if type(body["level"]) is not float or not 0 < body["level"] < 1:
        faults.append(f"level: {body['level']!r:.40}; expected a number between 0 and 1")
    grace = body["grace_hours"]
    if type(grace) is not int or not 0 <= grace <= MAX_GRACE_HOURS:
        faults.append(f"grace_hours: {grace!r:.40}; expected 0 to {MAX_GRACE_HOURS}")
    if type(body["retrospective"]) is not bool:
        faults.append("retrospective: expected true or false")
    faults.extend(
        f"strata: {name!r:.40} is no column; known are {', '.join(COLUMNS)}"
        for name in body["strata"]
        if name not in COLUMNS
    )
    return _span(faults, raw)


def _span(faults: list[str], raw: dict[str, Any]) -> tuple[int, int]:
    found = []
    for name in ("start", "end"):
        try:
            found.append(parse_moment(raw[name]) if type(raw.get(name)) is str else None)
        except ValueError as error:
            faults.append(f"{name}: {error}")
            found.append(-1)
        if found[-1] is None and name in raw:
            faults.append(f"{name}: expected a moment in UTC such as 2026-12-01T00:00:00Z")
    start, end = (value or 0 for value in found)
    if None not in found and -1 not in found and start >= end:
        faults.append("end: expected a moment after start; the span is half-open")
    return start, end


def _sentence(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= 500 and value.isprintable()


def _population(faults: list[str], raw: Any) -> dict[str, Any]:
    if raw is None:
        return {}
    part = _part(faults, "population", raw, {"sql", "unit"}, ("sql",))
    if part.get("unit", "decision") != "decision":
        faults.append(f"population.unit: {part['unit']!r:.40}; known is decision")
    if "sql" in part:
        _predicate(faults, "population.sql", part["sql"])
    return {"sql": part.get("sql"), "unit": "decision"}


def _predicate(faults: list[str], where: str, sql: Any) -> None:
    fault = predicate_fault(sql) if type(sql) is str else "expected SQL text"
    if fault:
        faults.append(f"{where}: {fault}")


def _metrics(faults: list[str], raw: Any) -> list[dict[str, Any]]:
    if raw is None:
        return []
    if type(raw) is not list or not raw:
        faults.append("metrics: expected a list of at least one {name, version}")
        return []
    made = []
    for place, item in enumerate(raw):
        where = f"metrics[{place}]"
        part = _part(faults, where, item, {"name", "version"}, ("name", "version"))
        key = (part.get("name"), part.get("version"))
        known = type(key[0]) is str and type(key[1]) is int and key in REGISTRY
        if len(part) == 2 and not known:
            names = ", ".join(f"{name} v{version}" for name, version in sorted(REGISTRY))
            faults.append(
                f"{where}: {key[0]!r:.40} v{key[1]!r:.10} is not known; known are {names}"
            )
        elif {"name": key[0], "version": key[1]} in made:
            faults.append(f"{where}: {key[0]} v{key[1]} is named twice")
        made.append({"name": key[0], "version": key[1]})
    return made


def _texts(faults: list[str], where: str, raw: Any) -> list[str]:
    if type(raw) is not list or not all(_sentence(item) for item in raw):
        faults.append(f"{where}: expected a list of names")
        return []
    if len(set(raw)) != len(raw):
        faults.append(f"{where}: a name appears twice")
    return raw


def _sample(faults: list[str], raw: Any) -> dict[str, Any]:
    part = _part(faults, "sample", raw, {"n", "seed_commitment"})
    n, commitment = part.get("n"), part.get("seed_commitment")
    good = n is None or _positive(n)
    if type(n) is dict:
        good = bool(n) and all(type(key) is str and _positive(value) for key, value in n.items())
    if not good:
        faults.append("sample.n: expected a count per stratum, or a mapping of stratum to count")
    if commitment is not None and not is_digest(commitment):
        faults.append("sample.seed_commitment: expected sha256: and 64 hex digits, or null")
    return {"n": n, "seed_commitment": commitment}


def _positive(value: Any) -> bool:
    return type(value) is int and 0 < value <= 10**9


def _expected(faults: list[str], raw: Any) -> dict[str, Any]:
    part = _part(faults, "expected", raw, {"build", "policy"})
    faults.extend(
        f"expected.{name}: expected sha256: and 64 hex digits, or null"
        for name in ("build", "policy")
        if part.get(name) is not None and not is_digest(part[name])
    )
    return {"build": part.get("build"), "policy": part.get("policy")}


def _volume(faults: list[str], raw: Any) -> dict[str, Any]:
    part = _part(faults, "volume", raw, {"min", "max"})
    low, high = part.get("min"), part.get("max")
    for name, value in (("min", low), ("max", high)):
        if value is not None and not (type(value) is int and 0 <= value <= 2**53 - 1):
            faults.append(f"volume.{name}: expected a count of calls")
    if type(low) is int and type(high) is int and low > high:
        faults.append("volume: min is above max")
    return {"min": low, "max": high}


def _exclusions(faults: list[str], raw: Any) -> list[dict[str, Any]]:
    if type(raw) is not list:
        faults.append("exclusions: expected a list of {sql, reason}")
        return []
    made = []
    for place, item in enumerate(raw):
        where = f"exclusions[{place}]"
        part = _part(faults, where, item, {"sql", "reason"}, ("sql", "reason"))
        if "sql" in part:
            _predicate(faults, f"{where}.sql", part["sql"])
        if "reason" in part and not _sentence(part["reason"]):
            faults.append(f"{where}.reason: expected one line of 1 to 500 characters")
        made.append({"sql": part.get("sql"), "reason": part.get("reason")})
    return made
