"""Recorded logs as the commands read them: file after file, with progress on a terminal."""

import sys
from collections.abc import Iterator

from toolgate.errors import UnavailableError
from toolgate.hook.log import Recorded, Skipped, read_log


def recorded(
    files: tuple[str, ...], cwd: str, home: str, *, doing: str
) -> Iterator[Recorded | Skipped]:
    """Yield the calls of recorded logs.

    Args:
        files: the logs.
        cwd: directory of calls that name none.
        home: home of calls whose directory does not show one.
        doing: what is done with them, for people who wait.

    Raises:
        InputError: a line is no JSON object.
        UnavailableError: a file cannot be read.
    """
    if not sys.stderr.isatty():
        yield from _items(files, cwd, home)
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(_items(files, cwd, home), description=doing, console=console, transient=True)


def _items(files: tuple[str, ...], cwd: str, home: str) -> Iterator[Recorded | Skipped]:
    for file in files:
        try:
            with open(file, "rb") as lines:
                yield from read_log(file, lines, cwd=cwd, home=home)
        except OSError as error:
            raise UnavailableError(f"log {file} cannot be read: {error.strerror}") from None
