"""Codex CLI: Claude Code's payload with a turn; it can be denied or allowed, never asked.

Source: openai/codex, codex-rs/hooks: events/pre_tool_use.rs, engine/output_parser.rs.
"""

import json

from evalkit.gates.heard import (
    EXIT_BLOCKS,
    Heard,
    NoAnswerError,
    Output,
    Shown,
    answered,
    blocked,
    body_of,
    died,
    no_opinion,
    word,
)
from evalkit.gates.protocols.claude_code import common
from toolgate.gate.decision import ALLOW, DENY

_DECISIONS = {ALLOW: ALLOW, DENY: DENY}


def before(shown: Shown) -> bytes:
    """Return the payload that asks about a call."""
    return _payload(shown, {"hook_event_name": "PreToolUse"})


def after(shown: Shown, result: str) -> bytes:
    """Return the payload that tells what became of a call; a failed call has none."""
    if result != "success":
        return b""
    return _payload(shown, {"hook_event_name": "PostToolUse", "tool_response": {}})


def _payload(shown: Shown, more: dict[str, object]) -> bytes:
    body = {**common(shown), "turn_id": shown.session, "model": "", **more}
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def hear(output: Output) -> Heard:
    """Return what the host takes the output for.

    A deny needs a reason, as exit code 2 needs words on standard error; anything the host
    does not know counts there as a failed hook, whose call runs, and here as no answer.

    Raises:
        NoAnswerError: no decision can be read.
    """
    if output.code == EXIT_BLOCKS:
        if not output.stderr.strip():
            raise NoAnswerError("exit code 2 without a word on standard error")
        return blocked(output)
    body = body_of(output.stdout)
    if output.code:
        raise died(output)
    if body is None:
        return no_opinion()
    inner = body.get("hookSpecificOutput")
    if not isinstance(inner, dict) or "permissionDecision" not in inner:
        return no_opinion()
    state = word(inner["permissionDecision"], _DECISIONS, "permissionDecision")
    reason = inner.get("permissionDecisionReason")
    if state == DENY and not reason:
        raise NoAnswerError("a deny without permissionDecisionReason")
    if state == ALLOW and "updatedInput" not in inner:
        raise NoAnswerError("an allow without updatedInput, which this host takes for a failure")
    return answered(state, reason)
