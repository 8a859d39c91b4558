"""Ledgers for tests: one that the real writer made, and a rewriter that re-hashes everything."""

import json
from pathlib import Path
from typing import Any

from toolgate.action import Intent
from toolgate.canonical import digest, digest_of, profile_bytes
from toolgate.ledger.append import Ledger
from toolgate.ledger.turn_dag import frontier, frontier_root
from toolgate.records import DecisionFields
from toolgate.verify.anchors import NOTHING
from toolgate.verify.traces.span import Span

START = 1_800_000_000_000_000
POLICY = json.dumps(
    {
        "classes": [
            {"name": "look", "effects": [{"type": ["inspect"], "proof": ["proved"]}]},
            {"name": "shell", "tools": ["Bash"]},
        ]
    }
).encode()
VERSION = digest(POLICY)
BUILD = digest(b"build")
BESIDE = (
    "axis",
    "basis",
    "build",
    "class",
    "effects",
    "facts",
    "host",
    "intent",
    "mode",
    "proof",
    "rule",
)
SPINE = "spine-000000000001.jsonl"
LOOK = {
    "type": "inspect",
    "scope": "workspace",
    "resource": "h:" + "a" * 32,
    "reversible": True,
    "proof": "proved",
    "count": 1,
}


def fields(
    call: str,
    state: str = "allowed",
    *,
    ts: int = START,
    tool: str = "Bash",
    args: Any = None,
    facts: tuple[dict[str, Any], ...] = (),
) -> DecisionFields:
    """Return a decision about looking at something."""
    return DecisionFields(
        intent=Intent("main", tool, "workspace", ts, call),
        principal="alice",
        auth_mode="agent",
        policy_version=VERSION,
        decision_state=state,
        args_digest=digest_of({"command": f"ls {call}"} if args is None else args),
        ts=ts + 1,
        action_class="look",
        basis=(),
        effects=(LOOK,),
        facts=facts,
        host="claude-code",
        rule="look.ok",
        axis=None,
        proof="proved",
        mode="default",
        build=BUILD,
    )


class Writer:
    """The real writer with a clock that ticks and short words for calls."""

    def __init__(self, root: Path, session: str, **setting: Any) -> None:
        self.ledger = Ledger(str(root), **setting)
        self.session = session
        self.ts = START

    def tick(self) -> int:
        self.ts += 1000
        return self.ts

    def prompt(self, key: str | None) -> None:
        self.ledger.prompt(self.session, key=key, ts=self.tick())

    def decide(self, call: str, state: str = "allowed", **more: Any) -> str:
        ts = self.tick()
        return self.ledger.decide(
            self.session, key=None, fields=fields(call, state, ts=ts, **more), policy=POLICY, ts=ts
        )

    def outcome(self, call: str, terminal: str = "ok", /, **more: Any) -> str:
        report = {
            "call": call,
            "tool": "Bash",
            "args_digest": digest_of({"command": f"ls {call}"}),
            "result_digest": None if terminal == "refused" else digest(f"result {call}".encode()),
            "terminal_state": terminal,
            "source": "hook",
            "key": None,
        }
        return self.ledger.outcome(self.session, ts=self.tick(), **{**report, **more})

    def stop(self) -> None:
        self.ledger.turn_close(self.session, closed_by="stop", ts=self.tick())

    def close(self) -> None:
        self.ledger.session_close(self.session, closed_by="session_end", ts=self.tick())


def build(root: Path) -> None:
    """Write a ledger that holds one of everything and has no fault."""
    one = Writer(root, "alpha")
    one.ledger.session_open("alpha", ts=one.tick())
    one.prompt("p1")
    one.decide("a0")
    one.decide("a1")
    one.outcome("a0")
    one.outcome("a1", "error")
    one.decide("a2", "asked")
    one.outcome("a2")
    one.decide("a3", "denied")
    one.decide("a4", "asked")
    one.stop()
    one.prompt("p2")
    one.decide("a5")
    one.decide("a5")
    one.outcome("a5")
    known = digest((root / "sessions" / "alpha.jsonl").read_bytes().split(b"\n")[0])
    one.decide("a6", facts=({"code": "ran_before", "entry": known},))
    one.outcome("a6")
    one.decide("a7")
    one.stop()
    one.outcome("a7")
    one.decide("a9")
    one.close()
    one.outcome("a9")
    one.decide("a8")
    one.outcome("a8", "refused")
    one.close()

    two = Writer(root, "Beta_2")
    for call in ("b0", "b1", "b2"):
        two.decide(call)
    for call in ("b2", "b0", "b1"):
        two.outcome(call)
    two.close()

    chain = Writer(root, "gamma", shape="linear")
    chain.prompt(None)
    chain.decide("c0")
    chain.decide("c1")
    chain.outcome("c1")
    chain.outcome("c0")
    chain.close()

    run = Writer(root, "run-1", executes=False, host="evalkit")
    run.decide("r0")
    run.decide("r1", "denied")
    run.close()


class Row:
    """An entry that a rewriter may change; ``keep`` names what re-hashing leaves alone."""

    def __init__(self, line: bytes) -> None:
        self.body: dict[str, Any] = json.loads(line)
        self.old = digest(line)
        self.old_event = digest(profile_bytes(self.body["ev"]))
        self.old_ref = self.body["ev"].get("action_ref")
        self.keep: set[str] = set()
        self.done = False


class Kit:
    """A ledger directory and the means to damage it.

    Attributes:
        spans: the trace, where it is given as parsed calls.
        traces: trace files by name, where it is given as their text.
        args: further arguments of ``verify``.
        head: number and digest of the sound ledger's last spine entry.
        pin: the pin to verify with, where it is not ``head``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, list[Row]] = {}
        self.spans: list[Span] | None = None
        self.traces: dict[str, bytes] = {}
        self.args: dict[str, Any] = {}
        self.pin: tuple[int, str] | None = None
        self.anchors = NOTHING
        self.reload()

    def reload(self) -> None:
        """Take the ledger as it lies there."""
        for path in [self.root / SPINE, *sorted((self.root / "sessions").glob("*.jsonl"))]:
            name = str(path.relative_to(self.root))
            self.files[name] = [Row(line) for line in path.read_bytes().split(b"\n")[:-1]]
        last = self.spine[-1]
        self.head = (last.body["seq"], last.old)

    @property
    def spine(self) -> list[Row]:
        return self.files[SPINE]

    @property
    def alpha(self) -> list[Row]:
        return self.files["sessions/alpha.jsonl"]

    def rows(self) -> list[tuple[str, Row]]:
        return [(name, row) for name, rows in self.files.items() for row in rows]

    def find(self, kind: str, session: str | None = None, **want: Any) -> Row:
        """Return the first entry of a kind; other names are looked for in ev and intent."""
        for _, row in self.rows():
            body = row.body
            fields = {**body["ev"], **body.get("intent", {}), "turn": body["turn"]}
            here = body["kind"] == kind and session in (None, body["session"])
            if here and all(fields.get(name) == value for name, value in want.items()):
                return row
        raise LookupError((kind, session, want))

    def decision(self, call: str) -> Row:
        return self.find("decision", call=call)

    def outcome(self, call: str) -> Row:
        events = {
            row.old_event
            for _, row in self.rows()
            if row.body["kind"] == "decision" and row.body["intent"]["call"] == call
        }
        for _, row in self.rows():
            ev = row.body["ev"]
            final = ev.get("terminal_state") not in (None, "unresolved")
            if final and ev["decision_digest"] in events:
                return row
        raise LookupError(call)

    def drop(self, *rows: Row) -> None:
        for name in self.files:
            self.files[name] = [row for row in self.files[name] if row not in rows]

    def bind(self, row: Row) -> None:
        """Make a decision's own digests fit again."""
        row.body["ev"]["action_ref"] = digest(profile_bytes(row.body["intent"]))
        covered = {name: row.body[name] for name in BESIDE}
        row.body["ev"]["decision_id"] = digest(profile_bytes(covered))

    def copy(self, row: Row) -> Row:
        return Row(profile_bytes(row.body))

    # -- writing

    def write(self) -> None:
        """Write the entries as they stand: a naive editor."""
        for name, rows in self.files.items():
            data = b"".join(profile_bytes(row.body) + b"\n" for row in rows)
            (self.root / name).write_bytes(data)

    def line(self, row: Row) -> tuple[Path, int]:
        """Return where an entry lies."""
        for name, rows in self.files.items():
            if row in rows:
                return self.root / name, rows.index(row)
        raise LookupError(row.old)

    def bytes_of(self, row: Row, change: Any) -> None:
        """Replace an entry's bytes in its file."""
        path, at = self.line(row)
        lines = path.read_bytes().split(b"\n")
        lines[at] = change(lines[at])
        path.write_bytes(b"\n".join(lines))

    def rehash(self) -> None:
        """Make every digest, number and root fit again, except what rows keep: a rewriter."""
        entries: dict[str, str] = {}
        events: dict[str, str] = {}
        refs: dict[str, str] = {}
        leaves: dict[tuple[str, int], list[tuple[str, list[str]]]] = {}

        def refresh(row: Row) -> None:
            body, keep = row.body, row.keep
            ev = body["ev"]
            if ev.get("action") == "approval.cited":
                self._cite(row, entries, events, refresh)
            if "parents" not in keep:
                body["parents"] = sorted({entries.get(one, one) for one in body["parents"]})
            if body["kind"] == "decision":
                self._bind(row, entries, events)
                events[row.old_event] = digest(profile_bytes(ev))
                refs[row.old_ref] = ev["action_ref"]
            if body["kind"] == "outcome":
                if "decision_digest" not in keep:
                    ev["decision_digest"] = events.get(ev["decision_digest"], ev["decision_digest"])
                if "action_ref" not in keep:
                    ev["action_ref"] = refs.get(ev["action_ref"], ev["action_ref"])
            row.done = True
            entries[row.old] = digest(profile_bytes(body))
            if body["kind"] in ("decision", "outcome", "recovery") and body["turn"] is not None:
                place = (body["session"], body["turn"])
                leaves.setdefault(place, []).append((entries[row.old], body["parents"]))

        seq, prev = 0, "sha256:" + "0" * 64
        for _, row in self.rows():
            row.done = False
        for row in self.spine:
            body, ev = row.body, row.body["ev"]
            if body["kind"] == "turn_close":
                place = (body["session"], body["turn"])
                for name, rows in self.files.items():
                    for other in rows if name != SPINE else []:
                        if (other.body["session"], other.body["turn"]) == place and not other.done:
                            refresh(other)
                held = leaves.get(place, [])
                if "root" not in row.keep:
                    ev["root"] = frontier_root(frontier(held))
                if "count" not in row.keep:
                    ev["count"] = len(held)
            if "seq" not in row.keep:
                body["seq"] = seq + 1
            if "prev_digest" not in row.keep:
                body["prev_digest"] = prev
            if "ledger_head_digest" in ev and "ledger_head_digest" not in row.keep:
                ev["ledger_head_digest"] = body["prev_digest"]
            refresh(row)
            seq, prev = body["seq"], entries[row.old]
        for _, row in self.rows():
            if not row.done:
                refresh(row)
        self.write()

    def _cite(
        self, row: Row, entries: dict[str, str], events: dict[str, str], refresh: Any
    ) -> None:
        """Follow a citation to its decision, which stands behind it in another file."""
        ev = row.body["ev"]
        for rows in self.files.values():
            if row not in rows and any(one.old_event == ev["target"] for one in rows):
                for one in rows:
                    if not one.done:
                        refresh(one)
                    if one.old_event == ev["target"]:
                        break
        ev["target"] = events.get(ev["target"], ev["target"])
        named = ev["details"]["approvals"]
        ev["details"]["approvals"] = [entries.get(one, one) for one in named]

    def _bind(self, row: Row, entries: dict[str, str], events: dict[str, str]) -> None:
        body, ev = row.body, row.body["ev"]
        body["basis"] = [events.get(one, entries.get(one, one)) for one in body["basis"]]
        for fact in body["facts"]:
            fact["entry"] = entries.get(fact["entry"], fact["entry"])
        if "action_ref" not in row.keep:
            ev["action_ref"] = digest(profile_bytes(body["intent"]))
        if "decision_id" not in row.keep:
            ev["decision_id"] = digest(profile_bytes({name: body[name] for name in BESIDE}))

    # -- the trace

    def trace(self) -> list[Span]:
        """Return the trace an honest observer of this ledger's sessions would have kept."""
        spans: list[Span] = []
        done = {
            row.body["ev"]["decision_digest"]: row.body["ev"]
            for _, row in self.rows()
            if row.body["kind"] == "outcome" and row.body["ev"]["terminal_state"] != "unresolved"
        }
        for _, row in self.rows():
            ev = done.get(row.old_event)
            if row.body["kind"] != "decision" or ev is None or ev["terminal_state"] == "refused":
                continue
            spans.append(
                Span(
                    where=f"trace {row.body['intent']['call']}",
                    session=row.body["session"],
                    call=row.body["intent"]["call"],
                    tool=row.body["intent"]["action_type"],
                    status="ok" if ev["terminal_state"] == "ok" else "error",
                    ts=row.body["ts"] + 10,
                    args_digest=row.body["ev"]["args_digest"],
                    result_digest=ev["result_digest"],
                    decision_digest=row.old_event,
                )
            )
        return spans

    def span(self, call: str) -> int:
        """Return where a call's span stands in the kit's trace, which is made if need be."""
        if self.spans is None:
            self.spans = self.trace()
        return next(at for at, span in enumerate(self.spans) if span.call == call)

    def change_span(self, of: str, **values: Any) -> None:
        at = self.span(of)
        assert self.spans is not None
        self.spans[at] = self.spans[at]._replace(**values)
