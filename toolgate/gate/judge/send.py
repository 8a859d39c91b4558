"""Carrying one request to a judge and its answer back.

One attempt, https or plain http to this machine, no redirects, no proxies, nothing
compressed, and a deadline over everything from the look-up of the name to the last byte:
the work is done in a thread that is left behind when time is up.
"""

import threading
import time
from typing import TYPE_CHECKING

from toolgate.gate.judge.backends import Wire
from toolgate.gate.judge.failure import (
    ADDRESS,
    REDIRECT,
    STATUS,
    TIMEOUT,
    TOO_LARGE,
    UNREACHABLE,
    JudgeError,
)
from toolgate.gate.policy.judge import url_fault

if TYPE_CHECKING:
    import httpx

_LEAST_SECONDS = 0.05


def send(wire: Wire, key: str, *, until: float, most_bytes: int) -> bytes:
    """Send a request and return the answer's bytes.

    Args:
        wire: the request.
        key: the bearer's key, "" for none.
        until: the deadline, by ``time.monotonic``.
        most_bytes: the longest answer that is taken.

    Raises:
        JudgeError: there is no answer.
    """
    if wrong := url_fault(wire.url):
        raise JudgeError(ADDRESS, f"the judge's address {wrong}")
    import httpx

    left = until - time.monotonic()
    if left < _LEAST_SECONDS:
        raise JudgeError(TIMEOUT, "no time was left to ask the judge")
    # No environment: a proxy or another trust store named there could read the key.
    client = httpx.Client(timeout=left, follow_redirects=False, trust_env=False)
    made: list[bytes | JudgeError] = []

    def work() -> None:
        try:
            made.append(_exchange(client, wire, key, until, most_bytes))
        except JudgeError as error:
            made.append(error)
        except httpx.TimeoutException:
            made.append(JudgeError(TIMEOUT, "the judge did not answer in time"))
        except Exception as error:  # whatever a client or server does wrong, there is no answer
            name = type(error).__name__
            made.append(JudgeError(UNREACHABLE, f"the judge cannot be reached ({name})"))

    thread = threading.Thread(target=work, name="judge", daemon=True)
    thread.start()
    thread.join(left)
    if thread.is_alive() or not made:
        raise JudgeError(TIMEOUT, "the judge did not answer in time")
    client.close()
    if isinstance(made[0], JudgeError):
        raise made[0]
    return made[0]


def _exchange(client: "httpx.Client", wire: Wire, key: str, until: float, most_bytes: int) -> bytes:
    headers = {**dict(wire.headers), "accept-encoding": "identity"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    with client.stream("POST", wire.url, content=wire.body, headers=headers) as response:
        status = response.status_code
        if 300 <= status < 400:
            raise JudgeError(REDIRECT, f"the judge's server redirects (status {status})")
        if status != 200:
            raise JudgeError(f"{STATUS}-{status}", f"the judge's server answered {status}")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise JudgeError(TOO_LARGE, "the judge's answer is compressed, which was not asked for")
        parts: list[bytes] = []
        size = 0
        for part in response.iter_raw():
            size += len(part)
            if size > most_bytes:
                raise JudgeError(TOO_LARGE, f"the judge's answer is over {most_bytes} bytes")
            if time.monotonic() > until:
                raise JudgeError(TIMEOUT, "the judge did not answer in time")
            parts.append(part)
    return b"".join(parts)
