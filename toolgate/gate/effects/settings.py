"""What a policy says about places, names and hosts: the words effects are read with."""

from typing import NamedTuple


class Settings(NamedTuple):
    """Names and patterns from the policy.

    A *name* pattern is matched against a path's last component, ``*`` standing
    for any characters. A *path* is absolute, or begins with ``~/``, or with
    ``**/`` for any folder; it covers what lies below it.

    Args:
        secret_names, secret_paths: files that hold secrets.
        public_names: names that look like secrets and are none.
        disposable_names: folders whose content can be made again.
        startup_paths: files that run by themselves later.
        gate_paths: files that steer the agent or this gate.
        system_paths: folders of the operating system.
        protected_refs: branches that others build on, as name patterns.
        trusted_hosts: hosts that may be sent to; a host covers its subdomains.
    """

    secret_names: tuple[str, ...] = ()
    secret_paths: tuple[str, ...] = ()
    public_names: tuple[str, ...] = ()
    disposable_names: tuple[str, ...] = ()
    startup_paths: tuple[str, ...] = ()
    gate_paths: tuple[str, ...] = ()
    system_paths: tuple[str, ...] = ()
    protected_refs: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()


def matches(name: str, pattern: str) -> bool:
    """Say whether a name fits a pattern in which ``*`` stands for any characters."""
    parts = pattern.split("*")
    if len(parts) == 1:
        return name == pattern
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
    return any(matches(name, pattern) for pattern in patterns)


def _homes(path: str, home: str) -> list[str]:
    """Return the homes a path could lie in: the user's own, or another's by its usual place."""
    homes = [home] if home else []
    parts = path.split("/", 3)
    if len(parts) > 3 and parts[1] in ("home", "Users"):
        homes.append("/".join(parts[:3]))
    if path.startswith("/root/"):
        homes.append("/root")
    return homes


def covers(pattern: str, path: str, home: str) -> bool:
    """Say whether a path pattern covers a path: the path itself or something below it."""
    if pattern.startswith("**/"):
        tail = pattern[2:]
        if "*" in tail:
            folders, _, name = tail.rpartition("/")
            parent, _, last = path.rpartition("/")
            return matches(last, name) and (parent + "/").endswith(folders + "/")
        return (path + "/").find(tail + "/") != -1
    if pattern.startswith("~/"):
        return any(covers(base + pattern[1:], path, "") for base in _homes(path, home))
    if "*" in pattern:
        folders, _, name = pattern.rpartition("/")
        parent, _, last = path.rpartition("/")
        return parent == folders and matches(last, name)
    return path == pattern or path.startswith(pattern.rstrip("/") + "/")
