"""A progress bar for people: only on a terminal, only when it takes long, never a verdict."""

import time
from typing import IO, Any

PATIENCE_S = 1.0
"""Work shorter than this shows nothing."""


class Bar:
    """Shows how many cases are finished.

    Args:
        stream: where to; nothing is shown unless it is a terminal.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._since = time.monotonic()
        self._progress: Any = None
        self._task: Any = None

    def show(self, done: int, total: int) -> None:
        """Say how far the work is."""
        if not self._stream.isatty() or time.monotonic() - self._since < PATIENCE_S:
            return
        if self._progress is None:
            self._open(total)
        self._progress.update(self._task, completed=done)

    def _open(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("cases"),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=self._stream),
            transient=True,
        )
        self._progress.start()
        self._task = self._progress.add_task("cases", total=total)

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()
