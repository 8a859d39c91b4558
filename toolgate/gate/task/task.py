"""What the user asked for. Pure."""

from typing import NamedTuple

from toolgate.gate.task.statement import Statement


class Prompt(NamedTuple):
    """One prompt of the user.

    Args:
        text: the user's own words.
        entry: digest of the ledger entry that stands for it, or None.
        quiet: whether it is known to forbid, limit and reserve nothing.
        said: what it says, where it was wholly read before; None where it has to be read.
    """

    text: str
    entry: str | None = None
    quiet: bool = False
    said: tuple[Statement, ...] | None = None


class Task(NamedTuple):
    """The prompts of a session so far.

    Args:
        prompts: oldest first; the last is the latest.
        goal: the session's goal where the host names one, else "".
        whole: False where a prompt is missing or cut, so that a restriction may be too.
        setting: what holds where the calls are judged, as a challenge set says it; not the
            user's words, and read by no rule.
    """

    prompts: tuple[Prompt, ...] = ()
    goal: str = ""
    whole: bool = True
    setting: str = ""

    @property
    def said(self) -> bool:
        """Say whether there is anything the user has said."""
        return bool(self.prompts or self.goal)

    @property
    def quiet(self) -> bool:
        """Say whether it is known to hold nothing back, so that it can only allow an ask."""
        return not self.goal and all(prompt.quiet for prompt in self.prompts)


NO_TASK = Task()
