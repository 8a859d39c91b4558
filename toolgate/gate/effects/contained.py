"""What a file that is written would do when run, read from its content as it is written."""

import json
from collections.abc import Callable
from posixpath import basename

from toolgate.gate.effects import stored
from toolgate.gate.effects.content import language_of
from toolgate.gate.effects.entrypoints import FIRST, MAKEFILES, PACKAGE, TESTS
from toolgate.gate.effects.files import executed
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import FUNCTION, Files, Reading, Written, part_of
from toolgate.gate.facts.artifacts import PART, RUNS, SEVERAL, UNREAD
from toolgate.gate.facts.session import SECRET
from toolgate.gate.shell.model import HOLE
from toolgate.gate.shell.work import SpentError

MAX_TEXT = 40 * 1024
"""Text of one file, its parts counted each, beyond which it is not read as it is written, so that
a decision stays quick; running it asks."""

LINE_COST = 64
MAX_PARTS = 24
MAX_DEPENDENCIES = 64
MAX_FUNCTIONS = 8
_UNREAD_LANGUAGES = frozenset(("rs", "java", "kt", "swift", "c", "cc", "cpp", "cs", "scala"))
# A Go program starts others, deletes trees and reaches hosts through these packages.
_GO_REACHES = ("os/exec", "os.Remove", "net/http", '"net"', "syscall", "unsafe", "os.Rename")
_CRON_FIELDS = 5
_CRON = frozenset("0123456789*/,-")


class Content:
    """Reads written files.

    Args:
        fresh: makes a reader for text that would run, with the files given to it.
        root: the workspace's folder.
    """

    def __init__(self, fresh: Callable[[Files], Reading], root: str) -> None:
        self._fresh = fresh
        self._root = root

    def effects(self, files: Files, room: int) -> list[Effect]:
        """Return the effects that say what written files hold.

        Args:
            files: what a call writes.
            room: how many effects there may be. With more the files are told in less detail.
        """
        told: dict[str, list[Effect]] = {}
        for path, written in files.written.items():
            if HOLE not in path and (written.said or written.remote or written.secret):
                told.update(self._of_file(path, written))
        made = [effect for effects in told.values() for effect in effects]
        if len(made) <= room:
            return made
        made = [stored.effect(UNREAD, one[0].scope, path) for path, one in told.items()]
        if len(made) <= room:
            return made
        # Too many to name: any file of the session may be one of them.
        return [stored.effect(SEVERAL, made[0].scope, "*")]

    def _of_file(self, path: str, written: Written) -> dict[str, list[Effect]]:
        told: dict[str, list[Effect]] = {}
        bottom = written
        while bottom.before is not None and bottom.before.artifact is None:
            bottom = bottom.before
        for part, (notes, runs) in self._notes(path, written).items():
            loose = bottom.part or part == part_of(self._root, TESTS)
            said = [*notes, *([PART] if loose else []), *([SECRET] if written.secret else [])]
            told[part] = [stored.effect(note, written.scope, part) for note in said]
            if runs:
                told[part].append(
                    stored.effect(stored.RUNS_FILES, written.scope, part, "\n".join(runs))
                )
        return told

    def _notes(self, path: str, written: Written) -> dict[str, tuple[list[str], list[str]]]:
        """Return notes, and the files it runs, for a file and for each of its parts."""
        own = written
        chain = []
        while own.before is not None and own.before.artifact is None:
            chain.append(own._replace(before=None))
            own = own.before
        chain.append(own._replace(before=None))
        found: dict[str, tuple[list[str], list[str]]] = {}
        for one in chain:
            for part, (notes, runs) in self._single(path, one).items():
                before, also = found.get(part, ([], []))
                found[part] = (
                    list(dict.fromkeys([*before, *notes])),
                    list(dict.fromkeys([*also, *runs])),
                )
        return found

    def _single(self, path: str, written: Written) -> dict[str, tuple[list[str], list[str]]]:
        if written.artifact is not None:
            held = [note for note, _ in written.artifact.holds if note != SECRET]
            return {path: ([note for note in held if not note.startswith(RUNS)], [])}
        if written.copies is not None:
            origin, scope = written.copies
            own = scope in ("workspace", "temp")
            note = stored.HARMLESS if own else f"exec.code:file@{scope}"
            return {path: ([note], [origin] if written.link else [])}
        if written.plans:
            return {path: ([written.plans], [])}
        if written.built and written.text is None:
            return {path: ([stored.HARMLESS], [])}
        if written.text is None or written.remote or len(written.text) > MAX_TEXT:
            return {path: ([UNREAD], [])}
        found: dict[str, tuple[list[str], list[str]]] = {}
        left = MAX_TEXT
        for part, text in self._texts(path, written.text, whole=not written.part).items():
            left -= _cost(text, path)
            found[part] = self._read(text, path, written) if left >= 0 else ([UNREAD], [])
        return found

    def _read(self, text: str, path: str, written: Written) -> tuple[list[str], list[str]]:
        ending = basename(path).rpartition(".")[2].lower()
        if ending == "go":
            reaches = any(word in text for word in _GO_REACHES)
            return [UNREAD if reaches else stored.HARMLESS], []
        if ending in _UNREAD_LANGUAGES:
            return [UNREAD], []
        files = Files()
        reader = self._fresh(files)
        one = written._replace(text=text, secret=False, part=False)
        try:
            made = executed(one, path, "", reader)
        except SpentError:  # running it asks
            return [UNREAD], []
        if written.part:
            made = [effect for effect in made if "code-does-not-parse" not in effect.proof]
        runs = [
            other
            for other in files.runs
            if other != path and HOLE not in other and other not in files.written
        ]
        return stored.notes_of(made), runs

    def _texts(self, path: str, text: str, *, whole: bool) -> dict[str, str]:
        """Return a file's text by its parts; what can be run only as a whole is one text."""
        name = basename(path)
        if name == PACKAGE:
            return _by_part(path, _scripts(text))
        if name in MAKEFILES or name.endswith(".mk"):
            targets = _targets(text) if whole else {}
            return _by_part(path, targets) if targets else {path: _recipes(text)}
        if name.startswith("Dockerfile") or name.endswith(".dockerfile"):
            return {path: _docker_runs(text)}
        if name == "composer.json":
            return {path: "\n".join(_scripts(text).values())}
        if name.endswith((".yml", ".yaml")):
            return {path: ""}  # runs elsewhere, once it is pushed
        texts = {path: _without_schedule(text)}
        if language_of(text, path, "") == "shell":
            for function in _functions(text):
                texts[part_of(path, function + FUNCTION)] = f"{text}\n{function}\n"
        if _is_test(name):
            texts[part_of(self._root, TESTS)] = text
        return texts


def _by_part(path: str, texts: dict[str, str]) -> dict[str, str]:
    """Return texts by the parts they belong to; too many of them count as the file's own."""
    if len(texts) > MAX_PARTS:
        return {path: "\n".join(dict.fromkeys(texts.values()))}
    return {path: "", **{part_of(path, name): text for name, text in texts.items()}}


def _functions(text: str) -> list[str]:
    """Return the names of the functions that shell text defines, as far as a line begins one."""
    found: dict[str, None] = {}
    for line in text.split("\n"):
        head, mark, _ = line.strip().partition("()")
        words = head.split() if mark else line.strip().rstrip("{ ").split()
        if words[:1] == ["function"] and len(words) == 2:
            words = words[1:]
        elif not mark:
            continue
        if len(words) == 1 and words[0].replace("_", "a").replace("-", "a").isalnum():
            found[words[0]] = None
    return list(found)[:MAX_FUNCTIONS]


def _cost(text: str, path: str) -> int:
    """Return how much of ``MAX_TEXT`` a text takes: a line of shell text costs more to read."""
    shell = language_of(text, path, "") == "shell"
    return max(len(text), LINE_COST * text.count("\n")) if shell else len(text)


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


def _closure(target: str, recipes: dict[str, list[str]], needs: dict[str, list[str]]) -> list[str]:
    waiting, seen = [target], {target: None}
    while waiting and len(seen) < MAX_DEPENDENCIES:
        for need in needs.get(waiting.pop(), []):
            if need in recipes and need not in seen:
                seen[need] = None
                waiting.append(need)
    return [line for one in reversed(seen) for line in recipes[one]]


def _variables(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
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
    return text.replace("$(shell ", "$(").replace("$$", "$")


def _docker_runs(text: str) -> str:
    lines = text.replace("\\\n", " ").split("\n")
    return "\n".join(
        line.strip()[4:].strip() for line in lines if line.strip()[:4].upper() == "RUN "
    )


def _without_schedule(text: str) -> str:
    """Return text with the times of a cron table's lines taken off."""
    if "*" not in text:
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        fields = line.split(None, _CRON_FIELDS)
        if len(fields) > _CRON_FIELDS and all(_CRON.issuperset(f) for f in fields[:_CRON_FIELDS]):
            lines[at] = fields[_CRON_FIELDS]
    return "\n".join(lines)
