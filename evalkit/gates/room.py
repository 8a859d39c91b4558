"""Where a hook command runs: the home and the working directory of the case, empty, and real.

A case says ``/home/dev/app``; a gate that looks whether that is there must find it. On Linux
a private mount namespace shows the command a directory of the case's own at that place, and
the machine's own files everywhere else; nothing outside the namespace changes. Where no
namespace can be had, the home is a temporary directory and the working directory need not
exist, and the report says so.
"""

import os
import shutil
import subprocess
from functools import cache
from typing import NamedTuple

MADE, AS_IS = "made", "as it is"
"""How a room came about: the case's paths were made, or stand in payloads only."""

_SCRIPT = """
set -e
umask 077
show() { # what is at $1 stays, but for $2, which becomes the directory $3
  if [ -d "$2" ]; then mount --bind "$3" "$2"; return; fi
  mkdir "$4"
  mount --rbind "$1" "$4"
  mount -t tmpfs -o mode=0755 tmpfs "$1"
  for one in "$4"/*; do
    [ -e "$one" ] || continue
    at="$1/${one##*/}"
    if [ -d "$one" ]; then mkdir "$at"; else : > "$at"; fi
    mount --rbind "$one" "$at"
  done
  mkdir -p "$2"
  mount --bind "$3" "$2"
}
show "$1" "$2" "$3/home" "$3/kept"
mkdir -p "$4"
cd "$4"
shift 4
exec unshare --user --map-user=1000 --map-group=1000 -- "$@"
"""


class Room(NamedTuple):
    """A place for one case.

    Args:
        folder: the temporary directory the case's files lie in.
        home: the home directory as the gate sees it.
        cwd: where its process is started.
        prefix: words before the gate's own.
        how: ``made`` or ``as it is``.
    """

    folder: str
    home: str
    cwd: str
    prefix: tuple[str, ...]
    how: str

    def path(self, name: str) -> str:
        """Return where a file of the home directory lies, seen from outside."""
        inside = os.path.join(self.folder, "home")
        return os.path.join(inside, name)


def how_of(home: str, cwd: str, words: tuple[str, ...]) -> str:
    """Return how the room of a case comes about: ``made`` or ``as it is``.

    Args:
        home: the home directory the case says, absolute.
        cwd: the working directory it says, absolute.
        words: the gate's command; a program in the case's home would be hidden by it.
    """
    hidden = any(word.startswith(home + "/") for word in words)
    below = cwd == home or cwd.startswith(home + "/")
    made = below and not hidden and anchor_of(home) is not None and namespaces()
    return MADE if made else AS_IS


def make_room(folder: str, home: str, cwd: str, words: tuple[str, ...]) -> Room:
    """Make a room for one case in a temporary directory.

    Args:
        folder: an empty directory.
        home: the home directory the case says, absolute.
        cwd: the working directory the case says, absolute.
        words: the gate's command; a program in the case's home would be hidden by it.
    """
    inside = os.path.join(folder, "home")
    os.mkdir(inside, 0o700)
    anchor = anchor_of(home)
    if anchor is None or how_of(home, cwd, words) == AS_IS:
        return Room(folder, inside, inside, (), AS_IS)
    prefix = (
        "unshare", "--user", "--map-root-user", "--mount", "--",
        "sh", "-c", _SCRIPT, "room", anchor, home, folder, cwd,
    )  # fmt: skip
    return Room(folder, home, "/", prefix, MADE)


def anchor_of(path: str) -> str | None:
    """Return the deepest directory that is there above a path; None where that is the root."""
    anchor = os.path.dirname(path)
    while not os.path.isdir(anchor):
        anchor = os.path.dirname(anchor)
    return None if anchor == "/" else anchor


@cache
def namespaces() -> bool:
    """Say whether this process may make a private mount namespace."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    words = ["unshare", "--user", "--map-root-user", "--mount", "--", "mount", "-t", "tmpfs"]
    nested = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", "true"]
    for tried in ([*words, "tmpfs", "/mnt"], [*words[:5], *nested]):
        if subprocess.run(tried, capture_output=True, check=False).returncode:
            return False
    return True
