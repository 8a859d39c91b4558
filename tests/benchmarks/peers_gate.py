"""The two-regex gate of the comparison with other harnesses, for those written in Python."""

import re

_DENY = re.compile(r"\brm -rf (~|/)|\bcurl [^|]*\|\s*(sudo )?sh\b")
_ASK = re.compile(r"\b(push --force|sudo|delete|drop)\b", re.IGNORECASE)


def answer(command: str) -> str:
    """Return allow, ask or deny."""
    if _DENY.search(command):
        return "deny"
    return "ask" if _ASK.search(command) else "allow"
