"""Holding a run: one process at a time, from the claim or the resume to the report.

The lock is an empty file in the run's directory. A process that dies lets go
of it, so a killed run can be continued at once.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from evalkit.errors import RefusedError

NAME = "lock"
CLAIMS = "runs.lock"
"""Beside the runs: under it claims are read and written, and runs' locks are taken."""


@contextmanager
def held(directory: str, run: str) -> Iterator[None]:
    """Hold a run's directory.

    Args:
        directory: the run's directory.
        run: the run's id, for the message.

    Raises:
        RefusedError: another process holds it, or it cannot be locked.
    """
    path = os.path.join(directory, NAME)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RefusedError(f"{path}: the run cannot be held: {error.strerror}") from None
    try:
        _lock(descriptor, path, run)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str, run: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RefusedError(f"run {run}: another process is running it") from None
    except OSError as error:
        raise RefusedError(f"{path}: the run cannot be held: {error.strerror}") from None


def is_running(directory: str) -> bool:
    """Say whether a process holds a run's directory.

    The lock is taken for a moment to find out, so the caller holds ``CLAIMS``,
    under which alone others take it.

    Args:
        directory: the run's directory; one that does not exist is not held.
    """
    try:
        descriptor = os.open(os.path.join(directory, NAME), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
