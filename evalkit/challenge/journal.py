"""The journal of a run: which case was started, which one is finished.

One JSON object a line. A ``started`` row is written before the gate sees the
case, so a killed process leaves it behind; ``finished`` rows are written in
groups and synced together, after their decisions are in the run's ledger. A
last line cut short by a crash is closed by a ``recovered`` row.
"""

import os
from typing import Any, NamedTuple

import orjson

from evalkit.challenge.score import Result
from evalkit.errors import StorageError

NAME = "journal.jsonl"


class Progress(NamedTuple):
    """What a journal says about a run.

    Args:
        finished: result by case id.
        attempts: how often each case was started.
        fragment: length in bytes of a last line without line feed; 0 when there is none.
    """

    finished: dict[str, Result]
    attempts: dict[str, int]
    fragment: int

    def in_doubt(self) -> list[str]:
        """Return the cases that were started and not finished."""
        return [case for case in self.attempts if case not in self.finished]


class Journal:
    """Appends rows to a run's journal.

    Args:
        directory: the run's directory.
    """

    def __init__(self, directory: str) -> None:
        self._fd = os.open(
            os.path.join(directory, NAME), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600
        )

    def started(self, case: str, attempt: int, ts: int) -> None:
        """Say that a case is about to be shown to the gate.

        Args:
            case: the case's id.
            attempt: 1 for the first time.
            ts: microseconds UTC.
        """
        row = {"row": "started", "case": case, "attempt": attempt, "ts": ts}
        self._write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def finished(self, results: list[Result], ts: int) -> None:
        """Say what became of some cases, and make it durable.

        Args:
            results: the finished cases.
            ts: microseconds UTC.
        """
        rows = [
            orjson.dumps({"row": "finished", "ts": ts, **result._asdict()}) for result in results
        ]
        self._write(b"\n".join(rows) + b"\n")
        os.fsync(self._fd)

    def recovered(self, fragment: int, ts: int) -> None:
        """Close a line that a crash cut short.

        Args:
            fragment: its length in bytes.
            ts: microseconds UTC.
        """
        row = {"row": "recovered", "length": fragment, "ts": ts}
        self._write(b"\n" + orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Make everything durable and close the file."""
        os.fsync(self._fd)
        os.close(self._fd)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data) :]


def read_journal(directory: str) -> Progress:
    """Return what a run's journal says.

    Args:
        directory: the run's directory.

    Raises:
        StorageError: a line is damaged in a way no crash explains, or a case
            is finished twice with different results.
    """
    path = os.path.join(directory, NAME)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return Progress({}, {}, 0)
    *lines, last = data.split(b"\n")
    progress = Progress({}, {}, len(last))
    torn: int | None = None
    for number, line in enumerate(lines, start=1):
        row = _row(line)
        if torn is not None and (row is None or row["row"] != "recovered"):
            raise StorageError(f"{path}:{torn}: expected a journal row, got damaged bytes")
        torn = number if row is None else None
        if row is not None:
            _take(progress, row, f"{path}:{number}")
    if torn is not None:
        raise StorageError(f"{path}:{torn}: expected a journal row, got damaged bytes")
    whole = _row(last)
    if whole is not None:  # only its line feed is missing
        _take(progress, whole, f"{path}:{len(lines) + 1}")
    return progress


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = orjson.loads(line)
    except ValueError:
        return None
    return row if type(row) is dict and "row" in row else None


def _take(progress: Progress, row: dict[str, Any], where: str) -> None:
    if row["row"] == "started":
        progress.attempts[row["case"]] = row["attempt"]
    elif row["row"] == "finished":
        try:
            fields = {name: row[name] for name in Result._fields}
        except KeyError as error:
            raise StorageError(f"{where}: expected a finished row, got none of {error}") from None
        lists = {name: tuple(fields[name]) for name in ("effects", "facts")}
        result = Result(**{**fields, **lists})
        if progress.finished.setdefault(result.case, result) != result:
            raise StorageError(f"{where}: case {result.case} is finished twice, differently")
