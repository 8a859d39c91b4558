"""Shell text to simple commands.

One walk over the syntax tree follows what bash would do in order: directories
changed, variables set, functions called, here-documents fed. What it cannot
follow becomes a ``HOLE`` in a word or a fault of the whole script; a script
with a fault is never proved harmless.
"""

from typing import Any, NamedTuple

from toolgate.gate.shell.expand import Expander, joined
from toolgate.gate.shell.model import HOLE, Command, Redirect, Script, Word
from toolgate.gate.shell.plain import Node, plain_tree
from toolgate.gate.shell.source import parsed, refusal
from toolgate.gate.shell.state import State

MAX_COMMANDS = 3_200
MAX_ROUNDS = 12
MAX_UNROLLED = 200

_TRANSPARENT = frozenset(
    ("program", "do_group", "else_clause", "elif_clause", "compound_statement")
)
_CONDITIONAL = frozenset(
    ("if_statement", "while_statement", "case_statement", "case_item", "c_style_for_statement")
)
_LOOPS = frozenset(("while_statement", "c_style_for_statement"))
_KEYWORDS = frozenset(
    ("then", "do", "done", "fi", "else", "elif", "esac", "if", "while", "until", "for", "case")
)
_TAKE_REDIRECTS = frozenset(("command", "redirected_statement", "function_definition"))
_LEAVES = frozenset(("exit", "return", "break", "continue"))
_HEREDOC_PARTS = frozenset(("heredoc_start", "heredoc_end", "file_descriptor"))
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))
_REDIRECT_OPS = {">|": ">", "&>": ">", "&>>": ">>", ">&-": ">&", "<&-": "<&"}


def read(text: str, *, cwd: str, home: str, variables: dict[str, str] | None = None) -> Script:
    """Read shell text.

    Args:
        text: the source.
        cwd: the directory it would start in; "" when not known.
        home: the user's home directory; "" when not known.
        variables: values known beforehand.

    Returns:
        Its simple commands and, if anything was not understood, why.
    """
    fault = refusal(text)
    if fault:
        return Script((), (fault,))
    source, root = b"", plain_tree(text)
    if root is None:
        source, root, fault = parsed(text)
    walk = Walk(source, cwd, home, variables or {})
    if fault:
        walk.faults.add(fault)
    try:
        walk.statement(root, ())
    except RecursionError:
        walk.faults.add("too-deep")
    except TooManyError:
        walk.faults.add("too-many-commands")
    return Script(tuple(walk.commands), tuple(sorted(walk.faults)), walk.state.cwd)


def _last(node: Any) -> Any:
    """Return the last simple command of a pipeline or list."""
    while node.type in ("pipeline", "list", "negated_command"):
        node = [child for child in node.children if child.is_named][-1]
    return node


class TooManyError(Exception):
    """The text runs more commands than are read."""


class Line(NamedTuple):
    """What stands around a command's own words.

    Args:
        redirects: its redirections.
        arguments: nodes of words that stand behind a redirection.
        trailing: nodes of commands behind a here-document's opening on the same line.
    """

    redirects: list[Redirect]
    arguments: list[Any]
    trailing: list[Any]


class Walk(Expander):
    """One pass over a syntax tree. The result is ``commands`` and ``faults``."""

    def __init__(self, source: bytes, cwd: str, home: str, variables: dict[str, str]) -> None:
        super().__init__(source, State(cwd, home, dict(variables)))
        self.commands: list[Command] = []
        self._functions: dict[str, Any] = {}
        self._calling: list[str] = []
        self._belongs: dict[int, Line] = {}

    def statement(self, node: Any, stdin: tuple[int, ...], piped: bool = False) -> tuple[int, ...]:
        """Walk a statement and return the commands whose output is its output."""
        kind = node.type
        if self._belongs and kind not in _TAKE_REDIRECTS and node.id in self._belongs:
            stdin = self._redirected(self._line_of(node), stdin, piped)
        if kind == "ERROR" or node.is_missing:
            self.faults.add("syntax")
            return self._children(node, stdin, piped)
        if kind == "program" and node.has_error:
            self.faults.add("syntax")
        if kind in _TRANSPARENT:
            return self._children(node, stdin, piped)
        if kind in _CONDITIONAL:
            return self._conditional(node, stdin, piped)
        handler = getattr(self, "_on_" + kind, None)
        if handler is not None:
            result: tuple[int, ...] = handler(node, stdin, piped)
            return result
        if node.is_named and kind not in ("comment", "heredoc_body", "variable_name"):
            # Tests, arithmetic and the like do nothing themselves, but may hold substitutions.
            self.substitutions(node)
        return ()

    def nested(self, node: Any) -> tuple[int, ...]:
        """Walk a substitution's inside as the subshell it is."""
        return self._subshell(node, (), True)

    def _children(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        made: tuple[int, ...] = ()
        end = node.start_byte
        for child in node.children:
            self.gap(end, child.start_byte)
            end = child.end_byte
            made += self.statement(child, stdin, piped)
        self.gap(end, node.end_byte)
        return made

    def _conditional(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        before = self.state.copy()
        made = self._children(node, stdin, piped)
        if node.type in _LOOPS and len(self.commands) < MAX_UNROLLED:
            self.state.merge(before)
            made += self._children(node, stdin, piped)  # a later round sees what this one set
        self.state.merge(before)
        return made

    def _subshell(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        before = self.state.copy()
        made = self._children(node, stdin, piped)
        self.state = before
        return made

    _on_subshell = _subshell

    def _on_list(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        parts: list[Any] = []
        while node.type == "list":  # left-nested: a chain of thousands must not recurse
            parts.append(node.children[1:])
            node = node.children[0]
        made = self.statement(node, stdin, piped)
        before = self.state.copy()
        for operator, *children in reversed(parts):
            made += self._then(operator.type, children, stdin, piped)
        # What the later parts set holds only if the earlier ones went well; a `cd a && b`
        # whose cd fails runs nothing more of the list, so the directory stands.
        cwd = self.state.cwd
        self.state.merge(before)
        self.state.cwd = cwd
        return made

    def _then(
        self, operator: str, children: list[Any], stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        """Walk what runs if the part before it went well (``&&``) or failed (``||``)."""
        otherwise, self.state.otherwise = self.state.otherwise, ""
        first = len(self.commands)
        made: tuple[int, ...] = ()
        for child in children:
            if child.is_named:
                made += self.statement(child, stdin, piped)
        ended = operator == "||" and any(
            command.words and command.words[0].text in _LEAVES for command in self.commands[first:]
        )
        if not self.state.otherwise and not ended:
            self.state.otherwise = otherwise  # behind the list the first cd may have failed
        return made

    def _on_pipeline(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        stages = [child for child in node.children if child.is_named]
        flow = stdin
        before = self.state.copy()
        for position, stage in enumerate(stages):
            last = position == len(stages) - 1
            flow = self.statement(stage, flow, piped or not last)
            self.state = before if last else before.copy()
        return flow

    def _on_negated_command(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        return self._children(node, stdin, piped)

    def _on_for_statement(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        before = self.state.copy()
        variable = node.child_by_field_name("variable")
        values: list[Word] = []
        for position, child in enumerate(node.children):
            if node.field_name_for_child(position) == "value":
                values.extend(self.fields(child))
        name = self.text(variable) if variable is not None else ""
        body = node.child_by_field_name("body")
        made: tuple[int, ...] = ()
        # A short loop is walked once a value, so that each round is judged as it runs.
        short = 0 < len(values) <= MAX_ROUNDS and len(self.commands) < MAX_UNROLLED
        for value in [[value] for value in values] if short else [[Word(HOLE)]]:
            self.state.set_values(name, value)
            made += self.statement(body, stdin, piped) if body is not None else ()
        self.state.merge(before)
        return made

    def _on_function_definition(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is not None and body is not None:
            self._functions[self.text(name)] = body
        # Its redirections take effect at each call; they are judged once, here.
        self._carrier(self._line_of(node).redirects, (), piped)
        return ()

    def _on_file_redirect(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        """Walk ``$(<file)``, which is a statement of its own."""
        line = Line([], [], [])
        self._redirect(node, line)
        return self._command(None, stdin, piped, line)

    def _on_redirected_statement(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        body = node.child_by_field_name("body")
        line = self._line_of(node)
        if body is None or body.type == "command":
            made = self._command(body, stdin, piped, line)
        elif body.type in ("pipeline", "list"):
            # The grammar hangs the redirection on the whole; in bash it is the last command's.
            self._belongs[_last(body).id] = line
            made = self.statement(body, stdin, piped)
        else:
            made = self.statement(body, self._redirected(line, stdin, piped), piped)
        return self._after(made, line.trailing, piped)

    def _on_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        line = self._line_of(node)
        return self._after(self._command(node, stdin, piped, line), line.trailing, piped)

    def _on_plain_command(self, node: Node, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        """Walk a command that was read without the grammar."""
        arguments: list[Word] = []
        for text, literal in node.words:
            if literal:
                arguments.append(Word(text))
            else:
                arguments.extend(self.spread([Word(text)]))
        redirects: list[Redirect] = []
        for op, (text, literal) in node.redirects:
            targets = [Word(text)] if literal else self.spread([Word(text)])
            redirects.extend([Redirect(op, word) for word in targets])
        return self._run(arguments, [], redirects, stdin, piped)

    def _line_of(self, node: Any) -> "Line":
        belongs = self._belongs.pop(node.id, None) if self._belongs else None
        line = belongs or Line([], [], [])
        for child in node.children:
            if child.type in _REDIRECTS:
                self._redirect(child, line)
        return line

    def _after(self, made: tuple[int, ...], trailing: list[Any], piped: bool) -> tuple[int, ...]:
        """Walk what stands behind a here-document's opening on the same line."""
        for node in trailing:
            if node.type == "pipeline" or node.parent.type == "pipeline":
                made = self.statement(node, made, piped)
            else:
                made += self.statement(node, (), piped)
        return made

    def _redirected(self, line: Line, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        """Take the redirections of a statement that is no simple command."""
        if line.arguments:
            self.faults.add("syntax")
        return self._carrier(line.redirects, stdin, piped)

    def _carrier(
        self, redirects: list[Redirect], stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        """Hold a compound statement's redirections in a command without words."""
        if not redirects:
            return stdin
        return (self._add(Command((), (), tuple(redirects), self.state.cwd, stdin, piped)),)

    def _redirect(self, node: Any, line: "Line") -> None:
        if node.type == "file_redirect":
            operator = next((c.type for c in node.children if not c.is_named), "")
            op = _REDIRECT_OPS.get(operator, operator)
            targets = node.children_by_field_name("destination")
            fields = self.fields(targets[0]) if targets else []
            line.redirects.extend([Redirect(op, word) for word in fields or [Word("")]])
            # The grammar takes every word behind a target as one more; bash, as an argument.
            line.arguments.extend(targets[1:])
        elif node.type == "herestring_redirect":
            body = next((child for child in node.children if child.is_named), None)
            if body is not None:
                line.redirects.append(Redirect("<<<", self.single(body)))
        else:
            self._heredoc(node, line)

    def _heredoc(self, node: Any, line: "Line") -> None:
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        literal = start is not None and any(c in self.text(start) for c in "'\"\\")
        body = Word("")
        for position, child in enumerate(node.children):
            if child.type == "heredoc_body":
                body = Word(self.text(child)) if literal else self.heredoc_text(child)
            elif child.type in _REDIRECTS:
                self._redirect(child, line)
            elif node.field_name_for_child(position) == "argument":
                line.arguments.append(child)
                if self.text(child).startswith(("\n", "\\\n")):
                    self.faults.add("syntax")  # the grammar has read the body as arguments
            elif child.is_named and child.type not in _HEREDOC_PARTS:
                line.trailing.append(child)
        line.redirects.append(Redirect("<<", body))

    def _command(
        self, node: Any, stdin: tuple[int, ...], piped: bool, line: "Line"
    ) -> tuple[int, ...]:
        assigns: list[tuple[str, Word]] = []
        arguments: list[Word] = []
        timed: tuple[int, ...] = ()
        children = node.children if node is not None else []
        end = node.start_byte if node is not None else 0
        for child in children:
            gap = self.gap(end, child.start_byte)
            if not gap and arguments and child.is_named and end == child.start_byte:
                self.faults.add("syntax")  # the grammar has cut a word in two
            if b"\n" in gap and b"\n" in gap.replace(b"\\\n", b""):
                self.faults.add("syntax")  # or has joined two commands
            end = child.end_byte
            kind = child.type
            if kind == "variable_assignment":
                assigns.append(self._assignment(child, keep=False))
            elif kind in ("subshell", "compound_statement"):
                timed += self.statement(child, stdin, piped)  # time (...), a keyword to bash
            elif kind not in _REDIRECTS:
                named = kind == "command_name" and child.children
                fields = self.fields(child.children[0] if named else child)
                if gap == b"\\\n" and arguments and fields:
                    fields[0] = joined(arguments.pop(), fields[0])  # one word, continued
                arguments.extend(fields)
        if node is not None:
            self.gap(end, node.end_byte)
        for child in line.arguments:
            arguments.extend(self.fields(child))
        piped = piped or bool(line.trailing)
        if arguments and arguments[0].text == "time":
            arguments = [word for word in arguments if word.text != "{"]
        elif [word.text for word in arguments] == ["}"]:
            arguments = []  # closes time {, which the grammar takes for a command
        return timed + self._run(arguments, assigns, line.redirects, stdin, piped)

    def _run(
        self,
        arguments: list[Word],
        assigns: list[tuple[str, Word]],
        redirects: list[Redirect],
        stdin: tuple[int, ...],
        piped: bool,
    ) -> tuple[int, ...]:
        name = arguments[0].text if arguments else ""
        if name in _KEYWORDS:
            self.faults.add("keyword-as-command")
        if name in self.state.aliases:
            self.faults.add("alias-defined-in-text")
        kept = [] if name in self._functions else arguments  # a call's body stands for it
        state = self.state
        command = Command(
            tuple(kept), tuple(assigns), tuple(redirects), state.cwd, stdin, piped, state.otherwise
        )
        if name in self._functions:
            made = (self._add(command),) if redirects or assigns else ()
            return made + self._call(name, stdin, piped)
        made = (self._add(command),)
        self.faults |= self.state.change(arguments, functions=bool(self._functions))
        return made

    def _call(self, name: str, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        if name in self._calling:
            # A function that starts itself again: harmless at most by accident.
            bomb = Command((Word("fork-bomb"),), (), (), self.state.cwd, stdin, piped)
            return (self._add(bomb),)
        self._calling.append(name)
        hidden = {
            key: self.state.values.pop(key) for key in "123456789@*#" if key in self.state.values
        }
        made = self.statement(self._functions[name], stdin, piped)
        self.state.values.update(hidden)
        self._calling.pop()
        return made

    def _on_variable_assignment(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        before = len(self.commands)
        assign = self._assignment(node, keep=True)
        self._add(Command((), (assign,), (), self.state.cwd))
        return tuple(range(before, len(self.commands)))

    def _on_variable_assignments(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        return self._children(node, stdin, piped)

    def _on_declaration_command(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        flags = [self.text(child) for child in node.children[1:]]
        if any(flag.startswith("-") and "n" in flag for flag in flags):
            self.state.forget()  # a name reference: any variable may change through it
        if any(flag.startswith("-") and "f" in flag for flag in flags) and self._functions:
            self.faults.add("functions-in-text-run-later")
        assigns: list[tuple[str, Word]] = []
        arguments: list[Word] = []
        for position, child in enumerate(node.children):
            if position == 0:
                arguments.append(Word(self.text(child)))
            elif child.type == "variable_assignment":
                assigns.append(self._assignment(child, keep=True))
            elif child.type == "variable_name":
                arguments.append(Word(self.text(child)))
            else:
                arguments.extend(self.fields(child))
        return (
            self._add(Command(tuple(arguments), tuple(assigns), (), self.state.cwd, stdin, piped)),
        )

    def _on_unset_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        for child in node.children[1:]:
            self.state.set_values(self.text(child), [Word("")])
        return ()

    def _assignment(self, node: Any, *, keep: bool) -> tuple[str, Word]:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        word = self.single(value) if value is not None else Word("")
        if name is not None and name.type == "subscript":
            self.substitutions(name)
            word, name = word._replace(text=HOLE), name.children[0]
        label = self.text(name) if name is not None else ""
        appended = any(child.type == "+=" for child in node.children)
        if appended or (value is not None and value.type == "array"):
            word = word._replace(text=HOLE)
        if keep:
            self.state.set_values(label, [word])
        return label, word

    def _add(self, command: Command) -> int:
        if len(self.commands) >= MAX_COMMANDS:
            raise TooManyError
        self.commands.append(command)
        return len(self.commands) - 1
