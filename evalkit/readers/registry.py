"""Which readers there are: those that come with the package, and those of other distributions.

A reader is a function of a path that returns a ``Draft``. Another distribution adds one by an
entry point of the group ``GROUP``; it cannot replace one of ours.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from evalkit.errors import EvalkitError, UsageError
from evalkit.readers.draft import Draft

GROUP = "evalkit.set_readers"
OURS = {
    "agentdojo": ("evalkit.readers.agentdojo", "sequences of calls as JSON Lines, as AgentDojo's"),
    "csv": ("evalkit.readers.table", "a CSV file with a header and a column `command`"),
    "hooks": ("evalkit.readers.payloads", "hook payloads, a .json or .jsonl file or a directory"),
    "numbered": ("evalkit.readers.numbered", "the public numbered sets, single calls or sequences"),
}

Read = Callable[[str], Draft]


class Reader(NamedTuple):
    """A reader.

    Args:
        name: what it is chosen by.
        origin: the distribution it comes from, ``evalkit`` for ours.
        about: what it reads, where that is known without loading it.
    """

    name: str
    origin: str
    about: str


def readers() -> list[Reader]:
    """Return every reader there is, by name; none is loaded."""
    found = [Reader(name, "evalkit", about) for name, (_, about) in OURS.items()]
    found += [Reader(point.name, _origin(point), point.value) for point in _points()]
    return sorted(found)


def read_draft(name: str, path: str) -> Draft:
    """Read a source with a reader.

    Args:
        name: the reader's name.
        path: a file, or what else the reader takes.

    Raises:
        UsageError: there is no such reader, two distributions have it, or it failed.
        SetError: the source has faults; names row and field.
    """
    if name in OURS:
        ours: Draft = import_module(OURS[name][0]).read(path)
        return ours
    points = [point for point in _points() if point.name == name]
    if not points:
        known = ", ".join(dict.fromkeys(reader.name for reader in readers()))
        raise UsageError(f"--reader: expected one of {known}, got {name!r:.100}")
    if len(points) > 1:
        origins = ", ".join(sorted(_origin(point) for point in points))
        raise UsageError(f"--reader {name}: expected one reader of this name, got {origins}")
    return _foreign(points[0], path)


def _points() -> list[EntryPoint]:
    return [point for point in entry_points(group=GROUP) if point.name not in OURS]


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unknown"


def _foreign(point: EntryPoint, path: str) -> Draft:
    """Return what a reader of another distribution gives back, whatever it does."""
    who = f"reader {point.name} of {_origin(point)}"
    try:
        made = point.load()(path)
    except EvalkitError:
        raise
    except Exception as error:
        raise UsageError(f"{who}: failed with {type(error).__name__}") from None
    if not isinstance(made, Draft):
        raise UsageError(f"{who}: expected a Draft, got {type(made).__name__}")
    return made
