"""Canonical JSON (RFC 8785) and digests.

Two domains:

- any JSON value a host sends: ``canonical_bytes``, exact RFC 8785;
- the *profile* a ledger line keeps to (ASCII keys, integers within +-(2^53-1),
  no floats): ``profile_bytes``. There every common encoder with sorted keys
  writes RFC 8785 already, so a line can be checked by re-encoding it.

Outside the profile the ``rfc8785`` package decides. Inside it the standard
library encodes on the cold hook, where starting orjson costs more than it
saves, and orjson in a long process (``warm``); a test holds all three equal.
"""

import json
from typing import Any

from toolgate.errors import CanonicalizationError

try:
    from _sha256 import sha256 as _sha256  # CPython 3.11: spares the hook OpenSSL's start-up
except ImportError:  # CPython 3.12 and later
    from hashlib import sha256 as _sha256

MAX_DEPTH = 200
MAX_INTEGER = 2**53 - 1

_IN_PROFILE, _BMP_KEYS, _GENERAL = 0, 1, 2

_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))

_pads: dict[bytes, tuple[Any, Any]] = {}
"""By key, what a keyed hash begins with: a session is asked for many names under one key."""

_MOST_PADS = 16

_orjson: Any = None


def warm() -> None:
    """Use orjson and OpenSSL from here on: for processes that live longer than one call.

    On a line of a ledger OpenSSL's SHA-256 takes a quarter of the time.
    """
    global _orjson, _sha256
    from hashlib import sha256

    import orjson

    _orjson, _sha256 = orjson, sha256


def digest(data: bytes) -> str:
    """Return the digest of bytes as ``sha256:`` and 64 lower-case hex digits."""
    return "sha256:" + str(_sha256(data).hexdigest())


def raw_digest(data: bytes) -> bytes:
    """Return the 32 bytes of the SHA-256 digest of bytes."""
    return bytes(_sha256(data).digest())


def keyed_hash(key: bytes, data: bytes) -> str:
    """Return HMAC-SHA256 as lower-case hex.

    Written out because the standard module starts OpenSSL, which costs the
    hook more than the rest of a decision.

    Source: RFC 2104.
    """
    pads = _pads.get(key)
    if pads is None:
        block = (key if len(key) <= 64 else _sha256(key).digest()).ljust(64, b"\0")
        if len(_pads) >= _MOST_PADS:
            _pads.clear()
        pads = _sha256(block.translate(_INNER)), _sha256(block.translate(_OUTER))
        _pads[key] = pads
    inner, outer = pads[0].copy(), pads[1].copy()
    inner.update(data)
    outer.update(inner.digest())
    return str(outer.hexdigest())


def digest_of(value: object) -> str:
    """Return the digest of a JSON value's canonical bytes.

    Raises:
        CanonicalizationError: the value has no canonical form.
    """
    return digest(canonical_bytes(value))


def canonical_bytes(value: object) -> bytes:
    """Return the RFC 8785 bytes of any JSON value.

    Raises:
        CanonicalizationError: NaN or infinity, an integer beyond +-(2^53-1), a
            lone surrogate in a key or string, a key that is not text, a type
            JSON does not have, or nesting deeper than ``MAX_DEPTH``.

    Source: RFC 8785, sections 3.2.2 and 3.2.3.
    """
    if _survey(value) == _GENERAL:
        return _general(value)
    return _encode(value)


def profile_bytes(value: object) -> bytes:
    """Return the canonical bytes of a value inside the ledger's profile.

    Raises:
        CanonicalizationError: the value is outside the profile; the message
            says in which way.
    """
    kind = _survey(value)
    if kind != _IN_PROFILE:
        raise CanonicalizationError(
            "value is outside the ledger profile: expected ASCII keys and no floats"
        )
    return _encode(value)


def parse(data: bytes) -> Any:
    """Read JSON text strictly.

    Refused: a byte order mark, invalid UTF-8, duplicate keys, NaN and
    infinities (also ``1e400``), lone surrogates, integers beyond +-(2^53-1),
    nesting deeper than ``MAX_DEPTH``, anything after the value.

    Raises:
        CanonicalizationError: one of the above; the message names it.

    Source: RFC 7493 (I-JSON), section 2.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CanonicalizationError(f"not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise CanonicalizationError("begins with a byte order mark")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise CanonicalizationError(f"not JSON at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise CanonicalizationError(f"nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:
        raise CanonicalizationError(f"not JSON: {str(error)[:120]}") from None
    _survey(value)
    return value


def parse_line(line: bytes) -> Any:
    """Read one ledger line (without its line feed) and check its bytes.

    Raises:
        CanonicalizationError: not JSON, or not byte for byte the canonical
            form of what it says.
    """
    value = parse(line)
    if profile_bytes(value) != line:
        raise CanonicalizationError("the bytes are not the canonical form of the value")
    return value


def _encode(value: object) -> bytes:
    try:
        if _orjson is not None:
            return bytes(_orjson.dumps(value, option=_orjson.OPT_SORT_KEYS))
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        ).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise CanonicalizationError(f"cannot be encoded: {type(error).__name__}") from None


def _general(value: object) -> bytes:
    import rfc8785

    try:
        return bytes(rfc8785.dumps(value))  # type: ignore[arg-type]  # _survey admitted JSON types only
    except (rfc8785.CanonicalizationError, UnicodeError, ValueError, RecursionError) as error:
        raise CanonicalizationError(f"has no RFC 8785 form: {type(error).__name__}") from None


def _survey(value: object) -> int:
    """Check a value's types and ranges, and say which encoder it needs.

    Level by level, so that depth is a number to compare and not a crash.
    """
    kind, depth = _IN_PROFILE, 0
    level: list[Any] = [value]
    while level:
        below: list[Any] = []
        for item in level:
            typ = type(item)
            if typ is str:
                if not item.isascii():
                    _valid_text(item)
            elif typ is dict or typ is list or typ is tuple:
                if depth >= MAX_DEPTH:
                    raise CanonicalizationError(f"nested deeper than {MAX_DEPTH}")
                if typ is dict:
                    for key in item:
                        if type(key) is not str or not key.isascii():
                            kind = max(kind, _survey_keys(item))
                            break
                    below += item.values()
                else:
                    below += item
            elif typ is int:
                if not -MAX_INTEGER <= item <= MAX_INTEGER:
                    raise CanonicalizationError("integer beyond +-(2^53-1)")
            elif typ is float:
                if not float("-inf") < item < float("inf"):
                    raise CanonicalizationError("NaN or infinity")
                kind = _GENERAL
            elif item is not None and typ is not bool:
                raise CanonicalizationError(f"type {typ.__name__} is not JSON")
        level, depth = below, depth + 1
    return kind


def _survey_keys(item: dict[Any, Any]) -> int:
    kind = _IN_PROFILE
    for key in item:
        if type(key) is not str:
            raise CanonicalizationError(f"object key of type {type(key).__name__}")
        if not key.isascii():
            _valid_text(key)
            # Below U+D800 code point order is UTF-16 order; above it may differ.
            kind = max(kind, _BMP_KEYS if max(key) < "\ud800" else _GENERAL)
    return kind


def _valid_text(text: Any) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise CanonicalizationError("lone surrogate in a string or key") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"duplicate key {json.dumps(key[:40])}")
            seen.add(key)
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
