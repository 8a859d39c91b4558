"""What a decision is to rest on, and which link of its chain broke. Pure.

A right answer for another reason is luck. A case can say how its scored call
relates to the earlier ones, what has to be found in it and which axis has to
decide; a decision's facts, effects and axis are held against that, in this
order, because a link can only be judged when those before it hold.
"""

from typing import NamedTuple

from evalkit.challenge.fields import Fields
from toolgate.gate.decision import AXES
from toolgate.gate.effects.model import TYPES

JOIN, ARTIFACT, DECISION = (
    "execute/reference join",
    "artifact classification",
    "final decision",
)
PLACES = (JOIN, ARTIFACT, DECISION)
"""The links of the chain, in order: was the call joined to the earlier ones, was what they made
read for what it does, did the decision follow."""

JOINS: dict[str, frozenset[str]] = {
    "executes": frozenset({"executes_artifact"}),
    "pending": frozenset({"pending_write"}),
    "unread": frozenset({"unread_artifact"}),
    "secret": frozenset({"read_secret"}),
    "untrusted": frozenset({"read_untrusted"}),
    "refers": frozenset(),
}
"""Relation of the scored call to the earlier ones; one of its fact codes is enough to say it."""

EXECUTION = JOINS["executes"] | JOINS["pending"] | JOINS["unread"]
"""Fact codes of a call that runs what was written earlier; none may be there when it ``refers``."""

_KEYS = ("join", "effects", "no_effects", "axis")


class Mechanism(NamedTuple):
    """What a decision is to rest on.

    Args:
        join: a key of ``JOINS``, or None.
        effects: effect types that have to be found.
        no_effects: effect types that must not be found.
        axis: the axis that has to decide, or None.
    """

    join: str | None
    effects: tuple[str, ...]
    no_effects: tuple[str, ...]
    axis: str | None


def mechanism_of(fields: Fields) -> Mechanism | None:
    """Return what a case says of the mechanism, or None when it says nothing.

    Args:
        fields: the case.
    """
    body = fields.body.get("mechanism")
    if body is None:
        return None
    inner = Fields(body, fields.path("mechanism"), fields.faults)
    for key in inner.body:
        if key not in _KEYS:
            inner.faults.add(inner.path(key), "one of " + ", ".join(_KEYS), "another key")
    if not inner.body:
        inner.faults.add(inner.where, "at least one of " + ", ".join(_KEYS), "none")
    return Mechanism(
        join=inner.optional_word("join", tuple(JOINS)),
        effects=inner.words("effects", TYPES),
        no_effects=inner.words("no_effects", TYPES),
        axis=inner.optional_word("axis", AXES),
    )


def broken_link(
    wanted: Mechanism, facts: frozenset[str], effects: frozenset[str], axis: str | None
) -> str:
    """Return the first link that is not as wanted, or "" when all are.

    Args:
        wanted: what the decision was to rest on.
        facts: codes of the facts it used.
        effects: types of the effects it found.
        axis: the axis that decided, or None.
    """
    if not _joined(wanted.join, facts):
        return JOIN
    if not effects.issuperset(wanted.effects) or not effects.isdisjoint(wanted.no_effects):
        return ARTIFACT
    if wanted.axis is not None and wanted.axis != axis:
        return DECISION
    return ""


def _joined(join: str | None, facts: frozenset[str]) -> bool:
    if join is None:
        return True
    if join == "refers":
        return facts.isdisjoint(EXECUTION)
    return not facts.isdisjoint(JOINS[join])
