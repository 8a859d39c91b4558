"""Plain text as nodes like those of the grammar, where the walk has to follow what it changes."""

from toolgate.gate.shell.plain import Plain, Simple


class Node:
    """A plain command or what joins some; ``Walk`` takes it like a node of the grammar.

    Args:
        kind: ``program``, ``list``, ``pipeline``, ``plain_command``, or an operator.
        children: what it is made of.
        simple: the command, of a ``plain_command``.
    """

    __slots__ = ("children", "is_named", "simple", "type")
    start_byte = end_byte = 0
    has_error = is_missing = False

    def __init__(self, kind: str, children: list["Node"], simple: Simple | None = None) -> None:
        self.type = kind
        self.children = children
        self.is_named = kind not in ("&&", "||", "|")
        self.simple = simple or Simple()


def program(plain: Plain) -> Node:
    """Return the root of plain text."""
    children: list[Node] = []
    for operator, commands in plain.parts:
        node = _pipeline(commands)
        if operator == ";":
            children.append(node)
        else:
            children[-1] = Node("list", [children[-1], Node(operator, []), node])
    return Node("program", children)


def _pipeline(commands: list[Simple]) -> Node:
    stages: list[Node] = []
    for simple in commands:
        if stages:
            stages.append(Node("|", []))
        stages.append(Node("plain_command", [], simple))
    return stages[0] if len(stages) == 1 else Node("pipeline", stages)
