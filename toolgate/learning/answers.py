"""What became of the calls a policy held back, as a ledger's entries tell it. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import Decision, Other, Outcome, PolicySet

SIGNED, REPORTED, INFERRED = "signed", "reported", "inferred"
REFUSED, OPEN, DENIED = "refused", "open", "denied"
APPROVED = (SIGNED, REPORTED, INFERRED)
"""How it is known that somebody said yes: by signature, by the host's word, or by nothing but
that the call ran."""

_RAN = ("ok", "error", "timeout", "cancelled")
_ALLOWED, _ASKED = "allowed", "asked"


class Shape(NamedTuple):
    """What a ledger keeps of an effect that a rule can speak about.

    Args:
        type: its type.
        scope: its scope.
        reversible: whether it can be undone.
        proof: its proof state.
        program: the program that does it; "" where only the vault would know.
    """

    type: str
    scope: str
    reversible: bool
    proof: str
    program: str = ""


class HeldBack(NamedTuple):
    """A call that was asked about or denied, or let through by a signature.

    Args:
        entry: the entry digest of the first decision that held it back, or let it through on
            a signature.
        session: its session.
        call: its call id.
        tool: the tool's name.
        rule: the rule that held it back.
        axis: that rule's axis, if any.
        answer: what became of it, one of this module's words.
        shapes: its effects, each once, sorted.
        decision: that decision.
    """

    entry: str
    session: str
    call: str
    tool: str
    rule: str
    axis: str | None
    answer: str
    shapes: tuple[Shape, ...]
    decision: Decision


class Answers(NamedTuple):
    """What a ledger says.

    Args:
        policy: digest of the policy that was announced last; None if none was.
        held_back: the calls, in the order of the ledger.
    """

    policy: str | None
    held_back: list[HeldBack]


class _Said:
    """The approvals and refusals of a ledger."""

    def __init__(self) -> None:
        self.evidence: dict[str, tuple[bool, bool]] = {}  # entry -> approves, signed
        self.refused: set[str] = set()  # decision_digests and args_digests

    def take(self, line: Line, entry: Other) -> None:
        ev = entry.ev
        approves = ev["verdict"] == "approve"
        self.evidence[line.digest] = (approves, ev["evidence"] == "signature")
        if not approves:
            self.refused |= {ev["decision_digest"], ev["args_digest"]} - {None}


class _Call(NamedTuple):
    """The decisions on one call, oldest first, as (entry digest, decision_digest, decision)."""

    made: list[tuple[str, str, Decision]]


def answers_of(lines: Iterable[Line | Bad]) -> Answers:
    """Return what became of each call a ledger's policies held back.

    Args:
        lines: every line of the ledger, the spine first.
    """
    said, policy = _Said(), None
    calls: dict[tuple[str, str], _Call] = {}
    events: set[str] = set()
    ends: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        if isinstance(line, Bad):
            continue
        entry = line.entry
        if isinstance(entry, Decision):
            key = (entry.session, entry.ev.action_ref)
            # What was simply allowed is most of a ledger, and says nothing here.
            if key in calls or entry.basis or entry.ev.decision_state != _ALLOWED:
                calls.setdefault(key, _Call([])).made.append((line.digest, line.event, entry))
                events.add(line.event)
        elif isinstance(entry, Outcome):
            # A late one stands on the spine, which is read before the session's own file.
            if entry.ev.decision_digest in events or not line.file.startswith("sessions/"):
                ends[entry.ev.decision_digest].add(entry.ev.terminal_state)
        elif isinstance(entry, PolicySet):
            policy = entry.ev.policy
        elif isinstance(entry, Other) and entry.kind == "approval":
            said.take(line, entry)
    found = []
    for call in calls.values():
        answer = _answer(call, said, ends)
        if answer is not None:
            found.append(_held_back(call, answer))
    return Answers(policy, found)


def _answer(call: _Call, said: _Said, ends: dict[str, set[str]]) -> str | None:
    """Return what became of a call; None if it was simply allowed."""
    cited = [said.evidence[item] for _, _, one in call.made for item in one.basis
             if item in said.evidence]  # fmt: skip
    first, last = call.made[0][2], call.made[-1][2]
    if first.ev.decision_state == _ALLOWED and not cited:
        return None
    states = {state for _, event, _ in call.made for state in ends.get(event, ())}
    refused = any(not approves for approves, _ in cited) or "refused" in states
    named = {first.ev.args_digest, *(event for _, event, _ in call.made)}
    if refused or not said.refused.isdisjoint(named):
        return REFUSED
    if cited:
        return SIGNED if all(signed for _, signed in cited) else REPORTED
    if last.ev.decision_state == _ALLOWED or not states.isdisjoint(_RAN):
        return INFERRED
    return OPEN if last.ev.decision_state == _ASKED else DENIED


def _held_back(call: _Call, answer: str) -> HeldBack:
    entry, _, first = call.made[0]
    shapes = {Shape(one.type, one.scope, one.reversible, one.proof) for one in first.effects}
    return HeldBack(
        entry=entry,
        session=first.session,
        call=first.intent.call,
        tool=first.intent.action_type,
        rule=first.rule,
        axis=first.axis,
        answer=answer,
        shapes=tuple(sorted(shapes)),
        decision=first,
    )
