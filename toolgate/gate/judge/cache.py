"""Answers of judges, kept by the digests of request and answer in a folder of the user's own.

An answer that serves a later call is a decision like any other, so a file counts only if
its bytes have the digest it is named by and nobody else can have written it. The folder
belongs to the gate (``place.gate``), so a call that would change it is denied.
"""

import os

from toolgate.canonical import digest
from toolgate.gate.open import cache_folder

MOST_ANSWERS = 1_000
_MOST_BYTES = 1_000_000
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
        part = os.path.join(self.folder, f".{name}.{os.getpid()}")
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if os.stat(self.folder).st_mode & 0o077:
                return
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, data)
            finally:
                os.close(handle)
            os.replace(part, os.path.join(self.folder, name))
            self._bound()
        except OSError:
            return

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
            os.unlink(os.path.join(self.folder, name))

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
        file = os.path.join(self.folder, name)
        try:
            handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            status = os.fstat(handle)
            if status.st_uid != os.getuid() or status.st_mode & 0o077:
                return None
            if status.st_size > _MOST_BYTES:
                return None
            data = os.read(handle, status.st_size)
        except OSError:
            return None
        finally:
            os.close(handle)
        return data if name == _name(name[:_HEX], digest(data)) else None


def _name(request: str, answer: str) -> str:
    return f"{request.removeprefix('sha256:')}-{answer.removeprefix('sha256:')}.json"


def users_cache() -> Cache:
    """Return the user's kept answers."""
    return Cache(os.path.join(os.path.dirname(cache_folder()), "judge"))
