"""Closing a window: check, verify, cut, count, grade, write, chain. Once."""

import os
import platform
from collections import Counter
from typing import Any, NamedTuple

from evalkit.errors import RefusedError
from evalkit.windows.declare import Declaration, declaration
from evalkit.windows.figures import figures
from evalkit.windows.folder import (
    checked_id,
    close_path,
    declaration_path,
    held,
    read_canonical,
    write_canonical,
    write_whole,
)
from evalkit.windows.grade import grade
from evalkit.windows.moment import format_moment
from evalkit.windows.opening import ACTOR
from evalkit.windows.receipts import CLOSED, Chain, Receipt, declared, read_chain
from evalkit.windows.render import markdown, twin
from evalkit.windows.slice import cut
from toolgate.ledger.append import Ledger

RECORD_VERSION = 1


class Closed(NamedTuple):
    """A window that is closed.

    Args:
        record: the close record.
        digest: digest of its canonical bytes, as chained.
        entry: digest of the ledger entry that says so.
        files: paths of the close record, the report and its twin.
    """

    record: dict[str, Any]
    digest: str
    entry: str
    files: tuple[str, str, str]


def close(window: str, *, root: str, folder: str, reports: str, now: int) -> Closed:
    """Close a window and write its report.

    Args:
        window: its id.
        root: the ledger's directory.
        folder: where the copies of declarations and close records are.
        reports: where the report goes.
        now: microseconds UTC.

    Raises:
        RefusedError: it is not declared, its declaration was edited, it is
            not over, it was closed before, or the ledger cannot be read.
        LedgerError: the closing could not be chained.
    """
    with held(folder):
        chain = read_chain(root)
        _refuse_again(chain, window)
        made, receipt = load_declared(chain, folder, window)
        if now < made.ready:
            raise RefusedError(
                f"window {window}: it can be closed from {format_moment(made.ready)} "
                f"(end and {made.body['grace_hours']} h grace); it is {format_moment(now)}"
            )
        record = _record(made, receipt, chain, root, now)
        return _publish(record, root=root, folder=folder, reports=reports, now=now)


def load_declared(chain: Chain, folder: str, window: str) -> tuple[Declaration, Receipt]:
    """Return a window's declaration as it was chained.

    Raises:
        RefusedError: the chain does not know it, the copy is missing, or the
            copy is not what was chained.
        UsageError: what was chained is no longer understood.
    """
    receipt = declared(chain, checked_id(window))
    raw, found = read_canonical(declaration_path(folder, window), f"declaration of {window}")
    chained = receipt.details.get("digest")
    if found != chained:
        raise RefusedError(
            f"window {window}: its declaration was edited: {chained} is chained in entry "
            f"{receipt.entry}, the copy is {found}; nothing was written"
        )
    return declaration(raw, f"declaration of {window}", chained=True), receipt


def load_closed(chain: Chain, folder: str, window: str) -> tuple[dict[str, Any], Receipt]:
    """Return a closed window's record as it was chained.

    Raises:
        RefusedError: it is not closed, or the copy is missing or not what was chained.
    """
    receipt = chain.first(CLOSED, checked_id(window))
    if receipt is None:
        raise RefusedError(f"window {window} is not closed; expected a closed window")
    record, found = read_canonical(close_path(folder, window), f"close record of {window}")
    if found != receipt.details.get("close"):
        raise RefusedError(
            f"window {window}: its close record was edited: {receipt.details.get('close')} is "
            f"chained in entry {receipt.entry}, the copy is {found}"
        )
    return record, receipt


def _refuse_again(chain: Chain, window: str) -> None:
    first = chain.first(CLOSED, checked_id(window))
    if first is not None:
        raise RefusedError(
            f"window {window} was closed {format_moment(first.ts)}, grade "
            f"{first.details.get('grade')}, close record {first.details.get('close')}, slice "
            f"{first.details.get('slice')}, entry {first.entry}; a window is closed once"
        )


def _record(
    made: Declaration, receipt: Receipt, chain: Chain, root: str, now: int
) -> dict[str, Any]:
    """Return the close record: everything the report says, and nothing of this machine."""
    record: dict[str, Any] = {
        "version": RECORD_VERSION,
        "id": made.id,
        "closed": format_moment(now),
        "declaration": {
            "body": made.body,
            "digest": receipt.details["digest"],
            "entry": receipt.entry,
            "head": receipt.details.get("head"),
            "declared": format_moment(receipt.ts),
            "declared_us": receipt.ts,
            "start_us": made.start,
            "end_us": made.end,
        },
        "ledger": _ledger(root, chain),
        "software": _software(),
        **figures(cut(root, made), made),
    }
    found, reasons = grade(record)
    return record | {"grade": found, "reasons": [reason._asdict() for reason in reasons]}


def _ledger(root: str, chain: Chain) -> dict[str, Any]:
    from toolgate.verify import verify

    result = verify(root)
    return {
        "verdict": str(result.verdict),
        "findings": dict(sorted(Counter(str(found.code) for found in result.findings).items())),
        "head": str(chain.head),
    }


def _software() -> dict[str, str]:
    from importlib.metadata import version

    from toolgate import __version__

    return {
        "evalkit": __version__,
        "python": platform.python_version(),
        "duckdb": version("duckdb"),
        "scipy": version("scipy"),
    }


def _publish(record: dict[str, Any], *, root: str, folder: str, reports: str, now: int) -> Closed:
    """Write the files, then chain their digests: an unchained file is no evidence."""
    window = str(record["id"])
    close_file = close_path(folder, window)
    page = os.path.join(reports, f"window-{window}.md")
    data = os.path.join(reports, f"window-{window}.json")
    digest = write_canonical(close_file, record)
    text = markdown(record, digest)
    machine = twin(record, digest, text)
    write_whole(page, text)
    write_whole(data, machine)
    details = {"close": digest, "slice": record["slice"]["digest"], "grade": record["grade"]}
    ledger = Ledger(root, host=ACTOR, durability="fsync")
    entry = ledger.audit(action=CLOSED, actor=ACTOR, target=window, details=details, ts=now)
    return Closed(record, digest, entry, (close_file, page, data))
