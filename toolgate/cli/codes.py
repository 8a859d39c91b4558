"""Finds the calls that a short code names."""

from collections.abc import Iterable
from typing import NamedTuple

from toolgate.approval import code_of
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import Decision

ALLOWED = "allowed"


class Named(NamedTuple):
    """Calls of one session with equal arguments and class, by the latest decision on them.

    Args:
        event: that decision's decision_digest.
        decision: what it says.
    """

    event: str
    decision: Decision


def named_by(lines: Iterable[Line | Bad], code: str) -> list[Named]:
    """Return what a code names; more than one when two things share it.

    Args:
        lines: every line of the ledger, those of one session in their order.
        code: as ``approval.code_of`` writes it.
    """
    found: dict[tuple[str, str, str], Named] = {}
    for line in lines:
        entry = line.entry if isinstance(line, Line) else None
        if not isinstance(entry, Decision) or not isinstance(line, Line) or entry.session is None:
            continue
        matter = (entry.session, entry.ev.args_digest, entry.action_class)
        held_back = entry.ev.decision_state != ALLOWED  # a code is shown for nothing else
        if matter in found or (held_back and code_of(*matter) == code):
            found[matter] = Named(line.event, entry)
    return list(found.values())
