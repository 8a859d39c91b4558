"""Who has to approve an action of a class, and whether they did. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from toolgate.approval import Approval
from toolgate.errors import InputError

ALL_OF, ANY_OF, STAGED = "all-of", "any-of", "staged"
OPERATORS = (ALL_OF, ANY_OF, STAGED)


class Rule(NamedTuple):
    """How a class's approvals compose.

    Args:
        operator: ``all-of`` (every principal), ``any-of`` (n different ones) or
            ``staged`` (every one, each after the one before).
        n: how many ``any-of`` needs.
        principals: who may approve; in a staged sequence, in this order.
    """

    operator: str
    n: int
    principals: tuple[str, ...]

    def choose(self, standing: Sequence[Approval]) -> tuple[Approval, ...]:
        """Return the approvals a decision cites, in spine order; none when they do not satisfy it.

        Args:
            standing: the approvals the decision may rest on, in spine order.
        """
        chosen = self._chosen(standing)
        needed = self.n if self.operator == ANY_OF else len(self.principals)
        return tuple(chosen) if len(chosen) == needed else ()

    def missing(self, standing: Sequence[Approval]) -> tuple[str, ...]:
        """Return who may approve next; every one of them who still must, unless ``any-of``."""
        if self.choose(standing):
            return ()
        done = {item.principal for item in self._chosen(standing)}
        return tuple(name for name in self.principals if name not in done)

    def previous(self, principal: str, standing: Sequence[Approval]) -> Approval | None:
        """Return the approval that one of this principal has to name; None if none.

        Args:
            principal: who is about to approve, one of ``principals``.
            standing: the approvals before this one, in spine order.

        Raises:
            InputError: it is not this principal's turn yet.
        """
        if self.operator != STAGED:
            return None
        done = self._chosen(standing)
        place = self.principals.index(principal)
        if place > len(done):
            raise InputError(
                f"{principal!r} approves after {self.principals[place - 1]!r}, who has not yet"
            )
        return done[place - 1] if place else None

    def phrase(self, standing: Sequence[Approval] = ()) -> str:
        """Return the clause that says who has to approve, or still has to."""
        done, missing = self._chosen(standing), self.missing(standing)
        if self.operator == STAGED:
            who = ", then ".join(missing)
        elif self.operator == ALL_OF:
            who = _listed(missing, "and")
        else:
            left = self.n - len(done)
            who = _listed(missing, "or" if left < len(missing) else "and")
            who = f"{left} of {who}" if 1 < left < len(missing) else who
        return f"{who} must still approve" if done else f"{who} must approve"

    def _chosen(self, standing: Sequence[Approval]) -> list[Approval]:
        """Return as many approvals as fit, one a principal and key, in spine order."""
        if self.operator == STAGED:
            return self._sequence(standing)
        most = self.n if self.operator == ANY_OF else len(self.principals)
        chosen: list[Approval] = []
        for item in standing:
            if len(chosen) == most:
                break
            if item.principal in self.principals and not any(
                item.principal == other.principal or item.key == other.key for other in chosen
            ):
                chosen.append(item)
        return chosen

    def _sequence(self, standing: Sequence[Approval]) -> list[Approval]:
        """Return the longest sequence in which every approval names the one before it."""
        best: list[Approval] = []
        lines: dict[str, list[Approval]] = {}
        for item in standing:
            before = [] if item.after is None else lines.get(item.after)
            if before is None or len(before) == len(self.principals):
                continue
            fits = item.principal == self.principals[len(before)]
            if fits and item.key not in [other.key for other in before]:
                lines[item.entry] = [*before, item]
                best = max(best, lines[item.entry], key=len)
        return best


def _listed(names: Sequence[str], word: str) -> str:
    if len(names) < 2:
        return "".join(names) or "nobody"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"
