"""A sequential case: hook events in order, one of them scored. Pure."""

from evalkit.challenge.case import BATCH, EVENTS, PRE, Step
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
    return steps


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
        return Step(PRE, tool, fields.items("input", dict, "the tool's input, an object"), scored)
    result = None if event == BATCH else fields.optional_text("result")
    return Step(event, None, None, scored, result)
