"""What the readers of trace formats share: how they are fed, and what they return."""

from collections import Counter
from typing import Any

from toolgate.verify.traces.span import Answer, Loss, Source, Span

_MOST_NAMES = 20
_LONGEST_NAME = 60


class Reader:
    """Reads the objects of one file that are of its format.

    Args:
        name: what the file is called in findings.

    Attributes:
        answers: answers to permission prompts.
        broken: what is wrong with a line of the file that is no object, if there is one.
    """

    format = ""
    version = 1

    def __init__(self, name: str) -> None:
        self.name = name
        self.answers: list[Answer] = []
        self.broken = ""
        self._losses: dict[Loss, None] = {}
        self._unknown: Counter[str] = Counter()
        self._producers: dict[str, None] = {}

    @staticmethod
    def claims(row: dict[str, Any]) -> bool:
        """Say whether an object is of this format."""
        raise NotImplementedError

    def take(self, number: int, row: dict[str, Any]) -> None:
        """Take an object; ``number`` is its line."""
        raise NotImplementedError

    def calls(self) -> list[Span]:
        """Return the calls of the objects that were taken, in their order."""
        raise NotImplementedError

    def absorb(self, other: "Reader") -> None:
        """Take over what another reader of the same file did not understand."""
        self._unknown.update(other._unknown)

    def pass_over(self, kind: object) -> None:
        """Count something that is not understood, by its type."""
        said = kind if isinstance(kind, str) and kind else "(no type)"
        said = "".join(char if char.isprintable() else "?" for char in said[:_LONGEST_NAME])
        known = said in self._unknown or len(self._unknown) < _MOST_NAMES
        self._unknown[said if known else "(others)"] += 1

    def lose(self, why: str, session: str | None = None) -> None:
        """Note that the trace is not the whole."""
        self._losses[Loss(self.format, session, why)] = None

    def lose_lines(self, sessions: set[str | None]) -> None:
        """Note that lines of the file are lost to the sessions it shows, if any are."""
        if self.broken:
            for session in sorted(sessions, key=str) or [None]:
                self.lose(self.broken, session)

    @property
    def losses(self) -> list[Loss]:
        """Return why this is not the whole, each reason once."""
        return list(self._losses)

    def written_by(self, program: str, version: object) -> None:
        """Note which program wrote it."""
        if isinstance(version, str) and len(self._producers) < _MOST_NAMES:
            said = f"{program} {version}".strip()[:_LONGEST_NAME]
            if said.isprintable():
                self._producers[said] = None

    def source(self, calls: int, repeated: int) -> Source:
        """Return what was read."""
        return Source(
            name=self.name,
            format=f"{self.format}/{self.version}",
            producers=list(self._producers),
            calls=calls,
            answers=len(self.answers),
            repeated=repeated,
            unknown=dict(self._unknown),
        )
