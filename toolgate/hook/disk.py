"""Where links that lie on the disk take a path, looked up when the gate asks."""

from os import scandir
from os.path import basename, dirname, islink, join, lexists, realpath

from toolgate.gate.call import Place
from toolgate.gate.facts.session import Session
from toolgate.gate.shell.model import HOLE

MAX_ENTRIES = 10_000
"""How many entries of a folder are looked at for those that a pattern names."""

_PATTERN = "*?["
_SHELL_ALONE = ("[^", "[:", "[=", "[.")
"""What a bracket holds that shells read otherwise than ``fnmatch`` does."""


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
            path: absolute, perhaps with patterns in its parts. Where it has ``..`` behind another
                part, that leads out of the folder a link leads to, as for any program.
        """
        try:
            if _is_pattern(path):
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
        return realpath(real) if islink(real) or real.endswith("/..") else real

    def _by_pattern(self, path: str) -> list[str]:
        """Return what the links lead to that a pattern names, and where folders behind it lie."""
        parts = path.split("/")
        first = next(at for at, part in enumerate(parts) if _is_pattern(part))
        literal = "/".join(parts[:first]) or "/"
        real = self._real(literal)
        level = [(real, self._named(real) != literal)]
        left, last = MAX_ENTRIES, len(parts) - 1
        led: list[str] = []
        for at in range(first, last + 1):
            below: list[tuple[str, bool]] = []
            for folder, linked in level:
                if islink(folder):
                    continue  # it leads in a circle: nothing can be opened below it
                if at == last and linked and _is_pattern(parts[at]):
                    led.append(self._named(join(folder, parts[at])))
                names, left = _fitting(folder, parts[at], left)
                if left < 0:
                    return [*led, HOLE]
                for name in names:
                    entry = join(folder, name)
                    link = islink(entry)
                    below.append((realpath(entry) if link else entry, link or linked))
            level = below
        led.extend(self._named(entry) for entry, linked in level if linked)
        return list(dict.fromkeys(led))

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


def _is_pattern(text: str) -> bool:
    return any(char in _PATTERN for char in text)


def _fitting(folder: str, part: str, left: int) -> tuple[list[str], int]:
    """Return the entries of a folder that one part of a path names, and how many may follow.

    A bracket that is not understood stands for anything, so that no link is missed.
    """
    from fnmatch import fnmatchcase

    if not _is_pattern(part):
        return ([part] if lexists(join(folder, part)) else []), left
    if any(form in part for form in _SHELL_ALONE):
        part = part[: part.index("[")] + "*"
    names: list[str] = []
    try:
        with scandir(folder) as entries:
            for entry in entries:
                left -= 1
                if left < 0:
                    break
                if fnmatchcase(entry.name, part):
                    names.append(entry.name)
    except (FileNotFoundError, NotADirectoryError):
        pass  # nothing there that a pattern could name
    return names, left


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
