"""Claude Code transcripts: who used which models and tools, and nothing of what was said.

Only named fields are decoded; a message's text, a tool's input and its result are
passed over as bytes. The format is the vendor's own and may change: a line of another
form is passed over and counted.
"""

import os
from collections.abc import Callable, Iterator

import msgspec

from toolgate.errors import RefusedError, UnavailableError
from toolgate.ledger.regular import open_regular
from toolgate.sessions.merge import Evidence, evidence
from toolgate.sessions.moments import moment_of
from toolgate.sessions.record import MAX_COUNT, Record, record_id
from toolgate.sessions.redact import identifier, model_name
from toolgate.sessions.trust import CLAUDE_CODE

SOURCE = "transcript"
_MAX_LINE_BYTES = 32 * 1024 * 1024
_NO_MODEL = "<synthetic>"
"""Where the program answered by itself."""


class _Usage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0


class _Message(msgspec.Struct):
    id: str = ""
    model: str = ""
    usage: _Usage | None = None
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    sessionId: str = ""  # noqa: N815  # the vendor's name
    timestamp: str = ""
    version: str = ""
    message: _Message | None = None


class _Block(msgspec.Struct):
    type: str = ""
    name: str = ""


_line = msgspec.json.Decoder(_Line)
_blocks = msgspec.json.Decoder(list[_Block])


class _Session:
    """What the lines of one session say so far."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.times: list[int] = []
        self.version = ""
        self.models: set[str] = set()
        self.tools: set[str] = set()
        self.usage: dict[str, tuple[int, int]] = {}
        self._withheld: set[str] = set()

    def take(self, row: _Line) -> None:
        when = moment_of(row.timestamp)
        if when is not None:
            self.times = [min([*self.times, when]), max([*self.times, when])]
        self.version = self._named(row.version) or self.version
        message = row.message
        if message is None:
            return
        if message.model and message.model != _NO_MODEL:
            self.models |= {self._named(model_name(message.model))} - {""}
        if message.usage is not None:  # a message is repeated for each of its blocks
            read, written = self.usage.get(message.id, (0, 0))
            used = message.usage
            self.usage[message.id] = max(read, used.input_tokens), max(written, used.output_tokens)
        for block in _tools(bytes(message.content)):
            self.tools |= {self._named(block.name)} - {""}

    def _named(self, value: object) -> str:
        """Return an identifier; empty, and counted once, for what is none."""
        name = identifier(value)
        if name is None and isinstance(value, str) and value:
            self._withheld.add(value)
        return name or ""

    def record(self) -> Record:
        """Return what they say together."""
        servers = {tool.split("__")[1] for tool in self.tools if tool.startswith("mcp__")}
        return Record(
            id=record_id(CLAUDE_CODE, self.session),
            session_id=self.session,
            harness=CLAUDE_CODE,
            harness_version=self.version,
            models=tuple(sorted(self.models)),
            mcp_servers=tuple(sorted(name for name in servers if identifier(name))),
            tools=tuple(sorted(self.tools)),
            input_tokens=min(sum(max(one, 0) for one, _ in self.usage.values()), MAX_COUNT),
            output_tokens=min(sum(max(one, 0) for _, one in self.usage.values()), MAX_COUNT),
            start=self.times[0] if self.times else None,
            end=self.times[-1] if self.times else None,
            redacted=len(self._withheld),
        )


def _tools(content: bytes) -> list[_Block]:
    if not content.startswith(b"["):
        return []
    try:
        return [block for block in _blocks.decode(content) if block.type == "tool_use"]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []


def read(files: tuple[str, ...], passed_over: Callable[[], object]) -> Iterator[Evidence]:
    """Yield what transcripts say, one piece a session; its subagents' files count with it.

    Args:
        files: the transcripts.
        passed_over: called for every line that cannot be read.

    Raises:
        UnavailableError: a file cannot be read, or holds no line of a transcript.
        RefusedError: a session id is no identifier; nothing may be stored of the import.
    """
    sessions: dict[str, _Session] = {}
    for path in dict.fromkeys(files):
        name = os.path.basename(path)
        found = False
        try:
            with open_regular(path) as file:
                number = 0
                while line := file.readline(_MAX_LINE_BYTES):
                    number += 1
                    row = _decoded(line)
                    if row is None:
                        passed_over()
                        continue
                    if not row.sessionId:  # a summary, or another line about no session
                        continue
                    found = True
                    if identifier(row.sessionId) is None:
                        raise RefusedError(
                            f"source transcript: {name}:{number}: the session id is no "
                            "identifier; it is not shown"
                        )
                    sessions.setdefault(row.sessionId, _Session(row.sessionId)).take(row)
        except OSError as error:
            raise UnavailableError(
                f"source transcript: cannot read {name}: {error.strerror}"
            ) from None
        if not found:
            raise UnavailableError(f"source transcript: {name} holds no line of a transcript")
    for session in sessions.values():
        yield evidence(session.record(), SOURCE)


def _decoded(line: bytes) -> _Line | None:
    try:
        return _line.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
