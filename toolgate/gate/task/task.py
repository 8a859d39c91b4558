"""What the user asked for. Pure."""

from typing import NamedTuple


class Prompt(NamedTuple):
    """One prompt of the user.

    Args:
        text: the user's own words.
        entry: digest of the ledger entry that stands for it, or None.
    """

    text: str
    entry: str | None = None


class Task(NamedTuple):
    """The prompts of a session so far.

    Args:
        prompts: oldest first; the last is the latest.
        goal: the session's goal where the host names one, else "".
        whole: False where a prompt is missing or cut, so that a restriction may be too.
    """

    prompts: tuple[Prompt, ...] = ()
    goal: str = ""
    whole: bool = True


NO_TASK = Task()
