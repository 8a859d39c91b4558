"""Functions that a text defines: a call walks the body, in the state it is called in."""

from typing import TYPE_CHECKING, Any

from toolgate.gate.shell.model import HOLE, Command, Word

if TYPE_CHECKING:
    from toolgate.gate.shell.parse import Walk


def define(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Take in a function; nothing of its body runs yet."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is not None and body is not None:
        walk.state.define(walk.text(name), body)
    # Its redirections take effect at each call; they are judged once, here.
    walk.carrier(walk.line_of(node).redirects, (), piped)
    return ()


def call(
    walk: "Walk",
    name: str,
    body: Any,
    arguments: tuple[Word, ...],
    stdin: tuple[int, ...],
    piped: bool,
) -> tuple[int, ...]:
    """Walk a function's body as a call of it."""
    depth = walk.calling.count(name)
    if depth and (piped or stdin or walk.behind):
        # A function that starts itself beside itself: harmless at most by accident.
        bomb = Command((Word("fork-bomb"),), (), (), walk.state.cwd, stdin, piped)
        return (walk.add(bomb),)
    if depth and name in walk.walked_again:
        return ()  # has been walked with nothing known about its variables
    walk.calling.append(name)
    outer = walk.state.lists.get("@")
    if depth:
        walk.walked_again.add(name)
        walk.state.forget()
        arguments = (Word(HOLE),)
    walk.state.set_list("@", arguments)
    around, walk.state.outer = walk.state.outer, {}
    references = walk.state.references
    made = walk.statement(body, stdin, piped)
    walk.state.leave(around, references)
    walk.state.set_list("@", outer)
    walk.calling.pop()
    return made
