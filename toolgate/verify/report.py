"""What a verification found, as one value."""

from typing import Any, NamedTuple

from toolgate.verify.authority import Authority
from toolgate.verify.endings import Ending
from toolgate.verify.execution import Ask
from toolgate.verify.findings import Finding
from toolgate.verify.traces.span import Source


class Report(NamedTuple):
    """What a verification found.

    Args:
        verdict: PASS, FAIL, INCOMPLETE or CONDITIONAL.
        findings: faults of their own, each followed by what it brings with it.
        more: findings of a code beyond those, which are only counted.
        head: number and digest of the last spine entry.
        sessions: how many sessions there are.
        entries: entries by kind.
        decisions: decisions by state.
        outcomes: outcomes by terminal state.
        calls: calls by (what they were first told, how they ended).
        replaced: decisions that a later one replaced.
        answered: asks that were answered, by how (``signature``, ``telemetry``, ``inferred``).
        by_content: outcomes that found their decision by tool and arguments, not by id.
        joins: calls of the trace by how they found their decision (``id``, ``content``).
        traces: what was read as a trace, file by file.
        endings: ends of calls and answers to asks that the trace shows and the ledger does
            not know.
        unmatched: calls of known sessions that ran and that nobody decided.
        authority: where the authority of each policy that decided ends.
        args_differ: calls that ran with other arguments than were decided.
        recovered: sealed fragments.
        asks: asks that nothing followed.
        unlisted: how many asks, ends, answers and unmatched calls are only counted, beyond
            those that are listed.
        checked: what was checked, one sentence each.
        unchecked: what was not, and why.
        conditions: those of ``unchecked`` that PASS would need.
        runs: names of the ledgers in ``runs/``, which are verified by themselves.
    """

    verdict: str
    findings: list[Finding]
    more: dict[str, int]
    head: tuple[int, str]
    sessions: int
    entries: dict[str, int]
    decisions: dict[str, int]
    outcomes: dict[str, int]
    calls: dict[tuple[str, str], int]
    replaced: int
    answered: dict[str, int]
    by_content: int
    joins: dict[str, int]
    traces: list[Source]
    endings: list[Ending]
    unmatched: list[Ending]
    authority: list[Authority]
    args_differ: int
    recovered: int
    asks: list[Ask]
    unlisted: dict[str, int]
    checked: list[str]
    unchecked: list[str]
    conditions: list[str]
    runs: list[str]

    @property
    def inferred(self) -> int:
        """Return how many asks are known to be answered by their execution only."""
        return self.answered.get("inferred", 0)

    @property
    def ends(self) -> int:
        """Return how many calls ended as the trace shows and the ledger does not know."""
        listed = sum(ending.terminal_state is not None for ending in self.endings)
        return listed + self.unlisted.get("ends", 0)

    @property
    def answers(self) -> int:
        """Return how many asks were answered as telemetry says and the ledger does not know."""
        listed = sum(ending.approved is not None for ending in self.endings)
        return listed + self.unlisted.get("answers", 0)

    @property
    def primary(self) -> list[Finding]:
        """Return the faults of their own."""
        return [item for item in self.findings if item.cause is None]

    def as_json(self) -> dict[str, Any]:
        """Return the report as one JSON object."""
        table: dict[str, dict[str, int]] = {}
        for (state, terminal), count in sorted(self.calls.items()):
            table.setdefault(state, {})[terminal] = count
        return {
            **self._asdict(),
            "findings": [item._asdict() for item in self.findings],
            "head": {"seq": self.head[0], "digest": self.head[1]},
            "calls": table,
            "authority": [item.as_json() for item in self.authority],
            "traces": [item._asdict() for item in self.traces],
            "endings": [item._asdict() for item in self.endings],
            "unmatched": [item._asdict() for item in self.unmatched],
            "asks": {
                "answered": self.answered,
                "executed": self.inferred,
                "unexecuted": [item._asdict() for item in self.asks],
            },
        }
