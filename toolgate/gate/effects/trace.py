"""How a shell text was read: its commands as a tree, each with the effects that are its own.

The tree is made by the reader that decides, watched, so that it cannot say
anything else: the effects of all nodes together are the effects of the text.
"""

from collections.abc import Iterator
from typing import NamedTuple

from toolgate.gate.call import Place
from toolgate.gate.catalog.load import Catalog
from toolgate.gate.effects import flow
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.paths import Paths
from toolgate.gate.effects.reading import Files
from toolgate.gate.effects.settings import Settings
from toolgate.gate.effects.shell import Reader
from toolgate.gate.facts.session import NOTHING, Session
from toolgate.gate.shell.model import Command, Redirect, Script, Word
from toolgate.gate.shell.work import SpentError

TEXT, PIPE, GROUP, COMMAND, RUN = "text", "pipe", "group", "command", "run"
SUBSTITUTION, PROCESS = "substitution", "process"


class Node(NamedTuple):
    """One node of a reading.

    Args:
        kind: ``text`` (shell text as a whole), ``pipe`` (its stages), ``group`` (several
            commands whose output goes one way), ``command`` (a simple command of the text)
            or ``run`` (a program that another program runs).
        role: ``substitution`` or ``process`` for a command whose output, or file, is part of
            the command above it; else "".
        words: program and arguments; empty for a bare assignment or redirection.
        assigns: variable assignments before the program.
        redirects: its redirections.
        cwd: directory it runs in; "" when not known.
        inside: ``container`` or ``remote-host`` when it runs elsewhere, else "".
        source: the text, of a ``text``.
        effects: what it does itself; what nodes below it do is theirs.
        below: what it is made of, or runs.
        times: how many equal nodes this one stands for: rounds of a loop.
    """

    kind: str
    role: str = ""
    words: tuple[Word, ...] = ()
    assigns: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    cwd: str = ""
    inside: str = ""
    source: str = ""
    effects: tuple[Effect, ...] = ()
    below: tuple["Node", ...] = ()
    times: int = 1


class Step:
    """A node while its text is being read.

    Args:
        node: what is known of it.
    """

    __slots__ = ("below", "effects", "node", "script")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.effects: list[Effect] = []
        self.below: list[Step] = []
        self.script = Script((), ())

    def become(self, before: list[Effect], after: list[Effect]) -> None:
        """Tell all nodes below what became of their effects; equal ones became equal."""
        changed = {old: new for old, new in zip(before, after, strict=False) if old != new}
        for step in self._all() if changed else ():
            step.effects = [changed.get(effect, effect) for effect in step.effects]

    def _all(self) -> Iterator["Step"]:
        waiting = [self]
        while waiting:
            step = waiting.pop()
            waiting += step.below
            yield step


class WatchedReader(Reader):
    """A reader that keeps what it read. The tree is ``tree(reader.top)`` after ``effects``."""

    top: Step
    _open: list[Step]

    @classmethod
    def over(
        cls,
        place: Place,
        settings: Settings,
        catalog: Catalog,
        session: Session,
        paths: Paths | None = None,
    ) -> "WatchedReader":
        """Return a reader for a whole text of a session; arguments as of ``Reader``."""
        reader = cls(place, settings, catalog, paths=paths, files=Files(session))
        reader.top = Step(Node(TEXT))
        reader._open = [reader.top]
        return reader

    def within(self, place: Place, inside: str, files: Files) -> "WatchedReader":
        """Return a reader for what this one's text runs, which adds to the same tree."""
        reader = WatchedReader(
            place,
            self.settings,
            self.catalog,
            files=files,
            depth=self.depth + 1,
            inside=inside,
            fed=self._feeds,
            work=self.work,
        )
        reader.doubtful, reader.read_inside = self.doubtful, self.read_inside
        reader.top, reader._open = self.top, self._open
        return reader

    def effects(self, text: str, arguments: tuple[Word, ...] | None = None) -> list[Effect]:
        """Return every effect of a shell text, and keep the text as a node."""
        step = self._enter(Node(TEXT, source=text, cwd=self.place.cwd, inside=self.inside))
        made = super().effects(text, arguments)
        step.script = self.script
        return self._leave(step, made)

    def performed(self, command: Command) -> list[Effect]:
        """Return what one simple command does, and keep it as a node."""
        step = self._enter(
            Node(
                COMMAND,
                words=command.words,
                assigns=command.assigns,
                redirects=command.redirects,
                cwd=command.cwd,
                inside=self.inside,
            )
        )
        try:
            return self._leave(step, super().performed(command))
        except SpentError:  # in the middle of the command, of which nothing is told then
            del self._open[self._open.index(step) :]
            self._open[-1].below.remove(step)
            raise

    def weighed(
        self, made: list[Effect], command: Command, carries: dict[int, flow.Carries]
    ) -> tuple[list[Effect], flow.Carries]:
        """Return what became of a command's effects, and keep that."""
        result, onward = super().weighed(made, command, carries)
        step = self._open[-1].below[-1]
        step.become(made, result)
        step.effects = result
        return result, onward

    def settled(self, judged: list[list[Effect]]) -> list[list[Effect]]:
        """Return what the whole text makes of its commands' effects, and keep that."""
        result = super().settled(judged)
        for step, before, after in zip(self._open[-1].below, judged, result, strict=True):
            step.become(before, after)
            step.effects = after
        return result

    def invoke(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        """Return the effects of running a program, and keep it as a node of its own.

        The program a simple command names is that command's node.
        """
        if self._open[-1].node.words is words:
            return super().invoke(words, command)
        step = self._enter(Node(RUN, words=words, cwd=command.cwd, inside=self.inside))
        return self._leave(step, super().invoke(words, command))

    def _enter(self, node: Node) -> Step:
        step = Step(node)
        self._open[-1].below.append(step)
        self._open.append(step)
        return step

    def _leave(self, step: Step, made: list[Effect]) -> list[Effect]:
        step.effects = made
        self._open.pop()
        return made


def reading_of(
    text: str,
    place: Place,
    settings: Settings,
    catalog: Catalog,
    session: Session = NOTHING,
    *,
    paths: Paths | None = None,
) -> Node:
    """Return how a shell text is read.

    Args:
        text: the text.
        place: where it would run.
        settings: names and patterns from the policy.
        catalog: what programs do.
        session: what is known of the session before it.
        paths: the reading of paths at that place, if there is one already.
    """
    reader = WatchedReader.over(place, settings, catalog, session, paths)
    made = reader.effects(text)
    (whole,) = reader.top.below
    return _node(whole, frozenset(made))


def every_effect(node: Node) -> Iterator[Effect]:
    """Yield the effects of a node and all below it."""
    for one in every_node(node):
        yield from one.effects


def every_node(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in source order."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(one.below)


def _node(step: Step, wanted: frozenset[Effect]) -> Node:
    """Return a step as a node; of its effects only those that count in the step above it."""
    kept = [effect for effect in dict.fromkeys(step.effects) if effect in wanted]
    below = [_node(one, frozenset(kept)) for one in step.below]
    told = {effect for one in below for effect in every_effect(one)}
    own = tuple(effect for effect in kept if effect not in told)
    commands = step.script.commands if step.node.kind == TEXT else ()
    # A text that is not read, because it lies too deep, has no commands.
    parts = _Arrangement(below, commands).roots() if below and commands else _once(below)
    return step.node._replace(effects=own, below=tuple(parts))


def _words(command: Command) -> Iterator[Word]:
    yield from (word for _, word in command.assigns)
    yield from command.words
    yield from (redirect.target for redirect in command.redirects)


def _is_block(command: Command) -> bool:
    """Say whether a command without words stands for the redirections of a block."""
    return not command.words and not command.assigns


class _Arrangement:
    """The commands of one text, each below or before the one its output goes into first.

    Args:
        nodes: a node for each command.
        commands: the commands.
    """

    def __init__(self, nodes: list[Node], commands: tuple[Command, ...]) -> None:
        self._nodes = nodes
        self._parts: dict[int, list[tuple[int, str]]] = {}
        self._feeds: dict[int, list[int]] = {}
        placed: set[int] = set()
        for index, command in enumerate(commands):
            for word in _words(command):
                for source in word.sources:
                    if source < index and source not in placed:
                        placed.add(source)
                        role = PROCESS if word.process else SUBSTITUTION
                        self._parts.setdefault(index, []).append((source, role))
            for source in command.stdin:
                # A block's redirections feed all in it: they stand before, not in a pipe.
                if source < index and source not in placed and not _is_block(commands[source]):
                    placed.add(source)
                    self._feeds.setdefault(index, []).append(source)
        self._roots = [index for index in range(len(nodes)) if index not in placed]

    def roots(self) -> list[Node]:
        """Return what no other command takes in."""
        return _once([self._built(index) for index in self._roots])

    def _built(self, index: int) -> Node:
        stages = [self._with_parts(index)]
        while len(feeds := self._feeds.get(index, [])) == 1:
            (index,) = feeds
            stages.append(self._with_parts(index))
        if feeds:
            stages.append(Node(GROUP, below=tuple(_once([self._built(feed) for feed in feeds]))))
        return stages[0] if len(stages) == 1 else Node(PIPE, below=tuple(reversed(stages)))

    def _with_parts(self, index: int) -> Node:
        node, parts = self._nodes[index], self._parts.get(index, ())
        made = [self._built(source)._replace(role=role) for source, role in parts]
        return node._replace(below=(*_once(made), *node.below))


def _once(nodes: list[Node]) -> list[Node]:
    """Return equal nodes once: the rounds of a loop."""
    counted: dict[Node, int] = {}
    for node in nodes:
        counted[node] = counted.get(node, 0) + node.times
    return [node._replace(times=times) for node, times in counted.items()]
