"""Why a judge gave no usable answer."""

from toolgate.errors import UnavailableError

ADDRESS, NO_KEY = "address", "no-key"
UNREACHABLE, TIMEOUT, REDIRECT, STATUS = "unreachable", "timeout", "redirect", "status"
TOO_LARGE, NOT_JSON, SHAPE = "too-large", "not-json", "shape"


class JudgeError(UnavailableError):
    """The judge gave no usable answer.

    Its sentence is ours alone: what a server says, or a key, never gets into it.

    Args:
        kind: one of the words above; a status has its number, ``status-503``.
        sentence: what went wrong, for people.
    """

    def __init__(self, kind: str, sentence: str) -> None:
        self.kind = kind
        super().__init__(sentence)
