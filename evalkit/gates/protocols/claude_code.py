"""Claude Code: ``PreToolUse`` on standard input, ``permissionDecision`` on standard output.

Source: Claude Code hooks reference.
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
from toolgate.gate.decision import ALLOW, ASK, DENY

_DECISIONS = {**STATES, "defer": ASK}
_LEGACY = {"approve": ALLOW, "block": DENY}


def before(shown: Shown) -> bytes:
    """Return the payload that asks about a call."""
    return _encoded({**common(shown), "hook_event_name": "PreToolUse"})


def after(shown: Shown, result: str) -> bytes:
    """Return the payload that tells what became of a call."""
    body = common(shown)
    if result == "success":
        return _encoded({**body, "hook_event_name": "PostToolUse", "tool_response": {}})
    failed = {"hook_event_name": "PostToolUseFailure", "error": "failed", "is_interrupt": False}
    return _encoded({**body, **failed})


def common(shown: Shown) -> dict[str, Any]:
    """Return the fields every payload about a call has."""
    return {
        "session_id": shown.session,
        "transcript_path": shown.transcript,
        "cwd": shown.cwd,
        "permission_mode": shown.mode or "default",
        "tool_name": shown.tool,
        "tool_input": shown.input,
        "tool_use_id": shown.call,
    }


def hear(output: Output) -> Heard:
    """Return what the host takes the output for.

    Exit code 2 blocks whatever was printed; an object is read at any other code; silence at
    code 0 leaves the call to the host.

    Raises:
        NoAnswerError: no decision can be read.
    """
    if output.code == EXIT_BLOCKS:
        return blocked(output)
    body = body_of(output.stdout)
    if body is None:
        if output.code:
            raise died(output)
        return no_opinion()
    inner = body.get("hookSpecificOutput")
    if isinstance(inner, dict) and "permissionDecision" in inner:
        state = word(inner["permissionDecision"], _DECISIONS, "permissionDecision")
        return answered(state, inner.get("permissionDecisionReason"))
    if "decision" in body:
        return answered(word(body["decision"], _LEGACY, "decision"), body.get("reason"))
    if output.code:
        raise died(output)
    return no_opinion()


def _encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8")
