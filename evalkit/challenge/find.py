"""Where the file of a challenge set is: as given, in ./challenge_sets, in the package."""

import os
import stat

import evalkit
from evalkit.errors import UsageError

FOLDER = "challenge_sets"

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def find_set(name: str, *, packaged: bool = True) -> str:
    """Return the file a set's name stands for.

    It is sought as given, in ``./challenge_sets``, then among the sets that
    came with the package; ``.json`` may be left out.

    Args:
        name: a path, or a bare name.
        packaged: whether the package's own sets count.

    Raises:
        UsageError: there is no such file; names the places, or what is there instead.
    """
    places = _places(name, packaged)
    for place in places:
        for path in (place, place + ".json"):
            if os.path.isfile(path):
                return path
    kind = kind_of(name)
    if kind is not None:
        raise UsageError(f"{name}: expected a challenge set file, got {kind}")
    sought = "as given"
    if len(places) > 1:
        sought = "here and in ./challenge_sets"
        if packaged:
            sought = "here, in ./challenge_sets and in the package"
    raise UsageError(f"{name}: expected a challenge set, got no such file (sought {sought})")


def set_folders() -> list[str]:
    """Return the folders sets are sought in, those that are there."""
    packaged = os.path.join(os.path.dirname(str(evalkit.__file__)), FOLDER)
    return [folder for folder in (FOLDER, packaged) if os.path.isdir(folder)]


def _places(name: str, packaged: bool) -> list[str]:
    if os.path.dirname(name):
        return [name]
    places = [name, os.path.join(FOLDER, name)]
    if packaged:
        places.append(os.path.join(os.path.dirname(str(evalkit.__file__)), FOLDER, name))
    return places


def kind_of(path: str) -> str | None:
    """Return what lies at a path that is no regular file; None for a file or for nothing."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    return next((words for test, words in _KINDS if test(mode)), None)
