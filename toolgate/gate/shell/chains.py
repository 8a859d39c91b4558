"""Lists and pipelines: what runs one after another, and what one feeds into the next."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolgate.gate.shell.parse import Walk

_LEAVES = frozenset(("exit", "return", "break", "continue"))


def in_a_list(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk commands joined by ``&&`` and ``||``."""
    head, parts = _chain(walk, node)
    return _links(walk, walk.statement(head, stdin, piped), parts, stdin, piped)


def _chain(walk: "Walk", node: Any) -> tuple[Any, list[Any]]:
    """Return a list's first statement, and each operator with what follows it, in order."""
    parts: list[Any] = []
    while node.type == "list":  # left-nested: a chain of thousands must not recurse
        first, *others = node.children
        _account_between(walk, first, others)
        parts.append(others)
        node = first
    return node, parts[::-1]


def _account_between(walk: "Walk", first: Any, others: list[Any]) -> None:
    end = first.end_byte
    for child in others:
        walk.gap(end, child.start_byte)
        end = child.end_byte


def _links(
    walk: "Walk", made: tuple[int, ...], parts: list[Any], stdin: tuple[int, ...], piped: bool
) -> tuple[int, ...]:
    """Walk what is joined to a list's head by ``&&`` and ``||``."""
    before = walk.state.copy()
    for operator, *children in parts:
        made += _then(walk, operator.type, children, stdin, piped)
    # What the later parts set holds only if the earlier ones went well; a `cd a && b`
    # whose cd fails runs nothing more of the list, so the directory stands.
    cwd = walk.state.cwd
    walk.state.merge(before)
    walk.state.cwd = cwd
    return made


def _then(
    walk: "Walk", operator: str, children: list[Any], stdin: tuple[int, ...], piped: bool
) -> tuple[int, ...]:
    """Walk what runs if the part before it went well (``&&``) or failed (``||``)."""
    otherwise, walk.state.otherwise = walk.state.otherwise, ""
    first = len(walk.commands)
    made: tuple[int, ...] = ()
    for child in children:
        if child.is_named:
            made += walk.statement(child, stdin, piped)
    ended = operator == "||" and any(
        command.words and command.words[0].text in _LEAVES for command in walk.commands[first:]
    )
    if not walk.state.otherwise and not ended:
        walk.state.otherwise = otherwise  # behind the list the first cd may have failed
    return made


def in_a_pipeline(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk the stages of a pipeline, each in a state of its own."""
    first, *others = node.children
    _account_between(walk, first, others)
    stages = [child for child in (first, *others) if child.is_named]
    parts: list[Any] = []
    if stages[-1].type == "list":
        # The grammar hangs the rest of `a | b | c && d` into the pipe; bash binds | tighter.
        head, parts = _chain(walk, stages.pop())
        stages += (
            [child for child in head.children if child.is_named]
            if head.type == "pipeline"
            else [head]
        )
    flow = stdin
    before = walk.state.copy()
    for position, stage in enumerate(stages):
        last = position == len(stages) - 1
        flow = walk.statement(stage, flow, piped or not last)
        walk.state = before if last else before.copy()
    return _links(walk, flow, parts, stdin, piped) if parts else flow
