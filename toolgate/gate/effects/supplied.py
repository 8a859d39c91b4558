"""Make targets and package scripts that the same text has written before it runs them."""

import json
from posixpath import join

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command, Word

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_FOLDER = ("-C", "--directory", "--prefix", "--cwd")
# Subcommands that run the script of their own name.
_OWN_SCRIPT = {"t": "test", "tst": "test", "test": "test", "start": "start", "stop": "stop"}
MAX_TARGETS = 32


def effects_of_supplied(reader: Reading, words: tuple[Word, ...], command: Command) -> list[Effect]:
    """Return what a runner does by a file of targets or scripts that this text has written."""
    name = words[0].text
    folder, rest = _arguments(words[1:])
    cwd = join(command.cwd, folder) if command.cwd else folder
    if name in ("make", "gmake"):
        for file in _MAKEFILES:
            written = reader.files.get(reader.paths.resolve(file, cwd))
            if written is not None:
                text = written.text
                return (
                    [reader.unknown("written-in-this-text", name, file)]
                    if text is None
                    else (_targets(reader, text, rest, cwd))
                )
        return []
    written = reader.files.get(reader.paths.resolve("package.json", cwd))
    if written is None:
        return []
    if written.text is None:
        return [reader.unknown("written-in-this-text", name, "package.json")]
    return _scripts(reader, written.text, rest, cwd)


def _arguments(words: tuple[Word, ...]) -> tuple[str, list[str]]:
    """Return the folder a runner is sent to, and its operands."""
    folder, rest, skip = "", [], False
    for position, word in enumerate(words):
        if skip:
            skip = False
        elif word.text in _FOLDER and position + 1 < len(words):
            folder, skip = words[position + 1].text, True
        elif not word.text.startswith("-") and "=" not in word.text:
            rest.append(word.text)
    return folder, rest


def _scripts(reader: Reading, text: str, rest: list[str], cwd: str) -> list[Effect]:
    try:
        scripts = json.loads(text)["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    if not isinstance(scripts, dict) or not rest:
        return []
    named = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
    named = _OWN_SCRIPT.get(named, named)
    found = [scripts.get(before + named) for before in ("pre", "", "post")]
    return [e for body in found if isinstance(body, str) for e in reader.inner(body, cwd=cwd)]


def _targets(reader: Reading, text: str, wanted: list[str], cwd: str) -> list[Effect]:
    """Return the effects of the recipes of some targets, and of those they need."""
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    variables: dict[str, str] = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            for target in current:
                recipes.setdefault(target, []).append(line.strip())
            continue
        name, mark, value = line.partition("=")
        if mark and ":" not in name.rstrip(":?+"):
            variables[name.strip(" :?+\t")] = value.strip()
            continue
        names, colon, after = line.partition(":")
        if colon and not line.startswith((" ", "#")):
            before, _, recipe = after.partition(";")
            current = names.split()
            for target in current:
                needs.setdefault(target, []).extend(before.split())
                recipes.setdefault(target, []).extend([recipe.strip()] if recipe.strip() else [])
    first = next((name for name in recipes if not name.startswith(".")), None)
    queue = wanted or ([first] if first is not None else [])
    made: list[Effect] = []
    done: set[str] = set()
    while queue and len(done) < MAX_TARGETS:
        target = queue.pop(0)
        if target in done:
            continue
        done.add(target)
        queue += needs.get(target, [])
        for line in recipes.get(target, []):
            made += reader.inner(_expanded(line.lstrip("@-+ "), variables), cwd=cwd)
    return made


def _expanded(line: str, variables: dict[str, str]) -> str:
    """Return a recipe line as the shell gets it; what is not known stays a shell variable."""
    for name, value in variables.items():
        line = line.replace(f"$({name})", value).replace(f"${{{name}}}", value)
    line = line.replace("$(MAKE)", "make").replace("$@", "target").replace("$<", "source")
    return line.replace("$$", "$")
