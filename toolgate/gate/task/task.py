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
        setting: what holds where the calls are judged, as a challenge set says it; not the
            user's words, and read by no rule.
    """

    prompts: tuple[Prompt, ...] = ()
    goal: str = ""
    whole: bool = True
    setting: str = ""


NO_TASK = Task()
