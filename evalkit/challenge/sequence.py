"""A sequential case: hook events in order, one of them scored. Pure."""

from evalkit.challenge.case import EVENTS, OUTCOMES, POST, PRE, Step
from evalkit.challenge.fields import Faults, Fields, shown


def steps_of(fields: Fields) -> tuple[Step, ...]:
    """Return the steps of a sequential case; exactly one PreToolUse step is scored."""
    where = fields.path("steps")
    steps = tuple(
        _step(body, f"{where}[{number}]", fields.faults)
        for number, body in enumerate(fields.items("steps", list, "a non-empty list of steps"))
    )
    scored = [number for number, step in enumerate(steps) if step.scored]
    if len(scored) != 1:
        fields.faults.add(where, "exactly one step with score_this", f"{len(scored)}")
    _check_outcomes(steps, where, fields.faults)
    return steps


def _check_outcomes(steps: tuple[Step, ...], where: str, faults: Faults) -> None:
    """Hold every outcome to the call right before it that still lacks one."""
    open_call = False
    for number, step in enumerate(steps):
        if step.event == POST and not open_call:
            faults.add(f"{where}[{number}]", "a call before it without an outcome", "none")
        if step.event in (PRE, POST):
            open_call = step.event == PRE


def _step(body: object, where: str, faults: Faults) -> Step:
    fields = Fields(body, where, faults)
    event = fields.word("event", EVENTS)
    scored = fields.flag("score_this")
    if scored and event != PRE:
        faults.add(f"{where}.score_this", "a PreToolUse step to be scored", shown(event))
    if scored and fields.flag("setup_only"):
        faults.add(where, "setup_only or score_this", "both")
    if event == PRE:
        tool = fields.text("tool")
        return Step(PRE, tool, fields.object("input", "the tool's input, an object"), scored)
    result = (fields.optional_word("result", OUTCOMES) or OUTCOMES[0]) if event == POST else None
    return Step(event, None, None, scored, result)
