"""The compiled catalogue: one small JSON file a program, found by digest."""

import json
from collections.abc import Callable
from os import path
from typing import Any

from toolgate.canonical import digest
from toolgate.errors import UnavailableError

COMPILED = path.join(path.dirname(path.dirname(path.abspath(__file__))), "compiled")


class Catalog:
    """Programs by name, read when first asked for.

    Args:
        index_bytes: canonical JSON, program name to the digest of its entry.
        read: returns the bytes of an entry by its digest.
    """

    def __init__(self, index_bytes: bytes, read: Callable[[str], bytes]) -> None:
        self.digest = digest(index_bytes)
        self._index: dict[str, str] = json.loads(index_bytes)
        self._read = read
        self._entries: dict[str, dict[str, Any]] = {}

    def names(self) -> list[str]:
        """Return every program name, sorted."""
        return sorted(self._index)

    def get(self, name: str) -> dict[str, Any] | None:
        """Return a program's entry, or None when the catalogue does not know it.

        Raises:
            UnavailableError: the entry's bytes are missing or not the ones the index names.
        """
        if name in self._entries:
            return self._entries[name]
        wanted = self._index.get(name)
        if wanted is None:
            return None
        data = self._read(wanted)
        if digest(data) != wanted:
            raise UnavailableError(f"catalogue entry of {name} does not have the digest {wanted}")
        entry: dict[str, Any] = json.loads(data)
        self._entries[name] = entry
        return entry


def entry_file(entry_digest: str) -> str:
    """Return the file name of a compiled entry."""
    return f"program-{entry_digest[7:23]}.json"


def shipped() -> Catalog:
    """Return the catalogue this package was built with.

    Raises:
        UnavailableError: the package was not built, so there is no compiled catalogue.
    """
    return Catalog(read_compiled("catalog.json"), lambda wanted: read_compiled(entry_file(wanted)))


def read_compiled(name: str) -> bytes:
    """Return a file the build made.

    Raises:
        UnavailableError: it is not there.
    """
    try:
        with open(path.join(COMPILED, name), "rb") as file:
            return file.read()
    except OSError as error:
        raise UnavailableError(
            f"compiled file {name} cannot be read ({error.strerror}); install the package with pip"
        ) from None
