"""Declaring a window: its digest goes into the ledger before it starts."""

import os
from typing import NamedTuple

from evalkit.errors import RefusedError
from evalkit.windows.declare import Declaration, read_yaml
from evalkit.windows.folder import declaration_path, held, write_whole
from evalkit.windows.moment import format_moment
from evalkit.windows.receipts import DECLARED, Chain, Receipt, read_chain
from toolgate.ledger.append import Ledger

ACTOR = "evalkit"


class Declared(NamedTuple):
    """A window that is declared from now on.

    Args:
        declaration: what was frozen.
        digest: digest of the frozen bytes, as chained.
        entry: digest of the ledger entry that says so.
        head: the ledger's head before it, as chained; None for an empty ledger.
        copy: path of the copy.
        restored: whether it was declared before and only its lost copy was put back.
    """

    declaration: Declaration
    digest: str
    entry: str
    head: str | None
    copy: str
    restored: bool


def declare(data: bytes, source: str, *, root: str, folder: str, now: int) -> Declared:
    """Freeze a declaration, chain its digest and keep a copy.

    Args:
        data: the YAML file's bytes.
        source: its name, for messages.
        root: the ledger's directory.
        folder: where copies are kept.
        now: microseconds UTC.

    Raises:
        UsageError: names every fault of the file.
        RefusedError: the id was declared before, or the window starts in the
            past and does not say that it is retrospective.
        LedgerError: it could not be chained; no copy is left.
    """
    made = read_yaml(data, source)
    with held(folder):
        chain = read_chain(root)
        copy = declaration_path(folder, made.id)
        restored = _known(chain, made, copy)
        if restored:
            return restored
        if made.start <= now and not made.body["retrospective"]:
            raise RefusedError(
                f"window {made.id}: it starts at {made.body['start']}, which is not after now "
                f"({format_moment(now)}); a window over calls already made needs "
                "retrospective: true, and is graded EXPLORATORY"
            )
        entry = _chain(made, chain, root, now)
        write_whole(copy, made.frozen() + b"\n")
        return Declared(made, made.digest(), entry, _head(chain), copy, restored=False)


def _known(chain: Chain, made: Declaration, copy: str) -> Declared | None:
    """Refuse an id that is taken; put back the copy of this very declaration if it is lost."""
    first = chain.first(DECLARED, made.id)
    if first is None:
        if os.path.exists(copy):
            raise RefusedError(
                f"window {made.id}: {copy} is there, but this ledger has not declared it; "
                "choose another id"
            )
        return None
    if first.details.get("digest") == made.digest() and not os.path.exists(copy):
        write_whole(copy, made.frozen() + b"\n")
        head = first.details.get("head")
        return Declared(made, made.digest(), first.entry, head, copy, restored=True)
    raise RefusedError(
        f"window {made.id} was declared {format_moment(first.ts)} as "
        f"{first.details.get('digest')}, entry {first.entry}; a window is declared once"
    )


def _head(chain: Chain) -> str | None:
    return None if chain.head is None else str(chain.head)


def _chain(made: Declaration, chain: Chain, root: str, now: int) -> str:
    details = {
        "digest": made.digest(),
        "id": made.id,
        "head": _head(chain),
    }
    ledger = Ledger(root, host=ACTOR, durability="fsync")
    entry = ledger.audit(action=DECLARED, actor=ACTOR, target=made.id, details=details, ts=now)
    first: Receipt | None = read_chain(root).first(DECLARED, made.id)
    if first is None or first.entry != entry:
        raise RefusedError(
            f"window {made.id}: another declaration of that id came first: "
            f"entry {first.entry if first else 'unknown'}"
        )
    return entry
