"""What a policy says of its judge. Pure."""

import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from toolgate.gate.policy.axes import Axes
from toolgate.gate.readings import AUTHORIZED

TYPESAFE, OPENROUTER, CHAT, LOCAL, MOCK = "typesafe", "openrouter", "chat", "local", "mock"
BACKENDS = (TYPESAFE, OPENROUTER, CHAT, LOCAL, MOCK)
DECISIONS = "decisions"
SHAPES = (DECISIONS, CHAT)
"""What a local server speaks."""

LOGPROBS, NUMBERS = "logprobs", "numbers"
ANSWERS = (LOGPROBS, NUMBERS)
"""How a chat model gives a probability: by the likelihood of its yes, or by writing it."""

STATIC = "static"
FAIL_MODES = ("ask", "deny", STATIC)

URLS = {
    TYPESAFE: "https://api.typesafe.ai/v1/systemone",
    OPENROUTER: "https://openrouter.ai/api/alpha/decisions",
    MOCK: "",
}
"""Where a backend is asked, for those that have one place."""

DEADLINE_MS, LEAST_DEADLINE_MS, MOST_DEADLINE_MS = 4_000, 100, 6_000
"""The hook itself answers after 8 seconds at the latest, and needs time around the judge."""

LIMITS = {"input_chars": 40_000, "task_chars": 24_000, "answer_bytes": 65_536}
LEAST_LIMIT, MOST_LIMIT = 256, 1_000_000

_LOOPBACK = re.compile(r"(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)\Z")
_VERSION = re.compile(r"[0-9]+\.[0-9]+")
_EXACT = re.compile(r"(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?![0-9])|@sha256:[0-9a-f]{64}\Z")
_FLOATING = re.compile(r"(?i)(?:\A~|\b(?:latest|default|stable|preview|auto)\b)")


class Limits(NamedTuple):
    """How much is sent and taken back.

    Args:
        input_chars: characters of the tool's input.
        task_chars: characters of the user's prompts and goal.
        answer_bytes: bytes of the answer.
    """

    input_chars: int = LIMITS["input_chars"]
    task_chars: int = LIMITS["task_chars"]
    answer_bytes: int = LIMITS["answer_bytes"]


class Judge(NamedTuple):
    """A policy's judge.

    Args:
        backend: one of ``BACKENDS``.
        model: the model's name, as it is sent.
        url: where it is asked; "" for the mock.
        shape: ``decisions`` or ``chat``.
        answers: one of ``ANSWERS``; only looked at in the shape ``chat``.
        key_file: file that holds the key, or "".
        key_variable: environment variable that holds it, or "".
        deadline_ms: milliseconds from the question to the answer.
        fail_mode: ``ask``, ``deny`` or ``static``: what stands where an answer is missing.
        asked: names of the axes it is asked about, and ``authorized``; sorted.
        says: what the mock says, by axis.
        limits: how much is sent and taken back.
    """

    backend: str
    model: str
    url: str
    shape: str
    answers: str
    key_file: str
    key_variable: str
    deadline_ms: int
    fail_mode: str
    asked: tuple[str, ...]
    says: dict[str, float]
    limits: Limits

    @property
    def pinned(self) -> bool:
        """Say whether the model's name says which model answers, now and later."""
        return is_pinned(self.model, self.shape)


def judge_of(compiled: dict[str, Any], axes: Axes) -> Judge:
    """Return the judge of a compiled policy.

    Args:
        compiled: its ``judge``, as ``policy.judge`` compiles it.
        axes: the policy's axes, all of which are asked about unless it names some.
    """
    said = {key: value for key, value in compiled.items() if key not in ("axes", "limits")}
    asked = compiled["axes"] or [*axes.axes, AUTHORIZED]
    return Judge(asked=tuple(sorted(asked)), limits=Limits(**compiled["limits"]), **said)


def is_pinned(model: str, shape: str) -> bool:
    """Say whether a model's name fixes the model.

    A decision model is named by its version (``jev-1.13.0``). A chat model's short
    version is an alias that moves (``gpt-4.1``); a date or a digest fixes it. The name
    of a file or tag on a local server says nothing of its weights.
    """
    if _FLOATING.search(model):
        return False
    if _EXACT.search(model):
        return True
    return shape == DECISIONS and _VERSION.search(model) is not None


def is_loopback(host: str) -> bool:
    """Say whether a host name is this machine, whatever a resolver says."""
    return _LOOPBACK.match(host) is not None


def url_fault(url: str) -> str:
    """Say what is wrong with an address a judge is to be asked at; "" if nothing is."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "is no address"
    if any(character <= " " or character > "~" for character in url) or not host:
        return "is no address"
    if parts.username is not None or parts.password is not None:
        return "names a user; a key belongs into key"
    if parts.query or parts.fragment:
        return "has a query or a fragment"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)):
        return ""
    return "is neither https nor http on this machine (127.0.0.1, ::1, localhost)"
