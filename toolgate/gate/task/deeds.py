"""A call as the single things it does, each with the words of its command. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from toolgate.gate.call import ToolCall
from toolgate.gate.effects.model import Effect, is_stored
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.effects.trace import Node
from toolgate.gate.task.meanings import Meanings

_CHOOSES = frozenset(
    (
        "use-context",
        "set-context",
        "use-namespace",
        "select",
        "use",
        "switch",
        "activate",
        "export",
        "kubectx",
        "kubens",
        "assume",
        "set",
        "target",
        "link",
        "workspace",
    )
)
_LONGEST_WORD = 4_096


class Deed(NamedTuple):
    """One thing a call does.

    Args:
        effect: the effect.
        words: the words of the command it belongs to, program first; for a tool its name and
            the texts of its input.
        parts: those words, in lower case, cut at everything that is no letter or digit.
        places: the environments that the command, or one before it that chooses, names.
        base: the folder that names in a prompt are relative to.
        above: programs of the commands that run it: wrappers, shells, other machines' doors.
        branch: the branch that an earlier command of the text has switched to, else "".
    """

    effect: Effect
    words: tuple[str, ...]
    parts: frozenset[str]
    places: frozenset[str]
    base: str
    above: tuple[str, ...] = ()
    branch: str = ""


def deeds_of(
    call: ToolCall, reading: Node | None, effects: tuple[Effect, ...], lexicon: Meanings
) -> list[Deed]:
    """Return what a call does.

    Args:
        call: the call.
        reading: how its shell text was read; None for a tool that is no shell.
        effects: the effects it was decided on.
        lexicon: names the environments.
    """
    base = base_of(call)
    if reading is None or call.tool not in SHELL_TOOLS:
        words = (call.tool, *_texts(call.input))
        parts = parts_of(words)
        places = _places(parts, lexicon)
        return [
            Deed(effect, words, parts, places, base)
            for effect in effects
            if not is_stored(effect.type)
        ]
    made: list[Deed] = []
    chosen: frozenset[str] = frozenset()
    branch = ""
    waiting: list[tuple[Node, frozenset[str], tuple[str, ...]]] = [(reading, frozenset(), ())]
    while waiting:
        node, around, above = waiting.pop()
        words = tuple(word.text[:_LONGEST_WORD] for word in node.words)
        assigned = tuple(f"{name}={word.text[:_LONGEST_WORD]}" for name, word in node.assigns)
        files = [redirect.target for redirect in node.redirects if redirect.op != "<<"]
        targets = tuple(word.text[:_LONGEST_WORD] for word in files)
        parts = parts_of((*assigned, *words, *targets))
        places = _places(parts, lexicon) | around
        if not _CHOOSES.isdisjoint(words) or (assigned and not words):
            chosen = places or chosen
        made += [
            Deed(effect, words, parts, places or chosen, base, above, branch)
            for effect in node.effects
            if not is_stored(effect.type)
        ]
        branch = _switched(words) or branch
        inside = (*above, words[0].rpartition("/")[2]) if words else above
        waiting += [(one, places, inside) for one in reversed(node.below)]
    seen = {deed.effect for deed in made}
    made += [
        Deed(effect, (), frozenset(), frozenset(), base)
        for effect in effects
        if effect not in seen and not is_stored(effect.type)
    ]
    return made


def base_of(call: ToolCall) -> str:
    """Return the folder that the user's words are relative to: the workspace's."""
    cwd, roots = call.place.cwd, call.place.roots
    return next((one for one in roots if cwd == one or cwd.startswith(one + "/")), cwd)


def _switched(words: tuple[str, ...]) -> str:
    """Return the branch that a command switches to, "" where it switches to none."""
    if words[:1] != ("git",) or not {"checkout", "switch"} & set(words[1:]) or "--" in words:
        return ""
    return words[-1] if len(words) > 2 and not words[-1].startswith("-") else ""


def _texts(value: object, depth: int = 3) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:_LONGEST_WORD]
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from _texts(one, depth - 1)
    elif depth and isinstance(value, list):
        for one in value[:64]:
            yield from _texts(one, depth - 1)


def parts_of(words: tuple[str, ...]) -> frozenset[str]:
    """Return words cut at everything that is no letter or digit, in lower case; no texts."""
    found: set[str] = set()
    for word in words:
        lowered = word.lower()
        if lowered.isalnum():
            found.add(lowered)
            continue
        if " " in lowered:
            continue  # a message or a program's text names nothing that is done to
        found.update("".join(char if char.isalnum() else " " for char in lowered).split())
        found.add(lowered)
    return frozenset(found)


def _places(parts: frozenset[str], lexicon: Meanings) -> frozenset[str]:
    return frozenset(lexicon.places[part] for part in parts & lexicon.places.keys())
