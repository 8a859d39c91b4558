"""Our own decision ledger: which sessions the gate decided for, by its own record."""

from collections.abc import Iterator

from toolgate.errors import RefusedError
from toolgate.sessions.merge import Evidence, evidence
from toolgate.sessions.record import Record, record_id
from toolgate.sessions.redact import identifier
from toolgate.sessions.trust import HARNESS_OF_HOST
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Line
from toolgate.verify.shapes import Decision, SessionOpen
from toolgate.views.gather import all_lines

SOURCE = "decision-ledger"


class _Session:
    """What the entries of one session say so far."""

    def __init__(self, host: str, ts: int) -> None:
        self.host = host
        self.start = self.end = ts
        self.tools: set[str] = set()
        self.user = ""
        self.withheld: set[str] = set()

    def decided(self, entry: Decision) -> None:
        """Take a decision: a tool counts as used only if a call of it was allowed."""
        if entry.ev.decision_state == "allowed":
            self._name(entry.intent.action_type, self.tools)
        found: set[str] = set()
        self._name(entry.ev.principal, found)
        self.user = self.user or "".join(found)

    def _name(self, value: str, into: set[str]) -> None:
        name = identifier(value)
        if name is not None:
            into.add(name)
        elif value:
            self.withheld.add(value)


def read(places: tuple[str, ...]) -> Iterator[Evidence]:
    """Yield one piece a session of some ledgers; measuring runs are no agent's sessions.

    Raises:
        LedgerError: there is no ledger, or it cannot be read.
        RefusedError: a session id or host is no identifier; nothing may be stored.
    """
    for place in dict.fromkeys(places):
        sessions: dict[str, _Session] = {}
        for item in all_lines(open_ledger(place)):
            entry = item.entry if isinstance(item, Line) else None
            if isinstance(entry, SessionOpen) and entry.session and entry.ev.executes:
                sessions.setdefault(entry.session, _Session(entry.ev.host, entry.ts))
            held = sessions.get(entry.session or "") if entry is not None else None
            if entry is None or held is None:
                continue
            held.start, held.end = min(held.start, entry.ts), max(held.end, entry.ts)
            if isinstance(entry, Decision):
                held.decided(entry)
        for session, held in sessions.items():
            yield evidence(_record(session, held), SOURCE)


def _record(session: str, held: _Session) -> Record:
    harness = HARNESS_OF_HOST.get(held.host, held.host)
    if identifier(session) is None or identifier(harness) is None:
        raise RefusedError(
            "source decision-ledger: a session's id or host is no identifier; it is not shown"
        )
    servers = {tool.split("__")[1] for tool in held.tools if tool.startswith("mcp__")}
    return Record(
        id=record_id(harness, session),
        session_id=session,
        harness=harness,
        vendor_user=held.user,
        mcp_servers=tuple(sorted(name for name in servers if identifier(name))),
        tools=tuple(sorted(held.tools)),
        start=held.start,
        end=held.end,
        redacted=len(held.withheld),
    )
