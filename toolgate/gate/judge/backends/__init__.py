"""How each backend is asked and read. Pure: bytes out and in, which ``judge.send`` carries."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from toolgate.gate.judge.answers import Answers
    from toolgate.gate.judge.request import Request
    from toolgate.gate.policy.judge import Judge


class Wire(NamedTuple):
    """One request as it leaves, but for the key.

    Args:
        url: where to.
        headers: names and values, without authorization.
        body: JSON.
    """

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Backend(Protocol):
    """One way of asking."""

    def encode(self, request: "Request", judge: "Judge") -> Wire:
        """Return the request's bytes."""

    def decode(self, data: bytes, request: "Request", judge: "Judge") -> "Answers":
        """Return what an answer's bytes say.

        Raises:
            JudgeError: they are no answer of this shape.
        """


def backend_of(judge: "Judge") -> Backend:
    """Return the backend of a policy's judge."""
    from importlib import import_module

    from toolgate.gate.policy.judge import LOCAL

    name = judge.shape if judge.backend == LOCAL else judge.backend
    made: Backend = import_module(f"{__name__}.{name}").BACKEND
    return made
