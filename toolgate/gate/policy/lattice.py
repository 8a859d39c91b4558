"""From a static answer and readings on axes to the final answer. Pure.

A reading only makes an answer stricter, but for two that make one milder: ``authorized`` lowers
an ask, or what a reading says, by one step, and a reserved choice lowers what a reading denies to
ask. Neither touches a static deny, an axis that is not softened, or a floor.
"""

from typing import NamedTuple

from toolgate.gate.decision import ALLOW, ASK, DENY, STRICTNESS
from toolgate.gate.policy.axes import Axes, Axis
from toolgate.gate.readings import AUTHORIZED, LEXICON, Reading

OFF_TASK, CHOICE = "off_task", "unresolved_choice"
_STEP_DOWN = {DENY: ASK, ASK: ALLOW, ALLOW: ALLOW}


class Static(NamedTuple):
    """What the policy's rules say of a call.

    Args:
        state: ``allow``, ``ask`` or ``deny``.
        axis: the axis of the deciding rule, or None.
        softenable: whether an explicit request can lower it, by what the call does.
        floor: the mildest answer that can be given, whatever is read.
    """

    state: str
    axis: str | None = None
    softenable: bool = False
    floor: str = ALLOW


class Settled(NamedTuple):
    """The final answer, and what it rests on.

    Args:
        state: ``allow``, ``ask`` or ``deny``.
        axis: the deciding axis, or None.
        reading: the reading that decided; None where the rules did.
        mitigation: the reading that made the answer milder, or None.
    """

    state: str
    axis: str | None
    reading: Reading | None = None
    mitigation: Reading | None = None


def settle(axes: Axes, static: Static, readings: tuple[Reading, ...], *, task: bool) -> Settled:
    """Return the strictest answer over the rules and every axis.

    Values are compared as they are, by ``>=``. An axis nobody has read says nothing: it is not
    taken as zero, so an axis that would have to be low for an answer to become milder, and was
    not read, leaves the answer as it is.

    Args:
        axes: the policy's axes and lines.
        static: what the rules say.
        readings: what was read; a value that is no number from 0 to 1 counts as nothing read.
        task: whether it is known what the user asked for.
    """
    read = _strongest(axes, readings, task=task)
    allowed = _authorization(axes, readings, read, task=task)
    reserved = _reservation(axes, read)
    best = Settled(static.state, static.axis)
    if (
        allowed is not None
        and static.state == ASK
        and static.softenable
        and _softened(axes, static)
    ):
        best = Settled(ALLOW, static.axis, None, allowed)
    for name, reading in read.items():
        found = _of_axis(axes.axes[name], reading, allowed, reserved)
        stricter = STRICTNESS[found.state] > STRICTNESS[best.state]
        milder = found.state == best.state == ALLOW and best.mitigation is None
        if stricter or (milder and found.mitigation is not None):
            best = found
    if STRICTNESS[static.floor] > STRICTNESS[best.state]:
        return Settled(static.floor, static.axis)
    return best


def level(axis: Axis, value: float) -> str:
    """Return what a value on an axis says, before anything makes it milder."""
    if value >= axis.deny:
        return DENY if axis.ceiling == DENY else ASK
    return ASK if value >= axis.ask else ALLOW


def _strongest(axes: Axes, readings: tuple[Reading, ...], *, task: bool) -> dict[str, Reading]:
    """Return the highest reading of each axis that can be read here."""
    found: dict[str, Reading] = {}
    for reading in readings:
        axis = axes.axes.get(reading.axis)
        if axis is None or not 0 <= reading.value <= 1 or (axis.needs_task and not task):
            continue
        if reading.axis not in found or reading.value > found[reading.axis].value:
            found[reading.axis] = reading
    return found


def _softened(axes: Axes, static: Static) -> bool:
    return static.axis in axes.axes and axes.axes[static.axis].softened


def _authorization(
    axes: Axes, readings: tuple[Reading, ...], read: dict[str, Reading], *, task: bool
) -> Reading | None:
    """Return the reading by which the user asked for just this; None where none does."""
    if not task or _off_task(axes, read):
        return None
    for reading in readings:
        known = reading.source == LEXICON or OFF_TASK in read
        if reading.axis == AUTHORIZED and known and axes.authorized <= reading.value <= 1:
            return reading
    return None


def _off_task(axes: Axes, read: dict[str, Reading]) -> bool:
    reading = read.get(OFF_TASK)
    return reading is not None and reading.value >= axes.axes[OFF_TASK].ask


def _reservation(axes: Axes, read: dict[str, Reading]) -> Reading | None:
    """Return the reading of a choice that is the user's, where it can make an answer milder."""
    reading = read.get(CHOICE)
    if reading is None or reading.value < axes.axes[CHOICE].deny:
        return None
    return reading if OFF_TASK in read and not _off_task(axes, read) else None


def _of_axis(
    axis: Axis, reading: Reading, allowed: Reading | None, reserved: Reading | None
) -> Settled:
    state = level(axis, reading.value)
    if not axis.softened:
        return Settled(state, axis.name, reading)
    if state == DENY and reserved is not None:
        return Settled(ASK, axis.name, reading, reserved)
    if state != ALLOW and allowed is not None:
        return Settled(_STEP_DOWN[state], axis.name, reading, allowed)
    return Settled(state, axis.name, reading)
