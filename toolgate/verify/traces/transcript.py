"""Claude Code transcripts: one JSON object a line, tool calls and their results among them.

The format is the vendor's own and may change with any release, so a line of a
type that is not known is counted and passed over. Contents are hashed and never
kept. A subagent's transcript is a file of its own whose lines name the session
of the agent that started it.
"""

from typing import Any, NamedTuple

from toolgate.verify.traces.lines import digest_or_none, microseconds, text_or_none
from toolgate.verify.traces.reader import Reader
from toolgate.verify.traces.span import CANCELLED, ERROR, OK, REFUSED, STOPPED, Span

_MESSAGES = frozenset(("assistant", "user"))
_NO_CALLS = frozenset(
    (
        "agent-name",
        "ai-title",
        "attachment",
        "bridge-session",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "system",
    )
)
"""Types of lines that hold no call and no result."""

_REFUSAL = "The user doesn't want to "
_INTERRUPTED = "[Request interrupted by user"
_NOT_A_CALL = ("InputValidationError: ", "Error: No such tool available")
_STOPS = frozenset(("interrupted", "cancelled"))
_LAUNCHES = frozenset(("async_launched", "remote_launched"))
_UNHOOKED_TOOLS = frozenset(("EndConversation",))
_LOOK = 400


class _Result(NamedTuple):
    """How a call ended.

    Args:
        status: as in ``Span``.
        digest: digest of the result.
        launched: whether it went on in the background.
        reached: whether the host took it for a call at all.
    """

    status: str
    digest: str | None
    launched: bool
    reached: bool


class Transcript(Reader):
    """Reads a transcript; refused calls are among its calls.

    A call without a result has the status None. A line that repeats a call of the
    same session counts once; what a resumed session repeats bears its own name.
    """

    format = "claude-transcript"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._calls: dict[str, Span] = {}
        self._results: dict[tuple[str | None, str], _Result] = {}
        self._latest: dict[str, _Result] = {}

    @staticmethod
    def claims(row: dict[str, Any]) -> bool:
        """Say whether an object is a line of a transcript."""
        kind = row.get("type")
        return isinstance(kind, str) and (
            kind in _MESSAGES or kind in _NO_CALLS or "sessionId" in row
        )

    def take(self, number: int, row: dict[str, Any]) -> None:
        """Take a line."""
        kind = row.get("type")
        self.written_by("claude-code", row.get("version"))
        if kind not in _MESSAGES:
            if kind not in _NO_CALLS:
                self.pass_over(kind)
            return
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            return
        if not isinstance(content, list):
            self.pass_over(f"{kind} without content")
            return
        blocks = [block for block in content if isinstance(block, dict)]
        alone = sum(block.get("type") == "tool_result" for block in blocks) == 1
        for block in blocks:
            if block.get("type") == "tool_use":
                self._call(row, block, f"{self.name}:{number}")
            elif block.get("type") == "tool_result":
                self._result(text_or_none(row.get("sessionId")), row if alone else {}, block)

    def _call(self, row: dict[str, Any], block: dict[str, Any], where: str) -> None:
        call, tool = text_or_none(block.get("id")), text_or_none(block.get("name"))
        if call is None:
            self.pass_over("tool_use without id")
            self.lose(f"{where} holds a call without id")
            return
        session = text_or_none(row.get("sessionId"))
        args = digest_or_none(block["input"]) if "input" in block else None
        ident = repr((session, call, args))
        span = Span(
            where=where,
            session=session,
            call=call,
            tool=tool,
            ts=microseconds(row.get("timestamp")),
            args_digest=args,
            format=self.format,
            id=ident,
            hooked=tool not in _UNHOOKED_TOOLS,
        )
        self._calls.setdefault(ident, span)

    def _result(self, session: str | None, row: dict[str, Any], block: dict[str, Any]) -> None:
        call = text_or_none(block.get("tool_use_id"))
        if call is None:
            self.pass_over("tool_result without tool_use_id")
            return
        before = self._results.get((session, call))
        # What comes after a launch is the result of work that outlived its call.
        if before is None or not before.launched:
            self._results[session, call] = self._latest[call] = _ending(row, block)

    def calls(self) -> list[Span]:
        """Return the calls with the results that came for them."""
        return [self._ended(span) for span in self._calls.values()]

    def _ended(self, span: Span) -> Span:
        call = span.call or ""
        # A session that was resumed may have the result of a call the one before it made.
        result = self._results.get((span.session, call)) or self._latest.get(call)
        if result is None:
            return span
        return span._replace(
            status=result.status,
            end_digest=result.digest,
            hooked=span.hooked and result.reached,
        )


def _ending(row: dict[str, Any], block: dict[str, Any]) -> _Result:
    said = row.get("toolUseResult")
    held = block.get("content") if said is None else said
    launched = isinstance(said, dict) and (
        isinstance(said.get("backgroundTaskId"), str)
        or said.get("isAsync") is True
        or text_or_none(said.get("status")) in _LAUNCHES
    )
    failed = block.get("is_error") is True
    # The host's own field, not the text of the result, which a tool may have written.
    reached = not (failed and isinstance(said, str) and said.startswith(_NOT_A_CALL))
    status = _status(row.get("toolDenialKind"), said, _text(block.get("content")), failed=failed)
    return _Result(
        status=status if reached else REFUSED,
        digest=digest_or_none(held),
        launched=launched,
        reached=reached,
    )


def _status(kind: object, said: object, text: str, *, failed: bool) -> str:
    if isinstance(said, dict) and said.get("interrupted") is True:
        return CANCELLED
    if isinstance(kind, str):
        return STOPPED if kind in _STOPS else REFUSED
    if said == "User rejected tool use" or (failed and text.startswith((_REFUSAL, _INTERRUPTED))):
        return STOPPED  # older releases write the same for "no" and for a call cut short
    return ERROR if failed else OK


def _text(content: object) -> str:
    """Return the beginning of a result's text."""
    if isinstance(content, list):
        content = content[0].get("text") if content and isinstance(content[0], dict) else None
    return content[:_LOOK] if isinstance(content, str) else ""
