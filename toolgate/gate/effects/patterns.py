"""Patterns of names and paths, split once into what a look-up finds and what must be tried."""

from functools import lru_cache


def matches(name: str, pattern: str) -> bool:
    """Say whether a name fits a pattern in which ``*`` stands for any characters."""
    return _fits(name, pattern.split("*"))


def _fits(name: str, parts: list[str]) -> bool:
    """Say whether a name is made of some parts, with any characters between them."""
    if len(parts) == 1:
        return name == parts[0]
    first, *middle, last = parts
    if len(name) < len(first) + len(last) or not name.startswith(first):
        return False
    if not name.endswith(last):
        return False
    position, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, position, end)
        if found == -1:
            return False
        position = found + len(part)
    return True


def matches_any(name: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a name fits one of some patterns."""
    return name_set(patterns).has(name)


class NameSet:
    """Name patterns, tried by one look-up, one comparison of ends, and what is left one by one."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        split = [(pattern, *pattern.partition("*")) for pattern in patterns]
        self._exact = frozenset(pattern for pattern, _, star, _ in split if not star)
        self._heads = tuple(head for _, head, star, tail in split if star and not tail)
        self._tails = tuple(
            tail for _, head, star, tail in split if star and not head and "*" not in tail
        )
        others = [pattern for pattern, head, _, tail in split if (head and tail) or "*" in tail]
        self._others = [pattern.split("*") for pattern in others]

    def has(self, name: str) -> bool:
        """Say whether a name fits one of the patterns."""
        if name in self._exact or name.startswith(self._heads) or name.endswith(self._tails):
            return True
        return bool(self._others) and any(_fits(name, parts) for parts in self._others)


@lru_cache(maxsize=64)
def name_set(patterns: tuple[str, ...]) -> NameSet:
    """Return the set of some patterns, made once."""
    return NameSet(patterns)


class PathSet:
    """Path patterns. Each covers the path it names and what lies below it.

    Args:
        patterns: absolute paths, paths in any home (``~/``), or in any folder
            (``**/``); the last part may hold ``*``.
    """

    def __init__(self, patterns: tuple[str, ...]) -> None:
        plain = [pattern.rstrip("/") or "/" for pattern in patterns if "*" not in pattern]
        self.absolute = frozenset(path for path in plain if path.startswith("/"))
        self.in_home = frozenset(path[2:] for path in plain if path.startswith("~/"))
        self.anywhere = tuple(
            pattern[2:] + "/"
            for pattern in patterns
            if _is_anywhere(pattern) and _plain(pattern[3:])
        )
        starred = [p for p in patterns if "*" in p and not (_is_anywhere(p) and _plain(p[3:]))]
        self._absolute_parts = [path.split("/") for path in self.absolute]
        self._in_home_parts = [path.split("/") for path in self.in_home]
        self._anywhere_parts = [tail.strip("/").split("/") for tail in self.anywhere]
        self.starred = tuple((*p.removeprefix("**").rpartition("/")[::2], p) for p in starred)

    def covers(self, path: str, home: str) -> bool:
        """Say whether a path is covered.

        Args:
            path: absolute and normalized.
            home: the user's home; other users' are known by their usual place.
        """
        if not self.absolute.isdisjoint(_ancestors(path)):
            return True
        folded = path + "/"
        if any(tail in folded for tail in self.anywhere):
            return True
        for base in _homes(path, home) if self.in_home or self.starred else ():
            below = path[len(base) + 1 :]
            if path.startswith(base + "/") and not self.in_home.isdisjoint(_ancestors(below)):
                return True
        return self.fits(path, home)

    def fits(self, path: str, home: str) -> bool:
        """Say whether a path is named by a pattern with ``*`` in it."""
        return any(self._fits(*item, path, home) for item in self.starred)

    def holds(self, path: str, home: str) -> bool:
        """Say whether a covered path may lie below a folder."""
        start = "/" if path == "/" else path + "/"
        if any(item.startswith(start) for item in self.absolute):
            return True
        for base in _homes(path, home):
            if base == path or base.startswith(start):
                if self.in_home:
                    return True
            elif path.startswith(base + "/"):
                below = path[len(base) + 1 :] + "/"
                if any(item.startswith(below) for item in self.in_home):
                    return True
        return any(path.endswith(head) for tail in self.anywhere for head in _heads(tail))

    def may_name(self, path: str, home: str) -> bool:
        """Say whether a path with pattern characters may name a covered path."""
        parts = path.split("/")
        if any(_may_be(parts, item) for item in self._absolute_parts):
            return True
        for base in _homes(path, home) if self.in_home else ():
            start = base.split("/")
            if _may_be(parts, start):
                below = parts[len(start) :]
                if any(_may_be(below, item) for item in self._in_home_parts):
                    return True
        return any(
            len(item) <= len(parts) and _may_be(parts[len(parts) - len(item) :], item)
            for item in self._anywhere_parts
        )

    def _fits(self, folder: str, name: str, pattern: str, path: str, home: str) -> bool:
        parent, _, last = path.rpartition("/")
        if not matches(last, name):
            return False
        if _is_anywhere(pattern):
            return (parent + "/").endswith(folder + "/")
        if folder.startswith("~"):
            return any(parent == base + folder[1:] for base in _homes(path, home))
        return parent == folder


class Landmarks:
    """Several sets of path patterns, asked together which of them cover a path.

    Args:
        sets: each set's label and patterns; a label may come more than once.
    """

    def __init__(self, sets: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
        self._absolute: dict[str, list[str]] = {}
        self._in_home: dict[str, list[str]] = {}
        # By a folder that must stand in the path for any of them to cover it.
        self._anywhere: dict[str, list[tuple[str, str]]] = {}
        self._starred: list[tuple[PathSet, str]] = []
        for label, patterns in sets:
            paths = path_set(patterns)
            for path in paths.absolute:
                self._absolute.setdefault(path, []).append(label)
            for path in paths.in_home:
                self._in_home.setdefault(path, []).append(label)
            for tail in paths.anywhere:
                self._anywhere.setdefault(tail.split("/")[1], []).append((tail, label))
            if paths.starred:
                self._starred.append((paths, label))
        # The first folders of what is covered; most paths have another.
        self._tops = frozenset(path.split("/")[1] for path in self._absolute)
        self._tops_in_home = frozenset(path.partition("/")[0] for path in self._in_home)

    def labels(self, path: str, home: str) -> set[str]:
        """Return the labels of the sets that cover a path.

        Args:
            path: absolute and normalized.
            home: the user's home; other users' are known by their usual place.
        """
        found: set[str] = set()
        parts = path.split("/")
        if len(parts) > 1 and parts[1] in self._tops:
            for folder in _ancestors(path):
                if folder in self._absolute:
                    found.update(self._absolute[folder])
        for base in _homes(path, home):
            below = path[len(base) + 1 :] if path.startswith(base + "/") else ""
            if below.partition("/")[0] in self._tops_in_home:
                for folder in _ancestors(below):
                    if folder in self._in_home:
                        found.update(self._in_home[folder])
        for part in parts:
            if part in self._anywhere:
                found.update([label for tail, label in self._anywhere[part] if tail in path + "/"])
        if self._starred:
            found.update([label for paths, label in self._starred if paths.fits(path, home)])
        return found


@lru_cache(maxsize=64)
def landmarks(sets: tuple[tuple[str, tuple[str, ...]], ...]) -> Landmarks:
    """Return the labels of some sets, put together once."""
    return Landmarks(sets)


@lru_cache(maxsize=64)
def path_set(patterns: tuple[str, ...]) -> PathSet:
    """Return the set of some patterns, made once."""
    return PathSet(patterns)


def _is_anywhere(pattern: str) -> bool:
    return pattern.startswith("**/")


def _plain(text: str) -> bool:
    return "*" not in text


def _heads(tail: str) -> list[str]:
    """Return the folders a pattern for any place begins with: ``/.a`` of ``/.a/b/``."""
    parts = tail.strip("/").split("/")
    return ["/" + "/".join(parts[:count]) for count in range(1, len(parts))]


def _may_be(parts: list[str], wanted: list[str]) -> bool:
    """Say whether the first parts of a path, with pattern characters, may be those of another."""
    if len(wanted) > len(parts):
        return False
    for part, name in zip(parts, wanted, strict=False):
        if part != name and not glob_fits(part, name):
            return False
    return True


def glob_fits(part: str, name: str) -> bool:
    """Say whether one part of a path, with pattern characters, may name a file of that name.

    A leading dot must be written out, as in the shell. A pattern that begins
    with ``*`` and means files of every name does not count as naming this one.
    """
    if part == name:
        return True
    if not is_pattern(part):
        return False
    head = part[: min(part.find(char) for char in "*?[" if char in part)]
    if not name.startswith(head) or len(head) < (1 if name.startswith(".") else 2):
        return False
    from fnmatch import fnmatchcase  # few commands hold such a pattern

    return fnmatchcase(name, part)


def is_pattern(text: str) -> bool:
    """Say whether text holds a character that stands for others, as the shell has them."""
    return "*" in text or "?" in text or "[" in text


def _ancestors(path: str) -> list[str]:
    """Return a path and every folder it lies in, but for the root unless it is the path."""
    found = [path]
    cut = path.rfind("/")
    while cut > 0:
        path = path[:cut]
        found.append(path)
        cut = path.rfind("/")
    return found


def _homes(path: str, home: str) -> list[str]:
    """Return the homes a path could lie in: the user's own, or another's by its usual place."""
    homes = [home] if home else []
    parts = path.split("/", 3)
    if len(parts) > 3 and parts[1] in ("home", "Users"):
        homes.append("/".join(parts[:3]))
    if path.startswith("/root/"):
        homes.append("/root")
    return homes
