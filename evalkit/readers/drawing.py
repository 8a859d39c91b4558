"""Carrying out a draw: look first, chain it, then write the draft."""

import os
import secrets
from typing import Any, NamedTuple

from evalkit.errors import RefusedError
from evalkit.gates.inprocess import HOST
from evalkit.labels.seed import SEED_BYTES, commitment, read_seed
from evalkit.readers.assemble import assemble
from evalkit.readers.drawn import Drawn, draw
from evalkit.readers.kept import vault_beside
from evalkit.readers.origin import refuse_existing, today, write_draft
from toolgate.canonical import digest
from toolgate.ledger.append import Ledger

DRAWN = "set.drawn"
READER = "from-ledger"


class Request(NamedTuple):
    """What is asked for.

    Args:
        root: the ledger's directory.
        vault: the vault's directory, or None for the ledger's own.
        out: path of the draft.
        n: how many calls to draw.
        name: what the set is called.
        author: who labels it.
        seed_file: a seed somebody chose, or None for a new one.
    """

    root: str
    vault: str | None
    out: str
    n: int
    name: str
    author: str
    seed_file: str | None


def draw_into(request: Request, ts: int) -> dict[str, Any]:
    """Draw, record the draw in the ledger, and write the draft.

    Args:
        request: what is asked for.
        ts: microseconds UTC.

    Returns:
        ``cases, calls, different, passed_over, seed_chosen, drawn`` (digest of what was drawn),
        ``draft`` (digest of the file) and ``entry`` (of the ledger).

    Raises:
        UsageError: the seed cannot be read.
        RefusedError: no ledger, no vault, nothing to draw, or the file is there.
        LedgerError: the draw could not be recorded; no draft is written.
    """
    refuse_existing(request.out)
    vault = _vault(request)
    seed = secrets.token_bytes(SEED_BYTES)
    if request.seed_file is not None:
        seed = read_seed(request.seed_file)
    drawn = draw(request.root, vault, seed=seed, n=request.n)
    data = assemble(
        drawn.draft,
        name=request.name,
        author=request.author,
        today=today(),
        imported={"source": "a decision ledger", "reader": READER, **_said(drawn, seed)},
    )
    details = {
        **_said(drawn, seed),
        "seed": seed.hex(),
        "seed_chosen": request.seed_file is not None,
        "n": request.n,
        "drawn": drawn.digest,
        "draft": digest(data),
    }
    ledger = Ledger(request.root, durability="fsync", host=HOST)
    target = os.path.basename(request.out)
    entry = ledger.audit(action=DRAWN, actor=HOST, target=target, details=details, ts=ts)
    write_draft(request.out, data, mode=0o600)
    return {**{name: value for name, value in details.items() if name != "seed"}, "entry": entry}


def _said(drawn: Drawn, seed: bytes) -> dict[str, Any]:
    return {
        "cases": len(drawn.draft.cases),
        "calls": drawn.calls,
        "different": drawn.different,
        "passed_over": drawn.passed_over,
        "seed_commitment": commitment(seed),
    }


def _vault(request: Request) -> str:
    """Return the vault to read, in a ledger that is there."""
    if not os.path.isdir(request.root):
        raise RefusedError(f"{request.root}: expected a decision ledger, got no such directory")
    if request.vault is not None and not os.path.isdir(request.vault):
        raise RefusedError(f"{request.vault}: expected a vault, got no such directory")
    vault = request.vault or vault_beside(request.root)
    if vault is None:
        raise RefusedError(
            "the ledger keeps digests, no calls, and it has no vault: expected one that the hook "
            "kept (TOOLGATE_VAULT=on) or --vault DIR; nothing was drawn"
        )
    return vault
