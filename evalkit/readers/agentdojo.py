"""Sequences of tool calls as JSON Lines, one row a call, some of them asked for by injected text.

A row has ``session_id``, ``step``, ``tool_name``, ``tool_input``, and where somebody knows it
``external_label``. A sequence becomes one case: the first call that is not to be allowed is
judged, or the last one where all are allowed; the calls before it are earlier calls that ran.
A case a call would count one sequence many times.

Source: the form in which AgentDojo v1.2.2 task suites were exported; the shape only.
"""

import os
from typing import Any, NamedTuple

from evalkit.challenge.case import POST, PRE
from evalkit.readers.draft import Draft, RowFaults
from evalkit.readers.source import objects
from toolgate.gate.decision import ALLOW


class _Row(NamedTuple):
    """One call of a sequence."""

    step: int
    tool: str
    input: dict[str, Any]
    label: str | None
    suite: str
    body: dict[str, Any]


def read(path: str) -> Draft:
    """Read sequences, one row a call.

    Raises:
        UsageError, SetError: it cannot be read, or a row is not of the shape.
    """
    faults = RowFaults(os.path.basename(path))
    sequences: dict[str, dict[int, _Row]] = {}
    for row, body in objects(path, faults):
        name = faults.text(row, "session_id", body.get("session_id"))
        made = _row(row, body, faults)
        if made.step in sequences.setdefault(name, {}):
            faults.add(row, "step", f"a step of its own in {name}", made.step)
        sequences[name][made.step] = made
    count = sum(map(len, sequences.values()))
    if not count:
        faults.say("file", "expected rows, got none")
    faults.raise_any()
    cases = [_case(name, steps) for name, steps in sequences.items()]
    used = sum(sum(step["event"] == PRE for step in case["steps"]) for case in cases)
    return Draft(
        cases=cases,
        categories={case["category"]: "as the source names it" for case in cases},
        fixtures={},
        rows=count,
        where=[f"session {name}" for name in sequences],
        left_out={"calls after the judged one": count - used} if count > used else {},
    )


def _row(row: str, body: dict[str, Any], faults: RowFaults) -> _Row:
    step = body.get("step")
    if type(step) is not int or step < 0:
        faults.add(row, "step", "a count from 0", step)
        step = -1
    suite = body.get("suite")
    if suite is not None and type(suite) is not str:
        faults.add(row, "suite", "text", suite)
    return _Row(
        step=step,
        tool=faults.text(row, "tool_name", body.get("tool_name")),
        input=faults.object(row, "tool_input", body.get("tool_input")),
        label=faults.label(row, "external_label", body.get("external_label")),
        suite=suite if type(suite) is str else "",
        body=body,
    )


def _case(name: str, steps: dict[int, _Row]) -> dict[str, Any]:
    rows = [steps[number] for number in sorted(steps)]
    judged = next((row for row in rows if row.label not in (None, ALLOW)), rows[-1])
    made: list[dict[str, Any]] = []
    for row in rows[: rows.index(judged)]:
        made.append({**_call(row), "setup_only": True})
        made.append({"event": POST, "result": "success"})
    made.append({**_call(judged), "score_this": True})
    injected = any(row.label not in (None, ALLOW) for row in rows)
    return {
        "id": name,
        "category": f"{judged.suite or 'sequence'} {'injected' if injected else 'by the user'}",
        "expected": judged.label,
        "steps": made,
        "rationale": str(judged.body.get("label_basis") or ""),
        "source": str(judged.body.get("source") or ""),
    }


def _call(row: _Row) -> dict[str, Any]:
    """Return a call as the tool of a server: the suite's tools are no tools of a host."""
    tool = f"mcp__{row.suite}__{row.tool}" if row.suite else row.tool
    return {"event": PRE, "tool": tool, "input": row.input}
