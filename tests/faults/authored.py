"""Faults of the claims on who wrote a policy, and the ends a chain of authors may have."""

from pathlib import Path
from typing import Any

from approved import AUTHORS, FIRST, SECOND, Desk, key, policy, signature
from catalogue import BASES, fault, legal
from ledgers import START

from toolgate.canonical import digest

BASE = "authored"
ROOT = policy("root", "carol", None, "alice")
MADE = policy("made", "alice", ROOT, "bob")


def authored(root: Path) -> None:
    """Write a ledger under a policy that another one authorizes, which nobody does."""
    for text, by in ((ROOT, "carol"), (MADE, "alice")):
        one = Desk(root, "s", text)
        one.say(f"c-{by}", "denied")
        _sign(root, text, by)
    one.close()


BASES[BASE] = authored


def _path(root: Path, text: bytes, ending: str) -> Path:
    return root / "policies" / (digest(text)[7:] + ending)


def _sign(root: Path, text: bytes, by: str) -> None:
    _path(root, text, ".sig").write_bytes(signature(text, by))


def under(kit: Any, text: bytes, by: str | None, **more: Any) -> None:
    """Decide a call under one more policy, signed by somebody."""
    one = Desk(kit.root, "more", text, ts=START + 1_000_000)
    one.say("z0", "denied")
    if by is not None:
        _sign(kit.root, text, by)
    one.close()
    kit.args |= more


@fault("policy-not-signed", "B", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    _path(kit.root, MADE, ".sig").unlink()


@fault("policy-not-signed-under-a-pinned-root", "B", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    _path(kit.root, MADE, ".sig").unlink()
    kit.args["roots"] = [key("carol").public]


@fault("policy-signature-of-another-policy", "B", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    _path(kit.root, MADE, ".sig").write_bytes(signature(ROOT, "alice"))


@fault("policy-signed-by-another-key", "B", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    _sign(kit.root, MADE, "mallory")


@fault("policy-signature-that-is-none", "B", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    _path(kit.root, MADE, ".sig").write_bytes(b'{"key":"","key":""}')


@fault("author-the-authorizing-policy-does-not-name", "R", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    under(kit, policy("x", "bob", ROOT), "bob")


@fault("author-with-a-key-the-authorizing-policy-does-not-give", "R", "entries.authority_edge",
       base=BASE)  # fmt: skip
def _(kit: Any) -> None:
    text = policy("x", "alice", ROOT).replace(
        b'"key":"' + key("alice").public.encode(), b'"key":"' + key("mallory").public.encode(), 1
    )
    under(kit, text, "mallory")


@fault("author-with-a-retired-key", "R", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    one = Desk(kit.root, "s", MADE, ts=START + 500_000)
    one.ledger.rotate_approver("alice", old=key("alice"), new=key("alice 2"), ts=one.tick())
    under(kit, policy("x", "alice", ROOT), "alice")


@fault("authorizing-policy-not-held", "R", "entries.authority_edge", base=BASE)
def _(kit: Any) -> None:
    under(kit, policy("x", "bob", policy("nowhere", None, None, "bob")), "bob")


@fault("loop-of-authors-with-an-edge-that-fails", "B", "entries.authority_loop", base="approved")
def _(kit: Any) -> None:
    """The chain of authors comes back, but one policy of it is not signed"""
    _path(kit.root, SECOND, ".sig").unlink()


@fault("policy-written-by-the-one-it-governs", "R", "entries.authority_self", base=BASE)
def _(kit: Any) -> None:
    under(kit, policy("x", "agent"), "agent")


@fault("chain-of-authors-reaches-no-pinned-root", "H", "entries.authority_unrooted", base=BASE)
def _(kit: Any) -> None:
    kit.args["roots"] = [key("mallory").public, digest(b"nothing")]


@fault("policy-without-author-and-a-pinned-root", "H", "entries.authority_unrooted")
def _(kit: Any) -> None:
    kit.args["roots"] = [key("carol").public]


@legal("rooted-by-a-policy", beside="chain-of-authors-reaches-no-pinned-root", base=BASE)
def _(kit: Any) -> None:
    kit.args["roots"] = [digest(ROOT)]


@legal("rooted-by-a-key", beside="chain-of-authors-reaches-no-pinned-root", base=BASE)
def _(kit: Any) -> None:
    kit.args["roots"] = [key("carol").public]


@legal("author-with-a-new-key", beside="author-with-a-retired-key", base=BASE)
def _(kit: Any) -> None:
    one = Desk(kit.root, "s", MADE, ts=START + 500_000)
    one.ledger.rotate_approver("alice", old=key("alice"), new=key("alice 2"), ts=one.tick())
    text = policy("x", "alice", ROOT).replace(
        b'"key":"' + key("alice").public.encode(), b'"key":"' + key("alice 2").public.encode(), 1
    )
    under(kit, text, "alice 2")


@legal("loop-that-closes", beside="loop-of-authors-with-an-edge-that-fails", base="approved")
def _(kit: Any) -> None:
    assert AUTHORS[FIRST] == "alice"
