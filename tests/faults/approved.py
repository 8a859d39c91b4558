"""Ledgers whose calls people approve: asks answered, classes composed, policies with authors."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from catalogue import BASES
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from ledgers import SPINE, START, Writer, fields

from toolgate.approval import Approvers, Target, message
from toolgate.canonical import digest, digest_of, profile_bytes
from toolgate.gate.policy.compose import Rule
from toolgate.ledger.approvals import Composing, Given, Settled
from toolgate.ledger.settle import Shown
from toolgate.ledger.told import Told
from toolgate.signing import PrivateKey

HOUR = 3_600_000_000
PEOPLE = ("alice", "bob", "carol")
TOOLS = {"deploy": "Deploy", "pay": "Pay", "drop": "Drop"}
COMPOSITION = {
    "deploy": {"operator": "all-of", "principals": ["alice", "bob"]},
    "pay": {"operator": "any-of", "n": 2, "principals": ["alice", "bob", "carol"]},
    "drop": {"operator": "staged", "principals": ["alice", "bob"]},
}
LOOK = {"name": "look", "effects": [{"type": ["inspect"], "proof": ["proved"]}]}


def key(name: str) -> PrivateKey:
    """Return the private key that belongs to a name: the same one every time."""
    return PrivateKey(Ed25519PrivateKey.from_private_bytes(sha256(name.encode()).digest()))


def policy(
    name: str,
    author: str | None,
    above: bytes | None = None,
    *authors: str,
    principals: dict[str, list[str]] | None = None,
) -> bytes:
    """Return a policy as the verifier and the writer read it.

    Args:
        name: its name.
        author: who wrote it, if it says.
        above: the policy that lets them.
        authors: who may write policies that name this one.
        principals: the people and their keys, if others than usual.
    """
    authored_by = author and {
        "name": author,
        "key": key(author).public,
        "authorizing_policy": above and digest(above),
    }
    body = {
        "name": name,
        "authored_by": authored_by,
        "authors": sorted(authors),
        "classes": [*[{"name": c, "tools": [t]} for c, t in TOOLS.items()], LOOK],
        "composition": COMPOSITION,
        "principals": principals or {one: [key(one).public] for one in PEOPLE},
    }
    return profile_bytes(body)


def signature(text: bytes, by: str) -> bytes:
    """Return what is kept as the signature of a policy."""
    one = key(by)
    return profile_bytes({"key": one.public, "sig": one.sign(digest(text).encode())})


FIRST = policy("first", "alice", None, "bob")
SECOND = policy("second", "bob", FIRST, "alice")
THIRD = policy("third", "alice", SECOND)
ALONE = policy("alone", None)
AUTHORS = {FIRST: "alice", SECOND: "bob", THIRD: "alice"}


class Desk(Writer):
    """A writer with people around it, who approve under one policy."""

    def __init__(
        self, root: Path, session: str, text: bytes = THIRD, *, ts: int = START, **setting: Any
    ) -> None:
        author = AUTHORS.get(text)
        signed = None if author is None else signature(text, author)
        super().__init__(root, session, signature=lambda: signed, **setting)
        self.text = text
        self.ts = ts
        self.root = root
        self._nonce = 0

    def fields(self, call: str, state: str, action_class: str, args: Any, **more: Any) -> Any:
        """Return a decision on a call of a class, for an agent that is none of the people."""
        tool = TOOLS.get(action_class, "Bash")
        made = fields(call, state, ts=self.ts, tool=tool, args=args)
        return made._replace(
            action_class=action_class,
            policy_version=digest(self.text),
            principal="agent",
            **more,
        )

    def say(
        self, call: str, state: str, action_class: str = "look", *, args: Any = "x", **more: Any
    ) -> str:
        """Write a decision, whatever it rests on."""
        ts = self.tick()
        made = self.fields(call, state, action_class, args, **more)
        return self.ledger.decide(self.session, key=None, fields=made, policy=self.text, ts=ts)

    def attempt(self, call: str, action_class: str, *, args: Any = "x") -> Settled:
        """Decide a call of a composed class as the hook does."""
        ts = self.tick()
        made = self.fields(call, "denied", action_class, args, rule="composition")
        composing = Composing(made, self.approvers(action_class))
        return self.ledger.decide_composed(
            self.session, key=None, composing=composing, policy=self.text, ts=ts
        )

    def done(self, call: str, action_class: str = "look", *, args: Any = "x") -> None:
        """Report that a call ran."""
        tool = TOOLS.get(action_class, "Bash")
        assert self.outcome(call, tool=tool, args_digest=digest_of(args)) != "unmatched"

    def approvers(self, action_class: str) -> Approvers:
        """Return who approves an action of a class."""
        body = json.loads(self.text)
        held = body["composition"].get(action_class)
        rule = (
            Rule("any-of", 1, tuple(body["principals"]))
            if held is None
            else Rule(held["operator"], held.get("n", 1), tuple(held["principals"]))
        )
        return Approvers(rule, body["principals"])

    def signed(self, by: str, *, signer: str | None = None, **more: Any) -> dict[str, Any]:
        """Return an approval's ``ev``, signed; ``more`` sets its fields."""
        self._nonce += 1
        ts = self.tick()
        one = key(signer or by)
        ev = {
            "decision_digest": None,
            "args_digest": None,
            "session": None,
            "class": None,
            "principal": by,
            "expiry": ts + HOUR,
            "nonce": f"{self._nonce:016x}{ts:016x}",
            "verdict": "approve",
            "evidence": "signature",
            "key": one.public,
            "ts": ts,
            **more,
        }
        return {**ev, "sig": one.sign(message(ev))}

    def answer(self, by: str, call: str, asked: str, *, args: Any = "x", **more: Any) -> Given:
        """Answer an ask with a signed approval, or a refusal."""
        action_class = more.pop("action_class", "look")
        ev = self.signed(by, decision_digest=asked, session=self.session, **more)
        target = Target(asked, digest_of(args), self.session, action_class)
        approvers = self.approvers(action_class)
        return self.ledger.approve(ev, target=target, call=call, approvers=approvers)

    def report(self, call: str, asked: str, nonce: str | None = None, *, yes: bool = True) -> str:
        """Answer an ask with what a host reports of its user; return what was done with it."""
        shown = Shown(asked, call, None, Told(yes, "user:dev", nonce))
        return self.ledger.settle(self.session, shown=[shown], ts=self.tick())[0]

    def approve(self, by: str, action_class: str, *, args: Any = "x", **more: Any) -> str:
        """Approve calls of a class with some arguments; return the entry's digest."""
        binding = {
            "args_digest": digest_of(args),
            "session": self.session,
            "class": action_class,
        }
        ev = self.signed(by, **{**binding, **more})
        target = Target(None, digest_of(args), self.session, action_class)
        approvers = self.approvers(action_class)
        return self.ledger.approve(ev, target=target, call="", approvers=approvers).entry

    def force(self, ev: dict[str, Any], *parents: str) -> str:
        """Append an approval or rotation to the spine as it is, whatever is wrong with it."""
        kind = "key_rotate" if "role" in ev else "approval"
        lines = (self.root / SPINE).read_bytes().split(b"\n")[:-1]
        body = {
            "v": 1,
            "kind": kind,
            "session": ev.get("session"),
            "turn": None,
            "parents": sorted(parents),
            "ts": ev["ts"],
            "ev": ev,
            "seq": len(lines) + 1,
            "prev_digest": digest(lines[-1]),
        }
        line = profile_bytes(body)
        with (self.root / SPINE).open("ab") as file:
            file.write(line + b"\n")
        return digest(line)


def approved(root: Path) -> None:
    """Write a ledger in which people approve and refuse, under policies that name their authors."""
    for text in (FIRST, SECOND):
        old = Desk(root, "old", text)
        old.say(f"o{AUTHORS[text]}", "denied")
    old.close()

    desk = Desk(root, "ops", ts=old.ts)
    desk.prompt("p1")
    asked = desk.say("q0", "asked")
    assert desk.answer("alice", "q0", asked).decision_digest
    desk.done("q0")
    assert not desk.attempt("e0", "deploy").allowed
    desk.approve("alice", "deploy")
    assert not desk.attempt("e1", "deploy").allowed
    desk.approve("bob", "deploy")
    assert desk.attempt("e2", "deploy").allowed
    desk.done("e2", "deploy")
    desk.stop()
    desk.prompt("p2")
    desk.approve("bob", "pay", session=None)
    desk.approve("carol", "pay")
    assert desk.attempt("f0", "pay").allowed
    desk.done("f0", "pay")
    desk.approve("alice", "drop")
    desk.approve("bob", "drop")
    assert desk.attempt("g0", "drop").allowed
    desk.done("g0", "drop")
    assert desk.report("t0", desk.say("t0", "asked"), "7" * 32) == "approved"
    desk.done("t0")
    desk.stop()
    desk.prompt("p3")
    asked = desk.say("r0", "asked")
    assert desk.answer("carol", "r0", asked, verdict="refuse").decision_digest
    desk.ledger.rotate_approver("carol", old=key("carol"), new=key("carol 2"), ts=desk.tick())
    asked = desk.say("k0", "asked")
    assert desk.answer("carol", "k0", asked, signer="carol 2").decision_digest
    desk.done("k0")
    desk.say("w0", "asked")
    desk.close()


BASES["approved"] = approved
