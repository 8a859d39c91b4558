"""Cursor: ``beforeShellExecution`` for a shell command, ``preToolUse`` for any other tool.

Source: Cursor documentation, hooks version 1.
"""

import json
from typing import Any

from evalkit.gates.heard import (
    EXIT_BLOCKS,
    STATES,
    Heard,
    Output,
    Shown,
    answered,
    blocked,
    body_of,
    died,
    no_opinion,
    word,
)


def before(shown: Shown) -> bytes:
    """Return the payload that asks about a call."""
    command = _command(shown)
    if command is None:
        return _payload(shown, {"hook_event_name": "preToolUse", **_tool(shown)})
    return _payload(shown, {"hook_event_name": "beforeShellExecution", "command": command})


def after(shown: Shown, result: str) -> bytes:
    """Return the payload that tells what became of a call."""
    command = _command(shown)
    if command is not None:
        told = {"hook_event_name": "afterShellExecution", "command": command, "output": ""}
        return _payload(shown, told)
    name = "postToolUse" if result == "success" else "postToolUseFailure"
    return _payload(shown, {"hook_event_name": name, **_tool(shown)})


def _command(shown: Shown) -> str | None:
    command = shown.input.get("command")
    return command if shown.tool == "Bash" and isinstance(command, str) else None


def _tool(shown: Shown) -> dict[str, Any]:
    return {"tool_name": shown.tool, "tool_input": shown.input, "tool_use_id": shown.call}


def _payload(shown: Shown, more: dict[str, Any]) -> bytes:
    body = {
        "conversation_id": shown.session,
        "generation_id": shown.call,
        "cursor_version": "",
        "workspace_roots": [shown.cwd],
        "cwd": shown.cwd,
        **more,
    }
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def hear(output: Output) -> Heard:
    """Return what the host takes the output for; what it takes for a failure is no answer.

    Raises:
        NoAnswerError: no decision can be read.
    """
    if output.code == EXIT_BLOCKS:
        return blocked(output)
    if output.code:
        raise died(output)
    body = body_of(output.stdout)
    if body is None or "permission" not in body:
        return no_opinion()
    reason = body.get("user_message") or body.get("agent_message")
    return answered(word(body["permission"], STATES, "permission"), reason)
