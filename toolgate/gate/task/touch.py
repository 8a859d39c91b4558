"""Whether what is done is an act, and whether it is done to what a name stands for. Pure."""

from posixpath import basename, normpath
from typing import Any

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.patterns import matches
from toolgate.gate.policy.match import fits
from toolgate.gate.shell.model import HOLE
from toolgate.gate.task.deeds import Deed, parts_of
from toolgate.gate.task.meanings import Meanings
from toolgate.gate.task.statement import ENVIRONMENT, KIND, NAME, THING, Name

_PATHS = ("fs.", "secret.")
_LOOKS = ("inspect", "fs.read")
_WIDE = ("recursive", "glob", "anchor", "extract", "mirror")
_MARK_OF_TRUNK = frozenset(("main", "master", "trunk", "develop"))
_NAMED_BY_WORDS = ("infra.", "proc.", "sys.", "exec.")
_LEAST_STEM = 3
_MOST_KEPT = 8_192


def does(act: str, deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a deed is one of an act's.

    Args:
        act: the act's name in the lexicon.
        deed: the deed.
        lexicon: the lexicon.
    """
    if any(_is(item, deed) for item in _fitting(act, deed.effect, lexicon)):
        return True
    named = lexicon.acts[act]["named"]
    return (
        bool(named)
        and deed.effect.type == "exec.code"
        and not _target(deed, lexicon).isdisjoint(named)
    )


def may_do(act: str, effect: Effect, lexicon: Meanings) -> bool:
    """Say whether an effect can be an act's, whatever the words of its command are."""
    runs = effect.type == "exec.code" and bool(lexicon.acts[act]["named"])
    program = effect.program.partition(" ")[0].rpartition("/")[2]
    named = runs and (program in lexicon.runners or "file" in effect.how.split())
    return named or act in lexicon.through or bool(_fitting(act, effect, lexicon))


def _fitting(act: str, effect: Effect, lexicon: Meanings) -> list[dict[str, Any]]:
    """Return what of an act's description fits an effect but for the command's words."""
    key = (act, effect.type, effect.scope, effect.program, effect.how)
    found = lexicon.fitting.get(key)
    if found is None:
        if len(lexicon.fitting) >= _MOST_KEPT:
            lexicon.fitting.clear()
        found = [item for item in lexicon.acts[act]["does"] if fits(item, effect)]
        lexicon.fitting[key] = found
    return found


def _is(item: dict[str, Any], deed: Deed) -> bool:
    words = deed.words
    if "words" in item and not any(matches(word, one) for one in item["words"] for word in words):
        return False
    if "lacks" in item and any(matches(word, one) for one in item["lacks"] for word in words):
        return False
    if "above" in item and not any(one in item["above"] for one in deed.above):
        return False
    if item.get("operands") and len(operands(deed)) < item["operands"]:
        return False
    return not (item.get("changes") and deed.effect.type in _LOOKS)


def operands(deed: Deed) -> list[str]:
    """Return the words of a deed's command that are no options, behind program and subcommand."""
    skipped = len(deed.effect.program.split())
    return [word for word in deed.words[skipped:] if not word.startswith("-")]


def _target(deed: Deed, lexicon: Meanings) -> frozenset[str]:
    """Return the parts of the name of the target, script or file that a deed runs."""
    effect = deed.effect
    marks = effect.how.split()
    if "file" in marks:
        name = basename(effect.resource).lower()
        return frozenset() if name.startswith("test") else parts_of((name, name.partition(".")[0]))
    first = deed.words[0].rpartition("/")[2] if deed.words else ""
    if first not in lexicon.runners:
        return frozenset()
    skip = {"run", "run-script", "exec", "-s", "task", "x"}
    named = [word for word in deed.words[1:] if not word.startswith("-") and word not in skip]
    return parts_of((named[0], named[0].lower())) if named else frozenset()


def is_program(names: tuple[Name, ...], deed: Deed) -> bool:
    """Say whether a deed is done by a program that is named, or below one."""
    first = deed.words[0].rpartition("/")[2] if deed.words else ""
    programs = {first, deed.effect.program.partition(" ")[0], *deed.above}
    programs |= {program.rstrip("0123456789.") for program in programs}  # python3.12 is python
    return any(one.text.lower() in programs for one in names)


def touches(names: tuple[Name, ...], deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a deed is done to what names stand for: to one of each group of them.

    Names behind the same small word are a group: "push feature/x to main" is about both.
    """
    if not names:
        return True
    groups: dict[str, list[Name]] = {}
    for name in names:
        after = "to" if name.kind == ENVIRONMENT else name.after
        groups.setdefault(after if after in ("to", "into", "onto", "from") else "", []).append(name)
    return all(any(touch(name, deed, lexicon) for name in group) for group in groups.values())


def touch(name: Name, deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a deed is done to what a name stands for."""
    if name.kind == ENVIRONMENT:
        return name.text in deed.places or (
            name.text == "local" and deed.effect.scope in ("workspace", "temp")
        )
    if name.kind == THING:
        return _is_thing(name.text, lexicon.things[name.text], deed)
    if name.kind == NAME:
        return named(name.text, deed)
    if name.kind == KIND:
        starts = tuple(lexicon.means[name.text])
        return deed.effect.type.startswith(starts) or deed.effect.program.startswith(starts)
    stem = _stem(name.text)
    if len(stem) < _LEAST_STEM:
        return False
    found = parts_of((_inside(deed),)) if _is_path(deed.effect) else deed.parts
    return any(_stem(part) == stem for part in found)


def _is_path(effect: Effect) -> bool:
    return effect.type.startswith(_PATHS) or (
        effect.type == "exec.code" and "file" in effect.how.split()
    )


def _inside(deed: Deed) -> str:
    """Return a resource without the folder that all work is done in."""
    resource = deed.effect.resource
    start = deed.base + "/"
    return resource[len(start) :] if deed.base and resource.startswith(start) else resource


def _is_thing(noun: str, thing: dict[str, list[str]], deed: Deed) -> bool:
    effect = deed.effect
    if effect.type in thing["effects"]:
        return True
    if _is_path(effect):
        return _among(_inside(deed), thing["paths"])
    if effect.type == "vcs.discard":
        return any(_among(word, thing["paths"]) for word in operands(deed))
    return effect.type.startswith(_NAMED_BY_WORDS) and noun in deed.parts


def _among(path: str, patterns: list[str]) -> bool:
    parts = [part for part in path.split("/") if part and part != "."]
    return any(matches(part, pattern) for part in parts for pattern in patterns)


def named(text: str, deed: Deed) -> bool:
    """Say whether a deed is done to what has a certain name."""
    bare = text.strip().strip("`'\"").removeprefix("./").rstrip("/") or text
    if " " in bare:
        return _in_order(bare.split(), deed.words)
    if _is_path(deed.effect) and same_path(bare, deed, wide=True):
        return True
    if deed.effect.type.startswith(_PATHS):
        return False
    if any(_is_word(bare, word) for word in deed.words) or bare in deed.effect.resource.split():
        return True
    if bare == deed.branch and deed.effect.program.startswith("git "):
        return True
    marks = deed.effect.how.split()
    if deed.effect.type == "vcs.publish":
        alone = len(deed.effect.resource.split()) < 2
        return (bare in _MARK_OF_TRUNK and alone and "protected" in marks) or "mirror" in marks
    return False


def _in_order(wanted: list[str], words: tuple[str, ...]) -> bool:
    rest = iter(words)
    return bool(words) and all(word in rest for word in wanted)


def _is_word(name: str, word: str) -> bool:
    if word == name or word.rstrip("/") == name or word.removeprefix("./") == name:
        return True
    if name not in word:
        return False
    at = word.find(name)
    before, behind = word[:at], word[at + len(name) :]
    return (not before or before[-1] in ":/=@,+ ") and (not behind or behind[0] in ":/=@,+ ?")


def same_path(text: str, deed: Deed, *, wide: bool) -> bool:
    """Say whether a path is the one a name stands for.

    Args:
        text: the name, a path or a part of one.
        deed: the deed, whose resource is a path.
        wide: whether what lies below it, above it or has the name in the middle counts too.
    """
    resource = deed.effect.resource.replace(HOLE, "")
    absolute = text.startswith(("/", "~"))
    whole = text if absolute else normpath(f"{deed.base or '/'}/{text}")
    if resource == whole or (wide and resource.startswith(whole + "/")):
        return True
    if not wide:
        return False
    if "*" in text and (matches(resource, f"*/{text}") or matches(basename(resource), text)):
        return True
    inside = "/" + _inside(deed).lstrip("/") + "/"
    if not text.startswith(("/", "~")) and f"/{text}/" in inside:
        return True
    if text.startswith(".") and "/" not in text and resource.endswith(text):
        return True
    if text.isalpha() and text.lower() in parts_of((inside,)):
        return True
    marks = deed.effect.how.split()
    if any(mark in marks for mark in _WIDE):
        above = resource.rstrip("/*") or "/"
        return whole.startswith(above + "/") or ("*" in resource and matches(whole, resource))
    return False


def _stem(word: str) -> str:
    if len(word) > _LEAST_STEM and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
