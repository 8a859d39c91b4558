"""Examples in a policy: calls, and the answers that its author expects."""

from datetime import date
from typing import Any, NamedTuple

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.policy.overrides_source import expiry_of

CWD, HOME = "/home/dev/app", "/home/dev"
_KEYS = {"command", "tool", "input", "after", "expect", "rule", "cwd", "home", "day"}
_CALLER = {"host", "principal", "agent", "mode"}
_SHELL = "Bash"


class Example(NamedTuple):
    """One example.

    Args:
        name: how it is called in messages: its number and text.
        after: calls that the session has made before, which count as run.
        call: the call.
        expect: the answer expected.
        rule: the rule expected to give it, or None.
    """

    name: str
    after: tuple[ToolCall, ...]
    call: ToolCall
    expect: str
    rule: str | None


def example_faults(item: dict[str, Any], where: str) -> list[str]:
    """Return every fault of an example."""
    known = _KEYS | _CALLER
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, item)) - known)]
    if item.get("expect") not in ("allow", "ask", "deny"):
        faults.append(f"{where}: expect is {item.get('expect')!r:.80}; expected allow, ask or deny")
    if ("command" in item) is ("tool" in item):
        faults.append(f"{where}: expected either command, for a shell, or tool and input")
    elif "tool" in item and not isinstance(item.get("input"), dict):
        faults.append(f"{where}: input is not a mapping")
    faults += [
        f"{where}: {key} is not text"
        for key in ("command", "tool", "rule", "cwd", "home", *sorted(_CALLER))
        if key in item and (not isinstance(item[key], str) or not item[key])
    ]
    after = item.get("after", [])
    if not isinstance(after, list) or not all(_is_step(step) for step in after):
        faults.append(f"{where}: after is not a list of commands, or of tool and input")
    if "day" in item and not isinstance(item["day"], date):
        faults.append(f"{where}: day is {item['day']!r:.80}; expected a day such as 2027-01-31")
    return faults


def examples_of(body: dict[str, Any], now: int) -> list[Example]:
    """Return a policy's examples.

    Args:
        body: the policy's source, without faults.
        now: when calls are made whose example names no day, microseconds UTC.
    """
    return [
        _example(item, f"example {number}", now)
        for number, item in enumerate(body.get("examples") or [], 1)
    ]


def _is_step(step: Any) -> bool:
    if isinstance(step, dict):
        return set(step) == {"tool", "input"} and isinstance(step["input"], dict)
    return isinstance(step, str) and step != ""


def _example(item: dict[str, Any], name: str, now: int) -> Example:
    ts = expiry_of(item["day"]) - 1 if "day" in item else now
    said = item.get("command") or f"{item['tool']} {item['input']}"
    steps = [_call(item, *_said(step), ts) for step in item.get("after", [])]
    call = _call(item, *_said(item.get("command", item)), ts)
    return Example(f"{name} ({said:.60})", tuple(steps), call, item["expect"], item.get("rule"))


def _said(step: Any) -> tuple[str, dict[str, Any]]:
    """Return the tool and input of a step."""
    if isinstance(step, str):
        return _SHELL, {"command": step}
    return step["tool"], step["input"]


def _call(item: dict[str, Any], tool: str, given: dict[str, Any], ts: int) -> ToolCall:
    cwd = item.get("cwd", CWD)
    return ToolCall(
        host=item.get("host", "example"),
        session="example",
        key=None,
        call=None,
        agent=tuple(item.get("agent", "main").split("/")),
        principal=item.get("principal", "unknown"),
        auth_mode="unknown",
        tool=tool,
        input=given,
        place=Place(cwd, (cwd,), item.get("home", HOME)),
        mode=item.get("mode"),
        task=None,
        ts=ts,
    )
