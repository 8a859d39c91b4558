"""A file's text by the parts it can be run by: targets, scripts, functions, names, jobs."""

import json
from posixpath import basename

from toolgate.gate.effects.content import language_of
from toolgate.gate.effects.defined import SHELL_STARTS, name_part
from toolgate.gate.effects.entrypoints import (
    CI,
    EVERY,
    FIRST,
    MAKEFILES,
    NPM_SETTINGS,
    PACKAGE,
    SCRIPT_SHELL,
    TESTS,
)
from toolgate.gate.effects.gitnames import is_settings, settings_of
from toolgate.gate.effects.jobs import commands_of, is_compose, is_image, is_jobs
from toolgate.gate.effects.reading import FUNCTION, part_of

MAX_TEXT = 40 * 1024
"""Text of one file, its parts counted each, beyond which it is not read as it is written, so that
a decision stays quick; running it asks."""

MAX_PARTS = 24
MAX_DEPENDENCIES = 64
MAX_FUNCTIONS = 8
_CRON_FIELDS = 5
_CRON = frozenset("0123456789*/,-")
_CRON_WORDS = ("@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly")
_MAKE_ENDINGS = (".mk", ".mak", ".make")
_INCLUDES = ("include ", "-include ", "sinclude ")


def texts_of(path: str, text: str, root: str, *, whole: bool) -> dict[str, str]:
    """Return a file's text by its parts; what can be run only as a whole is one text.

    Args:
        path: the file.
        text: what is put into it.
        root: the workspace's folder.
        whole: whether that is all the file holds.
    """
    name = basename(path)
    if name == PACKAGE:
        return _by_part(path, _scripts(text))
    if name in MAKEFILES or name.endswith(_MAKE_ENDINGS) or name.lower().startswith("makefile."):
        targets = _targets(text) if whole else {}
        return _by_part(path, targets, _always(text)) if targets else {path: _recipes(text)}
    if is_image(path) or is_compose(path):
        return {path: text}
    if name == "composer.json":
        return {path: "\n".join(_scripts(text).values())}
    if is_settings(path):
        return _by_part(path, settings_of(text))
    if name == NPM_SETTINGS:
        pairs = [line.partition("=") for line in text.split("\n")]
        shells = [value.strip() for key, _, value in pairs if key.strip() == SCRIPT_SHELL]
        return _by_part(path, {SCRIPT_SHELL: shells[-1]} if shells else {})
    if is_jobs(path):
        lines = commands_of(text)
        return {path: lines, part_of(root, CI): lines}
    if name.endswith((".yml", ".yaml")):
        return {path: ""}  # runs elsewhere, once it is pushed
    texts = {path: _without_schedule(text)}
    if language_of(text, path, "") == "shell":
        starts = name in SHELL_STARTS
        for function in _functions(text):
            called = f"{text}\n{function}\n"
            texts[part_of(path, function + FUNCTION)] = called
            if starts:
                texts[name_part(function)] = called
        for alias, body in _aliases(text).items():
            texts[name_part(alias) if starts else part_of(path, alias + FUNCTION)] = body
    if _is_test(name):
        texts[part_of(root, TESTS)] = text
    return texts


def _by_part(path: str, texts: dict[str, str], always: str = "") -> dict[str, str]:
    """Return texts by the parts they belong to; too many of them count as the file's own."""
    if len(texts) > MAX_PARTS:
        return {path: "\n".join(dict.fromkeys((always, *texts.values())))}
    return {path: always, **{part_of(path, name): text for name, text in texts.items()}}


def _functions(text: str) -> list[str]:
    """Return the names of the functions that shell text defines, as far as a line begins one."""
    found: dict[str, None] = {}
    for line in text.split("\n"):
        head, mark, _ = line.strip().partition("()")
        words = head.split()
        if words[:1] == ["function"] and len(words) > 1:
            words = words[1:2]
        elif not mark:
            continue
        if len(words) == 1 and words[0].replace("_", "a").replace("-", "a").isalnum():
            found[words[0]] = None
    return list(found)[:MAX_FUNCTIONS]


def _aliases(text: str) -> dict[str, str]:
    """Return the aliases that lines of shell text define, with what each stands for."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        name, equals, body = line.strip().removeprefix("alias ").partition("=")
        if equals and line.lstrip().startswith("alias ") and name.replace("-", "a").isalnum():
            quote = body[:1] if body[:1] in ("'", '"') else ""
            found[name] = body[1:].partition(quote)[0] if quote else body.split(";")[0]
    return dict(list(found.items())[:MAX_FUNCTIONS])


def _is_test(name: str) -> bool:
    return (
        (name.startswith("test_") and name.endswith(".py"))
        or name.endswith("_test.py")
        or name in ("conftest.py", "noxfile.py")
        or ".test." in name
        or ".spec." in name
    )


def _scripts(text: str) -> dict[str, str]:
    """Return a package's scripts; of a piece of the file every pair that stands on a line."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        scripts = body.get("scripts")
        found = scripts.items() if isinstance(scripts, dict) else ()
        return {str(key): value for key, value in found if isinstance(value, str)}
    pairs: dict[str, str] = {}
    for line in text.split("\n"):
        try:
            pair = json.loads("{" + line.strip().rstrip(",") + "}")
        except (ValueError, RecursionError):
            continue
        pairs.update((key, value) for key, value in pair.items() if isinstance(value, str))
    return pairs


def _recipes(text: str) -> str:
    """Return the recipe lines of a Makefile as shell text."""
    lines = [line.lstrip("\t@-+ ") for line in text.split("\n") if line.startswith("\t")]
    return _expanded("\n".join(lines or text.split("\n")), _variables(text))


def _targets(text: str) -> dict[str, str]:
    """Return each target's recipe with those of what it depends on, and the first one's."""
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    current: list[str] = []
    first = None
    for line in text.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            for target in current:
                recipes[target].append(line.lstrip("\t@-+ "))
            continue
        head, colon, tail = line.partition(":")
        if not colon or "=" in head or tail.startswith("=") or line.startswith(("#", " ")):
            continue
        current = head.split()
        depends, _, recipe = tail.partition(";")
        for target in current:
            recipes.setdefault(target, []).extend([recipe.strip()] if recipe else [])
            needs.setdefault(target, []).extend(depends.split())
            if first is None and not target.startswith("."):
                first = target
    variables = _variables(text)
    made = {
        target: _expanded("\n".join(_closure(target, recipes, needs)), variables)
        for target in recipes
    }
    if first is not None and first in made:
        made[FIRST] = made[first]
    return made


def _always(text: str) -> str:
    """Return what making any target may run: what is read first, rules by pattern, other files."""
    lines: list[str] = []
    by_pattern = False
    for line in text.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            lines += [line.lstrip("\t@-+ ")] if by_pattern else []
            continue
        by_pattern = ":" in line and "%" in line.partition(":")[0]
        if line.startswith(_INCLUDES):
            lines += [f"make -f {name} '{EVERY}'" for name in line.split()[1:]]
        elif "$(shell " in line:
            lines.append(": " + line[line.index("$(shell ") :])
        elif "!=" in line:
            lines.append(line.partition("!=")[2])
    return _expanded("\n".join(lines), _variables(text))


def _closure(target: str, recipes: dict[str, list[str]], needs: dict[str, list[str]]) -> list[str]:
    waiting, seen = [target], {target: None}
    while waiting and len(seen) < MAX_DEPENDENCIES:
        for need in needs.get(waiting.pop(), []):
            if need in recipes and need not in seen:
                seen[need] = None
                waiting.append(need)
    return [line for one in reversed(seen) for line in recipes[one]]


_OF_MAKE = {"MAKE": "make", "CURDIR": ".", "SHELL": "/bin/sh"}
"""What make defines by itself."""


def _variables(text: str) -> dict[str, str]:
    found = dict(_OF_MAKE)
    for line in text.split("\n"):
        head, equals, value = line.partition("=")
        name = head.rstrip(" :?+").strip()
        if equals and name.replace("_", "a").replace("-", "a").isalnum():
            found[name] = value.strip()
    return found


def _expanded(text: str, variables: dict[str, str]) -> str:
    """Return a recipe as shell text: make's own variables put in, ``$$`` as ``$``."""
    for name, value in list(variables.items())[:MAX_PARTS]:
        if len(text) > MAX_TEXT:
            break
        text = text.replace(f"$({name})", value).replace(f"${{{name}}}", value)
    return of_environment(text).replace("$(shell ", "$(").replace("$$", "$")


def of_environment(text: str) -> str:
    """Return a recipe in which what it does not define itself stands as the shell writes it.

    Every variable of the environment is one of make's: ``$(HOME)`` is ``${HOME}``.
    """
    first, *others = text.split("$(")
    made = [first]
    for other in others:
        name, closing, rest = other.partition(")")
        known = closing and name.replace("_", "a").isalnum() and not made[-1].endswith("$")
        made.append(f"${{{name}}}{rest}" if known else f"$({other}")
    return "".join(made)


def _without_schedule(text: str) -> str:
    """Return text with the times of a cron table's lines taken off."""
    if "*" not in text and "@" not in text:
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith(_CRON_WORDS):
            lines[at] = line.partition(" ")[2]
            continue
        fields = line.split(None, _CRON_FIELDS)
        if len(fields) > _CRON_FIELDS and all(_CRON.issuperset(f) for f in fields[:_CRON_FIELDS]):
            lines[at] = fields[_CRON_FIELDS]
    return "\n".join(lines)
