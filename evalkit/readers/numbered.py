"""The public numbered sets: single calls, or sequences of hook events, in one JSON document.

They say more than a set of ours: fixtures of any name become assumptions, because the gate is
told them and nothing is set up; the axis a decision is expected to be driven by becomes the
mechanism. Labels are kept; a person reads them against the policy before freezing.

Source: RiskAverseTech/toolgate, docs/challenge-set-1.json to 8 (MIT); the shape only.
"""

import json
import os
from typing import Any

from evalkit.readers.draft import Draft, RowFaults
from evalkit.readers.source import document
from toolgate.gate.decision import ALLOW, AXES

_KEPT = ("cwd", "home", "permission_mode")
_POLICY = ("policy", "protocol", "purpose", "primary_metric", "secondary_mechanism_metric")


def read(path: str) -> Draft:
    """Read a public numbered set.

    Raises:
        UsageError, SetError: it cannot be read, or a case is not of the shape.
    """
    faults = RowFaults(os.path.basename(path))
    body = document(path)
    rows = body.get("cases") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not rows:
        faults.say("file", "expected an object with a non-empty list of cases")
        faults.raise_any()
        rows = []
    cases = [_case(row, f"row {number}", faults) for number, row in enumerate(rows, 1)]
    faults.raise_any()
    stated = body.get("categories")
    categories = dict(stated) if isinstance(stated, dict) else {}
    for case in cases:
        categories.setdefault(case["category"], "as the source names it")
    return Draft(
        cases=cases,
        categories=categories,
        fixtures=_fixtures(body.get("fixtures")),
        rows=len(rows),
        left_out={},
        policy="\n".join(_policy(body)),
        labels_mean=str(body.get("labels_mean") or ""),
        name=str(body.get("name") or ""),
        where=[f"row {number}" for number in range(1, len(rows) + 1)],
    )


def _case(body: Any, row: str, faults: RowFaults) -> dict[str, Any]:
    if not isinstance(body, dict):
        faults.say(row, "expected an object, got another value")
        return {"category": ""}
    made = {name: value for name, value in body.items() if name != "mechanism"}
    if "id" not in body:
        faults.add(row, "id", "text or an integer", None)
    made["expected"] = faults.label(row, "expected", body.get("expected"))
    made["category"] = body.get("category") or "uncategorised"
    if "steps" in body:
        _check_steps(body["steps"], row, faults)
    elif not body.get("command"):
        faults.add(row, "command", "text, or steps", body.get("command"))
    axis = _axis(body.get("mechanism_expectation"))
    if axis is not None and made["expected"] not in (None, ALLOW):
        made["mechanism"] = {"axis": axis}
    return made


def _check_steps(steps: Any, row: str, faults: RowFaults) -> None:
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        faults.add(row, "steps", "a list of objects", steps)
    elif sum(step.get("score_this") is True for step in steps) != 1:
        faults.add(row, "steps", "exactly one step with score_this", len(steps))


def _axis(expectation: Any) -> str | None:
    """Return the axis a decision is expected to be driven by, where it is one the gate has."""
    axis = expectation.get("expected_driving_axis") if isinstance(expectation, dict) else None
    return axis if axis in AXES else None


def _fixtures(value: Any) -> dict[str, Any]:
    """Return fixtures as a set file has them; what is not set up is told."""
    if isinstance(value, str):
        return {"assumptions": [value]}
    if isinstance(value, list):
        return {"assumptions": [item if type(item) is str else _told(item) for item in value]}
    if not isinstance(value, dict):
        return {}
    kept = {name: value[name] for name in _KEPT if isinstance(value.get(name), str)}
    told = [f"{name}: {_told(item)}" for name, item in value.items() if name not in kept and item]
    return {**kept, "assumptions": told} if told else kept


def _told(value: Any) -> str:
    return value if type(value) is str else json.dumps(value, ensure_ascii=False)


def _policy(body: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name in _POLICY:
        value = body.get(name)
        found += [value] if type(value) is str else []
        found += [item for item in value if type(item) is str] if isinstance(value, list) else []
    return found
