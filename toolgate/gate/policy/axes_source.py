"""What a policy's source says of axes: checked, and compiled."""

from typing import Any

from toolgate.gate.decision import AXES
from toolgate.gate.policy.axes import ASK_LINE, DENY_LINE, SHIPPED

_AUTHORIZED = "authorized"
_OWN = {"ask", "deny", "softened", "ceiling", "needs_task", "question"}
_MUST = ("softened", "ceiling", "question")
_LINES = ("ask", "deny")
_MOST_QUESTION = 2_000


def axis_names(body: dict[str, Any]) -> tuple[str, ...]:
    """Return the axes that a policy's rules may name.

    Args:
        body: the policy as its YAML says it.
    """
    said = body.get("axes")
    own = [name for name in said if isinstance(name, str)] if isinstance(said, dict) else []
    return (*AXES, *(name for name in own if name not in (*AXES, _AUTHORIZED)))


def axes_faults(value: Any) -> list[str]:
    """Return every fault of a policy's ``axes``."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return [f"axes is {type(value).__name__}; expected a mapping from axis to its lines"]
    faults: list[str] = []
    for name, said in value.items():
        where = f"axes: {name}"
        if name == _AUTHORIZED:
            faults += _line_fault(said, where)
        elif not isinstance(said, dict):
            faults.append(f"{where}: expected a mapping with ask and deny")
        elif name in AXES:
            faults += _lines_faults(said, where, name)
            fixed = sorted(set(map(str, said)) - set(_LINES))
            faults += [f"{where}: {key} of a shipped axis is fixed" for key in fixed]
        else:
            faults += _own_faults(name, said, where)
    return faults


def compiled_axes(value: dict[str, Any]) -> dict[str, Any]:
    """Return axes without faults as the compiled policy holds them."""
    axes = {name: said for name, said in value.items() if name != _AUTHORIZED}
    made: dict[str, Any] = {"axes": axes} if axes else {}
    if _AUTHORIZED in value:
        made[_AUTHORIZED] = value[_AUTHORIZED]
    return made


def _own_faults(name: Any, said: dict[str, Any], where: str) -> list[str]:
    """Return what is wrong with an axis that the policy adds."""
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, said)) - _OWN)]
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        faults.append(f"axes: {name!r} is no name; expected letters, digits and _")
    faults += [
        f"{where}: {key} is missing; an axis of your own states it"
        for key in _MUST
        if key not in said
    ]
    for key in ("softened", "needs_task"):
        if not isinstance(said.get(key, False), bool):
            faults.append(f"{where}: {key} is {said[key]!r}; expected true or false")
    if said.get("ceiling", "ask") not in _LINES:
        faults.append(f"{where}: ceiling is {said['ceiling']!r}; expected ask or deny")
    question = said.get("question", "?")
    if not isinstance(question, str) or not 0 < len(question.strip()) <= _MOST_QUESTION:
        faults.append(f"{where}: question is not text of 1 to {_MOST_QUESTION} characters")
    return faults + _lines_faults(said, where, name)


def _lines_faults(said: dict[str, Any], where: str, name: Any) -> list[str]:
    faults = [
        fault
        for key in _LINES
        if key in said
        for fault in _line_fault(said[key], f"{where}: {key}")
    ]
    shipped = next((axis for axis in SHIPPED if axis.name == name), None)
    ask = said.get("ask", shipped.ask if shipped else ASK_LINE)
    deny = said.get("deny", shipped.deny if shipped else DENY_LINE)
    if not faults and ask > deny:
        faults.append(
            f"{where}: asks from {ask} on but denies from {deny} on; expected ask <= deny"
        )
    return faults


def _line_fault(value: Any, where: str) -> list[str]:
    # Zero is refused: every reading reaches it, one that says nothing included.
    if type(value) in (int, float) and 0 < value <= 1:
        return []
    return [f"{where} is {value!r:.80}; expected a number above 0 and up to 1"]
