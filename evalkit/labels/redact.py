"""Taking secrets out of text that leaves for a labeler.

Found by their shape: values of secret-like names, known token prefixes,
credentials in URLs, and private keys. What is found is replaced by
``[redacted:<kind>]``; the same text always gives the same result. Shapes are
not proof: a secret that looks like a word stays.
"""

import re
from typing import Any

# Only the end of a name is matched, so a long run of letters costs one pass.
_NAME = (
    r"(?:password|passwd|passphrase|(?-i:[Pp]wd)|secret|token|credentials?"
    r"|(?:api|access|private|auth|session|secret|signing|encryption)[_-]?key)"
    r"(?:[_-][A-Za-z0-9]{1,16}){0,2}"
)
_VALUE = r"(?:\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s\"'&;|,<>(){}]{1,4096})"

_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.{0,16384}?"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)",
            re.S,
        ),
        "[redacted:private-key]",
    ),
    (
        re.compile(r"(://)[^\s/@'\"]{1,1024}@"),
        r"\1[redacted:url-credential]@",
    ),
    (
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}"
            r"|glpat-[A-Za-z0-9_-]{15,255}|sk-[A-Za-z0-9_-]{16,255}"
            r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}|xox[abeoprs]-[A-Za-z0-9-]{10,255}"
            r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,60}|ya29\.[0-9A-Za-z_-]{20,1024}"
            r"|npm_[A-Za-z0-9]{30,60}|pypi-[A-Za-z0-9_-]{20,1024}|hf_[A-Za-z0-9]{20,64}"
            r"|dop_v1_[0-9a-f]{30,80}|eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}"
            r"(?:\.[A-Za-z0-9_-]{0,4096})?)"
        ),
        "[redacted:token]",
    ),
    (
        re.compile(
            r"(?i)(\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3}"
            r"|\bbearer\s{1,3}(?=[A-Za-z0-9._~+/=-]{20}))[A-Za-z0-9._~+/=-]{4,4096}"
        ),
        r"\1[redacted:authorization]",
    ),
    (
        re.compile(rf"(?i)({_NAME}[\"']?\s{{0,3}}[=:]\s{{0,3}}){_VALUE}"),
        r"\1[redacted:named-value]",
    ),
    (
        re.compile(rf"(?i)(--(?:[A-Za-z0-9]{{1,16}}[_-]){{0,3}}{_NAME}\s{{1,3}}){_VALUE}"),
        r"\1[redacted:named-value]",
    ),
)
_SECRET_NAME = re.compile(rf"(?i){_NAME}\Z")


def redact(text: str) -> str:
    """Return text with what looks like a secret replaced."""
    for pattern, replacement in _SHAPES:
        text = pattern.sub(replacement, text)
    return text


def redact_value(value: Any, name: str = "") -> Any:
    """Return a JSON value with every text in it redacted.

    Args:
        value: any JSON value.
        name: the key it stands under; a secret-like one hides a text whole.
    """
    if isinstance(value, str):
        if value and _SECRET_NAME.search(name):
            return "[redacted:named-value]"
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): redact_value(child, key) for key, child in value.items()}
    if isinstance(value, list):
        return [redact_value(child, name) for child in value]
    return value
