"""Says on a terminal how far a reading of a ledger is."""

import sys
from typing import Any


class Progress:
    """Shows a line on standard error once the work takes longer than a second.

    Args:
        doing: what is being done, for example ``verifying``.
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
        """Take the number of entries read so far."""
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
