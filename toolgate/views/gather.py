"""The entries of one session, sorted by kind, with what the spine says to all sessions."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import UNSET

from toolgate.verify.directory import session_name
from toolgate.verify.read import Bad, Line
from toolgate.verify.reader import Reader
from toolgate.verify.shapes import (
    Decision,
    Entry,
    Other,
    Outcome,
    PolicySet,
    Recovery,
    SessionClose,
    SessionOpen,
    TurnClose,
    TurnOpen,
)

E = TypeVar("E", bound=Entry)
_STEP = 4096

Progress = Callable[[int], None]


class At(NamedTuple, Generic[E]):
    """An entry with its digest, without its bytes.

    Args:
        digest: its entry digest.
        where: file and line.
        event: its decision_digest, if it is a decision.
        seq: its number on the spine; 0 in a session's file.
        entry: what it says.
    """

    digest: str
    where: str
    event: str
    seq: int
    entry: E


class Gathered(NamedTuple):
    """One session, as its ledger tells it.

    Args:
        session: its id.
        opens: its session_open entries, one a part.
        closes: its session_close entries.
        turn_opens: its turn_open entries by turn.
        turn_closes: its turn_close entries by turn.
        decisions: its decisions, in the order they stand in.
        outcomes: its outcomes; those on the spine first.
        recoveries: its recovery entries.
        audits: its audit entries.
        torn: runs of lines in its file that are no entries.
        approvals: every approval of the ledger.
        checkpoints: every checkpoint of the ledger.
        policies: every policy_set of the ledger by the policy's digest.
    """

    session: str
    opens: list[At[SessionOpen]]
    closes: list[At[SessionClose]]
    turn_opens: dict[int, At[TurnOpen]]
    turn_closes: dict[int, At[TurnClose]]
    decisions: list[At[Decision]]
    outcomes: list[At[Outcome]]
    recoveries: list[At[Recovery]]
    audits: list[At[Other]]
    torn: list[Bad]
    approvals: list[At[Other]]
    checkpoints: list[At[Other]]
    policies: dict[str, At[PolicySet]]

    @property
    def known(self) -> bool:
        """Say whether the ledger holds anything of the session."""
        return bool(self.opens or self.decisions or self.outcomes or self.turn_opens or self.torn)

    @property
    def digests(self) -> frozenset[str]:
        """Return the entry digests of everything that is the session's own."""
        rows = (self.opens, self.closes, self.decisions, self.outcomes, self.recoveries)
        found = {one.digest for kind in (*rows, self.audits) for one in kind}
        found |= {one.digest for one in self.turn_opens.values()}
        return frozenset(found | {one.digest for one in self.turn_closes.values()})


def gather(items: Iterable[Line | Bad], session: str) -> Gathered:
    """Sort what a ledger says about one session.

    Args:
        items: the spine, then the session's file.
        session: the session's id.
    """
    held = Gathered(session, [], [], {}, {}, [], [], [], [], [], [], [], {})
    file = f"sessions/{session_name(session)}.jsonl"
    for item in items:
        if isinstance(item, Bad):
            if item.file == file:
                held.torn.append(item)
        else:
            _take(held, item)
    return held


def _take(held: Gathered, line: Line) -> None:
    entry = line.entry
    if isinstance(entry, PolicySet):
        held.policies.setdefault(entry.ev.policy, _at(line, entry))
    elif isinstance(entry, Other) and entry.kind == "approval":
        held.approvals.append(_at(line, entry))
    elif isinstance(entry, Other) and entry.kind == "checkpoint":
        held.checkpoints.append(_at(line, entry))
    elif entry.session == held.session:
        _take_own(held, line, entry)


def _take_own(held: Gathered, line: Line, entry: Entry) -> None:
    if isinstance(entry, Decision):
        held.decisions.append(_at(line, entry))
    elif isinstance(entry, Outcome):
        held.outcomes.append(_at(line, entry))
    elif isinstance(entry, Recovery):
        held.recoveries.append(_at(line, entry))
    elif isinstance(entry, SessionOpen):
        held.opens.append(_at(line, entry))
    elif isinstance(entry, SessionClose):
        held.closes.append(_at(line, entry))
    elif isinstance(entry, TurnOpen):
        held.turn_opens.setdefault(entry.turn or 0, _at(line, entry))
    elif isinstance(entry, TurnClose):
        held.turn_closes.setdefault(entry.turn or 0, _at(line, entry))
    elif isinstance(entry, Other) and entry.kind == "audit":
        held.audits.append(_at(line, entry))


def _at(line: Line, entry: E) -> At[E]:
    seq = getattr(entry, "seq", UNSET)
    return At(line.digest, line.where, line.event, 0 if seq is UNSET else seq, entry)


def lines_of(
    directory: Reader, session: str, progress: Progress | None = None
) -> Iterator[Line | Bad]:
    """Yield the spine, then one session's file if it has one."""
    name = session_name(session)
    yield from watched(directory.read_spine(), progress)
    if name in directory.sessions or directory.has_session(name):
        yield from watched(directory.read_session(name), progress)


def all_lines(directory: Reader, progress: Progress | None = None) -> Iterator[Line | Bad]:
    """Yield every line of a ledger: the spine, then session after session."""

    def everything() -> Iterator[Line | Bad]:
        yield from directory.read_spine()
        for name in sorted(directory.sessions):
            yield from directory.read_session(name)

    yield from watched(everything(), progress)


def watched(items: Iterable[Line | Bad], progress: Progress | None) -> Iterator[Line | Bad]:
    """Yield items and say now and then how many there were."""
    for count, item in enumerate(items, 1):
        if progress is not None and not count % _STEP:
            progress(count)
        yield item


def as_json(value: Any) -> Any:
    """Return a view's value as JSON: named tuples become objects."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: as_json(item) for name, item in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {str(name): as_json(item) for name, item in value.items()}
    return value
