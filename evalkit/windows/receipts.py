"""What a ledger's spine says about windows: audit entries, in chain order."""

import os
from typing import Any, NamedTuple

from evalkit.errors import RefusedError
from toolgate.canonical import digest, parse_line
from toolgate.errors import CanonicalizationError, RecordError
from toolgate.records import check

DECLARED, CLOSED, DRAWN = "window.declared", "window.closed", "sample.drawn"

_AUDIT = b'"kind":"audit"'


class Receipt(NamedTuple):
    """One audit entry.

    Args:
        action: what was recorded.
        target: what it is about; for windows the id.
        details: its closed content.
        ts: when, microseconds UTC.
        seq: its place on the spine.
        entry: its entry digest.
    """

    action: str
    target: str | None
    details: dict[str, Any]
    ts: int
    seq: int
    entry: str


class Head(NamedTuple):
    """The last spine entry that reads: its place and digest."""

    seq: int
    digest: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.digest}"


class Chain(NamedTuple):
    """What was read of a spine.

    Args:
        receipts: audit entries about windows and samples, oldest first.
        head: the last entry; None for an empty spine.
    """

    receipts: tuple[Receipt, ...]
    head: Head | None

    def first(self, action: str, target: str) -> Receipt | None:
        """Return the first entry of an action about a target: the one that counts."""
        for receipt in self.receipts:
            if receipt.action == action and receipt.target == target:
                return receipt
        return None


def read_chain(root: str) -> Chain:
    """Read a ledger's spine for what it says about windows.

    Lines that do not read are passed over here: the verifier names them.

    Args:
        root: the ledger's directory; one that does not exist has an empty spine.
    """
    from toolgate.ledger.directory import spine_files

    found: list[Receipt] = []
    last = b""
    for name in spine_files(root):
        with open(os.path.join(root, name), "rb") as stream:
            for raw in stream:
                line = raw.removesuffix(b"\n")
                if _AUDIT in line:
                    found.extend(_receipt(line))
                last = line if b'"seq":' in line and raw.endswith(b"\n") else last
    return Chain(tuple(found), _head(last))


def _receipt(line: bytes) -> list[Receipt]:
    body = _entry(line)
    if body is None or body["kind"] != "audit":
        return []
    ev = body["ev"]
    if ev["action"] not in (DECLARED, CLOSED, DRAWN):
        return []
    return [Receipt(ev["action"], ev["target"], ev["details"], ev["ts"], body["seq"], digest(line))]


def _entry(line: bytes) -> Any:
    try:
        body = parse_line(line)
        check(body)
    except (CanonicalizationError, RecordError):
        return None
    return body


def _head(line: bytes) -> Head | None:
    body = _entry(line)
    return None if body is None else Head(body["seq"], digest(line))


def declared(chain: Chain, window: str) -> Receipt:
    """Return the entry that declared a window.

    Raises:
        RefusedError: the chain has none.
    """
    receipt = chain.first(DECLARED, window)
    if receipt is None:
        raise RefusedError(f"window {window}: this ledger's chain has no declaration of it")
    return receipt
