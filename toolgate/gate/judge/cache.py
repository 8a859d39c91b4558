"""Answers of judges, kept by the digests of request and answer in a folder of the user's own.

An answer that serves a later call is a decision like any other, so a file counts only if
its bytes have the digest it is named by and nobody else can have written it. The folder
belongs to the gate (``place.gate``), so a call that would change it is denied.
"""

import os

from toolgate.canonical import digest
from toolgate.gate.kept_files import keep, read_kept
from toolgate.gate.open import cache_folder

MOST_ANSWERS = 1_000
_HEX = 64


class Cache:
    """The kept answers.

    Args:
        folder: where they lie; made when first needed.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def latest(self, request: str) -> bytes | None:
        """Return the latest answer to exactly this request, if one is kept.

        Args:
            request: the request's digest.
        """
        found = [
            (status.st_mtime_ns, name)
            for name in self._names()
            if name.startswith(request[7:]) and (status := self._status(name)) is not None
        ]
        for _, name in sorted(found, reverse=True):
            data = self._read(name)
            if data is not None:
                return data
        return None

    def answer(self, request: str, answer: str) -> bytes | None:
        """Return the answer with a digest to a request, if it is kept."""
        return self._read(_name(request, answer))

    def keep(self, request: str, data: bytes) -> None:
        """Keep an answer; the oldest go when there are too many. Only speed is lost if not."""
        name = _name(request, digest(data))
        if keep(os.path.join(self.folder, name), data):
            self._bound()

    def _bound(self) -> None:
        names = self._names()
        if len(names) <= MOST_ANSWERS:
            return
        aged = [
            (status.st_mtime_ns, name)
            for name in names
            if (status := self._status(name)) is not None
        ]
        for _, name in sorted(aged)[: len(aged) - MOST_ANSWERS]:
            try:
                os.unlink(os.path.join(self.folder, name))
            except OSError:
                continue  # another process was faster

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        return [name for name in names if name.endswith(".json") and not name.startswith(".")]

    def _status(self, name: str) -> os.stat_result | None:
        try:
            return os.lstat(os.path.join(self.folder, name))
        except OSError:
            return None

    def _read(self, name: str) -> bytes | None:
        data = read_kept(os.path.join(self.folder, name))
        if data is None:
            return None
        return data if name == _name(name[:_HEX], digest(data)) else None


def _name(request: str, answer: str) -> str:
    return f"{request.removeprefix('sha256:')}-{answer.removeprefix('sha256:')}.json"


def users_cache() -> Cache:
    """Return the user's kept answers."""
    return Cache(os.path.join(os.path.dirname(cache_folder()), "judge"))
