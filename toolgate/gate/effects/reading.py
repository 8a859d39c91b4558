"""What the readers of single programs and languages may ask of the reader of the whole text."""

from typing import Any, NamedTuple, Protocol

from toolgate.gate.call import Place
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.paths import Paths
from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import HOLE, Command, Script, Word


class Written(NamedTuple):
    """A file this text has written.

    Args:
        text: its content, if known.
        remote: whether it came from the network.
        secret: whether a secret went into it.
        built: whether it is the project's own: made by its build, or a copy of its file.
        folder: whether it is a folder into which an archive or repository was put.
        link: the file that it is a link to, or "".
    """

    text: str | None
    remote: bool
    secret: bool
    built: bool = False
    folder: bool = False
    link: str = ""


class Reading(Protocol):
    """A shell text being read for effects.

    Attributes:
        place: where the text would run.
        settings: names and patterns from the policy.
        paths: resolves and classifies paths.
        script: the text as its simple commands.
        files: what the text has written so far, by path.
        fed: whether something is fed into the command that runs the text.
        inside: where the text runs, "" for here.
    """

    place: Place
    settings: Settings
    paths: Paths
    script: Script
    files: dict[str, Written]
    inside: str
    fed: bool

    def inner(
        self,
        text: str,
        *,
        inside: str = "",
        cwd: str | None = None,
        arguments: tuple[Word, ...] | None = None,
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
