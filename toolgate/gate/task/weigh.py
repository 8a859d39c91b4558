"""What a task means for one call: its readings, and which statement each rests on. Pure."""

from typing import TYPE_CHECKING, NamedTuple

from toolgate.errors import PolicyError
from toolgate.gate.call import ToolCall
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.effects.trace import reading_of
from toolgate.gate.facts.session import NOTHING, Session
from toolgate.gate.task.deeds import deeds_of
from toolgate.gate.task.match import Found, can_be_lowered, constraints, requested
from toolgate.gate.task.read import statements_of, the_lexicon
from toolgate.gate.task.statement import Statement

if TYPE_CHECKING:
    from toolgate.gate.catalog.load import Catalog
    from toolgate.gate.effects.settings import Settings
    from toolgate.gate.task.task import Task


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
    settings: "Settings",
    catalog: "Catalog",
    session: Session = NOTHING,
) -> Weighed:
    """Weigh a task against a call.

    Args:
        task: what the user asked for.
        call: the call.
        effects: what it does.
        asked: what the policy asks about.
        settings: names and patterns of the policy.
        catalog: what programs do.
        session: what is known of the session before the call.
    """
    lexicon = the_lexicon()
    if asked.lexicon is not None and asked.lexicon != lexicon.digest:
        raise PolicyError(
            "policy", [f"compiled with lexicon {asked.lexicon}, but this one is {lexicon.digest}"]
        )
    statements, whole = statements_of(task)
    if not statements and not (asked.effects and asked.judged):
        return Weighed((), (), whole, lowerable=False)
    command = call.input.get("command")
    reading = None
    if call.tool in SHELL_TOOLS and isinstance(command, str):
        reading = reading_of(command, call.place, settings, catalog, session)
    deeds = deeds_of(call, reading, effects, lexicon)
    entries = (None, *(prompt.entry for prompt in task.prompts))
    found = constraints(statements, deeds, entries, lexicon)
    of_asked = [deed for deed in deeds if deed.effect in asked.effects]
    lowerable = bool(of_asked) and all(can_be_lowered(deed) for deed in of_asked)
    if whole and lowerable and task.prompts:
        latest = len(task.prompts)
        by = requested(statements, deeds, of_asked, latest, entries[latest], lexicon)
        found += [by] if by is not None else []
    return Weighed(tuple(found), tuple(statements), whole, lowerable)
