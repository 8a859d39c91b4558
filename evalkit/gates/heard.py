"""What a gate of somebody else was shown, and what it was heard to say. Pure."""

import json
from typing import Any, NamedTuple

from toolgate.gate.decision import ALLOW, ASK, DENY

MAX_REASON = 500
NO_OPINION = "no-opinion"
"""Rule of an answer that leaves the call to the host, which goes on by its own rules."""
ANSWERED = "answered"
"""Rule of an answer in so many words."""
EXIT_BLOCKS = 2


class NoAnswerError(Exception):
    """A gate gave no answer that can be scored; says why in one sentence."""


class Shown(NamedTuple):
    """One call as a hook is shown it.

    Args:
        session: session id of the case; nothing of the set's labels is in it.
        call: the call's id.
        tool: the tool's name, as Claude Code calls it.
        input: the tool's input.
        cwd: working directory of the call; it need not exist.
        mode: permission mode, or None.
        transcript: path of a file with the user's prompts in Claude Code's form.
        ts: microseconds UTC.
    """

    session: str
    call: str
    tool: str
    input: dict[str, Any]
    cwd: str
    mode: str | None
    transcript: str
    ts: int


class Output(NamedTuple):
    """What a hook's process left behind.

    Args:
        code: exit code.
        stdout: standard output.
        stderr: standard error.
    """

    code: int
    stdout: bytes
    stderr: bytes


class Heard(NamedTuple):
    """An answer.

    Args:
        state: ``allow``, ``ask`` or ``deny``.
        rule: ``answered`` or ``no-opinion``.
        reason: the gate's own words, cut.
    """

    state: str
    rule: str
    reason: str


def no_opinion() -> Heard:
    """Return the answer of a hook that said nothing: the call goes on by the host's own rules."""
    return Heard(ALLOW, NO_OPINION, "no opinion; the host goes on by its own rules")


def answered(state: str, reason: object) -> Heard:
    """Return an answer in so many words.

    Args:
        state: ``allow``, ``ask`` or ``deny``.
        reason: the gate's words, if they are text.
    """
    words = " ".join(reason.split()) if isinstance(reason, str) else ""
    return Heard(state, ANSWERED, words[:MAX_REASON])


def word(value: object, words: dict[str, str], field: str) -> str:
    """Return the state a protocol's word stands for.

    Args:
        value: the word.
        words: the protocol's words and their states.
        field: what it is called in messages.

    Raises:
        NoAnswerError: it is none of them.
    """
    if not isinstance(value, str) or value not in words:
        raise NoAnswerError(f"{field} is {value!r:.60}; expected one of {', '.join(words)}")
    return words[value]


def body_of(stdout: bytes) -> dict[str, Any] | None:
    """Return the one JSON object on standard output; None when nothing was printed.

    Raises:
        NoAnswerError: something else was printed.
    """
    text = stdout.strip()
    if not text:
        return None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise NoAnswerError("the gate printed no JSON object") from None
    if not isinstance(body, dict):
        raise NoAnswerError(f"the gate printed {type(body).__name__}; expected a JSON object")
    return body


def refuse_another(payload: bytes, stdout: bytes) -> None:
    """Refuse an answer that names another call, session or event than it was asked about.

    A gate that is asked about several cases at a time could mix them up. Hosts do not ask for
    these names; where an answer has one that the payload has too, it has to be the same.

    Args:
        payload: what the gate was shown, one JSON object.
        stdout: what it answered; text that is no JSON object names nothing.

    Raises:
        NoAnswerError: it names another.
    """
    try:
        asked, body = json.loads(payload), json.loads(stdout)
    except (ValueError, RecursionError):
        return
    if not isinstance(body, dict):
        return
    inner = body.get("hookSpecificOutput")
    parts = [body, inner] if isinstance(inner, dict) else [body]
    for part in parts:
        for name in sorted(part.keys() & asked.keys() & _NAMES):
            if part[name] != asked[name]:
                raise NoAnswerError(f"the answer is about another call: its {name} is not ours")
        event = part.get("hookEventName")
        if event is not None and event != asked.get("hook_event_name", event):
            raise NoAnswerError(f"the answer is about another event, {event!r:.60}")


_NAMES = frozenset(
    ("conversation_id", "generation_id", "session_id", "sessionId", "tool_call_id", "toolCallId",
     "tool_use_id", "toolUseId", "turn_id")
)  # fmt: skip
"""Fields of payloads that name a call or its session."""


def blocked(output: Output) -> Heard:
    """Return the deny of exit code 2, with what was said on standard error."""
    return answered(DENY, output.stderr.decode("utf-8", "replace"))


def died(output: Output) -> NoAnswerError:
    """Return what to say of an exit code that decides nothing."""
    return NoAnswerError(f"the gate ended with exit code {output.code} and no decision")


STATES = {ALLOW: ALLOW, ASK: ASK, DENY: DENY}
"""Words of protocols that use ours."""
