"""What a ledger holds, wherever it is kept."""

from pathlib import Path

from toolgate.canonical import digest
from toolgate.verify.directory import Directory
from toolgate.verify.read import Line
from toolgate.verify.shapes import Outcome


def bytes_of(place: str) -> dict[str, bytes]:
    """Return a ledger's streams and policies, by the name of the file each is or would be."""
    if not place.startswith("postgresql:"):
        root = Path(place)
        found = [*root.glob("spine-*.jsonl"), *root.glob("sessions/*.jsonl")]
        found += root.glob("policies/*")
        kept = {str(path.relative_to(root)): path.read_bytes() for path in found}
        return {name: data for name, data in kept.items() if data}
    import psycopg

    kept = {}
    with psycopg.connect(place) as connection:
        rows = connection.execute("SELECT stream, n, start, digest, line FROM entry ORDER BY 1, 2")
        for stream, n, start, line_digest, line in rows:
            kind, _, name = stream.partition("/")
            path = f"spine-{name}.jsonl" if kind == "spine" else f"sessions/{name}.jsonl"
            held = kept.setdefault(path, b"")
            assert (n, start) == (held.count(b"\n") + 1, len(held))
            assert line_digest == digest(line)
            kept[path] = held + line + b"\n"
        kept |= dict(connection.execute("SELECT name, bytes FROM blob").fetchall())
    return kept


def written(root: Path) -> set[tuple[str, str]]:
    """Return the calls whose decision (d) and real outcome (o) the ledger holds."""
    directory = Directory(str(root))
    items = [*directory.read_spine()]
    for name in directory.sessions:
        items += directory.read_session(name)
    lines = [item for item in items if isinstance(item, Line)]
    decided = {line.event: line.entry.intent.call for line in lines if line.event}
    ended = {
        decided[line.entry.ev.decision_digest]
        for line in lines
        if isinstance(line.entry, Outcome) and line.entry.ev.terminal_state != "unresolved"
    }
    return {("d", call) for call in decided.values()} | {("o", call) for call in ended}
