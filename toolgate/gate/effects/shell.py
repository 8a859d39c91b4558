"""A shell command's effects: every simple command judged, what flows between them followed."""

from functools import lru_cache
from posixpath import isabs, join
from typing import Any

from toolgate.gate.call import Place
from toolgate.gate.catalog.load import Catalog
from toolgate.gate.effects import flow
from toolgate.gate.effects.entry import apply
from toolgate.gate.effects.hosts import host_of, is_metadata, scope_of
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.paths import Paths, path_cost, region
from toolgate.gate.effects.reading import LINKED, MAX_NESTING, NAMES, Files
from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import HOLE, Command, Redirect, Script, Word
from toolgate.gate.shell.parse import read
from toolgate.gate.shell.source import REFUSED
from toolgate.gate.shell.state import TEMPORARY
from toolgate.gate.shell.work import READING, SPENT, SpentError, Work

_PUTS = frozenset(("fs.write", "fs.link"))
_RUNNERS = frozenset(("make", "gmake", "npm", "pnpm", "yarn", "bun"))
_DESTROYS = ("infra.destroy", "db.destroy")
MAX_WRAPPERS = 32
MAX_INSIDE = 65_536
"""Characters of all texts that a text runs in turn."""
MAX_SUPPLIED = 16
"""How many runs of targets and scripts of its own a text is followed through."""

# Proofs of code that is taken from somewhere else and not known.
_NOT_KNOWN = frozenset(
    unresolved(reason) for reason in ("stdin", "code-not-known", "program-not-known")
)
_EXPORTS = frozenset(("export", "declare", "typeset", "readonly", "local"))
# Alone, these ask an installed program about itself; one that does more breaks every convention.
_ABOUT_ITSELF = frozenset(
    ("--version", "--help", "-V", "-h", "-version", "-help", "version", "help")
)


class Reader:
    """Reads shell text for effects.

    Args:
        place: where it would run.
        settings: names and patterns from the policy.
        catalog: what programs do.
        paths: the reading of paths at that place, if there is one already.
        files: what files are known to hold.
        depth: how many readers this one is inside.
        inside: ``container`` or ``remote-host`` when the text runs elsewhere.
        fed: whether something is fed into the command that runs the text.
        work: the steps that reading may cost; those of one call when not given.
    """

    def __init__(
        self,
        place: Place,
        settings: Settings,
        catalog: Catalog,
        *,
        paths: Paths | None = None,
        files: Files | None = None,
        depth: int = 0,
        inside: str = "",
        fed: bool = False,
        work: Work | None = None,
    ) -> None:
        self.place = place
        self.settings = settings
        self.catalog = catalog
        self.paths = paths or Paths(self.place, settings, remote=bool(inside))
        self.files = Files() if files is None else files
        self.depth = depth
        self.inside = inside
        self.fed = fed
        self.work = Work() if work is None else work
        self.places: list[str] = []
        self.script = Script((), ())
        self.doubtful: list[tuple[str, Script]] = []
        self.read_inside = [0]
        self._wrappers = 0
        self.aliases: dict[str, str] = {}
        self._runs = 0
        self.patterns = 0
        self._feeds = fed

    def effects(self, text: str, arguments: tuple[Word, ...] | None = None) -> list[Effect]:
        """Return every effect of a shell text, in source order.

        Args:
            text: the source.
            arguments: its arguments, ``$0`` first; None when it has none of its own.
        """
        if self.depth:
            self.read_inside[0] += len(text)
        if self.depth > MAX_NESTING or self.read_inside[0] > MAX_INSIDE:
            return [self.unknown("nested-too-deep", "shell")]
        self._read(text, arguments)
        if self.script.doubtful:
            self.doubtful.append((text, self.script))
        carries: dict[int, flow.Carries] = {}
        judged: list[list[Effect]] = []
        try:
            for position, command in enumerate(self.script.commands):
                made, onward = self.weighed(self.performed(command), command, carries)
                if onward.secret or onward.remote:
                    carries[position] = onward
                judged.append(made)
        except SpentError:
            if self.depth:
                raise
            # What was judged stands, and the whole text is asked about.
            kept, faults = self.script.commands[: len(judged)], {*self.script.faults, SPENT}
            self.script = self.script._replace(commands=kept, faults=tuple(sorted(faults)))
        every = [effect for made in self.settled(judged) for effect in made]
        every += [self._fault(fault) for fault in self.script.faults]
        if self.place.kept_shell and not self.depth and not self.inside:
            every += self._kept()
        return list(dict.fromkeys(every)) or [self.inspect("shell")]

    def _read(self, text: str, arguments: tuple[Word, ...] | None) -> None:
        """Read a text as the script to be judged."""
        given = int(self.work.left * READING)
        work = Work(given)
        place = self.place
        self.script = read(text, cwd=place.cwd, home=place.home, arguments=arguments, work=work)
        self.work.left -= given - max(work.left, 0)

    def _kept(self) -> list[Effect]:
        """Return what a shell that outlives the text is left with, and keep it."""
        script = self.script
        if not script.functions and not any(
            name == "PATH" for command in script.commands for name, _ in command.assigns
        ):
            return []
        from toolgate.gate.effects import defined

        return defined.keep(self, script)

    def settled(self, judged: list[list[Effect]]) -> list[list[Effect]]:
        """Return the effects of each command, one for one, as the whole text makes them."""
        if not flow.any_weighs(judged):
            return judged
        if any(effect.type in _DESTROYS for made in judged for effect in made):
            from toolgate.gate.effects.production import marked

            judged = marked(self.script, judged, self)
        return flow.settled(flow.measured(self.script, judged))

    def performed(self, command: Command) -> list[Effect]:
        """Return what one simple command does by itself."""
        self.work.spend(8 + 2 * len(command.words))
        self._feeds = self.fed or flow.has_standard_input(command)
        made: list[Effect] = []
        if command.redirects or command.assigns:
            made += self._redirects(command) + self.environment(command)
        if command.words:
            made += self.invoke(command.words, command)
        if command.assigns and (not command.words or command.words[0].text in _EXPORTS):
            self.places = self._in_front(command)
        if (self.files.written or self.files.patched) and command.cwd:
            made += self._of_others(made, command)
        if self.files.may_know and any(effect.proof in _NOT_KNOWN for effect in made):
            from toolgate.gate.effects import running

            made += running.fed_from_files(self, command)
        return made

    def _of_others(self, made: list[Effect], command: Command) -> list[Effect]:
        """Return that a build or test is not the project's own, but came with a repository.

        What is unpacked into the workspace itself is mostly data, and its build the project's.
        """
        if command.cwd in self.place.roots and not self.files.patched:
            return []
        programs = [
            effect.program
            for effect in made
            if effect.type == "exec.code" and "project" in effect.how.split()
        ]
        elsewhere = flow.came_from_elsewhere(command.cwd + "/", self.files.written)
        if programs and (elsewhere or self.files.patched):
            return [self.unknown("not-the-projects-own", programs[0], command.cwd)]
        return []

    def _in_front(self, command: Command) -> list[str]:
        """Return the folders in front of the search path after a command's assignments."""
        if not any(name == "PATH" for name, _ in command.assigns):
            return self.places
        from toolgate.gate.effects import defined

        found = dict.fromkeys((*defined.folders(command, self), *self.places))
        return list(found)[: defined.MAX_FOLDERS + 1]

    def weighed(
        self, made: list[Effect], command: Command, carries: dict[int, flow.Carries]
    ) -> tuple[list[Effect], flow.Carries]:
        """Return a command's effects, in order, with what reaches it, and what it carries on."""
        return flow.carried(self.script, carries, made, command, self)

    def _fault(self, fault: str) -> Effect:
        effect = self.unknown(fault, "shell")
        return effect._replace(how="refused") if fault in REFUSED else effect

    def inner(
        self,
        text: str,
        *,
        inside: str = "",
        cwd: str | None = None,
        arguments: tuple[Word, ...] | None = None,
        fed: bool = False,
    ) -> list[Effect]:
        """Return the effects of shell text that this text runs.

        Args:
            text: the source.
            inside: where it runs, if elsewhere.
            cwd: the directory it runs in, if another.
            arguments: its arguments, ``$0`` first.
            fed: whether what runs it feeds something nobody knows into it.
        """
        self.work.spend(80)
        place = self.place if cwd is None else self.place._replace(cwd=cwd)
        if inside and not self.inside:
            place = place._replace(cwd="", roots=("",))
        if arguments is not None:
            # What their parts came from was noted in this text and means nothing in that one.
            arguments = tuple(word._replace(sources=()) for word in arguments)
        reader = self.within(place, inside or self.inside, self.files)
        reader.fed = reader.fed or fed
        reader.places = self.places
        return reader.effects(text, arguments)

    def elsewhere(self, inside: str, cwd: str = "") -> "Reader":
        """Return a reader for what runs in a container or on another machine.

        Args:
            inside: ``container`` or ``remote-host``.
            cwd: the directory it runs in over there; "" when not known.
        """
        reader = self.within(self.place._replace(cwd=cwd, roots=("",)), inside, Files())
        reader.script = self.script  # the command over there is still this text's
        return reader

    def within(self, place: Place, inside: str, files: Files) -> "Reader":
        """Return a reader for what this one's text runs."""
        same = inside == self.inside and region(place) == region(self.place)
        reader = Reader(
            place,
            self.settings,
            self.catalog,
            paths=self.paths if same else None,
            files=files,
            depth=self.depth + 1,
            inside=inside,
            fed=self._feeds,
            work=self.work,
        )
        reader.doubtful, reader.read_inside = self.doubtful, self.read_inside
        return reader

    def unknown(self, reason: str, program: str, resource: str = HOLE) -> Effect:
        """Return the effect of code nobody could read."""
        return Effect(
            "exec.code", "unknown", resource, True, unresolved(reason), program, "unknown"
        )

    def inspect(self, program: str) -> Effect:
        """Return the effect of a command that only looks."""
        return _looking(program)

    def touch(
        self, kind: str, word: Word, command: Command, program: str, how: tuple[str, ...] = ()
    ) -> list[Effect]:
        """Return the effects of a command touching the path a word names."""
        if word.process:
            return []
        self.work.spend(path_cost(word.text) + (50 if kind in _PUTS else 0))
        if word.text.startswith(TEMPORARY):
            word = self._unless_unset(word, command)
        if word.text[:1] == HOLE and word.sources:
            names = self._listed(word)
            if names is not None:
                return [e for name in names for e in self.touch(kind, name, command, program, how)]
        made = self.paths.effects(
            kind, word.text, command.cwd, program=program, how=how, glob=word.glob
        )
        if kind == "fs.read":
            made = [self.files.seen(effect) for effect in made]
        if kind in LINKED and not self.inside:
            named = join(command.cwd, word.text) if ".." in word.text and command.cwd else ""
            made += self.files.behind(made, self.paths, how, named=named)
        if self.files.written and kind in ("fs.read", "fs.write", "fs.permission"):
            link = self.files.written.get(self.paths.resolve(word.text, command.cwd))
            if link is not None and link.link and link.copies is not None:
                # What goes through a link reaches the file behind it.
                made += self.paths.effects(kind, link.copies[0], "", program=program, how=how)
        sweeping = kind == "fs.delete" and (word.glob or "recursive" in how)
        if sweeping and command.otherwise and not isabs(word.text):
            # Had the cd before it failed, this would sweep the directory before.
            made += self.paths.effects(
                kind, word.text, command.otherwise, program=program, how=how, glob=word.glob
            )
        if kind == "fs.delete" and self.files.moved and "move" not in how:
            from toolgate.gate.effects import moved

            made += moved.gone(self.files, made)
        return made

    def _unless_unset(self, word: Word, command: Command) -> Word:
        """Return a path below TMPDIR, not known where it would be grave without the variable."""
        if any(name == "TMPDIR" for name, _ in command.assigns):
            # Expanded before it is set; whoever wrote it meant after.
            return word._replace(text=HOLE)
        bare = word.text[len(TEMPORARY) :]
        leads_out = not bare.startswith("/") or ".." in bare
        if leads_out or not bare.strip("/") or (word.glob and bare.count("/") < 2):
            return word._replace(text=HOLE)
        grave = self.paths.scope(bare) != "outside" or bool(self.paths.qualifiers(bare, glob=False))
        return word._replace(text=HOLE + bare) if grave else word

    def _listed(self, word: Word) -> tuple[Word, ...] | None:
        """Return the paths a word can be that another command of the text has listed."""
        from toolgate.gate.effects.listing import listed

        entry = self.entry("find") or {}
        return listed(self.script, word, frozenset(entry.get("values", ())))

    def _redirects(self, command: Command) -> list[Effect]:
        made: list[Effect] = []
        for redirect in command.redirects:
            if redirect.op in (">", ">>", "<>"):
                made += self._written_to(redirect, command)
            elif redirect.op == "<":
                made += self._socket(redirect.target) or self.touch(
                    "fs.read", redirect.target, command, "shell"
                )
            elif redirect.op == ">&" and not _is_descriptor(redirect.target.text):
                made += self._written_to(redirect._replace(op=">"), command)
        return made

    def _written_to(self, redirect: Redirect, command: Command) -> list[Effect]:
        how = ("append",) if redirect.op == ">>" else ("truncate",)
        return self._socket(redirect.target) or self.touch(
            "fs.write", redirect.target, command, "shell", how
        )

    def _socket(self, target: Word) -> list[Effect]:
        if not target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            return []
        host = target.text.split("/")[3]
        scope = scope_of(host, self.settings)
        return [Effect("net.send", scope, host, False, PROVED, "shell", "socket")]

    def environment(self, command: Command) -> list[Effect]:
        """Return the effects of a command's variable assignments."""
        if not command.assigns:
            return []
        from toolgate.gate.effects.assignments import effects_of_assignments

        return effects_of_assignments(self, command)

    def invoke(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        """Return the effects of running a program with arguments."""
        if self._wrappers >= MAX_WRAPPERS:
            return [self._fault("too-deep")]
        self._wrappers += 1
        self.work.spend(6 + len(words))
        places = self.places
        if command.assigns:
            self.places = self._in_front(command)
        try:
            return self._invoked(words, command)
        finally:
            self._wrappers -= 1
            self.places = places

    def _invoked(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        name = words[0].text
        if not words[0].known or words[0].glob or not name:
            from toolgate.gate.effects import running

            found = running.by_pattern(self, self.paths.resolve(name, command.cwd), name)
            return [*(found or []), self.unknown("program-not-known", name or "shell")]
        if "/" in name:
            from toolgate.gate.effects import running

            return running.by_path(self, words, command)
        entry = self.entry(name)
        made: list[Effect] = []
        if self.aliases or self.files.sourced or self.places or self.files.defines(NAMES):
            from toolgate.gate.effects import names

            made = names.meant(self, words, by_shell=words is command.words)
        if entry is None:
            if len(words) == 2 and words[1].text in _ABOUT_ITSELF:
                return [*made, self.inspect(name)]
            return made or [self.unknown("unknown-program", name, name)]
        if command.assigns:
            from toolgate.gate.effects.assignments import with_options

            words = with_options(words, command)
        made += apply(self, entry, name, words[1:], command)
        if name == "alias":
            from toolgate.gate.effects import names

            made += names.define(self, words[1:])
        if name in _RUNNERS and (self.files.written or flow.has_standard_input(command)):
            made += self._supplied(words, command)
        return made

    def _supplied(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        """Return what a target or script does that this text has written."""
        from toolgate.gate.effects.supplied import effects_of_supplied

        self._runs += 1
        if self._runs > MAX_SUPPLIED:
            return [self.unknown("too-many-runs", words[0].text)]
        return effects_of_supplied(self, words, command)

    def entry(self, name: str) -> dict[str, Any] | None:
        """Return the catalogue entry of a program, also by its name without a version."""
        return entry_of(self.catalog, name)

    def run_file(self, word: Word, command: Command, program: str) -> list[Effect]:
        """Return the effects of executing a file, or what a URL names."""
        from toolgate.gate.effects import running

        return running.file(self, word, command, program)

    def run_known(self, path: str, program: str) -> list[Effect] | None:
        """Return the effects of running a file whose content is known; None when it is not.

        A part of a file may be meant as well; see ``reading.part_of``.
        """
        from toolgate.gate.effects import running

        return running.known(self, path, program)

    def net(self, kind: str, target: str, name: str, how: tuple[str, ...] = ()) -> Effect:
        """Return the effect of reaching a host."""
        host = host_of(target)
        if is_metadata(host):
            return Effect("secret.read", "secret", host, True, PROVED, name, "metadata")
        scope = scope_of(host, self.settings)
        proof = unresolved("host-not-known") if scope == "unknown" else PROVED
        return Effect(kind, scope, host, kind == "net.fetch", proof, name, " ".join(how))

    def code_not_known(self, name: str) -> Effect:
        """Return the effect of running text that is not known before it runs."""
        return self.unknown("code-not-known", name)


@lru_cache(maxsize=1_024)
def _looking(program: str) -> Effect:
    return Effect("inspect", "inspect-only", program, True, PROVED, program)


def entry_of(catalog: Catalog, name: str) -> dict[str, Any] | None:
    """Return the entry of a program, also by its name without a version, or as a cmdlet."""
    found = catalog.get(name)
    if found is None and "-" in name and name[:1].isupper():
        found = catalog.get(name.lower())  # Remove-Item
    if found is None:
        bare = name.rstrip("0123456789.-")
        found = catalog.get(bare) if bare and bare != name else None
    return found


def _is_descriptor(text: str) -> bool:
    return text.isdigit() or text in ("", "-") or text.rstrip("-").isdigit()
