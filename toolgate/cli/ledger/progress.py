"""Says on a terminal how far long work is."""

import sys
from typing import Any


class Progress:
    """Shows how many entries were read, once the work takes longer than a second.

    Args:
        doing: what is done, such as ``verifying``.
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._began = 0.0
        self._status: Any = None

    def __enter__(self) -> "Progress":
        import time

        self._began = time.monotonic()
        return self

    def __call__(self, entries: int) -> None:
        import time

        if self._status is None:
            if not sys.stderr.isatty() or time.monotonic() - self._began < 1:
                return
            from rich.console import Console

            self._status = Console(stderr=True).status(self._doing)
            self._status.start()
        self._status.update(f"{self._doing}: {entries:,} entries read")

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.stop()
