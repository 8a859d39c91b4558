"""A sign of life on stderr for work that takes more than a second."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

PATIENCE_S = 1.0


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a spinner after a second, on a terminal only; nothing is left behind.

    Args:
        text: what is being done.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    thread = Thread(target=_show, args=(text, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(text: str, done: Event) -> None:
    if done.wait(PATIENCE_S):
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        done.wait()
