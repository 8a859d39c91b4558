"""Copilot CLI: ``preToolUse`` with the input as JSON text; any exit code but 0 denies.

Source: GitHub documentation, hooks reference.
"""

import json

from evalkit.gates.heard import (
    STATES,
    Heard,
    Output,
    Shown,
    answered,
    blocked,
    body_of,
    no_opinion,
    word,
)

_TOOLS = {"Bash": "bash", "Write": "create", "Edit": "edit", "Read": "view"}


def before(shown: Shown) -> bytes:
    """Return the payload that asks about a call."""
    return _payload(shown, {})


def after(shown: Shown, result: str) -> bytes:
    """Return the payload that tells what became of a call."""
    ended = {"resultType": result, "textResultForLlm": ""}
    return _payload(shown, {"toolResult": ended})


def _payload(shown: Shown, more: dict[str, object]) -> bytes:
    body = {
        "sessionId": shown.session,
        "timestamp": shown.ts // 1000,
        "cwd": shown.cwd,
        "toolName": _TOOLS.get(shown.tool, shown.tool),
        "toolArgs": json.dumps(shown.input, ensure_ascii=False),
        **more,
    }
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def hear(output: Output) -> Heard:
    """Return what the host takes the output for.

    Raises:
        NoAnswerError: something was printed that is no decision.
    """
    if output.code:
        return blocked(output)
    body = body_of(output.stdout)
    if body is None or "permissionDecision" not in body:
        return no_opinion()
    state = word(body["permissionDecision"], STATES, "permissionDecision")
    return answered(state, body.get("permissionDecisionReason"))
