"""Approvals as they were given, found by who signed them and what they are about."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from toolgate.verify.keys import Term


class Approval(NamedTuple):
    """An approval or refusal on the spine. ``sound``: its signature verifies and is no repeat."""

    entry: str
    seq: int
    parents: tuple[str, ...]
    ev: Mapping[str, Any]
    sound: bool

    @property
    def principal(self) -> str:
        return str(self.ev["principal"])

    @property
    def approves(self) -> bool:
        return bool(self.ev["verdict"] == "approve")

    @property
    def signed(self) -> bool:
        return self.sound and self.ev["evidence"] == "signature"


class Resting(NamedTuple):
    """A decision that rests on approvals, or should.

    Args:
        entry: its entry digest.
        event: its decision_digest.
        session: its session.
        turn: its turn.
        seen: the spine entry that stands before it for certain.
        until: the spine entry that stands behind it for certain.
        state: what was decided.
        rule: by which rule.
        action_class: the action's class.
        policy: the policy's digest.
        args: the args_digest.
        action_ref: the action.
        ts: when, microseconds UTC.
        asks: the decisions its basis names.
        basis: its basis.
        tampers: whether an effect of it changes the gate.
        seen_at: when the session was first asked about, or denied, a call with its arguments,
            class, rule and effects, microseconds UTC; None if it never was.
    """

    entry: str
    event: str
    session: str
    turn: int | None
    seen: int
    until: int
    state: str
    rule: str
    action_class: str
    policy: str
    args: str
    action_ref: str
    ts: int
    asks: tuple[str, ...]
    basis: tuple[str, ...]
    tampers: bool
    seen_at: int | None


class Index:
    """Approvals, or refusals, by principal and by what they name."""

    def __init__(self) -> None:
        self._found: dict[tuple[str | None, ...], list[Approval]] = defaultdict(list)
        self._keys: dict[str, set[str]] = defaultdict(set)
        self._asks: set[str] = set()

    def add(self, item: Approval) -> None:
        """Take one; in spine order."""
        names = ("principal", "key", "decision_digest", "args_digest", "class", "session")
        self._found[tuple(item.ev[name] for name in names)].append(item)
        self._keys[item.principal].add(item.ev["key"])
        self._asks.add(item.ev["decision_digest"])

    def about(
        self, one: Resting, principal: str, terms: Mapping[str, Term], before: int, most: int
    ) -> list[Approval]:
        """Return the latest ones by a principal about a decision, before a spine entry.

        Only the principal's keys are looked for, each while it was theirs: what others
        sign in their name must not stand before what they signed.
        """
        found: list[Approval] = []
        asks = [ask for ask in dict.fromkeys(one.asks) if ask in self._asks]
        things = list(
            product((None, *asks), (None, one.args), (None, one.action_class), (None, one.session))
        )
        for key in self._keys[principal] & terms.keys() if principal in self._keys else ():
            term = terms[key]
            for named in things:
                items = self._found.get((principal, key, *named), ())
                first = bisect_right(items, term.after, key=seq_of)
                last = bisect_right(items, min(before - 1, term.until), key=seq_of)
                found += items[max(first, last - most) : last]
        return found


def seq_of(item: Approval) -> int:
    """Return an approval's number on the spine."""
    return item.seq


def spent(
    one: Resting, item: Approval, back: Mapping[str, Approval], users: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return whether an approval was taken back or used up before a decision cites it."""
    if taken_back(item, back):
        message = f"{item.principal!r} took {item.entry} back by {back[item.principal].entry}"
        return "entries.approval_refused", message
    first = users.get(item.entry, one.action_ref)
    if first != one.action_ref:
        return "entries.approval_reused", f"{item.entry} was used for action {first} already"
    return None


def taken_back(item: Approval, back: Mapping[str, Approval]) -> bool:
    """Say whether its principal refused after an approval."""
    refusal = back.get(item.principal)
    return refusal is not None and refusal.seq > item.seq
