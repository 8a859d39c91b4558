"""Make targets and package scripts that the same text has written before it runs them."""

import json
from posixpath import join

from toolgate.gate.effects import flow
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_FOLDER = ("-C", "--directory", "--prefix", "--cwd")
_FILE = ("-f", "--file", "--makefile")
_STANDARD_INPUT = frozenset(("-", "/dev/stdin"))
# Subcommands that run the script of their own name.
_OWN_SCRIPT = {"t": "test", "tst": "test", "test": "test", "start": "start", "stop": "stop"}
MAX_TARGETS = 32
MAX_LINES = 256


def effects_of_supplied(reader: Reading, words: tuple[Word, ...], command: Command) -> list[Effect]:
    """Return what a runner does by a file of targets or scripts that this text has written."""
    name = words[0].text
    make = name in ("make", "gmake")
    folder, named, rest = _arguments(words[1:], files=_FILE if make else ())
    cwd = join(command.cwd, folder) if command.cwd else folder
    if named in _STANDARD_INPUT:
        rules = flow.standard_input(reader.script, command)
        return (
            [reader.code_not_known(name)] if rules is None else _targets(reader, rules, rest, cwd)
        )
    for file in (named,) if named else _MAKEFILES if make else ("package.json",):
        path = reader.paths.resolve(file, cwd)
        written = reader.files.get(path)
        if written is None or written.artifact is not None:
            continue
        if written.text is None:
            return [reader.unknown("written-in-this-text", name, file)]
        # What a recipe runs of the same file again is not followed once more.
        reader.files.put(path, written._replace(text=None))
        # Alone, yarn installs, and runs the package's scripts around that.
        wanted = ["install"] if name == "yarn" and not rest else rest
        if make:
            made = _targets(reader, written.text, wanted, cwd)
        else:
            made = _scripts(reader, written.text, wanted, cwd, _added(command))
        reader.files.put(path, written)
        return made
    return []


def _arguments(words: tuple[Word, ...], files: tuple[str, ...]) -> tuple[str, str, list[str]]:
    """Return the folder a runner is sent to, the file it is told to read, and its operands."""
    folder, named, rest, skip = "", "", [], False
    for position, word in enumerate(words):
        if skip:
            skip = False
        elif word.text in _FOLDER and position + 1 < len(words):
            folder, skip = words[position + 1].text, True
        elif word.text in files and position + 1 < len(words):
            named, skip = words[position + 1].text, True
        elif files and (word.text[:2] == "-f" or word.text.startswith(("--file=", "--makefile="))):
            named = word.text.partition("=")[2] if word.text[1] == "-" else word.text[2:]
        elif not word.text.startswith("-") and "=" not in word.text:
            rest.append(word.text)
    return folder, named, rest


def _added(command: Command) -> str:
    """Return the words a call puts behind a script's command, as shell text."""
    texts = [word.text for word in command.words]
    if "--" not in texts:
        return ""
    from shlex import quote  # few calls add words

    words = command.words[texts.index("--") + 1 :]
    return " ".join(quote(word.text) if word.known else "$UNKNOWN" for word in words)


def _scripts(reader: Reading, text: str, rest: list[str], cwd: str, added: str) -> list[Effect]:
    try:
        # What sets single scripts has written them line by line, without the file around them.
        alone = text.startswith('"')
        scripts = json.loads("{" + text.replace("\n", ",") + "}" if alone else text)
        scripts = scripts if alone else scripts["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    if not isinstance(scripts, dict) or not rest:
        return []
    named = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
    named = _OWN_SCRIPT.get(named, named)
    made: list[Effect] = []
    for before in ("pre", "", "post"):
        body = scripts.get(before + named)
        if isinstance(body, str):
            known = HOLE not in body
            body = body if before else f"{body} {added}"
            made += reader.inner(body, cwd=cwd) if known else [reader.code_not_known("script")]
    return made


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
    queue = list(wanted) or ([first] if first is not None else [])
    lines: list[str] = []
    done: set[str] = set()
    for target in queue:  # grows by what each target needs
        if target not in done:
            done.add(target)
            queue += needs.get(target, [])
            lines += recipes.get(target, [])
        if len(done) > MAX_TARGETS or len(lines) > MAX_LINES or len(variables) > MAX_LINES:
            return [reader.unknown("too-many-targets", "make")]
    return [
        effect
        for line in lines
        for effect in reader.inner(_expanded(line.lstrip("@-+ "), variables), cwd=cwd)
    ]


def _expanded(line: str, variables: dict[str, str]) -> str:
    """Return a recipe line as the shell gets it; what is not known stays a shell variable."""
    for name, value in variables.items():
        line = line.replace(f"$({name})", value).replace(f"${{{name}}}", value)
    from toolgate.gate.effects.parts import of_environment  # which few calls need

    line = line.replace("$(MAKE)", "make").replace("$@", "target").replace("$<", "source")
    return of_environment(line).replace("$$", "$")
