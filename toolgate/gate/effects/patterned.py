"""Files that are run by a pattern: which of those that were written it may name.

Keys of paths cannot be searched, so a written file of note is kept a second time
under its folder and its ending, and a third time under the workspace and its ending.
"""

from posixpath import basename, dirname, join

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.patterns import glob_fits
from toolgate.gate.effects.reading import Reading, part_of
from toolgate.gate.shell.model import BELOW, HOLE

_ENDINGS = ("", ".sh", ".bash", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".php")
"""Endings looked up for a pattern that leaves the ending open."""

_IN, _UNDER = "*", "**"
_GLOB = "*?["
_UNDER_MARK = f"/{BELOW}/"


def kept_under(path: str, root: str) -> tuple[str, ...]:
    """Return what a file is kept under so that patterns find it."""
    ending = _ending(basename(path))
    return part_of(dirname(path), _IN + ending), part_of(root, _UNDER + ending)


def run(reader: Reading, path: str, program: str) -> list[Effect]:
    """Return what running files by a pattern does, as far as such files were written.

    Where more files may be kept under an ending than the pattern names, that one of them
    is run is not known.
    """
    made = [
        effect
        for written in list(reader.files.written)
        if _names(path, written)
        for effect in reader.run_known(written, program) or []
    ]
    name = basename(path)
    under = BELOW in path
    exact = name.startswith("*") and not any(char in name[1:] for char in _GLOB)
    exact = exact and name[1:] == _ending(name) and name != BELOW
    roots = reader.place.roots or (reader.place.cwd,)
    folder = roots[0] if under else dirname(path)
    if any(char in folder for char in _GLOB) or HOLE in folder:
        folder, under = roots[0], True
    endings = (_ending(name),) if exact or _ending(name) in _ENDINGS[1:] else _ENDINGS
    found = [
        effect
        for ending in endings
        for effect in reader.run_known(
            part_of(folder, (_UNDER if under else _IN) + ending), program
        )
        or []
    ]
    if not found:
        return made
    sure = exact and (not under or dirname(path).replace(_UNDER_MARK, "/").rstrip("/") in roots)
    sure = sure or (exact and path == join(roots[0], BELOW, name))
    return made + (found if sure else [reader.unknown("pattern-names-written", program, path)])


def _names(pattern: str, path: str) -> bool:
    """Say whether a pattern may name a path."""
    if BELOW in pattern:
        folder = pattern.partition(_UNDER_MARK)[0]
        name = basename(pattern)
        return path.startswith(folder + "/") and (
            name in (BELOW, "*") or glob_fits(name, basename(path))
        )
    ours, theirs = pattern.split("/"), path.split("/")
    if len(ours) != len(theirs):
        return False
    return all(
        one in (other, "*") or glob_fits(one, other)
        for one, other in zip(ours, theirs, strict=True)
    )


def _ending(name: str) -> str:
    at = name.rfind(".")
    ending = name[at:] if at > 0 else ""
    return "" if any(char in ending for char in _GLOB + HOLE) else ending
