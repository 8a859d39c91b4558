"""Effects of tools that are no shell: files, notebooks, searches, web and MCP."""

from collections.abc import Callable
from posixpath import join
from typing import TYPE_CHECKING, Any

from toolgate.errors import InputError
from toolgate.gate.call import ToolCall
from toolgate.gate.effects.content import holds_secret
from toolgate.gate.effects.hosts import host_of, is_metadata, scope_of
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.paths import Paths
from toolgate.gate.effects.reading import Files, Reading, Written
from toolgate.gate.effects.settings import Settings

if TYPE_CHECKING:
    from toolgate.gate.effects.mcp import Description

SHELL_TOOLS = frozenset(("Bash", "run_shell_command", "shell", "Shell"))

_PATH_TOOLS: dict[str, tuple[str, str]] = {
    "Read": ("fs.read", "file_path"),
    "NotebookRead": ("fs.read", "notebook_path"),
    "read_file": ("fs.read", "file_path"),
    "Write": ("fs.write", "file_path"),
    "write_file": ("fs.write", "file_path"),
    "Edit": ("fs.write", "file_path"),
    "MultiEdit": ("fs.write", "file_path"),
    "replace": ("fs.write", "file_path"),
    "NotebookEdit": ("fs.write", "notebook_path"),
}
_WHOLE = frozenset(("Write", "write_file"))
_CONTENT_KEYS = ("content", "new_string", "new_source")
_SEARCH_TOOLS = frozenset(
    (
        "Grep",
        "Glob",
        "LS",
        "Search",
        "glob",
        "search_file_content",
        "list_directory",
        "read_many_files",
    )
)
_FETCH_TOOLS = frozenset(("WebFetch", "Fetch", "web_fetch"))
_INERT_TOOLS = frozenset(
    (
        "TodoWrite",
        "TodoRead",
        "Task",
        "Agent",
        "TaskCreate",
        "TaskUpdate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "BashOutput",
        "KillBash",
        "KillShell",
        "ExitPlanMode",
        "EnterPlanMode",
        "ExitWorktree",
        "EnterWorktree",
        "AskUserQuestion",
        "ToolSearch",
        "Skill",
        "ListMcpResourcesTool",
        "ReadMcpResourceTool",
        "SendMessage",
        "StructuredOutput",
    )
)
_SEARCHES = frozenset(("WebSearch", "google_web_search"))


def effects_of_tool(
    call: ToolCall,
    settings: Settings,
    mcp: "dict[str, Description]",
    reading: Callable[[], Reading],
    files: Files,
) -> list[Effect]:
    """Return the effects of a call of any tool but a shell.

    Args:
        call: the call.
        settings: names and patterns from the policy.
        mcp: what the policy says of MCP tools.
        reading: makes a reader of shell text where the call would run.
        files: what files are known to hold; takes what the call writes.

    Raises:
        InputError: a field the tool cannot do without is missing or no text.
    """
    tool = call.tool
    paths = Paths(call.place, settings)
    if tool in _PATH_TOOLS:
        return _file(call, paths, files)
    if tool in _SEARCH_TOOLS:
        found = [files.seen(effect) for effect in _search(call, paths)]
        return found + files.behind(found, paths)
    if tool in _FETCH_TOOLS:
        return _fetch(call, settings)
    if tool in _SEARCHES:
        return _search_web(call)
    if tool in _INERT_TOOLS:
        return [Effect("inspect", "inspect-only", tool, True, PROVED, tool)]
    if tool.startswith("mcp__"):
        from toolgate.gate.effects.mcp import effects_of_mcp

        return effects_of_mcp(call, mcp, settings.trusted_tools, reading)
    return [Effect("exec.code", "unknown", tool, True, unresolved("unknown-tool"), tool, "tool")]


def _file(call: ToolCall, paths: Paths, files: Files) -> list[Effect]:
    kind, key = _PATH_TOOLS[call.tool]
    path = text_field(call, key)
    made = paths.effects(kind, path, call.place.cwd, program=call.tool)
    where = made[0] if made else None
    if kind == "fs.write" and where is not None:
        texts = _contents(call)
        secret = any(holds_secret(text) for text in texts)
        if secret:
            made.append(
                Effect("secret.persist", where.scope, where.resource, True, PROVED, call.tool, "")
            )
        part = call.tool not in _WHOLE
        made += files.behind(made, paths, named=join(call.place.cwd, path))
        text = "\n".join(texts) if texts else None
        before = files.get(where.resource) if part else None
        files.put(
            where.resource,
            Written(text, False, secret, scope=where.scope, part=part, before=before),
        )
    elif kind == "fs.read":
        made = [files.seen(effect) for effect in made]
        made += files.behind(made, paths, named=join(call.place.cwd, path))
    return made


def leaves_out_content(call: ToolCall) -> bool:
    """Say whether a call writes a file and its input does not say what, as in a shortened log."""
    kind, _ = _PATH_TOOLS.get(call.tool, ("", ""))
    texts = _contents(call)
    cut = any(text.startswith("[elided ") for text in texts)
    return kind == "fs.write" and (cut or not texts)


def _contents(call: ToolCall) -> list[str]:
    """Return the texts a call puts into its file."""
    texts = [call.input.get(name) for name in _CONTENT_KEYS]
    edits = call.input.get("edits")
    if isinstance(edits, list):
        texts += [edit.get("new_string") for edit in edits if isinstance(edit, dict)]
    return [text for text in texts if isinstance(text, str)]


def _search(call: ToolCall, paths: Paths) -> list[Effect]:
    path = call.input.get("path")
    reads = call.tool in ("Grep", "Search", "search_file_content", "read_many_files")
    listed = call.input.get("paths")
    named = [*(listed if isinstance(listed, list) else []), call.input.get("glob")]
    made = [
        effect
        for text in (named if reads else ())
        if isinstance(text, str) and text
        for effect in paths.effects(
            "fs.read", text, call.place.cwd, program=call.tool, glob="*" in text
        )
        if effect.type == "secret.read"
    ]
    if made:
        return made
    if isinstance(path, str) and path:
        kind = "fs.read" if call.tool in ("Grep", "Search", "search_file_content") else "inspect"
        if kind == "fs.read":
            made = paths.effects(kind, path, call.place.cwd, program=call.tool)
            return made or [Effect("inspect", "inspect-only", path, True, PROVED, call.tool)]
    return [Effect("inspect", "inspect-only", call.tool, True, PROVED, call.tool)]


def _search_web(call: ToolCall) -> list[Effect]:
    """Return the effect of asking a search engine, which is told the words."""
    query = call.input.get("query")
    if isinstance(query, str) and holds_secret(query):
        return [
            Effect("net.send", "outside", call.tool, False, PROVED, call.tool, "secret"),
        ]
    return [Effect("inspect", "inspect-only", call.tool, True, PROVED, call.tool)]


def _fetch(call: ToolCall, settings: Settings) -> list[Effect]:
    url = call.input.get("url", call.input.get("prompt"))
    if not isinstance(url, str) or not url:
        raise InputError(f"tool input of {call.tool}: expected text in url, got {_kind(url)}")
    if url.lower().startswith("file:"):
        path = "/" + url.partition(":")[2].lstrip("/")
        return Paths(call.place, settings).effects("fs.read", path, "", program=call.tool)
    host = host_of(url)
    if is_metadata(host):
        return [Effect("secret.read", "secret", host, True, PROVED, call.tool, "metadata")]
    if holds_secret(url):
        return [
            Effect("net.send", scope_of(host, settings), host, False, PROVED, call.tool, "secret")
        ]
    return [Effect("net.fetch", scope_of(host, settings), host, True, PROVED, call.tool)]


def text_field(call: ToolCall, key: str) -> str:
    """Return a text field of the tool's input.

    Raises:
        InputError: it is missing, empty or no text.
    """
    value: Any = call.input.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"tool input of {call.tool}: expected text in {key}, got {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else "empty text" if value == "" else type(value).__name__
