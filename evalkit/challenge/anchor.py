"""A ledger's head kept beside the reports, so that a ledger cut short or put back is seen.

A chain proves that nothing before its end was changed; it does not say where it ended. The
head is written to ``<reports>/ledger-<12 of its first entry>.head.json`` when a run is
claimed and when it is reported. Committed with the reports, it says outside the
ledger how far the ledger was. It names the ledger by its first entry, and by a digest of
machine and path: what was at this place and is there no longer was deleted or replaced;
a ledger elsewhere is another one.
"""

import glob
import os
import re
from typing import Any, NamedTuple

from evalkit.challenge.claims import read_claims
from evalkit.challenge.hold import CLAIMS
from evalkit.errors import RefusedError, StorageError
from toolgate.canonical import canonical_bytes, digest, digest_of, parse
from toolgate.errors import CanonicalizationError
from toolgate.ledger.append import Ledger
from toolgate.ledger.directory import spine_files
from toolgate.ledger.files import Locked
from toolgate.records import is_digest

SCHEMA = "evalkit/ledger-head/1"
_HEAD = re.compile(r"([1-9]\d{0,15}):(sha256:[0-9a-f]{64})")
_FIELDS = {"schema", "ledger", "place", "head", "looks"}


class Anchor(NamedTuple):
    """How far a ledger was when somebody wrote it down.

    Args:
        name: the file's name.
        ledger: digest of the ledger's first entry.
        place: digest of where it lay.
        seq: number of the spine's last entry then.
        digest: digest of that entry.
        looks: how many runs it had claimed.
    """

    name: str
    ledger: str
    place: str
    seq: int
    digest: str
    looks: int


def read_anchors(reports: str) -> list[Anchor]:
    """Return the heads that are kept beside reports.

    Args:
        reports: the reports' directory; a missing one has none.

    Raises:
        StorageError: a file cannot be read, or is none.
    """
    paths = sorted(glob.glob(os.path.join(glob.escape(reports), "ledger-*.head.json")))
    return [_anchor(path) for path in paths]


def _anchor(path: str) -> Anchor:
    try:
        with open(path, "rb") as file:
            body: Any = parse(file.read())
    except OSError as error:
        raise StorageError(f"{path}: the ledger's head cannot be read: {error.strerror}") from None
    except CanonicalizationError as error:
        raise StorageError(f"{path}: expected a ledger's head, got: {error}") from None
    head = _HEAD.fullmatch(str(body.get("head"))) if type(body) is dict else None
    good = (
        head is not None
        and body.keys() == _FIELDS
        and body["schema"] == SCHEMA
        and is_digest(body["ledger"])
        and is_digest(body["place"])
        and type(body["looks"]) is int
    )
    if head is None or not good:
        raise StorageError(f"{path}: expected a ledger's head of {SCHEMA}, got another object")
    name = os.path.basename(path)
    return Anchor(name, body["ledger"], body["place"], int(head[1]), head[2], body["looks"])


def place_of(ledger: str) -> str:
    """Return a digest of where a ledger lies: this machine's name and the directory."""
    return digest_of([os.uname().nodename, os.path.realpath(ledger)])


def first_entry(ledger: str) -> str | None:
    """Return the digest of a ledger's first entry; None where there is none."""
    for name in spine_files(ledger)[:1]:
        with open(os.path.join(ledger, name), "rb") as file:
            line = file.readline()
            if line.endswith(b"\n"):
                return digest(line[:-1])
    return None


def about(ledger: str, anchors: list[Anchor]) -> list[Anchor]:
    """Return the heads that are of a ledger, or of one that lay at its place.

    Args:
        ledger: the ledger's directory; it need not exist.
        anchors: the heads.
    """
    first, place = first_entry(ledger), place_of(ledger)
    return [anchor for anchor in anchors if anchor.ledger == first or anchor.place == place]


def faults_of(ledger: str, anchors: list[Anchor]) -> list[str]:
    """Return how a ledger contradicts heads that were kept, one sentence each.

    Args:
        ledger: the ledger's directory; it need not exist.
        anchors: the heads; those of ledgers elsewhere are passed over.
    """
    first = first_entry(ledger)
    found = [_fault(ledger, anchor, first) for anchor in about(ledger, anchors)]
    return [fault for fault in found if fault]


def _fault(ledger: str, anchor: Anchor, first: str | None) -> str:
    """Return how a ledger contradicts a head that is about it; "" where it does not."""
    known = f"{anchor.name} knows it up to entry {anchor.seq}, with {_looks(anchor.looks)}"
    if first is None:
        return f"the ledger is gone: {known}; nothing is there now"
    if first != anchor.ledger:
        return f"the ledger was replaced: {known}; the one there now begins with another entry"
    last, same = _reach(ledger, anchor)
    if same:
        return ""
    if last < anchor.seq:
        return f"the ledger was cut short: {known}; it ends at entry {last}"
    return f"the ledger was rewritten: {known}; its entry {anchor.seq} is another one"


def _looks(number: int) -> str:
    return "1 look" if number == 1 else f"{number} looks"


def _reach(ledger: str, anchor: Anchor) -> tuple[int, bool]:
    """Return the number of the spine's last whole entry, and whether it holds the head."""
    mark, last, same = b'"seq":%d,' % anchor.seq, b"", False
    for name in spine_files(ledger):
        with open(os.path.join(ledger, name), "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # a fragment; the verifier names it
                last = line
                same = same or (mark in line and digest(line[:-1]) == anchor.digest)
    found = re.findall(rb'"seq":(\d+),', last)
    return int(found[-1]) if found else 0, same


def hold_to_anchors(ledger: str, reports: str) -> None:
    """Refuse to work on a ledger that contradicts a head that was kept.

    Raises:
        StorageError: says how, and what to do about it.
    """
    found = faults_of(ledger, read_anchors(reports))
    if found:
        raise StorageError(
            "; ".join(found) + ". Nothing was done. Put the ledger back; or, to begin anew in "
            "public, remove the file in a commit of its own"
        )


def keep_head(ledger: str, reports: str) -> None:
    """Write down a ledger's head beside the reports; the caller holds ``CLAIMS``.

    Raises:
        RefusedError: the file cannot be written.
    """
    first = first_entry(ledger)
    if first is None:
        return
    seq, head = Ledger(ledger).head()
    body = {
        "schema": SCHEMA,
        "ledger": first,
        "place": place_of(ledger),
        "head": f"{seq}:{head}",
        "looks": len(read_claims(ledger)),
    }
    path = os.path.join(reports, f"ledger-{first[7:19]}.head.json")
    draft = f"{path}.{os.getpid()}.new"
    try:
        os.makedirs(reports, exist_ok=True)
        with open(draft, "wb") as file:
            file.write(canonical_bytes(body) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, path)
    except OSError as error:
        raise RefusedError(
            f"{path}: the ledger's head cannot be written: {error.strerror}; what is claimed stays "
            "claimed and can be continued: evalkit resume RUN --reports DIR"
        ) from None


def keep_head_locked(ledger: str, reports: str) -> None:
    """Write down a ledger's head as ``keep_head`` does, holding ``CLAIMS`` meanwhile."""
    with Locked(os.path.join(ledger, CLAIMS)):
        keep_head(ledger, reports)
