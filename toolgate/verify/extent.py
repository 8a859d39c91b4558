"""What a verification covered and what not, in sentences for people."""

from typing import NamedTuple

from toolgate.verify.entries import Entries
from toolgate.verify.execution import Execution
from toolgate.verify.log import Log
from toolgate.verify.reader import Reader
from toolgate.verify.traces.span import Trace
from toolgate.verify.words import counted


class Extent(NamedTuple):
    """What was read, and by which layers.

    Args:
        directory: the ledger.
        entries: the first layer.
        log: the second.
        execution: the third.
        trace: what it was held against; None when nothing was given.
        pin: number of the spine entry that was kept outside; None when none was.
        pinned: whether anything kept outside binds the ledger.
        read: how many entries there were.
        sessions: how many sessions.
    """

    directory: Reader
    entries: Entries
    log: Log
    execution: Execution
    trace: Trace | None
    pin: int | None
    pinned: bool
    read: int
    sessions: int

    def checked(self) -> list[str]:
        """Return what was checked."""
        checked = [
            f"entries: form, canonical bytes and bindings of {counted(self.read, 'entry')}",
            f"log: one chain of {counted(self.log.head[0], 'spine entry')}, the turns of "
            f"{counted(self.sessions, 'session')}",
            "execution: every outcome against its decision",
        ]
        given = self.entries.approvals
        if given.entries:
            checked.append(
                f"entries: {counted(len(given.entries), 'approval')} and what rests on it"
            )
        if given.rotations:
            checked.append(f"entries: {counted(given.rotations, 'rotation')} of an approver's key")
        segments = self.directory.segments
        if segments:
            held = counted(len(segments), "sealed segment")
            checked.append(f"log: {held} against the manifest")
        if self.trace is not None:
            shown = counted(len(self.trace.calls), "call")
            joins = self.execution.joins
            checked.append(
                f"execution: {shown} of a trace against the ledger, {joins.get('id', 0)} joined "
                f"by id and {joins.get('content', 0)} by content"
            )
        if self.pin is not None:
            checked.append(f"log: {self._said_of_pin(self.pin)}")
        return checked + [f"log: {item}" for item in self.log.heads.checked()]

    def _said_of_pin(self, seq: int) -> str:
        if not self.log.holds_pin:
            return f"the pin, entry {seq}; the ledger does not hold it"
        behind = self._behind_pin()
        if behind is None:
            return f"the ledger ends at the pinned entry {seq}"
        which, were = behind
        return (
            f"the ledger holds the pinned entry {seq}; {which} came after the pin and {were} "
            "not covered by it"
        )

    def _behind_pin(self) -> tuple[str, str] | None:
        """Return which entries came after the pins that are held, and their verb; None if none did.

        Nothing is said of a pin that is not held: that is a finding.
        """
        first, last = self.log.covered + 1, self.log.head[0]
        if first == 1 or first > last:
            return None
        return (f"entry {last}", "is") if first >= last else (f"entries {first} to {last}", "are")

    def conditions(self) -> list[str]:
        """Return what PASS would need and this verification did not have."""
        conditions: list[str] = []
        behind = self._behind_pin()
        if not self.pinned:
            conditions.append("whether the whole ledger was rewritten or cut: no pin was given")
        elif behind is not None:
            which, were = behind
            conditions.append(
                f"whether what follows the pin was rewritten or cut: {which} {were} not covered "
                "by it"
            )
        inferred = self.execution.inferred
        if inferred:
            how = "it is known by its" if inferred == 1 else "they are known by their"
            conditions.append(f"who approved {counted(inferred, 'ask')}: {how} execution only")
        return conditions

    def unchecked(self, conditions: list[str], runs: list[str]) -> list[str]:
        """Return what was not checked: the conditions, and what no verification could."""
        unchecked: list[str] = []
        if self.trace is None:
            unchecked.append("execution against a trace: none was given")
        unchecked += conditions
        unchecked += self.log.heads.unchecked()
        segments = self.directory.segments
        if segments and segments.unread_twins:
            twins = counted(segments.unread_twins, "Parquet twin")
            unchecked.append(f"what {twins} of segments say: pyarrow is not installed")
        beside = self.directory.beside
        if beside:
            be = "is" if len(beside) == 1 else "are"
            unchecked.append(f"{' and '.join(beside)}, which {be} no part of the chain")
        if runs:
            found, whose = counted(len(runs), "ledger"), "its" if len(runs) == 1 else "their"
            unchecked.append(f"{found} in runs/ with {whose} own chain and verification")
        return unchecked
