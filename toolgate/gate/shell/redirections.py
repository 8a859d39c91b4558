"""Redirections as the grammar gives them: to files, from words, from here-documents."""

from typing import TYPE_CHECKING, Any

from toolgate.gate.shell.expand import joined
from toolgate.gate.shell.model import Line, Redirect, Word
from toolgate.gate.shell.work import MAX_REDIRECTS, TooManyError

if TYPE_CHECKING:
    from toolgate.gate.shell.parse import Walk

REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))
_HEREDOC_PARTS = frozenset(("heredoc_start", "heredoc_end", "file_descriptor"))
_CLOSING = frozenset((">&-", "<&-"))
_REDIRECT_OPS = {">|": ">", "&>": ">", "&>>": ">>", ">&-": ">&", "<&-": "<&"}


def redirect(walk: "Walk", node: Any, line: Line) -> None:
    """Read one redirection into what stands around its command."""
    if len(line.redirects) >= MAX_REDIRECTS:
        raise TooManyError
    if node.type == "file_redirect":
        operator = next((c.type for c in node.children if not c.is_named), "")
        op = _REDIRECT_OPS.get(operator, operator)
        targets = node.children_by_field_name("destination")
        target, others = targets[:1], targets[1:]
        if operator in _CLOSING:
            target, others = [], targets
        fields = walk.fields(target[0]) if target else []
        line.redirects.extend([Redirect(op, word) for word in fields or [Word("")]])
        # The grammar takes every word behind a target as one more; bash, as an argument.
        line.arguments.extend(others)
    elif node.type == "herestring_redirect":
        body = next((child for child in node.children if child.is_named), None)
        if body is not None:
            line.redirects.append(Redirect("<<<", walk.single(body)))
    else:
        _heredoc(walk, node, line)


def _heredoc(walk: "Walk", node: Any, line: Line) -> None:
    start = next((c for c in node.children if c.type == "heredoc_start"), None)
    literal = start is not None and any(c in walk.text(start) for c in "'\"\\")
    body = Word("")
    for position, child in enumerate(node.children):
        if child.type == "heredoc_body":
            body = Word(walk.text(child)) if literal else walk.heredoc_text(child)
        elif child.type in REDIRECTS:
            redirect(walk, child, line)
        elif node.field_name_for_child(position) == "argument":
            line.arguments.append(child)
            if walk.text(child).startswith(("\n", "\\\n")):
                walk.faults.add("syntax")  # the grammar has read the body as arguments
        elif child.is_named and child.type not in _HEREDOC_PARTS:
            line.trailing.append(child)
    line.redirects.append(Redirect("<<", body))


def alone(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk ``$(<file)``, which is a statement of its own."""
    line = Line([], [], [])
    redirect(walk, node, line)
    return walk.command(None, stdin, piped, line)


def redirected(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk a statement together with its redirections."""
    body = node.child_by_field_name("body")
    line = walk.line_of(node)
    if body is None or body.type == "command":
        if body is not None:
            own = walk.line_of(body)  # a here-string stands inside the command
            line = Line(*(mine + outer for mine, outer in zip(own, line, strict=True)))
        made = walk.command(body, stdin, piped, line)
    elif body.type in ("pipeline", "list"):
        # The grammar hangs the redirection on the whole; in bash it is the last command's.
        walk.belongs[_last(body).id] = line
        made = walk.statement(body, stdin, piped)
    else:
        made = walk.statement(body, taken(walk, line, stdin, piped), piped)
    return after(walk, made, line.trailing, piped)


def after(walk: "Walk", made: tuple[int, ...], trailing: list[Any], piped: bool) -> tuple[int, ...]:
    """Walk what stands behind a here-document's opening on the same line."""
    for node in trailing:
        if node.type == "pipeline" or node.parent.type == "pipeline":
            made = walk.statement(node, made, piped)
        else:
            made += walk.statement(node, (), piped)
    return made


def taken(walk: "Walk", line: Line, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Take the redirections of a statement that is no simple command."""
    if line.arguments:
        walk.faults.add("syntax")
    return walk.carrier(line.redirects, stdin, piped)


def behind(walk: "Walk", line: Line) -> list[Word]:
    """Return the words behind redirections; one that goes on in the next line is one word."""
    arguments: list[Word] = []
    end = -1
    for child in line.arguments:
        fields = walk.fields(child)
        if end == child.start_byte:
            walk.faults.add("syntax")
        if end >= 0 and walk.continues(end, child.start_byte) and arguments and fields:
            fields[0] = joined(arguments.pop(), fields[0])
        end = child.end_byte
        arguments.extend(fields)
    return arguments


def _last(node: Any) -> Any:
    """Return the last simple command of a pipeline or list."""
    while node.type in ("pipeline", "list", "negated_command"):
        node = [child for child in node.children if child.is_named][-1]
    return node
