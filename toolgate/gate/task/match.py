"""What a task's statements say of a call: readings, each with the words it rests on. Pure."""

from typing import NamedTuple

from toolgate.gate.effects.model import Effect
from toolgate.gate.readings import LEXICON, Reading
from toolgate.gate.task.deeds import Deed
from toolgate.gate.task.meanings import Meanings
from toolgate.gate.task.statement import (
    DECIDES,
    ELSEWHERE,
    EVERY_ACT,
    FORBIDS,
    PERMITS,
    REQUESTS,
    THERE,
    WORD,
    Name,
    Statement,
)
from toolgate.gate.task.touch import does, is_program, operands, touch, touches

VIOLATES, CHOICE = "violates_constraint", "unresolved_choice"
PROHIBITS, RESERVED, REQUESTED = "task_prohibits", "task_reserves", "task_requests"
"""Names of readings, and codes of the facts they become."""

SURE, DOUBTFUL = 1.0, 0.7
"""Values: what the user said holds; it holds under a condition, or may not be meant here."""

_LOOKS = ("inspect", "fs.read", "net.fetch")


class Found(NamedTuple):
    """What one statement says of a call.

    Args:
        reading: the reading it becomes.
        statement: the statement.
        effect: the effect it speaks about.
    """

    reading: Reading
    statement: Statement
    effect: Effect


def constraints(
    statements: list[Statement],
    deeds: list[Deed],
    entries: tuple[str | None, ...],
    lexicon: Meanings,
) -> list[Found]:
    """Return what forbids or reserves something that a call does.

    Of the statements that speak about a deed the latest decides.

    Args:
        statements: what the task says, oldest first.
        deeds: what the call does.
        entries: digest of the ledger entry of each prompt, the goal first.
        lexicon: the lexicon.
    """
    found: dict[tuple[Statement, str], Found] = {}
    for deed in deeds:
        said = _latest(statements, deed, lexicon)
        if said is None:
            continue
        statement, value = said
        entry = entries[statement.prompt]
        if statement.says == FORBIDS:
            reading = Reading(VIOLATES, value, LEXICON, PROHIBITS, statement.words, entry)
        else:
            reading = Reading(CHOICE, value, LEXICON, RESERVED, statement.words, entry)
        found.setdefault((statement, reading.axis), Found(reading, statement, deed.effect))
    return list(found.values())


def _latest(
    statements: list[Statement], deed: Deed, lexicon: Meanings
) -> tuple[Statement, float] | None:
    """Return the prohibition or reservation that holds for a deed, and how sure that is."""
    doubtful: tuple[Statement, float] | None = None
    later: list[Statement] = []
    decided: list[Statement] = []
    for statement in reversed(statements):
        if statement.says == DECIDES:
            decided.append(statement)
            continue
        if not _speaks(statement, deed, lexicon):
            continue
        if statement.says in (PERMITS, REQUESTS):
            later.append(statement)
            continue
        if not statement.acts and any(_chooses(one, statement) for one in decided):
            continue
        value = SURE if statement.sure else DOUBTFUL
        released = [_releases(one, statement, deed, lexicon) for one in later]
        if SURE in released:
            continue
        if DOUBTFUL in released:
            value = DOUBTFUL
        if value == SURE:
            return (statement, value) if doubtful is None or statement.says == FORBIDS else doubtful
        # What is not sure takes nothing from a prohibition that was said before it and is.
        doubtful = doubtful or (statement, value)
    return doubtful


def _chooses(decision: Statement, choice: Statement) -> bool:
    names = {one.text.lower() for one in choice.names}
    return any(one.text.lower() in names for one in decision.names)


def _speaks(statement: Statement, deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a statement is about a deed."""
    if not statement.acts:
        changes = deed.effect.type not in _LOOKS
        return changes and any(touch(one, deed, lexicon) for one in statement.names)
    if statement.acts == (EVERY_ACT,):
        return touches(statement.names, deed, lexicon)
    if statement.acts == (ELSEWHERE,):
        return _is_elsewhere(statement.but, deed, lexicon)
    if statement.acts == (THERE,):
        return _is_there(statement.names, deed, lexicon)
    if statement.acts == ("use",):
        return is_program(statement.names, deed)
    if not any(does(act, deed, lexicon) for act in statement.acts):
        return _asks_by_name(statement, deed, lexicon)
    if any(_spares(act, names, deed, lexicon) for act, names in statement.spare):
        return False
    names = statement.names
    if statement.says in (PERMITS, REQUESTS):
        names = tuple(one for one in names if one.kind != WORD)
    if not touches(names, deed, lexicon):
        return False
    return not any(touch(one, deed, lexicon) for one in statement.but)


def _asks_by_name(statement: Statement, deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a request names what a deed is done to, and calls the act by a wider word."""
    if statement.says not in (PERMITS, REQUESTS):
        return False
    wider = {other for act in statement.acts for other in lexicon.asked_with.get(act, ())}
    return any(does(act, deed, lexicon) for act in wider) and bool(_operands_named(statement, deed))


def _operands_named(statement: Statement, deed: Deed) -> list[Name]:
    """Return the names of a statement that are operands of a deed's command."""
    given = {word.partition("@")[0].lower() for word in operands(deed)}
    return [one for one in statement.names if not one.after and one.text.lower() in given]


def _is_elsewhere(places: tuple[Name, ...], deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a deed is done in an environment other than those work is limited to."""
    if not deed.places or any(one.text in deed.places for one in places):
        return False
    return _reaches(deed, lexicon)


def _is_there(places: tuple[Name, ...], deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a deed is done in an environment that is named."""
    return any(one.text in deed.places for one in places) and _reaches(deed, lexicon)


def _reaches(deed: Deed, lexicon: Meanings) -> bool:
    """Say whether a deed acts on the environment its command names, and reads no file about it."""
    program = deed.words[0].rpartition("/")[2] if deed.words else ""
    return deed.effect.type not in _LOOKS or program in lexicon.reaches


def _spares(act: str, names: tuple[Name, ...], deed: Deed, lexicon: Meanings) -> bool:
    return does(act, deed, lexicon) and touches(names, deed, lexicon)


def _releases(later: Statement, earlier: Statement, deed: Deed, lexicon: Meanings) -> float:
    """Return how surely what was said later takes back what was said earlier; 0 if not.

    What names the thing takes back all about it. What names none is about the act in general:
    it takes back what was said of the act in general.
    """
    named = [one for one in later.names if one.kind != WORD] or _operands_named(later, deed)
    if named or later.acts == (EVERY_ACT,):
        return SURE if later.sure else DOUBTFUL
    if earlier.names or earlier.but or not later.sure:
        return 0.0
    if later.says == PERMITS:
        return SURE
    if later.prompt == earlier.prompt and earlier.name == "limit":
        return 0.0
    words = any(one.kind == WORD for one in later.names)
    broad = set(later.acts) <= lexicon.broad
    return DOUBTFUL if broad or words else SURE
