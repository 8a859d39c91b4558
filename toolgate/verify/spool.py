"""Reads entries that lie in no file of their own, by way of a temporary one."""

import tempfile
from collections.abc import Iterable, Iterator

from toolgate.errors import LedgerError
from toolgate.verify.read import Bad, Line, read_file


def read_bytes(chunks: Iterable[bytes], name: str) -> Iterator[Line | Bad]:
    """Read the lines of a stream of bytes.

    They go through a temporary file, whose owner alone may read it, so that one
    reader says what a line is and memory stays bounded.

    Args:
        chunks: the bytes.
        name: what the stream is called in findings.

    Raises:
        LedgerError: the temporary file cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(prefix="toolgate-") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            yield from read_file(file.name, name)
    except OSError as error:
        raise LedgerError(f"cannot copy {name} to read it: {error.strerror}") from error
