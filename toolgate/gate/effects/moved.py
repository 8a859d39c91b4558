"""What a text has moved and then deletes where it put it: it deletes what was moved."""

from posixpath import basename, dirname

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Files

MAX_MOVED = 64


def note(files: Files, made: list[Effect]) -> None:
    """Keep where a move has put what.

    Args:
        files: keeps it.
        made: the effects of the move: deletions of what is moved, writes of where it goes.
    """
    sources = [one for one in made if one.type == "fs.delete"]
    places = [one.resource for one in made if one.type == "fs.write"]
    files.moved += [(place, source) for place in places for source in sources]
    del files.moved[:-MAX_MOVED]


def gone(files: Files, made: list[Effect]) -> list[Effect]:
    """Return what goes with some deletions of what the text has moved before.

    Args:
        files: knows the moves.
        made: the effects of the deletion.
    """
    found: list[Effect] = []
    for effect in made:
        path, marks = effect.resource, effect.how.split()
        if effect.type != "fs.delete":
            continue
        folder = dirname(path) if "glob" in marks else path
        for place, source in files.moved:
            inside = f"{place}/{basename(source.resource)}"
            if path in (place, inside) or f"{place}/".startswith(folder + "/"):
                kept = [mark for mark in source.how.split() if mark != "move"]
                whole = ["recursive"] if {"recursive", "glob"} & set(marks) else []
                how = " ".join(dict.fromkeys([*whole, *kept]))
                found.append(source._replace(how=how, program=effect.program))
    return found
