"""Gemini CLI: ``BeforeTool`` on standard input, ``decision`` on standard output.

Source: google-gemini/gemini-cli, docs/hooks/reference.md and packages/core/src/hooks.
"""

import json
from datetime import UTC, datetime

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
from toolgate.gate.decision import ALLOW, DENY

_TOOLS = {
    "Bash": "run_shell_command",
    "Write": "write_file",
    "Edit": "replace",
    "Read": "read_file",
    "Grep": "search_file_content",
    "Glob": "glob",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
}
_DECISIONS = {**STATES, "block": DENY, "approve": ALLOW}


def before(shown: Shown) -> bytes:
    """Return the payload that asks about a call."""
    return _payload(shown, {"hook_event_name": "BeforeTool"})


def after(shown: Shown, result: str) -> bytes:
    """Return the payload that tells what became of a call."""
    response = {} if result == "success" else {"error": "failed"}
    return _payload(shown, {"hook_event_name": "AfterTool", "tool_response": response})


def _payload(shown: Shown, more: dict[str, object]) -> bytes:
    body = {
        "session_id": shown.session,
        "transcript_path": shown.transcript,
        "cwd": shown.cwd,
        "timestamp": datetime.fromtimestamp(shown.ts / 1_000_000, UTC).isoformat(),
        "tool_name": _TOOLS.get(shown.tool, shown.tool),
        "tool_input": shown.input,
        **more,
    }
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def hear(output: Output) -> Heard:
    """Return what the host takes the output for.

    Raises:
        NoAnswerError: no decision can be read; exit code 1 is a warning there, and no answer here.
    """
    if output.code == EXIT_BLOCKS:
        return blocked(output)
    body = body_of(output.stdout)
    if body is None:
        if output.code:
            raise died(output)
        return no_opinion()
    if "decision" not in body:
        return no_opinion()
    return answered(word(body["decision"], _DECISIONS, "decision"), body.get("reason"))
