"""Codex rollouts: one JSON object a line, ``{timestamp, type, payload}``.

The host shows its hooks another form of a call than it writes to its rollout:
shell calls and patches arrive there as ``{"command": text}`` and the shell tools
under one name. Digests are taken of that form, so that they can equal what was
decided; where it cannot be told, there is no digest. Contents are never kept.

Source: openai/codex, codex-rs/protocol (rollout items), core/src/tools (hook payloads).
"""

import re
from typing import Any

from toolgate.verify.traces.lines import decoded, digest_or_none, microseconds, text_or_none
from toolgate.verify.traces.reader import Reader
from toolgate.verify.traces.span import ERROR, OK, REFUSED, STOPPED, Span

_LINES = frozenset(("session_meta", "turn_context", "response_item", "event_msg", "compacted"))
_CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output"))
_SILENT = frozenset(
    (
        "message",
        "reasoning",
        "web_search_call",
        "image_generation_call",
        "ghost_snapshot",
        "compaction",
        "tool_search_call",
        "tool_search_output",
    )
)
"""Response items that are no call a hook is asked about."""

_SHELLS = frozenset(("shell", "shell_command", "exec_command", "local_shell"))
_UNHOOKED = frozenset(("write_stdin", "wait"))
_REJECTED = frozenset(("exec command rejected by user", "patch rejected by user"))
_BLOCKED = ("Command blocked by PreToolUse hook", "Tool call blocked by PreToolUse hook")
_ABORTED = re.compile(r"(?:Wall time: [0-9.]{1,20} seconds\n)?aborted by user")
_EXIT = re.compile(r"(?:Exit code: |(?:[^\n]{0,80}\n){0,4}Process exited with code )(-?[0-9]{1,9})")
_LOOK = 600


class Rollout(Reader):
    """Reads a rollout. The first session_meta names the session; later ones are copies."""

    format = "codex-rollout"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._session: str | None = None
        self._calls: dict[tuple[str | None, str | None], Span] = {}
        self._ends: dict[str, tuple[str | None, str | None, bool]] = {}

    @staticmethod
    def claims(row: dict[str, Any]) -> bool:
        """Say whether an object is a line of a rollout."""
        return text_or_none(row.get("type")) in _LINES and isinstance(row.get("payload"), dict)

    def take(self, number: int, row: dict[str, Any]) -> None:
        """Take a line."""
        payload = row["payload"]
        if row["type"] == "session_meta":
            if self._session is None:
                self._session = text_or_none(payload.get("id"))
            self.written_by("codex", payload.get("cli_version"))
        elif row["type"] == "response_item":
            self._item(number, row, payload)

    def _item(self, number: int, row: dict[str, Any], payload: dict[str, Any]) -> None:
        kind = text_or_none(payload.get("type"))
        call = text_or_none(payload.get("call_id"))
        if kind in _CALLS:
            tool, args, hooked = _as_hooked(payload)
            where = f"{self.name}:{number}"
            span = Span(
                where=where,
                session=self._session,
                call=call,
                tool=tool,
                ts=microseconds(row.get("timestamp")),
                args_digest=args,
                format=self.format,
                id=None if call is None else repr((self._session, call, args)),
                hooked=hooked,
            )
            self._calls.setdefault((call, args if call else where), span)
        elif kind in _OUTPUTS:
            if call is None:
                self.pass_over(f"{kind} without call_id")
            else:
                status, reached = _status(payload.get("output"))
                self._ends[call] = status, digest_or_none(payload.get("output")), reached
        elif kind not in _SILENT:
            self.pass_over(kind)

    def calls(self) -> list[Span]:
        """Return the calls with the outputs that came for them."""
        return [self._ended(span) for span in self._calls.values()]

    def _ended(self, span: Span) -> Span:
        if span.call not in self._ends:
            return span
        status, digest, reached = self._ends[span.call]
        return span._replace(status=status, end_digest=digest, hooked=span.hooked and reached)


def _as_hooked(payload: dict[str, Any]) -> tuple[str | None, str | None, bool]:
    """Return the tool and the digest of its input as a hook sees them, and whether one does."""
    kind, tool = payload["type"], text_or_none(payload.get("name"))
    if kind == "local_shell_call":
        return "Bash", None, True
    if kind == "custom_tool_call":
        patch = payload.get("input")
        if tool == "apply_patch" and isinstance(patch, str):
            return tool, digest_or_none({"command": patch}), True
        return tool, None, tool == "apply_patch"
    return hook_form(tool, payload.get("arguments"))


def hook_form(tool: str | None, arguments: object) -> tuple[str | None, str | None, bool]:
    """Return the tool and the digest of its input as a hook sees a function call.

    Args:
        tool: the function's name.
        arguments: its arguments, JSON as text.
    """
    held = decoded(arguments)
    if tool in _SHELLS:
        command = held.get("cmd", held.get("command")) if isinstance(held, dict) else None
        args = digest_or_none({"command": command}) if isinstance(command, str) else None
        return "Bash", args, True
    if tool == "apply_patch":
        patch = held.get("input") if isinstance(held, dict) else None
        return tool, digest_or_none({"command": patch}) if isinstance(patch, str) else None, True
    args = digest_or_none(held) if isinstance(held, dict) else None
    return tool, args, tool not in _UNHOOKED


def _status(output: object) -> tuple[str, bool]:
    """Return how a call ended, and whether the host took it for a call at all."""
    success = None
    if isinstance(output, dict):
        success, output = output.get("success"), output.get("content")
    if isinstance(output, list):
        output = output[0].get("text") if output and isinstance(output[0], dict) else None
    text = output if isinstance(output, str) else ""
    if text in _REJECTED or text.startswith(_BLOCKED):
        return REFUSED, True
    if text.startswith("unsupported call: "):
        return REFUSED, False
    if _ABORTED.match(text[:_LOOK]):
        return STOPPED, True
    code = _exit_code(text)
    if code is None:
        return (ERROR if success is False else OK), True
    return (ERROR if code else OK), True


def _exit_code(text: str) -> int | None:
    if text.startswith("{"):
        held = decoded(text)
        metadata = held.get("metadata") if isinstance(held, dict) else None
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        return code if type(code) is int else None
    found = _EXIT.match(text[:_LOOK])
    return int(found[1]) if found else None
