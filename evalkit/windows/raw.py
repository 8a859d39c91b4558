"""A ledger's lines in DuckDB: one text column, read as they lie on disk, sealed ones unpacked.

Lines are read whole and digested before anything looks inside them, so that a
line's natural key is the digest of its bytes. A line DuckDB cannot hold as
text (bytes that are not UTF-8, control characters, too long) is counted as bad
and left out; nothing is skipped silently.
"""

import codecs
import os
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalkit.errors import RefusedError
from toolgate.records import MAX_LINE_BYTES

_CONTROL = bytes(range(0x0A)) + bytes(range(0x0B, 0x20))
_CHUNK_BYTES = 1 << 20
_COLUMN_ENDS = "chr(1)"  # never inside a canonical line, so a line is one column


class LineCounts(NamedTuple):
    """What the raw lines of a ledger are.

    Args:
        files: files read.
        lines: lines read, bad ones included.
        bad: lines that are not one JSON object.
        duplicates: lines whose bytes were seen before; one of each is kept.
        foreign: objects that are not entries of a kind this reader knows.
    """

    files: int
    lines: int
    bad: int
    duplicates: int
    foreign: int


def log_files(root: str) -> list[str]:
    """Return the paths of a ledger's spine and session files, in a stated order.

    Raises:
        RefusedError: there is no ledger at that place.
    """
    from toolgate.ledger.directory import spine_files

    if not os.path.isdir(root):
        raise RefusedError(f"no ledger at {root}: expected a directory with spine files")
    spine = [os.path.join(root, name) for name in spine_files(root)]
    sessions = os.path.join(root, "sessions")
    names = sorted(os.listdir(sessions)) if os.path.isdir(sessions) else []
    found = spine + [os.path.join(sessions, name) for name in names if name.endswith(".jsonl")]
    if not found:
        raise RefusedError(f"no ledger at {root}: expected a directory with spine files")
    return found


def _sealed_files(root: str, spool: str) -> list[str]:
    """Unpack the sealed sessions that have no file, and return the paths of the copies.

    Raises:
        RefusedError: a segment is not what its manifest says.
    """
    from toolgate.errors import LedgerError, SegmentError
    from toolgate.ledger import packs

    made: dict[str, str] = {}
    try:
        for stem in reversed(packs.stems(root)):  # a session's latest copy holds the earlier ones
            for item in packs.read_manifest(root, stem).sessions:
                there = os.path.exists(os.path.join(root, "sessions", item.name + ".jsonl"))
                if not there and item.name not in made:
                    made[item.name] = os.path.join(spool, f"sealed-{len(made)}.jsonl")
                    _unpack(root, stem, item, made[item.name])
    except (SegmentError, LedgerError) as error:
        raise RefusedError(f"cannot read the sealed sessions of {root}: {error}") from error
    return [made[name] for name in sorted(made)]


def _unpack(root: str, stem: str, item: Any, path: str) -> None:
    from toolgate.errors import SegmentError
    from toolgate.ledger import packs

    tally = packs.Tally()
    with open(path, "wb") as file:
        for chunk in packs.unpacked(packs.folder_of(root, stem), item):
            tally.add(chunk)
            file.write(chunk)
    if tally.digest() != item.digest:
        raise SegmentError(f"segments/{stem}: session {item.name} has another digest")


# The exact bytes of ``ev`` as they stand in a canonical decision: keys are sorted,
# so ``facts`` follows, and inside a string a quote would be escaped.
_EVENT_BYTES = "split_part(split_part(line, '\"ev\":', 2), ',\"facts\":', 1)"

_JUDGED = '{"code":"judge","entry":"sha256:'
"""How a decision's fact begins that names the entry of its judge."""

FIELDS = {
    "kind": "$.kind",
    "ts": "$.ts",
    "turn": "$.turn",
    "session": "$.session",
    "parents": "$.parents",
    "basis": "$.basis",
    "axis": "$.axis",
    "build": "$.build",
    "class": "$.class",
    "host": "$.host",
    "mode": "$.mode",
    "proof": "$.proof",
    "rule": "$.rule",
    "source": "$.source",
    "agent": "$.intent.agent_id",
    "scope": "$.intent.scope",
    "tool": "$.intent.action_type",
    "action_ref": "$.ev.action_ref",
    "args_digest": "$.ev.args_digest",
    "auth_mode": "$.ev.auth_mode",
    "committed": "$.ev.decision_digest",
    "policy": "$.ev.policy_version",
    "principal": "$.ev.principal",
    "state": "$.ev.decision_state",
    "terminal_state": "$.ev.terminal_state",
}
"""Columns of the view ``entry``, and where in a line each is found."""

JUDGE_FIELDS = {
    "backend": "$.ev.details.backend",
    "model": "$.ev.details.model",
    "pinned": "$.ev.details.pinned",
    "answered": "$.ev.details.answered_by",
}
"""Of a line that says a judge was asked; of others they are not looked for."""


def load_entries(connection: Any, root: str) -> LineCounts:
    """Read every line of a ledger; the view ``entry`` has one row a distinct line.

    Args:
        connection: a DuckDB connection that may still read files.
        root: the ledger's directory.

    Returns:
        The counts. The view has ``FIELDS``, ``entry_digest`` and, for
        decisions, ``decision_digest``, ``runs_code`` and ``judge_entry`` (the
        entry of the judge that was asked), for such an entry ``judge`` (its
        ``JUDGE_FIELDS``); bad lines and duplicates are not in it.
    """
    paths = log_files(root)
    with tempfile.TemporaryDirectory(prefix="evalkit-window-") as spool:
        paths += _sealed_files(root, spool)
        bad = 0
        readable = []
        for place, path in enumerate(paths):
            if _is_text(path):
                readable.append(path)
            else:
                copy = os.path.join(spool, f"{place}.jsonl")
                bad += _copy_text_lines(path, copy)
                readable.append(copy)
        _extract(connection, [path for path in readable if os.path.getsize(path)])
    read, good, kept, known = connection.execute(
        "SELECT count(*), count(entry_digest), count(DISTINCT entry_digest), "
        "count(DISTINCT entry_digest) FILTER (WHERE kind IS NOT NULL) FROM raw"
    ).fetchone()
    distinct = "" if good == kept else "DISTINCT ON (entry_digest)"
    connection.execute(
        f"CREATE VIEW entry AS SELECT {distinct} * FROM raw WHERE entry_digest IS NOT NULL"
    )
    return LineCounts(len(paths), read + bad, read - good + bad, good - kept, kept - known)


def _extract(connection: Any, paths: list[str]) -> None:
    """Digest each line and take its fields; a bad line becomes a row of nulls."""
    places = ", ".join(f"'{place}'" for place in FIELDS.values())
    judged = ", ".join(f"'{place}'" for place in JUDGE_FIELDS.values())
    columns = ", ".join(f'j[{number}] AS "{name}"' for number, name in enumerate(FIELDS, 1))
    connection.execute(
        f"""
        CREATE TABLE raw AS
        SELECT CASE WHEN good THEN 'sha256:' || sha256(line) END AS entry_digest, {columns},
               CASE WHEN kind = 'decision'
                    THEN 'sha256:' || sha256({_EVENT_BYTES}) END AS decision_digest,
               kind = 'decision' AND contains(line, '"type":"exec.code"') AS runs_code,
               CASE WHEN kind = 'decision' AND contains(line, '{_JUDGED}')
                    THEN 'sha256:' || split_part(split_part(line, '{_JUDGED}', 2), '"', 1)
                    END AS judge_entry,
               CASE WHEN kind = 'audit' AND contains(line, '"action":"judge.asked"')
                    THEN json_extract_string(line, [{judged}]) END AS judge
        FROM (
          SELECT line, good, j, j[1] AS kind FROM (
            SELECT line, good, CASE WHEN good THEN json_extract_string(line, [{places}]) END AS j
            FROM (
              SELECT line, line IS NOT NULL AND json_valid(line) AND starts_with(line, '{{') AS good
              FROM read_csv($paths, columns = {{'line': 'VARCHAR'}}, auto_detect = false,
                            header = false, delim = {_COLUMN_ENDS}, quote = '', escape = '',
                            max_line_size = {MAX_LINE_BYTES * 2})
            )
          )
        )
        """,
        {"paths": paths},
    )


def _is_text(path: str) -> bool:
    """Say whether DuckDB can hold a whole file as lines of text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    longest = 0
    try:
        for chunk in _chunks(path):
            if len(chunk.translate(None, _CONTROL)) != len(chunk):
                return False
            decoder.decode(chunk)
            longest = _longest(chunk, longest)
            if longest > MAX_LINE_BYTES:
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _longest(chunk: bytes, running: int) -> int:
    """Return the length of the line still open, or more than the limit if one was too long."""
    first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
    if first < 0:
        return running + len(chunk)
    if running + first > MAX_LINE_BYTES:
        return running + first
    if last - first > MAX_LINE_BYTES:
        lengths = [len(part) for part in chunk[first + 1 : last].split(b"\n")]
        if max(lengths) > MAX_LINE_BYTES:
            return max(lengths)
    return len(chunk) - last - 1


def _copy_text_lines(path: str, copy: str) -> int:
    """Copy the lines DuckDB can hold, and return how many it cannot."""
    bad = 0
    with open(path, "rb") as source, open(copy, "wb") as target:
        for line in source:
            text = line.removesuffix(b"\n")
            if text and _line_is_text(text):
                target.write(text + b"\n")
            else:
                bad += 1
    return bad


def _line_is_text(line: bytes) -> bool:
    if len(line) > MAX_LINE_BYTES or len(line.translate(None, _CONTROL)) != len(line):
        return False
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _chunks(path: str) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk
