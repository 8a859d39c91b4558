"""Where links that lie on the disk take a path, looked up when the gate asks."""

from os import scandir
from os.path import basename, dirname, islink, join, realpath

from toolgate.gate.call import Place
from toolgate.gate.facts.session import Session
from toolgate.gate.shell.model import HOLE

MAX_ENTRIES = 10_000
"""How many entries of a folder are looked at for those that a pattern names."""

_PATTERN = "*?["


class Disk:
    """The disk of this machine, as it is now.

    A link may be another by the time the call runs; what the session itself makes is known
    from its entries.

    Args:
        place: where the call runs. What lies behind its own folders keeps their names.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._folders: dict[str, str] = {}
        self._own: list[tuple[str, str]] | None = None

    def leads(self, path: str) -> tuple[str, ...]:
        """Return where links take a path; see ``gate.facts.session.Session``.

        Args:
            path: absolute and normalized, perhaps with a pattern in its last part.
        """
        try:
            if any(char in _PATTERN for char in basename(path)):
                return tuple(self._by_pattern(path))
            real = self._named(self._real(path))
        except (OSError, ValueError):  # ValueError: no file system can have such a name
            return (HOLE,)
        return () if real == path else (real,)

    def _real(self, path: str) -> str:
        folder = dirname(path)
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = realpath(folder)
        real = join(known, basename(path))
        return realpath(real) if islink(real) else real

    def _by_pattern(self, path: str) -> list[str]:
        """Return what the links of a folder lead to that fit a pattern, and the folder itself."""
        from fnmatch import fnmatchcase

        folder, pattern = dirname(path), basename(path)
        real = self._real(folder)
        named = self._named(real)
        found = [] if named == folder else [join(named, pattern)]
        if any(char in _PATTERN for char in folder):
            return found
        try:
            with scandir(real) as entries:
                for count, entry in enumerate(entries):
                    if count == MAX_ENTRIES:
                        return [*found, HOLE]
                    if entry.is_symlink() and fnmatchcase(entry.name, pattern):
                        found.append(self._named(self._real(join(real, entry.name))))
        except (FileNotFoundError, NotADirectoryError):
            pass  # nothing there that a pattern could name
        return found

    def _named(self, real: str) -> str:
        """Return a path by the name its workspace, home or temporary folder goes by."""
        if self._own is None:
            place = self._place
            own = [name for name in (*place.roots[:1], place.home, *place.temp) if name]
            self._own = [(realpath(name), name) for name in own]
        for there, name in self._own:
            if real == there or real.startswith(there + "/"):
                return name + real[len(there) :]
        return real


class OnDisk:
    """A session whose next call runs on this machine.

    Args:
        session: the session.
        place: where the call runs.
    """

    def __init__(self, session: Session, place: Place) -> None:
        self._disk = Disk(place)
        self.artifact = session.artifact
        self.has = session.has
        self.leads = self._disk.leads
