"""Secrets in text that an agent writes."""

_KEY_BLOCKS = (
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
)
# Prefix, length of the whole token at least: formats their issuers publish.
_TOKENS = (
    ("ghp_", 40),
    ("gho_", 40),
    ("ghs_", 40),
    ("github_pat_", 60),
    ("glpat-", 26),
    ("xoxb-", 40),
    ("xoxp-", 40),
    ("AKIA", 20),
    ("ASIA", 20),
    ("sk_live_", 28),
    ("rk_live_", 28),
    ("sk-ant-", 40),
    ("npm_", 40),
    ("AIza", 39),
    ("ya29.", 40),
)
_TOKEN_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def holds_secret(text: str) -> bool:
    """Say whether text holds a private key or a token whose issuer's format is known."""
    if any(block in text for block in _KEY_BLOCKS):
        return True
    return any(_has_token(text, prefix, length) for prefix, length in _TOKENS)


def _has_token(text: str, prefix: str, length: int) -> bool:
    start = text.find(prefix)
    while start != -1:
        end = start
        while end < len(text) and text[end] in _TOKEN_CHARACTERS:
            end += 1
        alone = start == 0 or text[start - 1] not in _TOKEN_CHARACTERS
        token = text[start:end]
        # A token mixes letters and digits; "AKIAEXAMPLE..." in prose and masks do not.
        if alone and len(token) >= length and any(c.isdigit() for c in token[len(prefix) :]):
            return True
        start = text.find(prefix, max(end, start + 1))
    return False
