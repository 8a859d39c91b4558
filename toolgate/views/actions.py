"""A session's decisions put together by action: what was decided on one call, and its end."""

from typing import NamedTuple

from toolgate.verify.shapes import Decision, Outcome
from toolgate.views.approvals import APPROVE, SIGNED, Approval, approvals_of
from toolgate.views.gather import At, Gathered

RAN = ("ok", "error", "timeout", "cancelled")
"""The terminal states of a call that ran."""

STANDS, ANSWERED, REPLACED = "stands", "answered", "replaced"

NOT_NEEDED, SIGNATURE, TELEMETRY, INFERRED, REFUSED, OPEN, MISSING = (
    "not needed",
    "signature",
    "telemetry",
    "inferred",
    "refused",
    "open",
    "missing",
)
"""How a confirmation was given, or that none was."""


class Action(NamedTuple):
    """Everything decided and reported on one action.

    Args:
        decisions: the decisions that share its action_ref, oldest first; the last one counts.
        outcomes: the outcomes that commit to one of them, oldest first.
        approvals: the approvals it cites or that speak about it.
    """

    decisions: list[At[Decision]]
    outcomes: list[At[Outcome]]
    approvals: tuple[Approval, ...]

    @property
    def first(self) -> Decision:
        """Return the first decision, which is the step the call was made at."""
        return self.decisions[0].entry

    @property
    def standing(self) -> At[Decision]:
        """Return the decision that counts."""
        return self.decisions[-1]

    @property
    def final(self) -> At[Outcome] | None:
        """Return the outcome that counts: a real one before ``unresolved``."""
        real = [item for item in self.outcomes if item.entry.ev.terminal_state != "unresolved"]
        standing = real or self.outcomes
        return standing[-1] if standing else None

    def role(self, at: int) -> str:
        """Say what became of one of its decisions: stands, answered or replaced."""
        if at == len(self.decisions) - 1:
            return STANDS
        event = self.decisions[at].event
        cited = any(event in later.entry.basis for later in self.decisions[at + 1 :])
        return ANSWERED if cited else REPLACED

    @property
    def asked(self) -> bool:
        """Say whether the decision that counts is an ask, or answers one."""
        asks = {one.event for one in self.decisions if one.entry.ev.decision_state == "asked"}
        standing = self.standing
        return standing.event in asks or not asks.isdisjoint(standing.entry.basis)

    def confirmed(self, *, composed: bool) -> str:
        """Say how the confirmation it needed was given.

        Args:
            composed: whether the policy wants approvals for its class.
        """
        state = self.standing.entry.ev.decision_state
        cited = [one for one in self.approvals if one.cited]
        final = self.final
        if any(one.verdict != APPROVE for one in cited):
            return REFUSED
        if cited:
            signed = all(one.evidence == SIGNED for one in cited)
            return SIGNATURE if signed else TELEMETRY
        if not self.asked:
            return MISSING if composed else NOT_NEEDED
        if state == "allowed":
            return INFERRED
        return REFUSED if final and final.entry.ev.terminal_state == "refused" else OPEN

    def fate(self, *, executes: bool, is_open: bool) -> str:
        """Return what became of the call, in one word.

        Args:
            executes: whether the session runs what it allows.
            is_open: whether the session can still report on it.

        Returns:
            A terminal state of an allowed call; ``denied``, ``asked`` (nothing followed),
            ``decided`` (a run executes nothing), ``pending``, ``silent`` (nothing was reported
            and the session is over), or ``violation`` (it ran and should not have).
        """
        state = self.standing.entry.ev.decision_state
        final = self.final
        terminal = "" if final is None else final.entry.ev.terminal_state
        if terminal in RAN and (state != "allowed" or not executes):
            return "violation"
        if state == "denied":
            return "denied"
        if terminal:
            return terminal
        if state == "asked":
            return "asked"
        if not executes:
            return "decided"
        return "pending" if is_open else "silent"


def actions_of(held: Gathered) -> list[Action]:
    """Return a session's actions in the order of their first decisions."""
    by_ref: dict[str, list[At[Decision]]] = {}
    for decision in held.decisions:
        by_ref.setdefault(decision.entry.ev.action_ref, []).append(decision)
    ref_of = {one.event: ref for ref, made in by_ref.items() for one in made}
    ends: dict[str, list[At[Outcome]]] = {}
    for outcome in held.outcomes:
        ref = ref_of.get(outcome.entry.ev.decision_digest)
        if ref is not None:
            ends.setdefault(ref, []).append(outcome)
    return [
        Action(
            made,
            sorted(ends.get(ref, ()), key=lambda end: end.entry.ts),
            approvals_of(held.approvals, held.session, made),
        )
        for ref, made in by_ref.items()
    ]


def executes(held: Gathered) -> bool:
    """Say whether a session runs what it allows; so it is unless its opening says otherwise."""
    return held.opens[0].entry.ev.executes if held.opens else True


def is_open(held: Gathered) -> bool:
    """Say whether the session's latest part has not been closed."""
    return len(held.closes) < len(held.opens)
