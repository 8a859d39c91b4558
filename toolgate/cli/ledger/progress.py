"""What long work says on a terminal while it goes on."""

import sys
from typing import Any


class Progress:
    """Says on a terminal how far the work is, once it takes longer than a second.

    Args:
        words: what is said, with a place for each number.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._began = 0.0
        self._status: Any = None

    def __enter__(self) -> "Progress":
        import time

        self._began = time.monotonic()
        return self

    def __call__(self, *numbers: float) -> None:
        """Take the numbers as they are now."""
        import time

        if self._status is None:
            if not sys.stderr.isatty() or time.monotonic() - self._began < 1:
                return
            from rich.console import Console

            self._status = Console(stderr=True).status(self._words.format(*numbers))
            self._status.start()
        self._status.update(self._words.format(*numbers))

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.stop()
