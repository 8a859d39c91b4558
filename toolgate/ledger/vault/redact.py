"""Taking content and secrets out of what the gate was given.

The rules, all of them:

1. the values of ``CONTENT_KEYS`` in the tool's input: what is written into files;
2. the values of keys whose name ends like one of ``SECRET_NAMES``, numbers excepted;
3. in any text: what follows such a name and ``=`` or ``:``, credentials in URLs,
   ``Authorization`` values, private keys, and tokens of known issuers.

What is found is replaced by its keyed digest and its length. The key is the
ledger's salt, so that a short secret cannot be found by trying. Shapes are not
proof: a secret that looks like a word stays.
"""

import re
from collections.abc import Callable
from typing import Any

from toolgate.canonical import canonical_bytes, keyed_hash
from toolgate.errors import CanonicalizationError

CONTENT_KEYS = frozenset(
    (
        "content",
        "contents",
        "file_text",
        "insert_text",
        "new_source",
        "new_str",
        "new_string",
        "old_str",
        "old_string",
        "patch",
    )
)

SECRET_NAMES = (
    r"(?:password|passwd|passphrase|pwd|secret|token|credentials?|cookie|authorization"
    r"|(?:api|access|private|auth|session|secret|signing|encryption)[_-]?key)"
)

_NAMED = re.compile(rf"(?i){SECRET_NAMES}(?:[_-]?[a-z0-9]{{1,16}}){{0,1}}\Z")
_VALUE = r"(?:\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s\"'&;|,<>(){}]{1,4096})"
_TEXTS: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?!-----).){0,16384}"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?)",
        re.S,
    ),
    re.compile(r"://(?P<secret>[^\s/@'\"]{1,1024})@"),
    re.compile(
        r"(?i)(?:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)|\bbearer)"
        r"\s{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{4,4096})"
    ),
    re.compile(
        rf"(?i){SECRET_NAMES}(?:[_-][a-z0-9]{{1,16}}){{0,2}}[\"']?\s{{0,3}}[=:]\s{{0,3}}"
        rf"(?P<secret>{_VALUE})"
    ),
    re.compile(
        rf"(?i)--(?:[a-z0-9]{{1,16}}[_-]){{0,3}}{SECRET_NAMES}\s{{1,3}}(?P<secret>{_VALUE})"
    ),
    re.compile(
        r"\b(?P<secret>gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}"
        r"|glpat-[A-Za-z0-9_-]{15,255}|sk-[A-Za-z0-9_-]{16,255}"
        r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}|xox[abeoprs]-[A-Za-z0-9-]{10,255}"
        r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,60}|ya29\.[0-9A-Za-z_-]{20,1024}"
        r"|npm_[A-Za-z0-9]{30,60}|pypi-[A-Za-z0-9_-]{20,1024}|hf_[A-Za-z0-9]{20,64}"
        r"|eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{0,4096})?)"
    ),
)


def redacted(value: Any, salt: bytes) -> Any:
    """Return a JSON value without what the rules find; equal to it if they find nothing.

    Args:
        value: any JSON value, at most ``canonical.MAX_DEPTH`` deep.
        salt: the ledger's secret salt, the key of the digests.
    """
    return _value(value, "", lambda data, length: _mark(salt, data, length))


_Marker = Callable[[bytes, int], str]


def _value(value: Any, name: str, mark: _Marker) -> Any:
    if value and isinstance(value, (str, list, dict)) and _is_secret(name):
        return _whole(value, mark)
    if isinstance(value, str):
        return _text(value, mark)
    if isinstance(value, dict):
        return {_text(key, mark): _value(child, key, mark) for key, child in value.items()}
    if isinstance(value, list):
        return [_value(child, name, mark) for child in value]
    return value


def _is_secret(name: str) -> bool:
    return name in CONTENT_KEYS or _NAMED.search(name) is not None


def _whole(value: Any, mark: _Marker) -> Any:
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return value if _is_mark(value) else mark(data, len(value))
    try:
        data = canonical_bytes(value)
    except CanonicalizationError:
        data = repr(value).encode("utf-8", "surrogatepass")
    return mark(data, len(data))


def _text(text: str, mark: _Marker) -> str:
    for pattern in _TEXTS:
        text = pattern.sub(lambda found: _replaced(found, mark), text)
    return text


def _replaced(found: re.Match[str], mark: _Marker) -> str:
    secret = found["secret"]
    if secret.startswith("[redacted"):
        return found[0]
    start, stop = (at - found.start() for at in found.span("secret"))
    made = mark(secret.encode("utf-8", "surrogatepass"), len(secret))
    return found[0][:start] + made + found[0][stop:]


def _mark(salt: bytes, data: bytes, length: int) -> str:
    return f"[redacted h:{keyed_hash(salt, data)[:32]} length:{length}]"


def _is_mark(text: str) -> bool:
    return re.fullmatch(r"\[redacted h:[0-9a-f]{32} length:[0-9]+\]", text) is not None
