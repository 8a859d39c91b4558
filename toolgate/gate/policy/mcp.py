"""What a policy says of MCP tools: checked, and compiled to effect types."""

from typing import Any

from toolgate.gate.effects.model import TYPES

_WORDS = {"read": "inspect", "write": "infra.mutate", "send": "msg.send", "pay": "pay.spend"}
_KEYS = {"effects", "code", "paths", "urls"}
_VALUES = {
    "code": ("shell", "python", "javascript", "ruby", "perl", "php", "awk", "sed", "sql"),
    "paths": ("read", "write", "delete"),
    "urls": ("fetch", "send"),
}


def compiled_mcp(mcp: dict[str, Any]) -> dict[str, Any]:
    """Return descriptions with every word for effects replaced by its type."""
    return {
        tool: [_WORDS.get(kind, kind) for kind in item]
        if isinstance(item, list)
        else {**item, "effects": [_WORDS.get(kind, kind) for kind in item.get("effects", [])]}
        for tool, item in mcp.items()
    }


def mcp_faults(value: Any) -> list[str]:
    """Return what is wrong with a policy's descriptions of MCP tools."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return ["mcp: expected a mapping from tool pattern to effects"]
    faults: list[str] = []
    for tool, item in value.items():
        if not str(tool).startswith("mcp__") or str(tool).startswith("mcp__*"):
            faults.append(f"mcp: {tool} does not name one server (mcp__server__tool)")
        faults += _tool_faults(item, f"mcp: {tool}")
    return faults


def _tool_faults(item: Any, where: str) -> list[str]:
    if not isinstance(item, dict):
        return _kind_faults(item, where)
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, item)) - _KEYS)]
    if not item:
        faults.append(f"{where}: nothing is said of it; for a tool that only looks write [read]")
    faults += _kind_faults(item.get("effects", []), f"{where}: effects")
    for key, allowed in _VALUES.items():
        fields = item.get(key, {})
        if not isinstance(fields, dict):
            faults.append(
                f"{where}: {key} is not a mapping from field to {allowed[0]} and the like"
            )
            continue
        faults += [
            f"{where}: {key}: {field} is {said!r}; expected one of {', '.join(allowed)}"
            for field, said in fields.items()
            if said not in allowed
        ]
    return faults


def _kind_faults(kinds: Any, where: str) -> list[str]:
    if not isinstance(kinds, list) or not all(isinstance(kind, str) and kind for kind in kinds):
        return [f"{where} is not a list of texts"]
    return [
        f"{where}: unknown effect type {kind}"
        for kind in kinds
        if kind not in TYPES and kind not in _WORDS
    ]
