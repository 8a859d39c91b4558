"""Approval entries as people read them, and which calls they speak about."""

from collections.abc import Iterable
from typing import NamedTuple

from toolgate.verify.shapes import Decision, Other
from toolgate.views.gather import At

APPROVE, SIGNED = "approve", "signature"


class Approval(NamedTuple):
    """One approval or refusal.

    Args:
        entry: its entry digest.
        seq: its number on the spine.
        ts: when it was given, microseconds UTC.
        principal: who gave it.
        verdict: ``approve`` or ``refuse``.
        evidence: ``signature``, or ``telemetry`` for the host's word.
        expiry: until when it holds, microseconds UTC.
        key: the public key it is signed with; None for telemetry.
        decision_digest: the only decision it speaks about, if it names one.
        args_digest: the only arguments it speaks about, if it names them.
        session: the only session it speaks about, if it names one.
        action_class: the only class it speaks about, if it names one.
        cited: whether a decision of the call rests on it.
    """

    entry: str
    seq: int
    ts: int
    principal: str
    verdict: str
    evidence: str
    expiry: int
    key: str | None
    decision_digest: str | None
    args_digest: str | None
    session: str | None
    action_class: str | None
    cited: bool


def approvals_of(
    entries: Iterable[At[Other]], session: str, decisions: list[At[Decision]]
) -> tuple[Approval, ...]:
    """Return the approvals that decisions on one action cite, or that speak about it.

    Args:
        entries: approval entries, in the order of the spine.
        session: the decisions' session.
        decisions: all decisions on the action.
    """
    basis = {item for held in decisions for item in held.entry.basis}
    found = []
    for held in entries:
        cited = held.digest in basis
        if cited or any(_binds(held.entry, session, one) for one in decisions):
            found.append(_approval(held, cited))
    return tuple(found)


def _binds(entry: Other, session: str, decision: At[Decision]) -> bool:
    """Say whether an approval names this call and nothing it names is another's."""
    ev = entry.ev
    if ev["decision_digest"] is None and ev["args_digest"] is None:
        return False  # a whole class or session; it speaks about this call once it is cited
    said = decision.entry
    return (
        ev["decision_digest"] in (None, decision.event)
        and ev["args_digest"] in (None, said.ev.args_digest)
        and ev["session"] in (None, session)
        and ev["class"] in (None, said.action_class)
    )


def _approval(held: At[Other], cited: bool) -> Approval:
    ev = held.entry.ev
    return Approval(
        entry=held.digest,
        seq=held.seq,
        ts=held.entry.ts,
        principal=ev["principal"],
        verdict=ev["verdict"],
        evidence=ev["evidence"],
        expiry=ev["expiry"],
        key=ev["key"],
        decision_digest=ev["decision_digest"],
        args_digest=ev["args_digest"],
        session=ev["session"],
        action_class=ev["class"],
        cited=cited,
    )
