"""How much reading one call may cost, counted in steps and never in time.

The count is the same on every machine, so that a call has one answer. A step is
about half a microsecond of an idle core; what each part of the reading costs was measured.
"""

from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

STEPS = 64_000
"""Steps for one call: several times what the longest commands of real sessions take."""

UNCOUNTED = 1 << 60
"""Steps that no text can take."""

READING = 0.5
"""Share of what is left that reading one text's syntax may take; judging has the rest."""

CODE = 0.5
"""Share of what is left that one program in another language may take."""

SPENT = "too-much-work"
"""Why a text is unresolved that would cost more than its steps."""

MAX_COMMANDS = 3_200
"""Commands of one text."""

MAX_REDIRECTS = 512
"""Redirections of one command."""


class TooManyError(Exception):
    """The text has more commands, or one of them more redirections, than are read."""


class SpentError(Exception):
    """The steps are used up."""


class Work:
    """The steps that are left.

    Args:
        left: how many.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = STEPS) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Use some steps.

        Raises:
            SpentError: there were not as many left.
        """
        self.left -= steps
        if self.left < 0:
            raise SpentError

    def within(self, share: float, read: Callable[[], Found]) -> Found | None:
        """Return what some reading finds; None where it takes more than a share of the steps."""
        held = self.left - int(self.left * share)
        self.left -= held
        try:
            return read()
        except SpentError:
            return None
        finally:
            self.left = max(self.left, 0) + held
