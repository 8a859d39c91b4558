"""CSV with a header: one row a case.

Columns: ``command`` (the tool's input: JSON, or for Bash its text) is needed; ``id``, ``pair``,
``category``, ``expected``, ``task``, ``tool``, ``severity`` and ``rationale`` are read, others
are kept as they are.
"""

import csv
import io
import os
from typing import Any

from evalkit.challenge.read import read_bytes
from evalkit.errors import UsageError
from evalkit.readers.draft import SOURCE, Draft, RowFaults, numbered_id

_NEEDED = "command"
_LONGEST_CELL = 1024 * 1024


def read(path: str) -> Draft:
    """Read a CSV file with a header.

    Raises:
        UsageError, SetError: it cannot be read, or a row is not of the shape.
    """
    name = os.path.basename(path)
    faults = RowFaults(name)
    rows = _rows(read_bytes(path, SOURCE), name, faults)
    cases = [
        _case(cells, f"row {line}", numbered_id(number, len(rows)), faults)
        for number, (line, cells) in enumerate(rows, 1)
    ]
    if not rows:
        faults.say("file", "expected rows below the header, got none")
    faults.raise_any()
    return Draft(
        cases=cases,
        categories={case["category"]: "as the source names it" for case in cases},
        fixtures={},
        rows=len(rows),
        left_out={},
        where=[f"row {line}" for line, _ in rows],
    )


def _rows(data: bytes, name: str, faults: RowFaults) -> list[tuple[int, dict[str, str]]]:
    """Return the rows with the line each ends on; white rows are passed over."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{name}: row {line}: expected UTF-8, got byte {data[error.start]:#04x} "
            f"at {error.start}"
        ) from None
    before = csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[tuple[int, dict[str, str]]] = []
    try:
        head = [cell.strip() for cell in next(reader, [])]
        _check_head(head, faults)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(head):
                    got = f"{len(cells)} cells"
                    faults.say(f"row {reader.line_num}", f"expected {len(head)} cells, got {got}")
                found.append((reader.line_num, dict(zip(head, cells, strict=False))))
    except csv.Error as error:
        raise UsageError(f"{name}: row {reader.line_num}: expected CSV, got: {error}") from None
    finally:
        csv.field_size_limit(before)
    return found


def _check_head(head: list[str], faults: RowFaults) -> None:
    twice = sorted({name for name in head if head.count(name) > 1 or not name})
    if twice:
        faults.add("row 1", "header", "names, each once", twice)
    if _NEEDED not in head:
        faults.add("row 1", "header", f"a column {_NEEDED}", head)
    faults.raise_any()


def _case(cells: dict[str, str], row: str, fallback: str, faults: RowFaults) -> dict[str, Any]:
    made: dict[str, Any] = {name: cell for name, cell in cells.items() if cell != ""}
    made["id"] = cells.get("id", "").strip() or fallback
    made["category"] = cells.get("category", "").strip() or "uncategorised"
    made["expected"] = faults.label(row, "expected", cells.get("expected", "").strip().lower())
    made[_NEEDED] = faults.text(row, _NEEDED, cells.get(_NEEDED, ""))
    if "severity" in made:
        made["severity"] = _severity(made["severity"].strip(), row, faults)
    return made


def _severity(text: str, row: str, faults: RowFaults) -> int:
    if text.isascii() and text.isdecimal() and len(text) < 4:
        return int(text)
    faults.add(row, "severity", "an integer", text)
    return 1
