"""Settings given to git for one call whose effect depends on what the call does."""

from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Word

_COMMANDS = frozenset(("core.pager", "core.editor", "sequence.editor"))
"""Keys whose value is shell text as it stands; the others say how long unreached objects stay."""


def effects_of(
    key: str, value: str, subcommand: str, rest: tuple[Word, ...], reader: Reading
) -> list[Effect]:
    """Return what a setting adds to a call.

    Args:
        key: in lower case.
        value: as written.
        subcommand: what git is asked to do.
        rest: the words from the subcommand on.
        reader: reads the commands that settings hold.
    """
    if key in _COMMANDS:
        if HOLE in value:
            return [reader.unknown("git-setting-runs", "git", key)]
        return reader.inner(value) if value else []
    at_once = value.lower() in ("now", "all") or HOLE in value
    kept = any(word.text == "--no-prune" for word in rest)
    if subcommand != "gc" or not at_once or kept:
        return []
    return [Effect("vcs.history_rewrite", "workspace", "git gc", False, PROVED, "git", "prune")]
