"""Makes proofs out of a ledger: see ``proof`` for what they hold and how they are checked."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from toolgate import signing
from toolgate.canonical import profile_bytes
from toolgate.errors import InputError, LedgerError
from toolgate.ledger.checkpoint import Checkpoint, parse_text
from toolgate.ledger.merkle import consistency_path, inclusion_path, tree_root
from toolgate.ledger.notes import ED25519, NoteKey, format_note, parse_note
from toolgate.ledger.rotation import CHECKPOINT
from toolgate.ledger.turn_dag import frontier
from toolgate.verify import proof
from toolgate.verify.anchors import Held
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import Other, SessionClose, TurnClose

Progress = Callable[[int], None]
_STEP = 4096


class _Log(NamedTuple):
    """What the spine says of the log.

    Args:
        heads: digests of the sessions' ends, 32 bytes each.
        keys: the keys it had.
        checkpoint: note of the checkpoint to prove against.
        said: what it says.
        found: entries of the spine that were asked for.
    """

    heads: list[bytes]
    keys: list[NoteKey]
    checkpoint: str
    said: Checkpoint
    found: list[Line]


class _Wanted:
    """Which entry is asked for: by its digest, its decision_digest, or how one of them begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._begin = text if text.startswith("sha256:") else "sha256:" + text
        self.whole = len(self._begin) == 71
        digits = self._begin[7:]
        if not 8 <= len(digits) <= 64 or digits.strip("0123456789abcdef"):
            raise InputError(
                f"ENTRY is {text!r:.90}; expected a digest, or at least its first 8 hex digits "
                "(toolgate ledger show CALL lists those of a call)"
            )

    def is_it(self, line: Line) -> bool:
        return line.digest.startswith(self._begin) or line.event.startswith(self._begin)


class _Reader:
    """Reads a ledger's good lines, and says how far it is."""

    def __init__(self, root: str, progress: Progress | None) -> None:
        self.directory = open_ledger(root)
        self._progress = progress
        self._read = 0

    def spine(self) -> Iterator[Line]:
        return self._lines(self.directory.read_spine())

    def session(self, name: str) -> Iterator[Line]:
        return self._lines(self.directory.read_session(name))

    def _lines(self, items: Iterator[Line | Bad]) -> Iterator[Line]:
        for item in items:
            if isinstance(item, Line):
                self._read += 1
                if self._progress is not None and not self._read % _STEP:
                    self._progress(self._read)
                yield item


def prove_entry(
    root: str, entry: str, held: Held | None = None, progress: Progress | None = None
) -> bytes:
    """Return the proof that an entry was in the log.

    Args:
        root: the ledger directory.
        entry: its digest, its decision_digest, or the first eight hex digits of one or more.
        held: the checkpoint to prove against; None for the ledger's latest.
        progress: called now and then with the number of entries read so far.

    Raises:
        InputError: ``entry`` is no digest.
        LedgerError: there is no such entry, no checkpoint covers it, or the ledger cannot
            be read or is damaged there.
    """
    wanted, reader = _Wanted(entry), _Reader(root, progress)
    log = _log(reader, held, wanted)
    turn: list[Line] = []
    found = log.found
    if not (found and wanted.whole):
        inside, turn = _in_files(reader, wanted)
        found = found + inside
    if len(found) != 1:
        what = "no entry" if not found else f"{len(found)} entries"
        raise LedgerError(
            f"the ledger at {reader.directory.root} holds {what} {wanted.text}; expected one"
        )
    made: dict[str, Any] = {
        "format": proof.ENTRY,
        "entry": _text(found[0]),
        "checkpoint": log.checkpoint,
    }
    made |= {"path": [], "frontier": None, "turn_close": None}
    if turn:
        made |= _to_frontier(found[0], turn)
    made |= _to_checkpoint(reader, found[0], bool(turn), log)
    return _checked(made, log.keys, held)


def prove_growth(
    root: str, first: int, held: Held | None = None, progress: Progress | None = None
) -> bytes:
    """Return the proof that the log continues what it was at an earlier size.

    Args:
        root: the ledger directory.
        first: the earlier size, from 1.
        held: the checkpoint to prove against; None for the ledger's latest.
        progress: as in ``prove_entry``.

    Raises:
        LedgerError: the log was never of that size before the checkpoint, or the ledger
            cannot be read or is damaged.
    """
    log = _log(_Reader(root, progress), held, None)
    size = log.said.size
    if not 1 <= first <= size <= len(log.heads):
        raise LedgerError(f"the checkpoint is over {size} sessions; {first} is no earlier size")
    heads = log.heads[:size]
    made = {
        "format": proof.CONSISTENCY,
        "first": {"size": first, "root": "sha256:" + tree_root(heads[:first]).hex()},
        "path": _digests(consistency_path(heads, first)),
        "checkpoint": log.checkpoint,
    }
    return _checked(made, log.keys, None)


def _log(reader: _Reader, held: Held | None, wanted: _Wanted | None) -> _Log:
    heads: list[bytes] = []
    keys: list[NoteKey] = []
    found: list[Line] = []
    text: str | None = None
    for line in reader.spine():
        entry = line.entry
        if isinstance(entry, SessionClose):
            heads.append(bytes.fromhex(line.digest[7:]))
        elif isinstance(entry, Other) and entry.kind == "checkpoint":
            text = entry.ev["text"]
        elif isinstance(entry, Other) and entry.ev.get("role") == CHECKPOINT:
            keys.append(NoteKey(entry.ev["name"], ED25519, signing.raw(entry.ev["new"])))
        if wanted is not None and wanted.is_it(line):
            found.append(line)
    if held is not None:
        text = format_note(held.note).decode("utf-8")
    if text is None:
        raise LedgerError(
            "the ledger has no checkpoint to prove against; make one first (toolgate ledger "
            "checkpoint)"
        )
    try:
        said = parse_text(parse_note(text.encode("utf-8")).text)
    except InputError as error:
        raise LedgerError(f"the ledger's last checkpoint is none ({error}); verify it") from None
    return _Log(heads, keys, text, said, found)


def _in_files(reader: _Reader, wanted: _Wanted) -> tuple[list[Line], list[Line]]:
    """Find entries in the sessions' files; return them and all entries of the last one's turn."""
    found: list[Line] = []
    turn: list[Line] = []
    for name in sorted(reader.directory.sessions):
        now: list[Line] = []
        for line in reader.session(name):
            if now and now[0].entry.turn != line.entry.turn:
                now = []
            now.append(line)
            if wanted.is_it(line):
                found.append(line)
                turn = now
        if found and wanted.whole:
            break
    return found, turn


def _to_frontier(entry: Line, turn: list[Line]) -> dict[str, Any]:
    """Return what leads from an entry to the frontier of its turn."""
    child = {parent: line for line in reversed(turn) for parent in line.entry.parents}
    path, now = [], entry
    while now.digest in child:
        now = child[now.digest]
        path.append(now)
    leaves = frontier((line.digest, line.entry.parents) for line in turn)
    return {"path": [_text(line) for line in path], "frontier": leaves}


def _to_checkpoint(reader: _Reader, entry: Line, in_turn: bool, log: _Log) -> dict[str, Any]:
    """Return what leads along the spine to a session's end, or to the entry that is named."""
    place = (entry.entry.session, entry.entry.turn)
    closed: str | None = None
    lines: list[str] | None = None
    ended = 0
    for line in reader.spine():
        now = line.entry
        ends = isinstance(now, SessionClose)
        ended += ends
        if lines is not None:
            lines.append(_text(line))
        elif not in_turn and line.digest == entry.digest:
            lines = []
        elif in_turn and isinstance(now, TurnClose) and (now.session, now.turn) == place:
            closed, lines = _text(line), []
        if lines is None:
            continue
        if ends and ended <= log.said.size:
            session = _inclusion(log.heads[: log.said.size], line.digest)
            return {"turn_close": closed, "spine": lines, "session": session}
        if (now.seq, line.digest) == log.said.spine:
            return {"turn_close": closed, "spine": lines, "session": None}
    raise LedgerError(
        "no checkpoint covers the entry: its turn is open, or it came after the checkpoint"
    )


def _inclusion(leaves: list[bytes], digest: str) -> dict[str, Any]:
    index = leaves.index(bytes.fromhex(digest[7:]))
    path = _digests(inclusion_path(leaves, index))
    return {"index": index, "size": len(leaves), "path": path}


def _checked(made: dict[str, Any], keys: list[NoteKey], held: Held | None) -> bytes:
    """Return a proof's bytes, once it has proved what it should."""
    data = profile_bytes(made) + b"\n"
    try:
        proof.check(data, keys, held)
    except InputError as error:
        raise LedgerError(
            f"the ledger does not prove it ({error}); verify the ledger against the checkpoint"
        ) from None
    return data


def _text(line: Line) -> str:
    return line.raw.decode("utf-8")


def _digests(hashes: list[bytes]) -> list[str]:
    return ["sha256:" + item.hex() for item in hashes]
