"""Opens a ledger's files for reading, and nothing else that lies under their names."""

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str, buffering: int = -1) -> BinaryIO:
    """Open a file to read its bytes; a pipe or a device, which may never end, is refused.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
    except OSError:
        os.close(fd)
        raise
    return open(fd, "rb", buffering=buffering)
