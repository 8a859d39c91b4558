"""What the readers of single programs and languages may ask of the reader of the whole text."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from toolgate.gate.call import Place
from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.paths import Paths
from toolgate.gate.effects.settings import Settings
from toolgate.gate.facts.session import (
    NOTHING,
    PART_MARK,
    READ_SECRET,
    RUN,
    SECRET,
    Fact,
    Session,
)
from toolgate.gate.shell.model import BELOW, HOLE, Command, Script, Word
from toolgate.gate.shell.work import Work

if TYPE_CHECKING:
    from toolgate.gate.facts.artifacts import Artifact

MAX_NESTING = 8
"""Texts and files that run each other, one inside the other."""
TOUCHES = "*"
"""Name of the part of a file that stands for what the file touches when it is run: not known."""


FUNCTION = "()"
"""What follows a function's name to name the part of a shell file that calls it."""


SHELL = "shell:"
"""What names mean is kept under parts of this; no path can be it, and no part of it."""

DEFINED = "shell:defined"
"""Stands in for a file as soon as anything is kept about names, links or settings, so that one
look says which of them there are. Its notes are these kinds."""

NAMES, LINKS, SETTINGS = "names", "links", "settings"

LINKED = frozenset(("fs.read", "fs.write", "fs.permission", "fs.delete"))
"""Accesses that go through a link."""

_LINKED_FROM = frozenset(("workspace", "temp", "home"))


def part_of(path: str, name: str) -> str:
    """Return what a part of a file is known by: a target of a Makefile, a package's script."""
    return path + PART_MARK + name


class Written(NamedTuple):
    """A file this text, or an earlier call of the session, has written.

    Args:
        text: its content, if known.
        remote: whether it came from the network.
        secret: whether a secret went into it.
        built: whether it is the project's own: made by its build, or a copy of its file.
        scope: where it lies.
        part: whether this adds to what was there, or edits it.
        before: what was there as far as that is known.
        artifact: what earlier calls put into it, or into the file it is a copy of.
        copies: the file it is a copy of, when nothing is known of that one but where it lies.
        link: whether it is that file under another name, also when that one changes.
        said: whether its content was given by the text, and is to be remembered.
        plans: what carrying it out does, of a plan that a program has written, as a note.
        folder: whether it is a folder into which an archive or repository was put.
        appended: whether it stands behind what was there.
    """

    text: str | None
    remote: bool
    secret: bool
    built: bool = False
    scope: str = "workspace"
    part: bool = False
    before: "Written | None" = None
    artifact: "Artifact | None" = None
    copies: tuple[str, str] | None = None
    link: bool = False
    said: bool = True
    plans: str = ""
    folder: bool = False
    appended: bool = False


class Files:
    """What files are known to hold: what the text has written, else what the session has.

    ``asked`` are the paths the session was asked about, ``knew`` says whether it knew any of
    them, and ``led`` where links on the disk take others: what is read of a call depends on
    these answers. ``patched`` says whether a patch that is not the project's own, and that
    nobody has read, was applied.

    Args:
        session: the session before the call.
        noted: whether somebody wants to know which files are run, also of those that
            nothing is known of.
    """

    __slots__ = (
        "_before",
        "_kinds",
        "_session",
        "asked",
        "facts",
        "gone",
        "knew",
        "led",
        "moved",
        "noted",
        "patched",
        "runs",
        "sourced",
        "written",
    )

    def __init__(self, session: Session = NOTHING, *, noted: bool = False) -> None:
        self._session = session
        self._before: dict[str, Written | None] = {}
        self.noted = noted
        self.patched = False
        self.moved: list[tuple[str, Effect]] = []
        self._kinds: frozenset[str] | None = None
        self.written: dict[str, Written] = {}
        self.gone: set[str] = set()
        self.runs: dict[str, None] = {}
        self.sourced: list[str] = []
        self.facts: dict[Fact, None] = {}
        self.asked: dict[str, None] = {}
        self.led: dict[str, tuple[str, ...]] = {}
        self.knew = False

    @property
    def may_know(self) -> bool:
        """Say whether anything can be known of any file."""
        return bool(self.written) or self._session is not NOTHING

    def defines(self, kind: str) -> bool:
        """Say whether anything is kept of a kind: ``NAMES``, ``LINKS`` or ``SETTINGS``."""
        if DEFINED in self.written:
            return True  # this text has put something there
        if self._kinds is None:
            known = self._ask(DEFINED)
            self._kinds = frozenset(note for note, _ in known.holds) if known else frozenset()
        return kind in self._kinds

    def get(self, path: str) -> Written | None:
        """Return what is known of a file, or of a part of one (see ``part_of``)."""
        # Of a file somewhere below a folder, the one right in it is looked at.
        path = path.replace(f"/{BELOW}/", "/")
        found = self.written.get(path)
        if found is None and path not in self.gone and HOLE not in path:
            if path not in self._before:
                self._before[path] = self._look_up(path)
            found = self._before[path]
        return found

    def _look_up(self, path: str) -> Written | None:
        """Return what earlier calls have put into a file; asked of the session once a path."""
        artifact = self._ask(path)
        for real in self.leads(path) if artifact is None else ():
            if real in self.written:
                return self.written[real]
            artifact = artifact or self._ask(real)
        if artifact is None:
            return None
        return Written(None, False, artifact.entry_of(SECRET) is not None, artifact=artifact)

    def _ask(self, path: str) -> "Artifact | None":
        """Return what the session knows of a file, and note what it was asked."""
        self.asked[path] = None
        artifact = self._session.artifact(path)
        self.knew = self.knew or artifact is not None
        return artifact

    def put(self, path: str, written: Written) -> None:
        """Note that the text writes a file, and what a link on the disk has in its place."""
        for one in (path, *self.leads(path)):
            self.gone.discard(one)
            self.written[one] = written

    def drop(self, path: str) -> None:
        """Note that the text deletes or moves away a file."""
        self.written.pop(path, None)
        self.gone.add(path)

    def mark(self) -> tuple[int, int]:
        """Return how much is known of what was run."""
        return len(self.facts), len(self.runs)

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget what was noted as run since a mark: it was only looked at."""
        facts, runs = mark
        kept = [fact for at, fact in enumerate(self.facts) if at < facts or fact.code not in RUN]
        self.facts = dict.fromkeys(kept)
        self.runs = dict.fromkeys(list(self.runs)[:runs])

    def seen(self, effect: Effect) -> Effect:
        """Return a read as that of a secret if an earlier call has put one into the file."""
        written = self.get(effect.resource) if effect.type == "fs.read" else None
        if written is None or written.artifact is None or not written.secret:
            return effect
        self.rest_on(READ_SECRET, written.artifact.entry_of(SECRET))
        return effect._replace(type="secret.read", how=f"{effect.how} copy".strip())

    def leads(self, path: str) -> tuple[str, ...]:
        """Return where links on the disk take a path, or a part of a file."""
        if self._session is NOTHING or not path.startswith("/") or HOLE in path:
            return ()
        file, mark, part = path.partition(PART_MARK)
        found = self.led.get(file)
        if found is None:
            found = self.led[file] = self._session.leads(file)
        return tuple(real + mark + part for real in found) if mark else found

    def behind(
        self, made: list[Effect], paths: Paths, how: tuple[str, ...] = (), *, named: str = ""
    ) -> list[Effect]:
        """Return what accesses reach behind links, on the disk and made by earlier calls.

        Args:
            made: the accesses, on this machine.
            paths: classifies what lies behind.
            how: qualifiers of the accesses.
            named: their path, absolute, as it was written; "" where that is not known.
        """
        # Of the form in which paths are compared the steps out of folders are taken away.
        written = named if "/../" in named or named.endswith("/..") else ""
        more = [one for effect in made for one in self._linked(effect, paths, how, written)]
        if more:
            # What is reached by another name, and is the same to every rule, is no news.
            known = {(one.type, one.scope) for one in made}
            more = [one for one in more if (one.type, one.scope) not in known]
        if self.defines(LINKS):
            from toolgate.gate.effects.links import through

            more += [one for effect in made for one in through(effect, self, paths.place.roots)]
        return more

    def _linked(
        self, effect: Effect, paths: Paths, how: tuple[str, ...], written: str
    ) -> list[Effect]:
        """Return what an access reaches behind links that lie on the disk.

        Only where a session, or what it has fetched, may have put a link: what the system
        has linked is meant by its name.
        """
        kind, path = effect.type, written or effect.resource
        if kind not in LINKED or effect.scope not in _LINKED_FROM or self._session is NOTHING:
            return []
        if kind == "fs.delete":  # takes the link itself away, but goes through linked folders
            folder, _, name = path.rpartition("/")
            found = tuple(real + "/" + name for real in self.leads(folder))
        else:
            found = self.leads(path)
        made: list[Effect] = []
        for real in found:
            if HOLE in real:
                proof = unresolved("links-not-followed")
                made.append(effect._replace(scope="unknown", reversible=True, proof=proof))
            else:
                made += paths.effects(kind, real, "", program=effect.program, how=how)
        return made

    def rest_on(self, code: str, *entries: str | None) -> None:
        """Note facts the reading rests on."""
        self.facts.update((Fact(code, entry), None) for entry in entries if entry)


class Reading(Protocol):
    """A shell text being read for effects.

    Attributes:
        place: where the text would run.
        settings: names and patterns from the policy.
        paths: resolves and classifies paths.
        script: the text as its simple commands.
        files: what files are known to hold.
        fed: whether something is fed into the command that runs the text.
        inside: where the text runs, "" for here.
        work: the steps that reading may still cost.
        places: folders that the text has put in front of the search path.
    """

    place: Place
    settings: Settings
    paths: Paths
    script: Script
    files: Files
    inside: str
    fed: bool
    work: Work
    places: list[str]

    def inner(
        self,
        text: str,
        *,
        inside: str = "",
        cwd: str | None = None,
        arguments: tuple[Word, ...] | None = None,
        fed: bool = False,
    ) -> list[Effect]:
        """Return the effects of shell text that this text runs, ``$0`` first in its arguments."""

    def invoke(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        """Return the effects of running a program with arguments."""

    def elsewhere(self, inside: str, cwd: str = "") -> "Reading":
        """Return a reading of what runs in a container or on another machine."""

    def entry(self, name: str) -> dict[str, Any] | None:
        """Return the catalogue entry of a program."""

    def environment(self, command: Command) -> list[Effect]:
        """Return the effects of a command's variable assignments."""

    def run_file(self, word: Word, command: Command, program: str) -> list[Effect]:
        """Return the effects of executing a file."""

    def run_known(self, path: str, program: str) -> list[Effect] | None:
        """Return the effects of running a file whose content is known; None when it is not."""

    def touch(
        self, kind: str, word: Word, command: Command, program: str, how: tuple[str, ...] = ()
    ) -> list[Effect]:
        """Return the effects of touching the path a word names."""

    def net(self, kind: str, target: str, name: str, how: tuple[str, ...] = ()) -> Effect:
        """Return the effect of reaching a host."""

    def inspect(self, program: str) -> Effect:
        """Return the effect of a command that only looks."""

    def unknown(self, reason: str, program: str, resource: str = HOLE) -> Effect:
        """Return the effect of code nobody could read."""

    def code_not_known(self, name: str) -> Effect:
        """Return the effect of running text that is not known before it runs."""
