"""Taking secrets out of a text or a JSON value, before it is shown, kept, sent or cut. Pure.

One set of rules for everything that leaves: the vault's redacted form, what
labelers are shown, and what a judge is asked. Found are

1. the values of keys whose name ends like one of ``SECRET_NAMES``, whole objects and
   lists as well (numbers only where the name leaves no doubt);
2. in any text: what follows such a name and ``=`` or ``:``, or an option of such a name,
   quoted or not; user and password in URLs, ``-u user:password`` and the password letters
   of well-known clients; ``Authorization`` and ``Cookie`` values; private keys; signed
   and webhook addresses; JSON web tokens, and tokens of known issuers.

A mark replaces each. Shapes are not proof: a secret that looks like a word stays.
What refers to a variable (``$TOKEN``) or a command is no secret and stays too.

A secret is known by its surroundings, so a text must be redacted before it is cut:
nothing here cuts, and callers cut what this has returned.

Source: prefixes as their issuers and public secret scanners document them.
"""

import re
from collections.abc import Callable
from typing import Any

from toolgate.canonical import canonical_bytes
from toolgate.errors import CanonicalizationError

Mark = Callable[[str, bytes, int], str]
"""What stands for a secret: from its kind, its bytes and its length. Begins with ``[redacted``."""

KEY, URL, TOKEN, AUTHORIZATION, NAMED = (
    "private-key",
    "url-credential",
    "token",
    "authorization",
    "named-value",
)
"""Kinds of what is found."""

# Only the end of a name is matched, so a long run of letters costs one pass. PWD is a folder.
SECRET_NAMES = (
    r"(?:password|passwd|passphrase|passcode|(?-i:[Pp]wd)|secret|token|credentials?|cookie"
    r"|authorization|(?:api|access|account|auth|client|deploy|encryption|license|master|private"
    r"|secret|service|session|shared|signing)[_-]?key)"
)
_NAMED = re.compile(rf"(?i){SECRET_NAMES}(?:[_-]?[a-z0-9]{{1,16}}){{0,1}}\Z")
_SURE = re.compile(r"(?i)(?:password|passwd|passphrase|passcode|secret)\Z")

# Quantifiers are possessive: each piece takes what it can and gives nothing back, and a
# quote without its end still counts, so no input is read twice.
_QUOTED = r"\\\"[^\"\\\n]*+(?:\\\")?|\"(?:\\.|[^\"\\\n])++\"?|'[^'\n]++'?"
_BARE = r"(?:\\.|[^\s\"'\\&;|,<>(){}]|,(?=[^\s\"']))++"
_REFERENCE = (
    r"(?!\"?\$(?:\(|(?:[0-9@*]|[A-Z_][A-Z0-9_]*+|\{[A-Za-z_][A-Za-z0-9_]*+\})\"?(?:[\s;&|)]|\Z)))"
)
_SCHEME = r"(?!(?:bearer|basic|token|digest)\s{1,3}(?:\$|\[redacted))"
# A quote goes on with a word only where a word follows it: else it ends what the name stands in.
_MORE = rf"(?=[\"'][^\s\"',;:)}}\]|&])(?:{_QUOTED})|{_BARE}"
_VALUE = rf"{_REFERENCE}{_SCHEME}(?P<secret>(?:{_QUOTED}|{_BARE})(?:{_MORE})*+)"

_ISSUED = "|".join(
    (
        r"gh[pousr]_[A-Za-z0-9]{20,255}",
        r"github_pat_[A-Za-z0-9_]{20,255}",
        r"gl(?:pat|rt|dt|ptt|ft|soat|cbt|oas)-[A-Za-z0-9_.-]{15,255}",
        r"sk-[A-Za-z0-9_-]{16,255}",
        r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}",
        r"whsec_[A-Za-z0-9+/=]{16,255}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,255}",
        r"xapp-[A-Za-z0-9-]{10,255}",
        r"(?:AKIA|ASIA)[0-9A-Z]{16}",
        r"AIza[0-9A-Za-z_-]{30,60}",
        r"GOCSPX-[0-9A-Za-z_-]{20,60}",
        r"ya29\.[0-9A-Za-z_-]{20,1024}",
        r"npm_[A-Za-z0-9]{30,60}",
        r"pypi-[A-Za-z0-9_-]{20,1024}",
        r"hf_[A-Za-z0-9]{20,64}",
        r"do[opr]_v1_[0-9a-f]{30,80}",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,64}",
        r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}",
        r"key-[0-9a-f]{32}",
        r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,64}",
        r"hv[sbr]\.[A-Za-z0-9_-]{20,512}",
        r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}",
        r"ATATT3[A-Za-z0-9_=-]{20,512}",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{20,80}",
        r"PMAK-[0-9a-f]{20,64}-[0-9a-f]{20,64}",
        r"pul-[0-9a-f]{40}",
        r"sntry[su]_[A-Za-z0-9+/=_-]{20,512}",
        r"figd_[A-Za-z0-9_-]{20,128}",
        r"gsk_[A-Za-z0-9]{30,80}",
        r"xai-[A-Za-z0-9]{30,120}",
        r"nvapi-[A-Za-z0-9_-]{30,120}",
        r"r8_[A-Za-z0-9]{30,60}",
        r"sb[ps]_[0-9a-f]{30,60}",
        r"AGE-SECRET-KEY-1[0-9A-Z]{40,70}",
        r"eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{0,4096})?",
    )
)

_TEXTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        KEY,
        re.compile(
            r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----).){0,16384}"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)",
            re.S,
        ),
    ),
    (URL, re.compile(r"://(?P<secret>[^\s/@'\"]{1,1024})@")),
    (
        URL,
        re.compile(
            r"(?i)(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/"
            r"|api\.telegram\.org/bot)(?P<secret>[A-Za-z0-9/:_-]{10,256})"
        ),
    ),
    (
        URL,
        re.compile(
            r"(?i)[?&](?:sig|signature|x-amz-signature|x-goog-signature|x-amz-security-token|code)="
            r"(?P<secret>[^\s&\"']{8,4096})"
        ),
    ),
    (TOKEN, re.compile(rf"\b(?P<secret>{_ISSUED})")),
    (
        AUTHORIZATION,
        re.compile(
            r"(?i)(?:authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:bearer|basic|token|digest)"
            r"\s{1,3}|\bbearer\s{1,3}(?=[A-Za-z0-9._~+/=-]{20}))"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{4,4096})"
        ),
    ),
    (
        AUTHORIZATION,
        re.compile(r"(?i)\b(?:set-)?cookie\s{0,3}:\s{0,3}(?P<secret>[^\n\"']{1,8192})"),
    ),
    (
        NAMED,
        re.compile(
            rf"(?i){SECRET_NAMES}(?:[_-][a-z0-9]{{1,16}}){{0,2}}\\?[\"']?\s{{0,3}}[=:]\s{{0,3}}{_VALUE}"
        ),
    ),
    (
        NAMED,
        re.compile(rf"(?i)--(?:[a-z0-9]{{1,16}}[_-]){{0,3}}{SECRET_NAMES}\s{{1,3}}{_VALUE}"),
    ),
    (
        NAMED,
        re.compile(
            r"(?<![\w-])(?:-[A-Za-z]{0,6}[uU]|--(?:proxy-)?user)[ =]?"
            r"(?:\"[^\s:\"'/]{0,256}:(?P<secret>[^\"\n]++)|'[^\s:\"'/]{0,256}:(?P<single>[^'\n]++)"
            rf"|(?!\d+:\d+\b)[^\s:\"'/]{{0,256}}:(?![/.])(?P<bare>{_BARE}))"
        ),
    ),
    (
        NAMED,
        re.compile(
            r"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\b[^\n;|&]{0,256}?\s-p(?:(?<=sshpass\s-p)\s)?"
            r"(?!r(?:int[0f]?|une)\b|ath\b|erm\b)" + _VALUE
        ),
    ),
    (NAMED, re.compile(r"\bredis-cli\b[^\n;|&]{0,256}?\s-a\s" + _VALUE)),
    (
        NAMED,
        re.compile(rf"\b(?:login|machine)\s{{1,8}}\S{{1,256}}\s{{1,8}}password\s{{1,8}}{_VALUE}"),
    ),
)


def redact_text(text: str, mark: Mark) -> str:
    """Return a text with every secret that is found in it replaced by its mark."""
    for kind, pattern in _TEXTS:
        text = pattern.sub(lambda found, kind=kind: _replaced(found, kind, mark), text)  # type: ignore[misc]
    return text


def redact_value(
    value: Any, mark: Mark, whole: frozenset[str] = frozenset(), name: str = ""
) -> Any:
    """Return a JSON value without what is found; equal to it if nothing is.

    Args:
        value: any JSON value, at most ``canonical.MAX_DEPTH`` deep.
        mark: what stands for a secret.
        whole: more keys whose values go whole, such as those of a file's content.
        name: the key the value stands under.
    """
    if name and (name in whole or is_secret_name(name)):
        if value and isinstance(value, (str, list, dict)):
            return _whole(value, mark)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and _SURE.search(name):
            return _whole(value, mark)
    if isinstance(value, str):
        return redact_text(value, mark)
    if isinstance(value, dict):
        return {
            redact_text(key, mark): redact_value(child, mark, whole, key)
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [redact_value(child, mark, whole, name) for child in value]
    return value


def is_secret_name(name: str) -> bool:
    """Say whether values of this name are secrets."""
    return _NAMED.search(name) is not None


def by_kind(kind: str, data: bytes, length: int) -> str:
    """Return a mark that says of a secret what kind it is, and nothing else."""
    return f"[redacted:{kind}]"


def _whole(value: Any, mark: Mark) -> Any:
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return value if _is_mark(value) else mark(NAMED, data, len(value))
    try:
        data = canonical_bytes(value)
    except CanonicalizationError:
        data = repr(value).encode("utf-8", "surrogatepass")
    return mark(NAMED, data, len(data))


def _replaced(found: re.Match[str], kind: str, mark: Mark) -> str:
    name = found.lastgroup or "secret"
    secret = found[name]
    if secret.lstrip("\\\"'").startswith("[redacted"):
        return found[0]
    start, stop = (at - found.start() for at in found.span(name))
    made = mark(kind, secret.encode("utf-8", "surrogatepass"), len(secret))
    return found[0][:start] + made + found[0][stop:]


def _is_mark(text: str) -> bool:
    return re.fullmatch(r"\[redacted[: ][^\[\]\n]{1,120}\]", text) is not None
