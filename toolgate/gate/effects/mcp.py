"""Effects of MCP tools: what the policy says of them, and the code they are given to run."""

from collections.abc import Callable
from typing import Any

from toolgate.gate.call import ToolCall
from toolgate.gate.effects import code
from toolgate.gate.effects.content import holds_secret
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.patterns import matches, matches_any
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command

Description = list[str] | dict[str, Any]

_PATH_KEYS = ("path", "file_path", "filepath", "filename", "destination", "notebook_path")
_WRITES = ("write", "create", "edit", "update", "append", "move", "save", "put")
_DELETES = ("delete", "remove", "unlink")
_ACCESS = {"read": "fs.read", "write": "fs.write", "delete": "fs.delete"}
# Parts of a tool's name by which it runs what it is given.
_RUNS = ("exec", "run", "eval", "shell", "bash", "terminal", "command", "script", "python", "code")
_SHELL_KEYS = ("command", "cmd", "shell_command", "bash_command")
_CODE_KEYS = ("code", "script", "source", "expression", "function")
_LANGUAGE_KEYS = ("language", "lang", "runtime", "kernel")
_QUERY_KEYS = ("sql", "query", "statement")
_DATABASES = (
    "sql",
    "postgres",
    "database",
    "duckdb",
    "mariadb",
    "supabase",
    "snowflake",
    "bigquery",
)
_LANGUAGES = {
    "python": "python",
    "py": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "js": "javascript",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "bash": "shell",
    "sh": "shell",
    "shell": "shell",
    "sql": "sql",
}


def effects_of_mcp(
    call: ToolCall,
    mcp: dict[str, Description],
    trusted: tuple[str, ...],
    reading: Callable[[], Reading],
) -> list[Effect]:
    """Return what the policy says of an MCP tool; what nobody described is not known.

    What is known of an undescribed tool by its name and arguments only adds
    effects: a hint, like a server's own annotations, never makes a call harmless.

    Args:
        call: the call.
        mcp: the policy's descriptions, by tool name pattern.
        trusted: patterns of tools that may be given what is no secret.
        reading: makes a reader of shell text where the call would run.
    """
    described = [item for pattern, item in mcp.items() if matches(call.tool, pattern)]
    made: list[Effect] = []
    for item in described:
        made += _described(call, item, reading)
    if trusted and matches_any(call.tool, trusted):
        made = [_to_trusted(call, effect) for effect in made]
    if not described:
        proof = unresolved("mcp-tool")
        made.append(Effect("exec.code", "unknown", call.tool, True, proof, call.tool, "tool"))
        made += _hinted_code(call, reading)
    made += _hinted_paths(call, reading)
    changes = not described or any(effect.type != "inspect" for effect in made)
    if changes and _gives_secret(call.input, 0):
        made.append(Effect("secret.persist", "outside", call.tool, False, PROVED, call.tool, "mcp"))
    return made or [Effect("inspect", "inspect-only", call.tool, True, PROVED, call.tool, "mcp")]


def _described(call: ToolCall, item: Description, reading: Callable[[], Reading]) -> list[Effect]:
    kinds = item if isinstance(item, list) else item.get("effects", [])
    made = [
        Effect(
            kind,
            "outside" if kind != "inspect" else "inspect-only",
            call.tool,
            True,
            PROVED,
            call.tool,
            "mcp",
        )
        for kind in kinds
    ]
    if isinstance(item, list):
        return made
    for key, language in item.get("code", {}).items():
        text = call.input.get(key)
        if isinstance(text, str) and text:
            made += _read(language, text, call, reading())
        else:
            made.append(reading().unknown("code-not-given", call.tool))
    for key, access in item.get("paths", {}).items():
        made += _paths(call, key, _ACCESS[access], reading())
    for key, access in item.get("urls", {}).items():
        url = call.input.get(key)
        target = url if isinstance(url, str) and url else "\x00"
        made.append(reading().net("net." + access, target, call.tool))
    return made


def _to_trusted(call: ToolCall, effect: Effect) -> Effect:
    """Return an effect of a trusted tool: what the tool itself is sent counts as sent to a
    trusted host. A host that an argument names is another matter, and so is every other effect.
    """
    if effect.type not in ("net.send", "msg.send") or effect.resource != call.tool:
        return effect
    return effect._replace(type="net.send", scope="workspace")


def _read(language: str, text: str, call: ToolCall, reader: Reading) -> list[Effect]:
    command = Command((), (), (), call.place.cwd)
    return code.effects(language, text, reader, command, call.tool)


def _paths(call: ToolCall, key: str, kind: str, reader: Reading) -> list[Effect]:
    value = call.input.get(key)
    texts = value if isinstance(value, list) else [value]
    return [
        effect
        for text in texts
        if isinstance(text, str) and text
        for effect in reader.paths.effects(kind, text, call.place.cwd, program=call.tool)
    ]


def _hinted_paths(call: ToolCall, reading: Callable[[], Reading]) -> list[Effect]:
    """Return the writes and deletes that a tool's name and arguments hint at."""
    verb = call.tool.rpartition("__")[2].lower()
    kind = ""
    if any(word in verb for word in _DELETES):
        kind = "fs.delete"
    elif any(word in verb for word in _WRITES):
        kind = "fs.write"
    return [e for key in _PATH_KEYS if kind for e in _paths(call, key, kind, reading())]


def _hinted_code(call: ToolCall, reading: Callable[[], Reading]) -> list[Effect]:
    """Return what the code would do that a tool seems to run: shell, a language, a query."""
    name = call.tool.lower()
    words = name.rpartition("__")[2]
    made: list[Effect] = []
    if any(word in words for word in _RUNS):
        language = _language(call, name)
        for key, chosen in [(k, "shell") for k in _SHELL_KEYS] + [
            (k, language) for k in _CODE_KEYS
        ]:
            text = call.input.get(key)
            if isinstance(text, str) and text and chosen:
                made += _read(chosen, text, call, reading())
    if any(word in name for word in _DATABASES):
        for key in _QUERY_KEYS:
            text = call.input.get(key)
            if isinstance(text, str) and text:
                made += _read("sql", text, call, reading())
    return made


def _language(call: ToolCall, name: str) -> str:
    """Return the language of a tool's code: as an argument or its name says, else "" ."""
    for key in _LANGUAGE_KEYS:
        said = call.input.get(key)
        if isinstance(said, str):
            return _LANGUAGES.get(said.lower().rstrip("0123456789."), "")
    found = [language for word, language in _LANGUAGES.items() if len(word) > 2 and word in name]
    return found[0] if found else ""


def _gives_secret(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return holds_secret(value)
    if depth > 6:
        return False
    if isinstance(value, dict):
        return any(_gives_secret(item, depth + 1) for item in value.values())
    return isinstance(value, list) and any(_gives_secret(item, depth + 1) for item in value)
