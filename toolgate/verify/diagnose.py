"""Why a line is no entry: the first of a fixed list of faults it has.

A line can be wrong in several ways at once. Which one is named must not hang on
the order in which a parser happens to meet them, or two verifiers would differ.
"""

import json
from typing import Any, NamedTuple

from toolgate.canonical import MAX_DEPTH, MAX_INTEGER, profile_bytes
from toolgate.errors import CanonicalizationError, RecordError
from toolgate.records import check
from toolgate.verify.read import MAX_LINE_BYTES

_LONGEST = len(str(MAX_INTEGER)) + 1  # digits and sign; what is longer is beyond it


class _Large:
    """An integer beyond what the ledger holds."""


class _Doubled(NamedTuple):
    """An object that has a key twice."""

    pairs: list[tuple[str, Any]]


def diagnose(raw: bytes) -> tuple[str, str]:
    """Say why a line is no entry.

    In this order: it is no JSON, an object has a key twice, a value is outside
    the profile, the bytes are not canonical, the version is another one, the
    schema does not hold.

    Args:
        raw: its bytes without the line feed.

    Returns:
        A finding code and a sentence.
    """
    if len(raw) > MAX_LINE_BYTES:
        return "entries.parse", f"line is longer than {MAX_LINE_BYTES} bytes"
    try:
        body = _parse(raw)
        doubled, outside = _survey(body)
    except CanonicalizationError as error:
        return "entries.parse", str(error)
    if doubled:
        return "entries.noncanonical", doubled
    if outside:
        return "entries.profile", outside
    if profile_bytes(body) != raw:
        return "entries.noncanonical", "the bytes are not the canonical form of what they say"
    try:
        check(body)
    except RecordError as error:
        return _unfit(body), str(error)
    return "entries.schema", "the entry breaks the closed schema of its kind"


def _parse(raw: bytes) -> Any:
    """Read JSON text, its doubled keys and large integers as what they are.

    Raises:
        CanonicalizationError: it is none.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CanonicalizationError(f"not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise CanonicalizationError("begins with a byte order mark")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise CanonicalizationError(f"not JSON at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise CanonicalizationError(f"nested deeper than {MAX_DEPTH}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Doubled:
    made = dict(pairs)
    return made if len(made) == len(pairs) else _Doubled(pairs)


def _integer(text: str) -> int | _Large:
    value = int(text) if len(text) <= _LONGEST else MAX_INTEGER + 1
    return value if -MAX_INTEGER <= value <= MAX_INTEGER else _Large()


def _constant(name: str) -> Any:
    raise CanonicalizationError(f"not JSON: {name} is not JSON")


def _survey(value: Any) -> tuple[str, str]:
    """Say which key an object has twice, and in what way a value is outside the profile.

    Raises:
        CanonicalizationError: it is nested too deep, not finite, or no Unicode text.
    """
    doubled = outside = ""
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, (dict, list, _Doubled)):
            if depth >= MAX_DEPTH:
                raise CanonicalizationError(f"nested deeper than {MAX_DEPTH}")
            keys, values = _parts(item)
            for key in keys:
                _check_text(key)
                if not key.isascii():
                    outside = f"key {json.dumps(key[:40])} is not ASCII"
            if isinstance(item, _Doubled):
                doubled = f"duplicate key {json.dumps(_first_again(keys)[:40])}"
            stack += [(one, depth + 1) for one in values]
        elif isinstance(item, str):
            _check_text(item)
        elif isinstance(item, float):
            if not float("-inf") < item < float("inf"):
                raise CanonicalizationError("NaN or infinity")
            outside = f"a number is {item!r}; expected no floats"
        elif isinstance(item, _Large):
            outside = "integer beyond +-(2^53-1)"
    return doubled, outside


def _first_again(keys: list[str]) -> str:
    seen: set[str] = set()
    return next(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _parts(item: Any) -> tuple[list[str], list[Any]]:
    """Return the keys and values of a container."""
    if isinstance(item, list):
        return [], item
    pairs = item.items() if isinstance(item, dict) else item.pairs
    return [key for key, _ in pairs], [value for _, value in pairs]


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise CanonicalizationError("lone surrogate in a string or key") from None


def _unfit(body: Any) -> str:
    """Tell an entry of another format version from one that breaks this one's schema."""
    version = body.get("v") if type(body) is dict else None
    return "entries.version" if type(version) is int and version != 1 else "entries.schema"
