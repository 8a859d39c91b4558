"""Verifies a ledger directory: one reading, three layers that do not know of each other."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any, NamedTuple

from toolgate.errors import LedgerError
from toolgate.verify import workers
from toolgate.verify.anchors import NOTHING, Anchors
from toolgate.verify.directory import session_name
from toolgate.verify.entries import Entries, Noted
from toolgate.verify.execution import Execution
from toolgate.verify.extent import Extent
from toolgate.verify.findings import MOST_OF_A_CODE, Found, attribute, verdict
from toolgate.verify.log import Log
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Bad, Line
from toolgate.verify.reader import Reader
from toolgate.verify.report import Report
from toolgate.verify.shapes import Decision, Outcome, SessionClose, SessionOpen, TurnClose
from toolgate.verify.traces.span import Span, Trace

_STEP = 4096
_WORTH_FORKING_BYTES = 16 * 1024 * 1024


def verify(
    root: str,
    *,
    spans: Trace | Sequence[Span] | None = None,
    expect_head: tuple[int, str] | None = None,
    anchors: Anchors = NOTHING,
    watch: Callable[[Line], None] | None = None,
    roots: Collection[str] = (),
    progress: Callable[[int], None] | None = None,
    processes: int | None = 1,
    most: int = MOST_OF_A_CODE,
    all_endings: bool = False,
) -> Report:
    """Verify a ledger.

    With more than one process the spine is read once, then the sessions are dealt to
    forked ones. Against a trace and with a watch, one reads them all: a trace's calls
    are taken by sessions in their order.

    Args:
        root: the ledger directory, or ``postgresql://...``.
        spans: a trace other systems wrote, or its tool calls; None when there is none.
        expect_head: number and digest of a spine entry that was kept outside.
        anchors: checkpoints and keys that were kept outside.
        watch: called with every entry that is read.
        roots: policy digests and public keys that are trusted to say who writes policies.
        progress: called now and then with the number of entries read so far.
        processes: how many may work; None for as many as there are processors, if the
            ledger is large enough to be worth it.
        most: how many findings of a code are listed, asks that nothing followed, and calls
            that only the trace knows; the others are counted.
        all_endings: whether all of these last are listed; who writes them needs them.

    Raises:
        LedgerError: there is no ledger, nothing in it, or it cannot be read.
        UnavailableError: one of the processes ended early.
    """
    directory = open_ledger(root)
    if directory.empty:
        raise LedgerError(f"nothing to verify: the ledger at {directory.root} has no entry")
    if spans is not None or watch is not None or not directory.forks:
        processes = 1
    elif processes is None:
        weight = directory.spine_size + sum(directory.sessions.values())
        processes = 1 if weight < _WORTH_FORKING_BYTES else workers.cpus()
    trusted = frozenset(roots)
    return _Verification(
        directory,
        spans,
        expect_head,
        anchors,
        trusted,
        watch,
        progress,
        processes,
        most,
        all_endings,
    ).run()


class _Part(NamedTuple):
    """What a process found in the sessions that were dealt to it.

    Args:
        found: by the session's name: findings of each layer, and asks; if there are any.
        more: how many findings of each code it has only counted, layer by layer.
        unlisted: how many asks it has only counted.
        noted: what concerns the sessions of others.
        sums: what layer 3 counted.
        kinds: entries by kind.
        recovered: sealed fragments.
        read: entries.
    """

    found: dict[str, tuple[list[Any], ...]]
    more: list[Counter[str]]
    unlisted: int
    noted: Noted
    sums: dict[str, Any]
    kinds: Counter[str]
    recovered: int
    read: int


class _Verification:
    """One verification while it runs."""

    def __init__(
        self,
        directory: Reader,
        spans: Trace | Sequence[Span] | None,
        expect_head: tuple[int, str] | None,
        anchors: Anchors,
        roots: frozenset[str],
        watch: Callable[[Line], None] | None,
        progress: Callable[[int], None] | None,
        processes: int,
        most: int,
        all_endings: bool,
    ) -> None:
        self._directory = directory
        self._trace = None if spans is None else Trace.of(spans)
        self._pin = expect_head
        self._pinned = expect_head is not None or any(item.binds for item in anchors.held)
        self._watch = watch
        self._progress = progress
        self._processes = processes
        self._entries = Entries(directory.policy, directory.signature, roots, most)
        self._log = Log(expect_head, anchors, most)
        self._execution = Execution(self._trace, most, all_endings=all_endings)
        self._kinds: Counter[str] = Counter()
        self._recovered = 0
        self._names: dict[str, str] = {}
        self._closed: dict[str, int] = {}
        self._closes: dict[str, str] = {}
        self._read = 0

    def run(self) -> Report:
        """Read everything once, then put the findings in order."""
        try:
            self._read_all()
        finally:
            self._entries.close()
        return self._report()

    def _read_all(self) -> None:
        for item in self._directory.read_spine():
            if isinstance(item, Line):
                self._follow(item)
            elif item.file == self._directory.spine[-1] and self._is_written(
                item, self._directory.spine_size
            ):
                continue
            self._take(item, None)
        names = sorted(self._names.keys() | self._directory.sessions.keys())
        if min(self._processes, len(names)) > 1:
            self._deal(names)
        else:
            for name in names:
                self._session(name)
        if self._directory.segments is not None:
            for damage in self._directory.segments.damage(self._closes):
                self._log.segment(*damage)
        self._entries.finish()
        self._log.finish()
        self._execution.finish()

    def _follow(self, line: Line) -> None:
        entry = line.entry
        if type(entry) is SessionOpen:
            session = entry.session or ""
            self._names.setdefault(session_name(session), session)
        elif type(entry) is TurnClose:
            self._closed[entry.session or ""] = entry.turn or 0
        elif type(entry) is SessionClose:
            self._closes[line.digest] = entry.session or ""

    def _session(self, name: str) -> None:
        known = name in self._names
        session = self._names.get(name, name)
        there = name in self._directory.sessions or self._directory.has_session(name)
        length = self._directory.sessions.get(name, 0)
        begun = False
        for item in self._directory.read_session(name) if there else ():
            whole = item.offset < length and type(item) is Line
            if not (whole or self._counts(item, session, length)):
                continue
            if not begun:
                self._log.begin_session(session, name, known=known)
                begun = True
            self._take(item, session)
        if not begun and known:
            self._log.begin_session(session, None, known=True)
        self._entries.end_session(session)
        self._log.end_session(session)
        self._execution.end_session(session)

    def _deal(self, names: list[str]) -> None:
        """Have other processes read the sessions, and take what they found in order."""
        count = min(self._processes, len(names))
        sizes = self._directory.sessions
        shares = workers.deal({name: sizes.get(name, 0) for name in names}, count)
        self._entries.part(count)

        def tell(read: int) -> None:
            if self._progress is not None:
                self._progress(self._read + read)

        def work(number: int, tell: Callable[[int], None]) -> _Part:
            return self._part(number + 1, shares[number], tell)

        found: dict[str, tuple[list[Any], ...]] = {}
        parts = workers.run(count, work, tell)
        for part in parts:
            found.update(part.found)
            self._execution.take(part.sums)
            self._kinds.update(part.kinds)
            self._recovered += part.recovered
            self._read += part.read
            self._execution.asks.more += part.unlisted
            for seen, counts in zip(self._found(), part.more, strict=True):
                seen.more.update(counts)
        order = {self._names.get(name, name): at for at, name in enumerate(names)}
        self._entries.take([part.noted for part in parts], order)
        for name in names:
            session = self._names.get(name, name)
            for layer in (self._entries, self._log, self._execution):
                layer.leave(session)
            *findings, asks = found.get(name, ((), (), (), ()))
            for seen, items in zip(self._found(), findings, strict=True):
                seen.extend(items)
            for ask in asks:
                self._execution.asks.append(ask)

    def _part(self, process: int, names: list[str], tell: Callable[[int], None]) -> _Part:
        """Read some of the sessions, as one of several processes."""
        self._entries.begin(process)
        self._log.begin()
        self._execution.begin()
        self._kinds.clear()
        self._recovered = self._read = 0
        self._progress = tell
        found: dict[str, tuple[list[Any], ...]] = {}
        for name in names:
            self._session(name)
            asks = self._execution.asks.take()
            items: tuple[list[Any], ...] = (*(seen.take() for seen in self._found()), asks)
            if any(items):
                found[name] = items
        more = [seen.more for seen in self._found()]
        unlisted = self._execution.asks.more
        noted, sums = self._entries.noted(), self._execution.sums()
        return _Part(found, more, unlisted, noted, sums, self._kinds, self._recovered, self._read)

    def _found(self) -> tuple[Found, Found, Found]:
        """Return what each layer has found."""
        return self._entries.seen, self._log.seen, self._execution.seen

    def _counts(self, item: Line | Bad, session: str, length: int) -> bool:
        """Say whether an item was there when this verification began, or belongs to what was.

        What was added since to a turn that the spine, as it was read, has not closed is
        left to the next verification.
        """
        if isinstance(item, Bad):
            return item.covered or (item.offset < length and not self._is_written(item, length))
        return item.offset < length or (item.entry.turn or 0) <= self._closed.get(session, -1)

    def _is_written(self, run: Bad, length: int) -> bool:
        """Say whether a torn end is a line that a writer is at, in a file of some length."""
        if not run.torn:
            return False
        return run.offset >= length or self._directory.is_growing(run.file, run.end)

    def _take(self, item: Line | Bad, stream: str | None) -> None:
        if isinstance(item, Bad):
            self._entries.bad(item, stream)
            self._log.bad(item, stream)
            self._recovered += item.covered
            return
        entry = item.entry
        if type(entry) is Decision:
            self._entries.decision(item, entry, stream)
            self._execution.decision(item, entry, stream)
        elif type(entry) is Outcome:
            self._entries.outcome(item, entry, stream)
            self._execution.outcome(item, entry, stream)
        else:
            self._entries.other(item, entry, stream)
            self._execution.other(item, entry, stream)
        self._log.line(item, stream)
        if self._watch is not None:
            self._watch(item)
        self._kinds[entry.kind] += 1
        self._read += 1
        if not self._read % _STEP and self._progress is not None:
            self._progress(self._read)

    def _report(self) -> Report:
        execution = self._execution
        findings = attribute(chain.from_iterable(self._found()))
        more = sum((seen.more for seen in self._found()), Counter[str]())
        extent = Extent(
            directory=self._directory,
            entries=self._entries,
            log=self._log,
            execution=execution,
            trace=self._trace,
            pin=None if self._pin is None else self._pin[0],
            pinned=self._pinned,
            read=self._read,
            sessions=len(self._names),
        )
        conditions, runs = extent.conditions(), self._directory.runs()
        return Report(
            verdict=verdict(findings, conditional=bool(conditions)),
            findings=findings,
            more=dict(sorted(more.items())),
            head=self._log.head,
            sessions=len(self._names),
            entries=dict(sorted(self._kinds.items())),
            decisions=dict(sorted(execution.decisions.items())),
            outcomes=dict(sorted(execution.outcomes.items())),
            calls=dict(sorted(execution.calls.items())),
            replaced=execution.replaced,
            answered=dict(execution.answered),
            by_content=execution.by_content,
            joins=execution.joins,
            traces=[] if self._trace is None else list(self._trace.sources),
            endings=execution.endings,
            unmatched=execution.unmatched,
            authority=self._entries.authority,
            args_differ=len(execution.differ),
            recovered=self._recovered,
            asks=list(execution.asks),
            unlisted=execution.unlisted,
            checked=extent.checked(),
            unchecked=extent.unchecked(conditions, runs),
            conditions=conditions,
            runs=runs,
        )
