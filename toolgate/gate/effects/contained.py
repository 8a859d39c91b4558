"""What a file that is written would do when run, read from its content as it is written."""

from collections.abc import Callable
from posixpath import basename

from toolgate.gate.effects import flow, stored
from toolgate.gate.effects.content import language_of
from toolgate.gate.effects.defined import meanings
from toolgate.gate.effects.entrypoints import EVERY, LOOSE, NPM_SETTINGS
from toolgate.gate.effects.files import continues_a_line, executed
from toolgate.gate.effects.gitnames import is_settings
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.parts import MAX_TEXT, texts_of
from toolgate.gate.effects.patterned import kept_under
from toolgate.gate.effects.reading import (
    DEFINED,
    LINKS,
    NAMES,
    SETTINGS,
    SHELL,
    Files,
    Reading,
    Written,
    part_of,
)
from toolgate.gate.facts.artifacts import FOLDER, LINK, PART, SEVERAL, UNREAD
from toolgate.gate.facts.session import PART_MARK, SECRET
from toolgate.gate.shell.model import HOLE
from toolgate.gate.shell.work import SpentError

LINE_COST = 64
MAX_PUTS = 8
"""How many files are followed that a written file writes when it is run."""
_UNREAD_LANGUAGES = frozenset(("rs", "java", "kt", "swift", "c", "cc", "cpp", "cs", "scala"))
# A Go program starts others, deletes trees and reaches hosts through these packages.
_GO_REACHES = ("os/exec", "os.Remove", "net/http", '"net"', "syscall", "unsafe", "os.Rename")


_SAYS_LITTLE = frozenset(stored.effect(note, "", "").type for note in (stored.HARMLESS, PART))


class Content:
    """Reads written files.

    Args:
        fresh: makes a reader for text that would run, with the files given to it.
        root: the workspace's folder.
    """

    def __init__(self, fresh: Callable[[Files], Reading], root: str) -> None:
        self._fresh = fresh
        self._root = root
        self._loose = tuple(part_of(root, name) for name in LOOSE)
        self._puts: dict[str, Written] = {}
        self._direct: dict[str, Written] = {}

    def effects(self, files: Files, room: int) -> list[Effect]:
        """Return the effects that say what written files hold.

        Args:
            files: what a call writes.
            room: how many effects there may be. With more the files are told in less detail.
        """
        told: dict[str, list[Effect]] = {}
        self._direct = files.written
        for path, written in files.written.items():
            if (
                path != DEFINED
                and HOLE not in path
                and (written.said or written.remote or written.secret)
            ):
                for part, effects in self._of_file(path, written).items():
                    more = told.get(part, []) if part == DEFINED else []
                    told[part] = list(dict.fromkeys([*more, *effects]))
        made = [effect for effects in told.values() for effect in effects]
        if len(made) <= room:
            return made
        kinds = told.pop(DEFINED, [])
        made = [stored.effect(UNREAD, one[0].scope, path) for path, one in told.items()]
        if len(made) + len(kinds) <= room:
            return made + kinds
        # Too many to name: any file of the session may be one of them.
        return [stored.effect(SEVERAL, made[0].scope, "*"), *kinds]

    def _of_file(self, path: str, written: Written) -> dict[str, list[Effect]]:
        told: dict[str, list[Effect]] = {}
        bottom = written
        while bottom.before is not None and bottom.before.artifact is None:
            bottom = bottom.before
        of_note = False
        for part, (notes, runs) in self._notes(path, written).items():
            loose = bottom.part or part in self._loose
            said = [*notes, *([PART] if loose else []), *([SECRET] if written.secret else [])]
            said += [PART, FOLDER] if written.folder else []
            told[part] = [stored.effect(note, written.scope, part) for note in said]
            if runs:
                told[part].append(
                    stored.effect(stored.RUNS_FILES, written.scope, part, "\n".join(runs))
                )
            shell = language_of("", path, "") == "shell"
            of_note = of_note or notes != [stored.HARMLESS] or bool(runs and shell)
        told.update(self._every(path, written, told))
        told.update(self._written_when_run(told))
        also = self._also_under(path, written, of_note=of_note)
        for part in also:
            told[part] = [
                stored.effect(PART, written.scope, part),
                stored.effect(stored.RUNS_FILES, written.scope, part, path),
            ]
        kinds = [PART]
        if any(part.startswith(SHELL) for part in told):
            kinds.append(NAMES)
        if written.link or written.folder:
            kinds.append(LINKS)
        file = path.partition(PART_MARK)[0]
        if is_settings(file) or basename(file) == NPM_SETTINGS:
            kinds.append(SETTINGS)
        if len(kinds) > 1:
            told[DEFINED] = [stored.effect(kind, written.scope, DEFINED) for kind in kinds]
        return told

    def _written_when_run(self, told: dict[str, list[Effect]]) -> dict[str, list[Effect]]:
        """Return what the files may hold that a written file writes in turn, when it is run."""
        puts, self._puts = self._puts, {}
        found: dict[str, list[Effect]] = {}
        for path, one in puts.items():
            if path in told or path in self._direct or HOLE in path:
                continue
            if PART_MARK in path or path.startswith(SHELL):
                continue
            notes = self._single(path, one).get(path, ([], []))[0]
            self._puts = {}  # what that one writes is followed no further
            if any(note != stored.HARMLESS for note in notes):
                said = [*notes, PART, *([SECRET] if one.secret else [])]
                found[path] = [stored.effect(note, one.scope, path) for note in said]
        return found

    def _every(
        self, path: str, written: Written, told: dict[str, list[Effect]]
    ) -> dict[str, list[Effect]]:
        """Return what all parts of a file hold together, for who copies the file."""
        every = part_of(path, EVERY)
        parts = [one for part, one in told.items() if part != path and part.startswith(path)]
        kinds = dict.fromkeys((one.type, one.how) for effects in parts for one in effects)
        if all(kind in _SAYS_LITTLE for kind, _ in kinds):
            return {}
        return {every: [Effect(k, written.scope, every, True, PROVED, "", h) for k, h in kinds]}

    def _also_under(self, path: str, written: Written, *, of_note: bool) -> list[str]:
        """Return the names and patterns a file can be run by, beside its path."""
        if path.startswith(SHELL) or PART_MARK in path or written.folder:
            return []
        found = list(kept_under(path, self._root)) if of_note else []
        return found + meanings(path, self._fresh(Files()))

    def _notes(self, path: str, written: Written) -> dict[str, tuple[list[str], list[str]]]:
        """Return notes, and the files it runs, for a file and for each of its parts."""
        own = written
        chain = []
        while own.before is not None and own.before.artifact is None:
            chain.append(own._replace(before=None))
            own = own.before
        chain.append(own._replace(before=None))
        found: dict[str, tuple[list[str], list[str]]] = {}
        if continues_a_line(written, path, ""):
            found[path] = ([UNREAD], [])
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
            return {path: ([note for note, _ in written.artifact.holds if note != SECRET], [])}
        if written.copies is not None:
            origin, scope = written.copies
            own = scope in ("workspace", "temp")
            notes = [stored.HARMLESS] if own else [f"exec.code:file@{scope}"]
            if written.link and not own:
                notes.append(f"{LINK}@{scope}")
            return {path: (notes, [origin] if written.link else [])}
        if written.plans:
            return {path: ([written.plans], [])}
        if written.built and written.text is None:
            return {path: ([stored.HARMLESS], [])}
        if written.text is None or written.remote or len(written.text) > MAX_TEXT:
            return {path: ([UNREAD], [])}
        found: dict[str, tuple[list[str], list[str]]] = {}
        left = MAX_TEXT
        for part, text in texts_of(path, written.text, self._root, whole=not written.part).items():
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
        files = Files(noted=True)
        reader = self._fresh(files)
        one = written._replace(text=text, secret=False, part=False)
        try:
            made = executed(one, path, "", reader)
        except SpentError:  # running it asks
            return [UNREAD], []
        if language_of(text, path, "") != "shell":
            made = flow.within(made, reader)  # shell text is weighed command by command
        self._puts.update(
            (other, put)
            for other, put in list(files.written.items())[:MAX_PUTS]
            if put.text is not None or put.remote
        )
        if written.part:
            made = [effect for effect in made if "code-does-not-parse" not in effect.proof]
        runs = [
            other
            for other in files.runs
            if other != path and HOLE not in other and other not in files.written
        ]
        return stored.notes_of(made), runs


def _cost(text: str, path: str) -> int:
    """Return how much of ``MAX_TEXT`` a text takes: a line of shell text costs more to read."""
    shell = language_of(text, path, "") == "shell"
    return max(len(text), LINE_COST * text.count("\n")) if shell else len(text)
