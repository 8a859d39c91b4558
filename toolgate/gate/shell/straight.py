"""Plain text whose commands leave what later ones see alone, but for ``cd``: its commands at once.

Most texts are that. ``Walk`` would read the same from them, holding aside at each
operator what could have changed; tests hold the two equal.
"""

from typing import TYPE_CHECKING

from toolgate.gate.shell.model import Command, Redirect, Word
from toolgate.gate.shell.state import CHANGES
from toolgate.gate.shell.work import MAX_REDIRECTS, TooManyError

if TYPE_CHECKING:
    from toolgate.gate.shell.parse import Walk
    from toolgate.gate.shell.plain import Node, Text

# What changes more than the directory, or starts what does.
_MOVES = (CHANGES - {"cd"}) | {"command", "builtin", "coproc"}
_LEAVES = frozenset(("exit", "return", "break", "continue"))
_REST = Word("")[1:]
_new = tuple.__new__


def is_straight(program: "Node") -> bool:
    """Say whether plain text is read here."""
    return _MOVES.isdisjoint([text for text, _ in program.words])


def follow(walk: "Walk", program: "Node") -> None:
    """Put the commands of plain text into a walk, and follow its directory.

    Args:
        walk: takes the commands; its state has no functions and no aliases.
        program: the tree of plain text.

    Raises:
        TooManyError: there are more commands than are read.
        SpentError: there are no steps left.
    """
    state = walk.state
    for part in program.children:
        chain: list[Node] = []
        first_part = part
        while first_part.type == "list":
            first_part, operator, right = first_part.children
            chain += (right, operator)
        _stages(walk, first_part)
        while chain:
            operator, right = chain.pop(), chain.pop()
            otherwise, state.otherwise = state.otherwise, ""
            first = len(walk.commands)
            _stages(walk, right)
            ended = operator.type == "||" and any(
                command.words[0].text in _LEAVES for command in walk.commands[first:]
            )
            if not state.otherwise and not ended:
                state.otherwise = otherwise  # behind the list the first cd may have failed


def _stages(walk: "Walk", part: "Node") -> None:
    """Take a command, or the stages of a pipeline, in which a ``cd`` moves nobody else."""
    if part.type == "plain_command":
        command = _command(walk, part, (), piped=False)
        if command.words[0].text == "cd":
            walk.state.change(list(command.words))
        return
    flow: tuple[int, ...] = ()
    last = part.children[-1]
    for stage in part.children[::2]:
        _command(walk, stage, flow, piped=stage is not last)
        flow = (len(walk.commands) - 1,)


def _command(walk: "Walk", node: "Node", stdin: tuple[int, ...], *, piped: bool) -> Command:
    state = walk.state
    command = Command(
        tuple(_fields(walk, node.words)),
        (),
        tuple(_redirects(walk, node)) if node.redirects else (),
        state.cwd,
        stdin,
        piped,
        state.otherwise,
    )
    walk.add(command)
    return command


def _fields(walk: "Walk", texts: "list[Text]") -> list[Word]:
    found: list[Word] = []
    for text, literal in texts:
        if literal:
            found.append(_new(Word, (text, *_REST)))
        else:
            found += walk.spread([Word(text)])
    return found


def _redirects(walk: "Walk", node: "Node") -> list[Redirect]:
    if len(node.redirects) > MAX_REDIRECTS:
        raise TooManyError
    return [
        Redirect(op, word)
        for op, text in node.redirects
        for word in _fields(walk, [text]) or [Word("")]
    ]
