"""Approvals on the spine: giving one, answering an ask with it, using it up.

Everything here happens under the spine's lock. A decision that rests on
approvals is preceded on the spine by an audit entry that names them and it, so
that whoever looks next, in whatever session, sees that they are used up. A
writer that dies between the two has used up approvals for nothing; the other
order could use one twice.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolgate.approval import (
    APPROVE,
    CITED,
    REFUSE,
    SIGNATURE,
    Approval,
    Approvers,
    Target,
    is_signed,
)
from toolgate.canonical import parse
from toolgate.errors import InputError
from toolgate.ledger import calls
from toolgate.ledger.index import Place, decision_digest_of
from toolgate.ledger.known import Known, known_at
from toolgate.ledger.session import Session
from toolgate.ledger.spine import Spine
from toolgate.ledger.store import Store
from toolgate.records import DecisionFields, decision_digest, entry


class Composing(NamedTuple):
    """A call that approvals allow.

    Args:
        fields: the decision as long as they are not there.
        approvers: who approves it.
        seen: whether an approval of its arguments counts only if the call was answered before
            that was given, by the same rule and with the same effects.
    """

    fields: DecisionFields
    approvers: Approvers
    seen: bool = False


class Settled(NamedTuple):
    """What was decided on such a call.

    Args:
        decision_digest: the decision's digest.
        allowed: whether the approvals were there.
        standing: the approvals that count towards it.
    """

    decision_digest: str
    allowed: bool
    standing: list[Approval]


class Given(NamedTuple):
    """What became of an approval or refusal that was given.

    Args:
        entry: its entry digest.
        decision_digest: the second decision it brought about; None while an ask stays open, or
            when it answers none.
        standing: the approvals that count towards the same action, this one included.
    """

    entry: str
    decision_digest: str | None
    standing: list[Approval]


def decide(held: Session, composing: Composing) -> Settled:
    """Add the decision on a call that approvals allow, and use them up, once.

    Without them the decision stays what it is.
    """
    placed = calls.place(held, composing.fields)
    fields = placed.fields
    target = Target(None, fields.args_digest, held.id, fields.action_class)
    mine = () if placed.earlier is None else tuple(parse(placed.earlier)["basis"])
    with held.spine() as spine:
        known = known_at(spine, held.setting.store, fields.ts)
        there = known.standing(target, composing.approvers.principals, fields.ts, mine)
        ts = max([fields.ts, *[item.ts for item in there]])
        there = [item for item in there if ts <= item.ev["expiry"]]
        if composing.seen:
            there = [item for item in there if _was_seen(held, fields, item)]
        chosen = composing.approvers.composition.choose(there)
        state = "allowed" if chosen else fields.decision_state
        fields = fields._replace(
            decision_state=state, ts=ts, basis=tuple(item.entry for item in chosen)
        )
        made = decision_digest(fields.event())
        _cite(spine, held, made, [item for item in chosen if item.entry not in mine], ts)
    calls.add(held, placed._replace(fields=fields), fields.basis)
    return Settled(made, bool(chosen), there)


def _was_seen(held: Session, fields: DecisionFields, item: Approval) -> bool:
    """Say whether whoever signed for a call's arguments could see what it does.

    The same arguments do something else in another directory, or once a file has changed.
    """
    if item.ev["args_digest"] is None:
        return True
    effects = list(fields.effects)
    for at in reversed(held.index.arguments.get(fields.args_digest.encode(), [])):
        body = parse(held.line_at(at))
        if (
            body["ts"] <= item.ts
            and body["ev"]["decision_state"] != "allowed"
            and (body["class"], body["rule"]) == (fields.action_class, fields.rule)
            and body["effects"] == effects
        ):
            return True
    return False


def _cite(spine: Spine, held: Session, made: str, approvals: list[Approval], ts: int) -> None:
    """Say on the spine that a decision uses up approvals that others could use as well."""
    shared = [item.entry for item in approvals if item.ev["decision_digest"] is None]
    if shared:
        details = {"approvals": shared}
        ev = {"action": CITED, "actor": held.setting.host, "target": made, "details": details}
        spine.append(entry("audit", session=held.id, turn=None, parents=[], ts=ts, ev=ev))


def give(
    spine: Spine,
    store: Store,
    ev: Mapping[str, Any],
    target: Target,
    approvers: Approvers,
) -> tuple[Known, Approval]:
    """Append a signed approval or refusal to the spine.

    Args:
        spine: the spine, locked.
        store: the ledger.
        ev: what is given, signed.
        target: the action it is given for.
        approvers: who approves that action.

    Raises:
        InputError: it is not signed, not with a key of its principal, not that principal's to
            give, not about the target, or no longer valid.
    """
    known = known_at(spine, store, ev["ts"])
    item = Approval("", spine.head.seq + 1, ev["ts"], None, ev)
    name = item.principal
    if ev["evidence"] != SIGNATURE or not is_signed(ev):
        raise InputError(f"the approval by {name!r} carries no signature that verifies")
    if not known.speaks(item, approvers.principals):
        raise InputError(f"key {ev['key']} is not a key of {name!r} under the action's policy")
    if not item.about(target):
        raise InputError("the approval is about another action than the one it is given for")
    if ev["expiry"] < ev["ts"]:
        raise InputError("the approval expires before it is given")
    if name not in approvers.composition.principals:
        may = ", ".join(approvers.composition.principals)
        raise InputError(f"{name!r} may not approve this; the policy lets {may}")
    if ev["verdict"] == APPROVE:
        there = known.standing(target, approvers.principals, ev["ts"])
        before = approvers.composition.previous(name, there)
        if before is not None and before.ts > ev["ts"]:
            raise InputError(f"the approval is older than that of {before.principal!r} before it")
        item = item._replace(after=None if before is None else before.entry)
    return known, _append(spine, known, item)


def _append(spine: Spine, known: Known, item: Approval) -> Approval:
    ev = item.ev
    parents = [] if item.after is None else [item.after]
    said = {name: value for name, value in ev.items() if name != "ts"}
    body = entry("approval", session=ev["session"], turn=None, parents=parents, ts=item.ts, ev=said)
    item = item._replace(entry=spine.append(body)[0])
    known.approvals.append(item)
    return item


def collect(
    spine: Spine,
    store: Store,
    ev: Mapping[str, Any],
    target: Target,
    approvers: Approvers,
) -> Given:
    """Append an approval that a later decision may cite; arguments as ``give``."""
    known, item = give(spine, store, ev, target, approvers)
    return Given(item.entry, None, known.standing(target, approvers.principals, item.ts))


def answer(
    held: Session,
    call: str,
    ev: Mapping[str, Any],
    approvers: Approvers,
) -> Given:
    """Answer an ask with a signed approval or refusal, if the composition is met by it.

    Args:
        held: the session.
        call: the call id.
        ev: what is given, signed; it names the ask's decision_digest.
        approvers: who answers it.

    Raises:
        InputError: as ``give``; or the call does not wait for an answer.
    """
    at, line = _open_ask(held, call, ev["decision_digest"])
    body = parse(line)
    target = Target(ev["decision_digest"], body["ev"]["args_digest"], held.id, body["class"])
    with held.spine() as spine:
        known, item = give(spine, held.setting.store, ev, target, approvers)
        there = known.standing(target, approvers.principals, item.ts)
        refused = ev["verdict"] == REFUSE
        chosen = (item,) if refused else approvers.composition.choose(there)
        if not chosen:
            return Given(item.entry, None, there)
        held.join(None)
        held.make_room(1)
        placed = calls.answered(
            held, line, at, "denied" if refused else "allowed", max(held.ts, item.ts)
        )
        entries = [one.entry for one in chosen]
        fields = placed.fields._replace(basis=(*placed.fields.basis, *entries))
        made = decision_digest(fields.event())
        _cite(spine, held, made, list(chosen), fields.ts)
    calls.add(held, placed._replace(fields=fields), entries)
    return Given(item.entry, made, there)


def _open_ask(held: Session, call: str, asked: str) -> tuple[Place, bytes]:
    found = calls.waiting(held, call)
    if found is None:
        raise InputError(f"call {call} has ended; there is nothing left to answer")
    if decision_digest_of(found[1]) != asked:
        raise InputError(f"call {call} has been decided again since {asked}")
    if parse(found[1])["ev"]["decision_state"] != "asked":
        raise InputError(f"the decision on call {call} asks nothing")
    if held.state.opened is None:
        raise InputError(f"session {held.id} has ended; call {call} will not run any more")
    return found
