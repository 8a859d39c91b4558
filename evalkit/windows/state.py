"""Where windows stand. An open window shows its volume and integrity, never a rate."""

import os
from typing import Any, NamedTuple

from evalkit import metrics
from evalkit.windows.close import load_declared
from evalkit.windows.folder import checked_id
from evalkit.windows.moment import format_moment
from evalkit.windows.receipts import CLOSED, DECLARED, Chain, Receipt, read_chain
from evalkit.windows.slice import cut

WAITING, OPEN, GRACE, DUE, DONE = "declared", "open", "in grace", "ready to close", "closed"
UNCHAINED, UNREADABLE = "not in this ledger", "copy missing or edited"


class Standing(NamedTuple):
    """Where one window stands.

    Args:
        id: the window.
        state: one of the words of this module.
        start: as declared, or None when the declaration cannot be read.
        end: as declared, or None.
        grade: of a closed window, else None.
        entry: digest of the entry that declared it, or None.
    """

    id: str
    state: str
    start: str | None
    end: str | None
    grade: str | None
    entry: str | None


def state_of(start: int, end: int, ready: int, closed: bool, now: int) -> str:
    """Return a window's state from its moments, microseconds UTC."""
    if closed:
        return DONE
    if now < start:
        return WAITING
    if now < end:
        return OPEN
    return GRACE if now < ready else DUE


def standings(root: str, folder: str, now: int) -> list[Standing]:
    """Return every window the chain or the folder knows, in the order of declaration."""
    chain = read_chain(root)
    found: dict[str, Standing] = {}
    for receipt in chain.receipts:
        if receipt.action == DECLARED and receipt.target and receipt.target not in found:
            found[receipt.target] = _standing(chain, receipt, folder, now)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        window = name.removesuffix(".declaration.json")
        if window != name and window not in found:
            found[window] = Standing(window, UNCHAINED, None, None, None, None)
    return list(found.values())


def _standing(chain: Chain, receipt: Receipt, folder: str, now: int) -> Standing:
    from evalkit.errors import EvalkitError

    window = str(receipt.target)
    closed = chain.first(CLOSED, window)
    grade = str(closed.details.get("grade")) if closed else None
    try:
        made, _ = load_declared(chain, folder, window)
    except EvalkitError:
        return Standing(window, DONE if closed else UNREADABLE, None, None, grade, receipt.entry)
    state = state_of(made.start, made.end, made.ready, closed is not None, now)
    return Standing(window, state, made.body["start"], made.body["end"], grade, receipt.entry)


def status(window: str, *, root: str, folder: str, now: int) -> dict[str, Any]:
    """Return a window's standing, volume and integrity, without any rate.

    Args:
        window: its id.
        root: the ledger's directory.
        folder: where the copies are.
        now: microseconds UTC.

    Raises:
        RefusedError: it is not declared here, or its declaration was edited.
    """
    chain = read_chain(root)
    made, receipt = load_declared(chain, folder, checked_id(window))
    closed = chain.first(CLOSED, window)
    state = state_of(made.start, made.end, made.ready, closed is not None, now)
    body: dict[str, Any] = {
        "id": window,
        "state": state,
        "digest": receipt.details["digest"],
        "entry": receipt.entry,
        "declared": format_moment(receipt.ts),
        "start": made.body["start"],
        "end": made.body["end"],
        "ready": format_moment(made.ready),
        "head": str(chain.head) if chain.head else None,
        "grade": closed.details.get("grade") if closed else None,
    }
    if state == WAITING:
        return body
    taken = cut(root, made)
    return body | {
        "calls": taken.flow.rows,
        "sessions": metrics.sessions(taken.connection)[0],
        "expected_calls": made.body["volume"],
        "lines": taken.lines._asdict(),
    }
