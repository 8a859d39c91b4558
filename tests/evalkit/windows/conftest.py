"""Small ledgers made with the real writer, and a second count of them in plain Python."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolgate.action import Intent
from toolgate.canonical import canonical_bytes, digest, digest_of
from toolgate.ledger.append import Ledger
from toolgate.records import DecisionFields, decision_digest

START = 1_793_491_200_000_000  # 2026-11-01T00:00:00Z
HOUR = 3_600_000_000
END = START + 24 * HOUR
POLICY = canonical_bytes({"format": 1, "classes": []})
BUILD = "sha256:" + "b" * 64
RESOURCE = "h:" + "0" * 32


class Call(NamedTuple):
    """A decision as it was written."""

    fields: DecisionFields
    digest: str
    session: str


class Maker:
    """Writes a ledger, call by call."""

    def __init__(self, root: Path, shape: str = "dag") -> None:
        self.root = str(root)
        self.ledger = Ledger(self.root, shape=shape)
        self.calls = 0

    def decide(
        self,
        state: str,
        ts: int,
        *,
        session: str = "s1",
        tool: str = "Bash",
        rule: str = "rule-1",
        host: str = "claude-code",
        value: Any = None,
        code: bool = False,
        build: str = BUILD,
    ) -> Call:
        """Append a first decision."""
        self.calls += 1
        kind = "exec.code" if code else "inspect"
        effect = {
            "type": kind,
            "scope": "workspace",
            "resource": RESOURCE,
            "reversible": True,
            "proof": "proved",
            "count": 1,
        }
        args = {"command": f"true {self.calls}"} if value is None else value
        fields = DecisionFields(
            intent=Intent("main", tool, "workspace", ts, f"call-{self.calls}"),
            principal="user",
            auth_mode="agent",
            policy_version=digest(POLICY),
            decision_state=state,
            args_digest=digest_of(args),
            ts=ts,
            action_class="other",
            basis=(),
            effects=(effect,),
            facts=(),
            host=host,
            rule=rule,
            axis=None,
            proof="proved",
            mode="default",
            build=build,
        )
        return self.write(session, fields)

    def write(self, session: str, fields: DecisionFields) -> Call:
        """Append any decision."""
        self.ledger.decide(session, key=None, fields=fields, policy=POLICY, ts=fields.ts)
        return Call(fields, decision_digest(fields.event()), session)

    def outcome(self, call: Call, ts: int, state: str = "ok") -> str:
        """Append what became of a call."""
        return self.ledger.outcome(
            call.session,
            key=None,
            call=call.fields.intent.call,
            tool=call.fields.intent.action_type,
            args_digest=call.fields.args_digest,
            result_digest=None if state in ("refused", "unresolved") else digest_of(ts),
            terminal_state=state,
            source="hook",
            ts=ts,
        )

    def close(self, session: str, ts: int) -> None:
        """Close a session."""
        self.ledger.session_close(session, closed_by="session_end", ts=ts)


def lines_of(root: str) -> list[dict[str, Any]]:
    """Return every distinct readable line of a ledger, in no order that matters."""
    found = {}
    for path in [*Path(root).glob("spine-*.jsonl"), *Path(root).glob("sessions/*.jsonl")]:
        for line in path.read_bytes().split(b"\n"):
            try:
                found[digest(line)] = json.loads(line) | {"_entry": digest(line)}
            except ValueError:
                continue
    return list(found.values())


def second_count(root: str, start: int = START, end: int = END) -> dict[str, int]:
    """Count a window's calls without any of the code under test."""
    first: dict[str, dict[str, Any]] = {}
    for body in lines_of(root):
        if body["kind"] == "decision":
            ref = body["ev"]["action_ref"]
            if ref not in first or body["ts"] < first[ref]["ts"]:
                first[ref] = body
    kept = [
        body for body in first.values() if start <= body["ts"] < end and body["host"] != "evalkit"
    ]
    counts = {"calls": len(kept), "allowed": 0, "asked": 0, "denied": 0}
    for body in kept:
        counts[body["ev"]["decision_state"]] += 1
    return counts


DECLARATION = """\
version: 1
id: w1
question: How often does the gate ask?
start: 2026-11-01T00:00:00Z
end: 2026-11-02T00:00:00Z
grace_hours: 2
population: {sql: "true"}
metrics:
  - {name: ask_rate, version: 1}
  - {name: deny_rate, version: 1}
  - {name: allow_rate, version: 1}
"""


class Desk(NamedTuple):
    """A place with a ledger, a windows folder and a reports folder."""

    maker: Maker
    root: str
    folder: str
    reports: str

    def declare(self, text: str = DECLARATION, now: int = START - HOUR) -> Any:
        """Declare a window."""
        from evalkit.windows.opening import declare

        return declare(text.encode(), "w.yaml", root=self.root, folder=self.folder, now=now)

    def close(self, window: str = "w1", now: int = END + 2 * HOUR) -> Any:
        """Close a window."""
        from evalkit.windows.close import close

        return close(window, root=self.root, folder=self.folder, reports=self.reports, now=now)


class Tools(NamedTuple):
    """What tests of windows share."""

    declaration: str = DECLARATION
    start: int = START
    end: int = END
    hour: int = HOUR
    build: str = BUILD
    second_count: Any = staticmethod(second_count)
    lines_of: Any = staticmethod(lines_of)
    maker: Any = Maker


@pytest.fixture(params=["dag", "linear"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """Return an empty desk over a ledger of either shape."""
    return _desk(tmp_path, request.param)


@pytest.fixture
def dag_desk(tmp_path: Path) -> Desk:
    """Return an empty desk over a ledger of shape dag."""
    return _desk(tmp_path, "dag")


def _desk(tmp_path: Path, shape: str) -> Desk:
    root = tmp_path / "ledger"
    return Desk(Maker(root, shape), str(root), str(tmp_path / "windows"), str(tmp_path / "reports"))


@pytest.fixture
def tools() -> Tools:
    """Return the constants and counters of this folder."""
    return Tools()
