"""Files that are kept for the next call: nobody but their owner may have written them."""

import os
from os import path

MOST_BYTES = 4_000_000
"""Of a kept file; a longer one is none of ours."""


def read_kept(file: str) -> bytes | None:
    """Return a kept file's bytes, unless anybody else could have written it.

    Args:
        file: its path; a link, or what is no file, is not followed.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if status.st_uid != os.getuid() or status.st_mode & 0o077 or status.st_size > MOST_BYTES:
            return None
        return os.read(handle, status.st_size)
    except OSError:
        return None
    finally:
        os.close(handle)


def keep(file: str, data: bytes) -> bool:
    """Keep a file for the next call, and say whether it is kept; if not, only speed is lost.

    Args:
        file: its path. The folder is made for its owner alone; one that others may enter keeps
            nothing.
        data: the bytes.
    """
    folder, name = path.split(file)
    part = path.join(folder, f".{name}.{os.getpid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.stat(folder).st_mode & 0o077:
            return False
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
        os.replace(part, file)
    except OSError:
        return False
    return True
