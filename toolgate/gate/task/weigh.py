"""What a task means for one call: its readings, and which statement each rests on. Pure."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from toolgate.errors import PolicyError
from toolgate.gate.call import ToolCall
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.trace import Node
from toolgate.gate.task.asked import can_be_lowered, requested
from toolgate.gate.task.deeds import Deed, base_of, deeds_of
from toolgate.gate.task.match import Found, constraints
from toolgate.gate.task.meanings import Meanings, the_meanings
from toolgate.gate.task.said import statements_of
from toolgate.gate.task.statement import (
    ELSEWHERE,
    ENVIRONMENT,
    EVERY_ACT,
    FORBIDS,
    NAME,
    RESERVES,
    THERE,
    Statement,
)
from toolgate.gate.task.touch import may_do, touch

if TYPE_CHECKING:
    from toolgate.gate.task.task import Task


_BY_WORDS = frozenset((EVERY_ACT, ELSEWHERE, THERE, "use"))
"""Acts that only a command's words tell."""

_DECODED = frozenset("'\"\\$`{}*?[]~\n")
"""In a command with one of these a word may read otherwise than it is written."""


class Asked(NamedTuple):
    """What a policy asks about.

    Args:
        effects: the effects it asks about; empty where its answer is no ask.
        lexicon: digest of the lexicon it was compiled with, None for no check.
        judged: whether somebody else may say that the user asked for it, so that it has to be
            known of a task without statements too whether that could allow it.
    """

    effects: frozenset[Effect]
    lexicon: str | None = None
    judged: bool = True


class Weighed(NamedTuple):
    """A task, weighed against one call.

    Args:
        found: what the task says of the call.
        statements: everything it says, oldest first.
        whole: whether all of it is known and was read.
        lowerable: whether what the policy asks about is of a kind that a request can allow.
    """

    found: tuple[Found, ...]
    statements: tuple[Statement, ...]
    whole: bool
    lowerable: bool


def weigh(
    task: "Task",
    call: ToolCall,
    effects: tuple[Effect, ...],
    asked: Asked,
    trace: Callable[[], Node | None],
) -> Weighed:
    """Weigh a task against a call.

    Args:
        task: what the user asked for.
        call: the call.
        effects: what it does.
        asked: what the policy asks about.
        trace: returns how the call's shell text was read, None for another tool; only asked
            where the task may concern the call.
    """
    lexicon = the_meanings()
    if asked.lexicon is not None and asked.lexicon != lexicon.digest:
        raise PolicyError(
            "policy", [f"compiled with lexicon {asked.lexicon}, but this one is {lexicon.digest}"]
        )
    statements, whole = statements_of(task)
    if not statements and not (asked.effects and asked.judged):
        return Weighed((), (), whole, lowerable=False)
    speak = any(_may_speak(one, call, effects, lexicon) for one in statements)
    if not speak and not asked.effects:
        return Weighed((), tuple(statements), whole, lowerable=False)
    deeds = deeds_of(call, trace(), effects, lexicon)
    entries = (None, *(prompt.entry for prompt in task.prompts))
    found = constraints(statements, deeds, entries, lexicon)
    of_asked = [deed for deed in deeds if deed.effect in asked.effects]
    lowerable = bool(of_asked) and all(can_be_lowered(deed) for deed in of_asked)
    if whole and lowerable and task.prompts:
        latest = len(task.prompts)
        by = requested(statements, deeds, of_asked, latest, entries[latest], lexicon)
        found += [by] if by is not None else []
    return Weighed(tuple(found), tuple(statements), whole, lowerable)


def _may_speak(
    statement: Statement, call: ToolCall, effects: tuple[Effect, ...], lexicon: Meanings
) -> bool:
    """Say whether a statement can forbid or reserve something of a call, by its effects alone.

    It is no answer, only a look whether the call's commands have to be read for one.
    """
    if statement.says not in (FORBIDS, RESERVES):
        return False
    if not statement.acts or not _BY_WORDS.isdisjoint(statement.acts):
        return True
    return any(
        may_do(act, effect, lexicon) and _may_touch(statement, call, effect, lexicon)
        for effect in effects
        for act in statement.acts
    )


def _may_touch(statement: Statement, call: ToolCall, effect: Effect, lexicon: Meanings) -> bool:
    names = statement.names
    if not names:
        return True
    if effect.type.startswith("fs."):
        if any(one.kind == ENVIRONMENT for one in names):
            return True
        deed = Deed(effect, (), frozenset(), frozenset(), base_of(call))
        return any(touch(one, deed, lexicon) for one in names)
    command = call.input.get("command")
    if not isinstance(command, str) or effect.type == "vcs.publish":
        return True
    if not _DECODED.isdisjoint(command) or any(one.kind != NAME for one in names):
        return True
    return any(one.text.strip("./") in command for one in names)
