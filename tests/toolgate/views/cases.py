"""A ledger in which a call of every kind of story was made, and its policy."""

import json
from pathlib import Path
from typing import Any

import ledgers
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from toolgate.action import Intent
from toolgate.canonical import digest, profile_bytes
from toolgate.ledger.append import Ledger
from toolgate.records import DecisionFields, entry
from toolgate.signing import PrivateKey

START = ledgers.START
SESSION, CHILD = "review", "child"
ANN, BO = (PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32)) for n in (1, 2))
POLICY = json.dumps(
    {
        "format": "toolgate.policy/1",
        "name": "house rules",
        "authored_by": {
            "name": "ann",
            "key": ANN.public,
            "authorizing_policy": None,
        },
        "principals": {"ann": [ANN.public], "bo": [BO.public]},
        "composition": {"release": {"operator": "staged", "principals": ["ann", "bo"]}},
        "unattended": {"modes": ["dontAsk"], "ask": "deny"},
        "classes": [
            {"name": "release", "effects": [{"type": ["deploy.release"]}]},
            {"name": "secret", "effects": [{"type": ["secret.read"]}]},
            {"name": "write", "effects": [{"type": ["fs.write", "fs.delete"]}]},
            {"name": "look", "effects": [{"type": ["inspect"]}]},
        ],
        "rules": [
            {"rule": "secret", "decide": "ask", "because": "it reads a secret"},
            {"rule": "release", "decide": "allow", "because": "the class is guarded by approvals"},
            {"rule": "workspace", "decide": "allow", "because": "it stays in the workspace"},
            {"rule": "outside", "decide": "deny", "because": "it deletes what cannot be restored"},
        ],
    }
).encode()


def effect(kind: str, scope: str, *, proof: str = "proved", undo: bool = True, n: int = 1) -> dict:
    return {
        "type": kind,
        "scope": scope,
        "resource": "h:" + digest(f"{kind} {scope}".encode())[7:39],
        "reversible": undo,
        "proof": proof,
        "count": n,
    }


KINDS: dict[str, tuple[str, str, str | None, list[dict]]] = {
    "look": ("Read", "harmless", None, [effect("inspect", "workspace")]),
    "write": ("Edit", "workspace", None, [effect("fs.write", "workspace", n=3)]),
    "secret": ("Bash", "secret", "secret_exposure", [effect("secret.read", "secret")]),
    "release": (
        "Bash",
        "release",
        None,
        [effect("deploy.release", "outside", undo=False, proof="unresolved(ref-not-known)")],
    ),
    "outside": (
        "Bash",
        "outside",
        "destructive",
        [effect("fs.delete", "system", undo=False), effect("fs.delete", "home", undo=False)],
    ),
}


class Told:
    """A session written step by step, with a clock that is set by hand.

    Args:
        root: the ledger directory.
        session: its id.
    """

    def __init__(self, root: Path, session: str) -> None:
        self.ledger = Ledger(str(root))
        self.session = session
        self.ts = START
        self.args: dict[str, str] = {}

    def at(self, ms: int) -> "Told":
        """Set the clock to some milliseconds after the start."""
        self.ts = START + ms * 1000
        return self

    def prompt(self, key: str | None) -> None:
        self.ledger.prompt(self.session, key=key, ts=self.ts)

    def decide(self, call: str, kind: str, state: str = "allowed", **more: Any) -> str:
        """Write a decision and return its decision_digest."""
        tool, rule, axis, effects = KINDS[kind]
        self.args[call] = digest(f"arguments of {call}".encode())
        fields = DecisionFields(
            intent=Intent(more.pop("agent", "main"), tool, effects[0]["scope"], self.ts, call),
            principal="alice",
            auth_mode="user",
            policy_version=digest(POLICY),
            decision_state=state,
            args_digest=self.args[call],
            ts=self.ts + 1,
            action_class=kind if kind != "outside" else "write",
            basis=(),
            effects=tuple(effects),
            facts=(),
            host="claude-code",
            rule=rule,
            axis=axis,
            proof=effects[0]["proof"],
            mode="default",
            build=ledgers.BUILD,
        )._replace(**more)
        return self.ledger.decide(self.session, key=None, fields=fields, policy=POLICY, ts=self.ts)

    def outcome(self, call: str, terminal: str = "ok", /, **more: Any) -> str:
        report = {
            "call": call,
            "tool": "Bash",
            "args_digest": self.args.get(call, digest(b"unknown")),
            "result_digest": None if terminal == "refused" else digest(f"got {call}".encode()),
            "terminal_state": terminal,
            "source": "hook",
            "key": None,
        }
        return self.ledger.outcome(self.session, ts=self.ts, **{**report, **more})

    def approve(
        self, who: str, key: PrivateKey | None, after: tuple[str, ...] = (), **more: Any
    ) -> str:
        """Write an approval on the spine and return its entry digest; no key is telemetry."""
        ev = {
            "decision_digest": None,
            "args_digest": None,
            "session": self.session,
            "class": None,
            "principal": who,
            "expiry": self.ts + 3_600_000_000,
            "nonce": digest(f"{who} {self.ts}".encode())[7:39],
            "verdict": "approve",
            "evidence": "telemetry" if key is None else "signature",
            "key": None if key is None else key.public,
            **more,
        }
        signed = {**ev, "ts": self.ts}
        ev["sig"] = None if key is None else key.sign(profile_bytes(signed))
        body = entry(
            "approval", session=ev["session"], turn=None, parents=list(after), ts=self.ts, ev=ev
        )
        with self.ledger._spine(self.ts) as spine:
            return spine.append(body)[0]

    def close(self) -> None:
        self.ledger.session_close(self.session, closed_by="session_end", ts=self.ts)


def tell(root: Path) -> Told:
    """Write the ledger; its sessions are ``review``, and ``child``, which a call of it started."""
    one = Told(root, SESSION)
    _first_turn(one)
    spawn = _second_turn(one)
    one.at(90_000).outcome("task-1")
    one.at(91_000).decide("lost-1", "write")
    one.at(95_000).close()
    two = Told(root, CHILD)
    two.at(83_100).ledger.session_open(CHILD, ts=two.ts, spawned_by=spawn)
    two.at(83_200).decide("child-1", "write", agent="main/task")
    two.at(83_900).outcome("child-1")
    two.at(84_000).decide("child-2", "look", agent="main/task")
    signed = {"key": ANN.public, "sig": ANN.sign(digest(POLICY).encode())}
    (root / "policies" / f"{digest(POLICY)[7:]}.sig").write_bytes(profile_bytes(signed))
    return one


def _first_turn(one: Told) -> None:
    one.at(0).ledger.session_open(SESSION, ts=one.ts)
    one.at(40).prompt("fix-login")
    one.at(1_000).decide("read-1", "look")
    one.at(1_100).decide("read-2", "look")
    one.at(1_250).decide("read-3", "look", agent="main/explorer")
    one.at(2_400).outcome("read-2")
    one.at(3_900).outcome("read-1")
    one.at(5_200).outcome("read-3", "error")
    one.at(6_000).decide("edit-1", "write")
    one.at(6_350).outcome("edit-1")

    ask = one.at(7_000).decide("signed-1", "secret", "asked")
    approval = one.at(9_500).approve(
        "ann", ANN, decision_digest=ask, args_digest=one.args["signed-1"]
    )
    one.at(9_600).decide("signed-1", "secret", basis=(ask, approval))
    one.at(11_000).outcome("signed-1")
    one.at(11_500).decide("inferred-1", "secret", "asked")
    one.at(15_000).outcome("inferred-1")
    one.at(15_400).decide("denied-1", "outside", "denied")
    one.at(16_000).decide("ignored-1", "secret", "asked")
    one.ledger.turn_close(SESSION, closed_by="stop", ts=one.at(17_000).ts)


def _second_turn(one: Told) -> str:
    """Write the turn of the second prompt; return the decision that starts another agent."""
    one.at(60_000).prompt("release")
    ask = one.at(61_000).decide("told-1", "secret", "asked")
    word = one.at(62_000).approve("alice", None, decision_digest=ask)
    one.at(62_100).decide("told-1", "secret", basis=(ask, word))
    one.at(63_000).outcome("told-1", "timeout")
    ask = one.at(64_000).decide("refused-1", "secret", "asked")
    no = one.at(66_000).approve("bo", BO, decision_digest=ask, verdict="refuse")
    one.at(66_100).decide("refused-1", "secret", "denied", basis=(ask, no))
    one.at(67_000).decide("release-1", "release", "denied", rule="composition")
    bound = {"args_digest": digest(b"arguments of release-2"), "class": "release"}
    first = one.at(70_000).approve("ann", ANN, **bound)
    second = one.at(74_000).approve("bo", BO, after=(first,), **bound)
    one.at(75_000).decide("release-2", "release", basis=(first, second))
    one.at(82_000).outcome("release-2", "cancelled")
    spawn = one.at(83_000).decide("task-1", "look")
    one.at(84_000).decide("other-1", "write")
    one.at(86_000).outcome("other-1", args_digest=digest(b"other arguments"))
    one.at(86_500).outcome("never-decided")
    one.at(87_000).decide("vetoed-1", "write")
    one.at(87_400).outcome("vetoed-1", "refused")
    one.at(88_000).decide("unattended-1", "secret", "denied", mode="dontAsk")
    one.at(88_500).decide("ran-1", "outside", "denied")
    one.at(89_000).outcome("ran-1")
    one.ledger.turn_close(SESSION, closed_by="stop", ts=one.at(89_500).ts)
    return spawn
