"""The processes that write one ledger, its sessions, and the calls they decide."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from approved import FIRST, TOOLS, Desk, policy
from consent import Matter
from ledgers import SPINE, START

from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError
from toolgate.ledger.files import session_name
from toolgate.records import decision_digest

LONG = 10**15
LATER = 10_000_000
SETTINGS = (
    ({"shape": "dag"}, policy("alone", None), 0),
    ({"shape": "linear"}, FIRST, -7_000_000),
    ({"shape": "dag", "executes": False, "host": "evalkit"}, policy("other", None), 0),
    ({"shape": "dag", "host": "codex"}, policy("alone", None), 3_000_000),
)
"""The processes: how they write, by which policy they decide, and how far off their clock is."""
NOT_RUN = ("", "refused", "unresolved")
_MARKS = ("session_open", "session_close", "turn_open", "turn_close")
_IN_TURNS = ("decision", "outcome", "recovery")


@dataclass
class Call:
    """A call, as the latest decision on it and its end tell it."""

    session: str
    id: str
    action_class: str
    args: str
    state: str
    told: str
    event: str
    by: str = ""
    end: str = ""
    ran: str = ""  # how it really ended, if it ran
    ran_with: str = ""
    rests_on: tuple[str, ...] = ()
    said: set[str] = field(default_factory=set)

    @property
    def tool(self) -> str:
        return TOOLS.get(self.action_class, "Bash")

    @property
    def result(self) -> str:
        return digest(f"result {self.id}".encode())


@dataclass
class Place:
    """A session."""

    id: str
    linear: bool = False
    executes: bool = True
    known: bool = False
    open: bool = False
    turn: bool = False
    calls: dict[str, Call] = field(default_factory=dict)  # in the order of their latest decision
    first: str | None = None


@dataclass
class Stray:
    """A call that ran and that nobody decided."""

    session: str
    call: str | None
    args: str
    stated: int = 0


class Sessions:
    """The sessions of one ledger, the processes that write it, and the calls they decide."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = START
        self.desks = [self._process(at) for at in range(len(SETTINGS))]
        self.places: dict[str, Place] = {}
        self.matters: dict[tuple[str, str, str], Matter] = {}
        self.strays: list[Stray] = []
        self.signers = {name: name for name in ("alice", "bob", "carol")}
        self.log_keys = ["log 0"]
        self.notes: list[bytes] = []
        self.decisions: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.replaced = self.after_deny = self.in_run = self.unmatched = self.differ = (
            self.unmet
        ) = 0
        self.count = 0

    def _process(self, at: int) -> Desk:
        setting, text, _ = SETTINGS[at]
        return Desk(self.root, "", text, **setting)

    def _at(self, process: int, session: str, *, exact: bool = False) -> Desk:
        """Return a process, turned to a session."""
        self.clock += 10_000
        desk = self.desks[process]
        desk.session = session
        desk.ts = self.clock + (0 if exact else SETTINGS[process][2])
        return desk

    def _later(self) -> int:
        """Let time pass until no process's clock is ahead; return the time then."""
        self.clock += LATER
        return self.clock

    def place(self, session: str) -> Place:
        return self.places.setdefault(session, Place(session))

    def _enter(self, process: int, session: str) -> Place:
        """Open a session and its turn, as whatever needs them does."""
        held = self._open(process, session)
        held.turn = True
        return held

    def _open(self, process: int, session: str) -> Place:
        held, setting = self.place(session), SETTINGS[process][0]
        if not held.known:
            held.known = True
            held.linear = setting["shape"] == "linear"
            held.executes = setting.get("executes", True)
        held.open = True
        return held

    def _fresh(self) -> str:
        self.count += 1
        return f"c{self.count}"

    def _decided(self, call: Call, state: str, event: str, *, told: str = "", by: str = "") -> None:
        """Take a decision on a call; it answers an ask if it says by what, else it replaces."""
        held = self.place(call.session)
        before = held.calls.pop(call.id, None)
        held.calls[call.id] = call
        if before is not None and not by:
            self.replaced += 1
        self.decisions[state] += 1
        call.state, call.event, call.told, call.by = state, event, told or state, by

    # -- sessions and turns

    def prompt(self, process: int, session: str, prompt: str | None) -> None:
        self._at(process, session).prompt(prompt)
        self._enter(process, session)

    def stop(self, process: int, session: str) -> None:
        self._at(process, session).stop()
        self.place(session).turn = False

    def close(self, process: int, session: str) -> None:
        self._at(process, session).close()
        self._closed(self.place(session))

    def _closed(self, held: Place) -> None:
        for call in held.calls.values() if held.open and held.executes else ():
            if call.state == "allowed" and not call.end:
                call.end = "unresolved"
                self.outcomes["unresolved"] += 1
        held.open = held.turn = False

    def spawn(self, process: int, session: str, parent: Call) -> None:
        """Open the session of an agent that another one's call started."""
        desk = self._at(process, session)
        desk.ledger.session_open(session, ts=desk.tick(), spawned_by=parent.event)
        self._open(process, session)

    def recover(self, process: int, *, idle: int) -> None:
        """Seal what is torn; close the sessions that are idle, which is all of them or none."""
        ts = self._later()
        self.desks[process].ledger.recover(ts=ts, idle_us=idle)
        for held in self.places.values() if not idle else ():
            self._closed(held)

    # -- decisions

    def decide(
        self, process: int, session: str, states: list[str], prompt: str | None, *, same: bool
    ) -> None:
        """Decide new calls, all at once; ``same``: with the arguments of others."""
        desk = self._at(process, session)
        calls = []
        for state in states:
            call = self._fresh()
            args = "same" if same else f"args {call}"
            calls.append(Call(session, call, "look", args, state, state, ""))
        made = [desk.fields(one.id, one.state, "look", one.args) for one in calls]
        events = desk.ledger.decide_many(
            session, key=prompt, fields=made, policy=desk.text, ts=desk.tick()
        )
        self._enter(process, session)
        for call, event in zip(calls, events, strict=True):
            self._decided(call, call.state, event)

    def decide_on_facts(self, process: int, session: str) -> None:
        """Decide a call because of what an earlier entry of the session says."""
        held = self.place(session)
        held.first = held.first or self._first_decision(held)
        facts = () if held.first is None else ({"code": "ran_before", "entry": held.first},)
        call = self._fresh()
        one = Call(session, call, "look", call, "", "", "")
        event = self._at(process, session).say(call, "denied", args=call, facts=facts)
        self._enter(process, session)
        self._decided(one, "denied", event)

    def _first_decision(self, held: Place) -> str | None:
        path = self._own(held)
        wanted = (b'"kind":"decision"', b'"session":"%s"' % held.id.encode())
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
            if all(part in line for part in wanted):
                try:
                    parse(line)
                except CanonicalizationError:
                    continue
                return digest(line)
        return None

    def again(self, process: int, call: Call, state: str, *, args: str | None) -> None:
        """Ask about a call that waits."""
        desk = self._at(process, call.session)
        call.args = args or call.args
        event = desk.say(call.id, state, call.action_class, args=call.args)
        self._enter(process, call.session)
        call.rests_on = ()
        self._decided(call, state, event)

    def ask_composed(self, process: int, session: str, action_class: str, args: str) -> None:
        """Ask about a call of a class that needs approvals."""
        call = self._fresh()
        event = self._at(process, session).say(call, "asked", action_class, args=args)
        self._enter(process, session)
        self._decided(Call(session, call, action_class, args, "", "", ""), "asked", event)

    # -- on the disk

    def file(self, session: str) -> Path:
        return self.root / "sessions" / f"{session_name(session)}.jsonl"

    def _own(self, held: Place) -> Path:
        return self.root / SPINE if held.linear else self.file(held.id)

    def _latest_event(self, call: Call) -> str:
        """Return the digest of the latest decision on a call, as it lies on the disk."""
        path = self._own(self.place(call.session))
        mark = f'"call":"{call.id}"'.encode()
        lines = path.read_bytes().split(b"\n")
        line = next(line for line in reversed(lines) if mark in line and b'"intent"' in line)
        return decision_digest(parse(line)["ev"])

    def _last_ts(self, held: Place) -> int:
        """Return the time of the last entry in a session's turns, or that opens or closes one.

        An outcome that came after its turn is none. Behind a torn end stands nothing but
        its seal, which whoever finds it writes at his own time.
        """
        on_spine, _ = _entries(self.root / SPINE, held.id)
        inside, torn = _entries(self._own(held), held.id)
        marks = [body["ts"] for body in on_spine if body["kind"] in _MARKS]
        times = [body["ts"] for body in inside if body["kind"] in _IN_TURNS and body["turn"]]
        sealed = torn and not held.linear
        return int(max([0, *marks[-1:], *([] if sealed else times[-1:])]))


def _entries(path: Path, session: str) -> tuple[list[dict[str, Any]], bool]:
    """Return a session's entries in a file, and whether the file ends in a torn one."""
    found, torn = [], False
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        torn = line != b""
        if torn:
            try:
                found.append(parse(line))
            except CanonicalizationError:
                continue
            torn = False
    return [body for body in found if body["session"] == session], torn
