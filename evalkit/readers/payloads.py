"""Hook payloads: a directory of ``.json`` files or ``.jsonl`` logs, as a host sends them.

Every PreToolUse payload with ``tool_name`` and ``tool_input`` becomes a case of one call;
payloads of other events are counted and left out. A set has one working directory and one
permission mode, so payloads that differ in them are refused: they belong to several sets.
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evalkit.challenge.case import PRE
from evalkit.errors import UsageError
from evalkit.readers.draft import Draft, RowFaults, category_of, numbered_id
from evalkit.readers.source import document, files_of, objects

_ENDINGS = (".json", ".jsonl")
_ALIKE = ("cwd", "permission_mode")


def read(path: str) -> Draft:
    """Read hook payloads.

    Raises:
        UsageError, SetError: they cannot be read, or a payload is not of the shape.
    """
    faults = RowFaults(os.path.basename(path.rstrip("/")))
    left_out: Counter[str] = Counter()
    calls: list[tuple[str, dict[str, Any]]] = []
    for row, body in _payloads(path, faults):
        event = body.get("hook_event_name")
        if type(event) is not str:
            faults.add(row, "hook_event_name", "the name of an event", event)
        elif event == PRE:
            calls.append((row, body))
        else:
            left_out[event] += 1
    fixtures = {name: _one(name, calls, faults) for name in _ALIKE}
    cases = [
        _case(body, row, numbered_id(number, len(calls)), faults)
        for number, (row, body) in enumerate(calls, 1)
    ]
    if not cases:
        faults.say("file", f"expected a payload of {PRE}, got none")
    faults.raise_any()
    stated = {name: value for name, value in fixtures.items() if value}
    if "cwd" in stated:
        stated["home"] = _home(stated["cwd"])
    return Draft(
        cases=cases,
        categories={case["category"]: "calls of this tool" for case in cases},
        fixtures=stated,
        rows=len(calls) + left_out.total(),
        left_out=dict(sorted(left_out.items())),
        where=[row for row, _ in calls],
    )


def _payloads(path: str, faults: RowFaults) -> Iterator[tuple[str, dict[str, Any]]]:
    files = files_of(path, _ENDINGS)
    for file in files:
        name = os.path.basename(file)
        prefix = f"{name}, " if len(files) > 1 else ""
        if file.endswith(".jsonl"):
            yield from objects(file, faults, prefix)
            continue
        try:
            body = document(file)
        except UsageError as error:
            faults.say(name, str(error).partition(": ")[2])
            continue
        for number, one in enumerate(body if isinstance(body, list) else [body], 1):
            if isinstance(one, dict):
                yield f"{prefix}row {number}", one
            else:
                faults.say(f"{prefix}row {number}", "expected an object, got another value")


def _one(name: str, calls: list[tuple[str, dict[str, Any]]], faults: RowFaults) -> str | None:
    """Return the one value a field has in all payloads; None where none has it."""
    found: str | None = None
    for row, body in calls:
        value = body.get(name)
        if value is None:
            continue
        if type(value) is not str:
            faults.add(row, name, "text", value)
        elif found is not None and value != found:
            faults.add(row, name, f"{found}, as the payloads before it have", value)
        else:
            found = value
    return found


def _case(body: dict[str, Any], row: str, identity: str, faults: RowFaults) -> dict[str, Any]:
    tool = faults.text(row, "tool_name", body.get("tool_name"))
    return {
        "id": identity,
        "category": category_of(tool),
        "expected": None,
        "tool": tool,
        "command": faults.object(row, "tool_input", body.get("tool_input")),
    }


def _home(cwd: str) -> str:
    """Return the home directory a working directory lies in, by its form."""
    parts = cwd.split("/")
    if len(parts) > 2 and parts[1] in ("home", "Users"):
        return "/".join(parts[:3])
    return "/root" if parts[1:2] == ["root"] else "/home/dev"
