"""The Parquet twin of a segment: what a slice of its entries needs, and no text of people."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from toolgate.canonical import digest, parse_line
from toolgate.errors import CanonicalizationError, UnavailableError
from toolgate.ledger.index import decision_digest_of

COLUMNS = (
    "session",
    "turn",
    "seq",
    "kind",
    "ts",
    "entry_digest",
    "decision_digest",
    "action_ref",
    "tool",
    "class",
    "rule",
    "state",
    "terminal_state",
    "host",
)
"""``seq`` is the entry's physical line in its session's file, from 1; ``ts`` microseconds UTC."""

INTEGERS = frozenset(("turn", "seq", "ts"))

Row = tuple[Any, ...]
_ROWS = 65_536


def require() -> None:
    """Check that Parquet can be written here.

    Raises:
        UnavailableError: pyarrow is missing.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise UnavailableError(
            "a Parquet twin needs pyarrow: pip install 'toolgate-evalkit[segments]'"
        ) from None


def write(path: str, rows: Iterable[Row]) -> None:
    """Write rows as a new Parquet file, some at a time."""
    import pyarrow
    import pyarrow.parquet

    schema = _schema()
    waiting = iter(rows)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(waiting, _ROWS)):
            columns = [
                pyarrow.array(column, type=kind)
                for column, kind in zip(zip(*some, strict=True), schema.types, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema))


def _schema() -> Any:
    import pyarrow

    types = [pyarrow.int64() if name in INTEGERS else pyarrow.string() for name in COLUMNS]
    return pyarrow.schema(list(zip(COLUMNS, types, strict=True)))


def read(path: str) -> Iterator[Row]:
    """Yield the rows of a twin.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no Parquet file with these columns.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            if not file.schema_arrow.equals(_schema()):  # other types could hold anything
                raise ValueError("other columns")
            for batch in file.iter_batches(batch_size=_ROWS):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
    except pyarrow.ArrowException as error:
        raise ValueError("no Parquet file that can be read") from error


def lines_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the whole lines of a stream of bytes, without line feeds."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def rows_of(lines: Iterable[bytes]) -> Iterator[Row]:
    """Yield a row for every entry of a session's file; other lines have none.

    Args:
        lines: the file's lines, without line feeds.
    """
    for number, line in enumerate(lines, 1):
        body = _entry(line)
        if body is not None:
            yield _row(body, line, number)


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        body = parse_line(line)
    except CanonicalizationError:
        return None
    known = type(body) is dict and type(body.get("ev")) is dict
    return body if known and type(body.get("kind")) is str else None


def _row(body: dict[str, Any], line: bytes, number: int) -> Row:
    ev, intent = body["ev"], body.get("intent")
    intent = intent if type(intent) is dict else {}
    decided = body["kind"] == "decision"
    values = (
        body.get("session"),
        body.get("turn"),
        number,
        body["kind"],
        body.get("ts"),
        digest(line),
        decision_digest_of(line) if decided else ev.get("decision_digest"),
        ev.get("action_ref"),
        intent.get("action_type"),
        body.get("class"),
        body.get("rule"),
        ev.get("decision_state"),
        ev.get("terminal_state"),
        body.get("host"),
    )
    # A line of another shape, which the verifier names, must not keep the others out.
    return tuple(
        value if type(value) is (int if name in INTEGERS else str) else None
        for name, value in zip(COLUMNS, values, strict=True)
    )
