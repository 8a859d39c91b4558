"""What people have approved and refused so far, and whom an action still waits for.

A reading of the rules of its own, for approvals that name their action in full: no
other action's approvals and no expiry get in the way.
"""

from typing import NamedTuple

from approved import COMPOSITION

ANYBODY = {"operator": "any-of", "n": 1, "principals": ["alice", "bob", "carol"]}


class Given(NamedTuple):
    """An approval or refusal.

    Args:
        entry: its entry digest.
        by: who gave it.
        approves: whether it approves.
        ask: the ask it answers; None for one that is about the action.
        after: the approval it follows in a staged sequence, if any.
    """

    entry: str
    by: str
    approves: bool
    ask: str | None
    after: str | None


class Matter:
    """One action of a class, and what was said about it.

    Args:
        action_class: its class; it needs approvals if that is composed.
    """

    def __init__(self, action_class: str) -> None:
        self.composed = action_class in COMPOSITION
        rule = COMPOSITION.get(action_class, ANYBODY)
        self.people = rule["principals"]
        self._staged = rule["operator"] == "staged"
        self._needed = rule.get("n", len(self.people))
        self._given: list[Given] = []
        self._used: set[str] = set()

    def standing(self, ask: str | None, mine: tuple[str, ...] = ()) -> list[Given]:
        """Return the approvals that count: nobody took them back or used them up."""
        there: list[Given] = []
        for item in self._given:
            if item.ask not in (None, ask):
                continue
            if not item.approves:
                there = [one for one in there if one.by != item.by]
            elif item.entry in mine or item.entry not in self._used:
                there.append(item)
        return there

    def line(self, there: list[Given]) -> list[Given]:
        """Return those of some approvals that fit together, as far as they go."""
        if self._staged:
            lines: dict[str | None, list[Given]] = {None: []}
            for item in there:
                before = lines.get(item.after)
                if before is not None and item.by == self.people[len(before)]:
                    lines[item.entry] = [*before, item]
            return max(lines.values(), key=len)
        first: dict[str, Given] = {}
        for item in there:
            if item.by in self.people and len(first) < self._needed:
                first.setdefault(item.by, item)
        return list(first.values())

    def met_by(self, there: list[Given]) -> list[Given]:
        """Return the approvals an allowed call rests on; none while others are missing."""
        line = self.line(there)
        return line if len(line) == self._needed else []

    def previous(self, by: str, ask: str | None) -> str | None:
        """Return the approval that one by this person follows."""
        place = self.people.index(by) if self._staged else 0
        return self.line(self.standing(ask))[place - 1].entry if place else None

    def may_give(self, by: str, ask: str | None, approves: bool) -> bool:
        """Say whether it is this person's turn."""
        if by not in self.people:
            return False
        first = not self._staged or not approves
        return first or self.people.index(by) <= len(self.line(self.standing(ask)))

    def give(self, entry: str, by: str, approves: bool, ask: str | None, after: str | None) -> None:
        """Take an approval or refusal."""
        self._given.append(Given(entry, by, approves, ask, after))

    def use(self, items: list[Given]) -> None:
        """Use up approvals for a call; those that answer an ask are of no use to another."""
        self._used |= {item.entry for item in items if item.ask is None}
