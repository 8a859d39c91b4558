"""Compound statements: what runs perhaps, in one of several ways, or round after round."""

from typing import TYPE_CHECKING, Any

from toolgate.gate.shell.model import HOLE, Word
from toolgate.gate.shell.state import State

if TYPE_CHECKING:
    from toolgate.gate.shell.parse import Walk

MAX_ROUNDS = 12
MAX_UNROLLED = 200
_LOOPS = frozenset(("while_statement", "c_style_for_statement"))


class Ways:
    """The ways through an ``if``.

    Args:
        begin: the state in which the next one begins.
        ends: the states in which those walked so far end, but the last.
    """

    __slots__ = ("begin", "ends")

    def __init__(self, begin: State, ends: list[State]) -> None:
        self.begin = begin
        self.ends = ends


def perhaps(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk what may run or not, a loop's body twice."""
    before = walk.state.copy()
    loop = node.type in _LOOPS
    walk.looping += loop
    made = walk.children(node, stdin, piped)
    if loop and len(walk.commands) < MAX_UNROLLED:
        walk.state.merge(before)
        made += _later_rounds(walk, node, stdin, piped)
    walk.looping -= loop
    walk.state.merge(before)
    walk.state.stops = before.stops
    return made


def _changed(before: State, after: State) -> list[str]:
    """Return the variables of a state that stand for something new in a later one."""
    first = before.values
    return [
        name
        for name, values in after.values.items()
        if name in first and values is not first[name] and not set(values) <= set(first[name])
    ]


def _later_rounds(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk the rounds of a loop after the first, which see what the rounds before have set."""
    first = walk.state.copy()
    made = _once_more(walk, node, stdin, piped)
    changing = _changed(first, walk.state)
    if changing and len(walk.commands) < MAX_UNROLLED:
        for name in changing:  # with each round it is something else
            walk.state.set_values(name, [Word(HOLE)])
        made += _once_more(walk, node, stdin, piped)
    return made


def _once_more(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    if node.type in _LOOPS:
        return walk.children(node, stdin, piped)
    return walk.statement(node, stdin, piped)


def branches(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk an ``if``: what it leaves behind is what any of its ways does."""
    ways = Ways(walk.state.copy(), [])
    walk.ways.append(ways)
    made = walk.children(node, stdin, piped)
    walk.ways.pop()
    if not any(child.type == "else_clause" for child in node.children):
        ways.ends.append(ways.begin)
    for end in ways.ends:
        walk.state.merge(end)
        walk.state.stops = walk.state.stops and end.stops
    return made


def first_way(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Note where the first way through an ``if`` begins: behind its condition."""
    if walk.ways:
        walk.ways[-1].begin = walk.state.copy()
    return ()


def another_way(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk another way through an ``if``: from where the first one began, not from its end."""
    if walk.ways:
        walk.ways[-1].ends.append(walk.state)
        walk.state = walk.ways[-1].begin.copy()
    return walk.children(node, stdin, piped)


def rounds(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk a ``for``, round after round where its values are few."""
    before = walk.state.copy()
    variable = node.child_by_field_name("variable")
    values: list[Word] = []
    for position, child in enumerate(node.children):
        if node.field_name_for_child(position) == "value":
            values.extend(walk.fields(child))
    if not any(child.type == "in" for child in node.children):
        values = list(walk.state.lists.get("@", ()))  # for f; goes through the arguments
    name = walk.text(variable) if variable is not None else ""
    body = node.child_by_field_name("body")
    made: tuple[int, ...] = ()
    # A short loop is walked once a value, so that each round is judged as it runs.
    short = 0 < len(values) <= MAX_ROUNDS and len(walk.commands) < MAX_UNROLLED
    # A pattern, or what is not known, goes round for each name it stands for.
    many = not short or any(value.glob or not value.known for value in values)
    walk.looping += many
    for value in [[value] for value in values] if short else [[Word(HOLE)]]:
        walk.state.set_values(name, value)
        made += walk.statement(body, stdin, piped) if body is not None else ()
    if many and body is not None and _changed(before, walk.state):
        walk.state.merge(before)
        walk.state.set_values(name, values if short else [Word(HOLE)])
        made += _later_rounds(walk, body, stdin, piped)
    walk.looping -= many
    walk.state.merge(before)
    return made


HANDLERS = {
    "while_statement": perhaps,
    "case_statement": perhaps,
    "case_item": perhaps,
    "c_style_for_statement": perhaps,
    "if_statement": branches,
    "then": first_way,
    "else_clause": another_way,
    "elif_clause": another_way,
    "for_statement": rounds,
}
"""What walks each of them, with the arguments of ``Walk.statement``."""
