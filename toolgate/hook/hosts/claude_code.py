"""Claude Code: hook payloads in, hook answers out.

What this adapter states about a call:

- ``principal`` is the operating system account the agent runs under, because
  the payload names no person;
- ``auth_mode`` is ``user``: tools run with that account's own rights;
- the agent chain is ``main``, and the subagent's id below it where there is one.

What the host does with an answer: ``allow`` runs the call unless a rule of its
own asks or denies, ``ask`` prompts, ``deny`` blocks and gives the model the
reason. Exit 0 with one JSON object is the only form used; exit 1 would let the
call run.

Source: Claude Code hooks reference.
"""

import json
from collections.abc import Callable
from posixpath import normpath
from typing import Any

from toolgate.canonical import digest, digest_of, parse
from toolgate.errors import CanonicalizationError, InputError
from toolgate.gate.call import Place, ToolCall
from toolgate.hook.event import Event

HOST = "claude-code"
MAX_INPUT_BYTES = 4 * 1024 * 1024
_MAX_NAME_CHARACTERS = 1_000
MAX_REASON_CHARACTERS = 9_000  # the host cuts at 10,000

_KINDS = {
    "PreToolUse": "pre",
    "PostToolUse": "outcome",
    "PostToolUseFailure": "outcome",
    "PermissionDenied": "outcome",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "SessionStart": "session_start",
    "SessionEnd": "session_end",
}


def read(
    data: bytes, *, principal: str, home: str, ts: int, workspace: Callable[[str], tuple[str, ...]]
) -> Event:
    """Read one hook payload.

    Args:
        data: the bytes on standard input.
        principal: the account the agent runs under.
        home: its home directory.
        ts: when the payload arrived, microseconds UTC.
        workspace: returns the workspace roots a working directory belongs to.

    Raises:
        InputError: the payload is not one this host sends; says which field.
    """
    body = _body(data)
    name = _text(body, "hook_event_name")
    kind = _KINDS.get(name, "other")
    session, key = _text(body, "session_id"), _optional(body, "prompt_id")
    if kind not in ("pre", "outcome"):
        return Event(kind, session, key, prompt=_loose(body, "prompt"))
    cwd = _directory(body)
    # Each call has a shell of its own; only the directory goes on, and the payload names it.
    place = Place(cwd, workspace(cwd) if cwd else (), home, kept_shell=False)
    call = _call(body, session, key, principal, place, ts)
    if kind == "pre":
        return Event(kind, session, key, call, transcript=_loose(body, "transcript_path"))
    terminal_state, result = _ending(name, body)
    result_digest = None if terminal_state == "refused" else _digest(result, data)
    return Event(kind, session, key, call, terminal_state, result_digest)


def _body(data: bytes) -> dict[str, Any]:
    """Read the payload strictly, but for events that only report.

    A result may hold what JSON proper does not allow; refusing it would lose
    the record of a call that has already run.
    """
    if not data.strip():
        raise InputError("hook input is empty; expected one JSON object")
    try:
        if len(data) > MAX_INPUT_BYTES:
            raise CanonicalizationError(f"{len(data)} bytes; at most {MAX_INPUT_BYTES} are read")
        body = parse(data)
    except CanonicalizationError as error:
        body = _lenient(data)
        if body is None or body.get("hook_event_name") not in _KINDS.keys() - {"PreToolUse"}:
            raise InputError(f"hook input is {error}") from None
    if not isinstance(body, dict):
        raise InputError(f"hook input is {type(body).__name__}; expected a JSON object")
    return body


def _lenient(data: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def named(data: bytes) -> dict[str, str | None]:
    """Return what a call is known by whose payload was refused, as far as that can be told.

    So its record is found again when a transcript lists the call.

    Args:
        data: the payload.
    """
    body = _lenient(data) or {}
    asked = body if body.get("hook_event_name") == "PreToolUse" else {}
    tool_input = asked.get("tool_input")
    return {
        "session": _fitting(asked.get("session_id")),
        "call": _fitting(asked.get("tool_use_id")),
        "tool": _fitting(asked.get("tool_name")),
        "args_digest": _digest_of_input(tool_input) if isinstance(tool_input, dict) else None,
    }


def _fitting(value: object) -> str | None:
    """Return a name that a ledger's line can hold."""
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_NAME_CHARACTERS:
        return None
    return None if any("\ud800" <= char <= "\udfff" for char in value) else value


def _digest_of_input(value: dict[str, Any]) -> str | None:
    try:
        return digest_of(value)
    except (CanonicalizationError, RecursionError):
        return None


def _digest(value: object, data: bytes) -> str:
    """Return a value's digest; that of the whole payload where it has no canonical form."""
    try:
        return digest_of(value)
    except CanonicalizationError:
        return digest(data)


def _call(
    body: dict[str, Any], session: str, key: str | None, principal: str, place: Place, ts: int
) -> ToolCall:
    tool_input = body.get("tool_input")
    if not isinstance(tool_input, dict):
        found = "nothing" if tool_input is None else type(tool_input).__name__
        raise InputError(f"hook input: tool_input is {found}; expected an object")
    agent = _optional(body, "agent_id")
    return ToolCall(
        host=HOST,
        session=session,
        key=key,
        call=_optional(body, "tool_use_id"),
        agent=("main", agent) if agent else ("main",),
        principal=principal,
        auth_mode="user",
        tool=_text(body, "tool_name"),
        input=tool_input,
        place=place,
        mode=_optional(body, "permission_mode"),
        task=None,
        ts=ts,
    )


def _directory(body: dict[str, Any]) -> str:
    """Return the working directory, normalized; a relative one says nothing and counts as none."""
    cwd = _optional(body, "cwd") or ""
    return normpath("/" + cwd.lstrip("/")) if cwd.startswith("/") else ""


def _ending(name: str, body: dict[str, Any]) -> tuple[str, object]:
    if name == "PermissionDenied":
        return "refused", None
    if name == "PostToolUse":
        response = body.get("tool_response")
        interrupted = isinstance(response, dict) and response.get("interrupted") is True
        return ("cancelled" if interrupted else "ok"), response
    error = body.get("error")
    if body.get("is_interrupt") is True:
        return "cancelled", error
    timed_out = isinstance(error, str) and "timed out" in error[:200].lower()
    return ("timeout" if timed_out else "error"), error


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        found = "nothing" if value is None else "empty" if value == "" else type(value).__name__
        raise InputError(f"hook input: {key} is {found}; expected text")
    return value


def _optional(body: dict[str, Any], key: str) -> str | None:
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"hook input: {key} is {type(value).__name__}; expected text")
    return value or None


def _loose(body: dict[str, Any], key: str) -> str:
    """Return a text that no event is refused for lacking."""
    value = body.get(key)
    return value if isinstance(value, str) else ""


def write(state: str, reason: str) -> bytes:
    """Return the answer to PreToolUse: the bytes for standard output, for exit code 0.

    Args:
        state: ``allow``, ``ask`` or ``deny``.
        reason: one sentence; the model reads it on deny, the person otherwise.
    """
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": state,
            "permissionDecisionReason": "toolgate: " + reason[:MAX_REASON_CHARACTERS],
        }
    }
    return json.dumps(answer, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
