"""Recorded calls: corpus rows, bare hook payloads, transcripts of Claude Code."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError, InputError
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.shell.parse import read

DEFAULT_CWD = "/workspace"
_HOMES = ("/home/", "/Users/")


class Recorded(NamedTuple):
    """One recorded call.

    Args:
        id: the row's own id, call id, or file and line.
        source: where the log came from, as the row says, else the file.
        call: the call.
        assumed_cwd: whether the row named no working directory.
        outcome: what the row says became of the call, if anything.
    """

    id: str
    source: str
    call: ToolCall
    assumed_cwd: bool
    outcome: str | None = None


class Skipped(NamedTuple):
    """A line that holds no call to decide, and why."""

    reason: str


def read_log(
    file: str, lines: Iterable[bytes], *, cwd: str = DEFAULT_CWD, home: str = ""
) -> Iterator[Recorded | Skipped]:
    """Read a recorded log line by line.

    Args:
        file: its name, for messages and ids.
        lines: JSON lines in any of the three forms, mixed or not.
        cwd: the working directory of calls that name none, until their session
            changes it; agents keep it from one shell call to the next.
        home: the home of calls whose directory does not show one.

    Raises:
        InputError: a line is no JSON object; names file and line.
    """
    first_cwd: dict[str, str] = {}
    now: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            row = parse(line)
        except CanonicalizationError as error:
            raise InputError(f"{where} is {error}") from None
        if not isinstance(row, dict):
            raise InputError(f"{where} is {type(row).__name__}; expected a JSON object")
        here = now.get(_optional(row, "session_id") or file, cwd)
        for item in _row(row, where, file, here):
            if isinstance(item, Skipped):
                yield item
                continue
            if item.assumed_cwd:
                now[item.call.session] = _directory_after(item.call)
            yield _placed(item, first_cwd, home)


def _placed(item: Recorded, first_cwd: dict[str, str], home: str) -> Recorded:
    """Count the directory a session began in as its workspace too: agents change directory."""
    call = item.call
    start = first_cwd.setdefault(call.session, call.place.cwd)
    roots = tuple(dict.fromkeys((start, call.place.cwd)))
    place = call.place._replace(roots=roots, home=call.place.home or home)
    return item._replace(call=call._replace(place=place))


def _directory_after(call: ToolCall) -> str:
    """Return the directory a shell call leaves its session in."""
    command = call.input.get("command")
    if call.tool not in SHELL_TOOLS or not isinstance(command, str):
        return call.place.cwd
    return read(command, cwd=call.place.cwd, home=call.place.home).cwd or call.place.cwd


def _row(row: dict[str, Any], where: str, file: str, cwd: str) -> Iterator[Recorded | Skipped]:
    if (
        isinstance(row.get("message"), dict)
        or "sessionId" in row
        or row.get("type") in ("user", "assistant")
    ):
        yield from _transcript(row, where, file, cwd)
    elif row.get("truncated") is True:
        yield Skipped("cut off in its source")
    elif row.get("hook_event_name", "PreToolUse") != "PreToolUse":
        yield Skipped("another hook event")
    elif isinstance(row.get("tool_name"), str) and isinstance(row.get("tool_input"), dict):
        yield _recorded(row, row["tool_name"], row["tool_input"], where, file, cwd)
    else:
        raise InputError(
            f"{where}: expected tool_name and tool_input, a hook payload or a transcript line"
        )


def _transcript(
    row: dict[str, Any], where: str, file: str, cwd: str
) -> Iterator[Recorded | Skipped]:
    message = row.get("message")
    blocks = message.get("content") if isinstance(message, dict) else None
    calls = [
        block
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "tool_use"
    ]
    if not calls:
        yield Skipped("no tool call in this transcript line")
    for block in calls:
        name, tool_input = block.get("name"), block.get("input")
        if isinstance(name, str) and isinstance(tool_input, dict):
            merged = {**row, "tool_use_id": block.get("id"), "session_id": row.get("sessionId")}
            yield _recorded(merged, name, tool_input, where, file, cwd)
        else:
            raise InputError(f"{where}: a tool_use block without name or input")


def _recorded(
    row: dict[str, Any], tool: str, tool_input: dict[str, Any], where: str, file: str, cwd: str
) -> Recorded:
    own = _optional(row, "cwd")
    place = own or cwd
    call_id = _optional(row, "tool_use_id")
    call = ToolCall(
        host="simulate",
        session=_optional(row, "session_id") or file,
        key=_optional(row, "prompt_id"),
        call=call_id,
        agent=("main",),
        principal="unknown",
        auth_mode="unknown",
        tool=tool,
        input=tool_input,
        place=Place(place, (place,), home_of(place)),
        mode=_optional(row, "permission_mode"),
        task=None,
        ts=0,
    )
    source = "/".join((_optional(row, "source") or file).split("/")[:2])
    name = _optional(row, "id") or call_id or where
    return Recorded(name, source, call, own is None, _optional(row, "outcome"))


def home_of(cwd: str) -> str:
    """Return the home directory a path lies in, by its form; "" when it lies in none."""
    for prefix in _HOMES:
        if cwd.startswith(prefix):
            return prefix + cwd[len(prefix) :].split("/", 1)[0]
    return "/root" if cwd == "/root" or cwd.startswith("/root/") else ""


def _optional(row: dict[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None
