"""Text that an agent writes: the secrets it holds, and the language it is in."""

_PRIVATE = "PRIVATE KEY-----"
_KEY_BLOCKS = (
    f"-----BEGIN {_PRIVATE}",
    *(f"-----BEGIN {kind} {_PRIVATE}" for kind in ("RSA", "OPENSSH", "EC", "DSA", "ENCRYPTED")),
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
)
# Prefix, length of the whole token at least: formats their issuers publish.
_TOKENS = (
    *(("ghp_", 40), ("gho_", 40), ("ghs_", 40), ("ghu_", 40), ("ghr_", 40), ("github_pat_", 60)),
    *(("glpat-", 26), ("gldt-", 25), ("xoxb-", 40), ("xoxp-", 40), ("xoxa-", 40), ("xapp-", 40)),
    *(("AKIA", 20), ("ASIA", 20), ("sk_live_", 28), ("rk_live_", 28), ("whsec_", 38)),
    *(("sk-ant-", 40), ("sk-proj-", 48), ("hf_", 37), ("npm_", 40), ("pypi-", 60), ("AIza", 39)),
    *(("ya29.", 40), ("dop_v1_", 71), ("shpat_", 38), ("SG.", 60), ("dapi", 36), ("hvs.", 28)),
    *(("lin_api_", 48), ("dckr_pat_", 36), ("rubygems_", 57), ("sntrys_", 60), ("PMAK-", 60)),
)
_TOKEN_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_KEY_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-:,. "
)
# What documentation writes where a token would stand.
_PLACEHOLDERS = (
    *(
        "example",
        "xxxx",
        "your",
        "placeholder",
        "redacted",
        "dummy",
        "sample",
        "0000000",
        "1234567",
    ),
    *("abcdefg", "changeme", "insert", "replace", "fake", "....", "aaaa"),
)
MIN_DISTINCT = 8
MIN_KEY_LINE = 8
MAX_LINE = 200

_SUFFIXES = {
    "py": "python",
    "pyw": "python",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "javascript",
    "mts": "javascript",
    "rb": "ruby",
    "rake": "ruby",
    "pl": "perl",
    "pm": "perl",
    "php": "php",
    "awk": "awk",
    "sed": "sed",
    "sql": "sql",
}
_PROGRAMS = {
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "deno": "javascript",
    "bun": "javascript",
    "tsx": "javascript",
    "ts-node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "awk": "awk",
    "gawk": "awk",
    "mawk": "awk",
    "sed": "sed",
    "psql": "sql",
    "sqlite3": "sql",
    "mysql": "sql",
}


def holds_secret(text: str) -> bool:
    """Say whether text holds a private key or a token whose issuer's format is known.

    The head of a key alone is a mention; what documentation puts in a token's
    place is none.
    """
    if _PRIVATE in text or "PRIVATE KEY BLOCK" in text:
        for block in _KEY_BLOCKS:
            if _has_key(text, block):
                return True
    return any(_has_token(text, prefix, length) for prefix, length in _TOKENS)


def _has_key(text: str, head: str) -> bool:
    start = text.find(head)
    while start != -1:
        at = start + len(head)
        rest = text[at : at + MAX_LINE]
        for ending in ("\r\n", "\n", "\\r\\n", "\\n"):
            if rest.startswith(ending):
                line = rest[len(ending) :].split("\n", 1)[0].split("\\n", 1)[0].strip("\"' \t\r")
                if len(line) >= MIN_KEY_LINE and set(line) <= _KEY_CHARACTERS and "..." not in line:
                    return True
                break
        start = text.find(head, at)
    return False


def _has_token(text: str, prefix: str, length: int) -> bool:
    start = text.find(prefix)
    while start != -1:
        end = start
        while end < len(text) and text[end] in _TOKEN_CHARACTERS:
            end += 1
        alone = start == 0 or text[start - 1] not in _TOKEN_CHARACTERS
        token = text[start:end]
        if alone and len(token) >= length and _is_random(token[len(prefix) :]):
            return True
        start = text.find(prefix, max(end, start + 1))
    return False


def _is_random(body: str) -> bool:
    """Say whether a token's body looks drawn: letters and digits, many of them, no placeholder."""
    lower = body.lower()
    if not any(char.isdigit() for char in body) or len(set(body)) < MIN_DISTINCT:
        return False
    return not any(word in lower for word in _PLACEHOLDERS)


_NAMES = {
    **dict.fromkeys(("SConstruct", "SConscript", "wscript"), "python"),
    **dict.fromkeys(("Rakefile", "rakefile", "Vagrantfile", "Gemfile", "Podfile"), "ruby"),
}


def language_of(text: str, path: str, program: str) -> str:
    """Return the language a file is run in: by what runs it, its first line, its name.

    Args:
        text: the file's content.
        path: its name.
        program: what runs it; its own name where it is run by itself.
    """
    first = text[:MAX_LINE].split("\n", 1)[0]
    hints = [program, *(first[2:].split() if first.startswith("#!") else ())]
    for hint in hints:
        name = hint.rpartition("/")[2].rstrip("0123456789.-")
        if name in _PROGRAMS:
            return _PROGRAMS[name]
    name = path.rpartition("/")[2]
    return _NAMES.get(name) or _SUFFIXES.get(name.rpartition(".")[2], "shell")
