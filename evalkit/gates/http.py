"""A gate behind a URL: the payload is posted, a 2xx answer with a JSON object decides."""

import time
from typing import Any, NamedTuple

from evalkit.errors import UsageError
from evalkit.gates.heard import Heard, NoAnswerError, Output, refuse_another
from evalkit.gates.outside import FORMAT
from evalkit.gates.process import MAX_OUTPUT
from evalkit.gates.protocols import HookProtocol
from evalkit.gates.room import Room

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Http(NamedTuple):
    """A gate that listens.

    Args:
        url: https, or http on this machine.
        protocol: how a host asks it.
        seconds: how long one answer may take.
    """

    url: str
    protocol: HookProtocol
    seconds: float

    @property
    def words(self) -> tuple[str, ...]:
        """Return no words: whoever listens was started by somebody else."""
        return ()

    def ask(self, payload: bytes, room: Room) -> Heard:
        """Post a payload and return what a host would take the answer for.

        Raises:
            NoAnswerError: nobody answered in time, or the answer decides nothing.
        """
        answer = self._posted(payload)
        refuse_another(payload, answer)
        return self.protocol.hear(Output(0, answer, b""))

    def tell(self, payload: bytes, room: Room) -> None:
        """Post an event that asks nothing."""
        try:
            self._posted(payload)
        except NoAnswerError:
            return  # a hook need not answer an event that asks nothing

    def described(self) -> dict[str, Any]:
        """Return what this gate is; what runs behind the URL nobody here can tell."""
        return {
            "format": FORMAT,
            "kind": "http",
            "name": self.url,
            "protocol": self.protocol.name,
            "seconds": str(self.seconds),
        }

    def _posted(self, payload: bytes) -> bytes:
        import httpx

        headers = {"content-type": "application/json"}
        deadline = time.monotonic() + self.seconds
        try:
            with (
                httpx.Client(timeout=self.seconds, trust_env=False) as client,
                client.stream("POST", self.url, content=payload, headers=headers) as answer,
            ):
                if not answer.is_success:
                    raise NoAnswerError(f"the gate answered with status {answer.status_code}")
                found = b""
                for part in answer.iter_bytes():
                    found += part
                    if time.monotonic() > deadline:  # the client's limit is between two bytes
                        raise NoAnswerError(f"the gate took longer than {self.seconds:g} s")
                    if len(found) > MAX_OUTPUT:
                        raise NoAnswerError(f"the gate answered more than {MAX_OUTPUT} bytes")
                return found
        except httpx.TimeoutException:
            raise NoAnswerError(f"the gate took longer than {self.seconds:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoAnswerError(f"the gate gave no answer: {type(error).__name__}") from None


def checked_url(url: str) -> str:
    """Return a URL a gate may have.

    Raises:
        UsageError: it is neither https nor http on this machine, or carries credentials.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not host or not safe:
        raise UsageError(
            f"--gate http: expected https://... or http:// on this machine, got {url!r:.100}"
        )
    if parts.username or parts.password:
        raise UsageError("--gate http: expected a URL without credentials, got one with them")
    return url
