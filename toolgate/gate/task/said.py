"""What a task says, from what is known of its prompts or by reading them. Pure."""

from toolgate.gate.task.statement import DECIDES, FORBIDS, RESERVES, Statement
from toolgate.gate.task.task import Prompt, Task


def statements_of(task: Task) -> tuple[list[Statement], bool]:
    """Return what a task says, oldest first, and whether all of it was read.

    Args:
        task: the task; its goal counts as the oldest prompt.
    """
    made: list[Statement] = []
    whole = task.whole
    if task.goal and (not task.prompts or task.goal != task.prompts[0].text):
        said, read = _said(Prompt(task.goal), 0)
        made += said
        whole = whole and read
    # What a quiet prompt asks for counts as the latest, and takes back only what was said before.
    first = next((at for at, prompt in enumerate(task.prompts) if not prompt.quiet), None)
    latest = len(task.prompts) - 1
    for number, prompt in enumerate(task.prompts, 1):
        if not made and number <= latest and (first is None or number <= first):
            continue
        said, read = _said(prompt, number)
        made += said
        whole = whole and read
    return made, whole


def holds_back(prompt: Prompt) -> bool:
    """Say whether a prompt forbids, limits or reserves anything, or was not wholly read."""
    statements, whole = _said(prompt, 1)
    return not whole or any(one.says in (FORBIDS, RESERVES, DECIDES) for one in statements)


def _said(prompt: Prompt, number: int) -> tuple[tuple[Statement, ...], bool]:
    if prompt.said is not None:
        return tuple(one._replace(prompt=number) for one in prompt.said), True
    # Reading takes the whole lexicon, which is not loaded where every prompt was read before.
    from toolgate.gate.task.read import read_prompt

    return read_prompt(prompt.text, number)
