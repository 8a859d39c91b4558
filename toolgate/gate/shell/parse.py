"""Shell text to simple commands.

One walk over the syntax tree follows what bash would do in order: directories
changed, variables set, functions called, here-documents fed. What it cannot
follow becomes a ``HOLE`` in a word or a fault of the whole script; a script
with a fault is never proved harmless.
"""

from itertools import product
from typing import Any, NamedTuple

from toolgate.gate.shell import straight
from toolgate.gate.shell.expand import BLANKS, Expander, joined, unknown
from toolgate.gate.shell.model import HOLE, Command, Redirect, Script, Word
from toolgate.gate.shell.plain import Node, plain_tree
from toolgate.gate.shell.source import parsed, refusal
from toolgate.gate.shell.state import State
from toolgate.gate.shell.work import MAX_REDIRECTS, SPENT, UNCOUNTED, SpentError, TooManyError, Work

MAX_COMMANDS = 3_200
MAX_STEPS = 8_000
MAX_ROUNDS = 12
MAX_CHOICES = 12
MAX_VARIABLES = 128
"""With more of them set, a command is walked once: each way through it copies them all."""
MAX_UNROLLED = 200

_TRANSPARENT = frozenset(("program", "do_group", "compound_statement"))
_CONDITIONAL = frozenset(
    ("while_statement", "case_statement", "case_item", "c_style_for_statement")
)
_LOOPS = frozenset(("while_statement", "c_style_for_statement"))
_KEYWORDS = frozenset(
    (
        *(
            "then",
            "do",
            "done",
            "fi",
            "else",
            "elif",
            "esac",
            "if",
            "while",
            "until",
            "for",
            "case",
        ),
        *("{", "}", "function", "select", "in", "[["),
    )
)
_TAKE_REDIRECTS = frozenset(
    ("command", "redirected_statement", "function_definition", "variable_assignment")
)
_LEAVES = frozenset(("exit", "return", "break", "continue"))
_AS_IS = frozenset(("command", "builtin"))
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))
_EXPORTS = frozenset(("export", "readonly"))
_HEREDOC_PARTS = frozenset(("heredoc_start", "heredoc_end", "file_descriptor"))
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))
_CLOSING = frozenset((">&-", "<&-"))
_REDIRECT_OPS = {">|": ">", "&>": ">", "&>>": ">>", ">&-": ">&", "<&-": "<&"}


def read(
    text: str,
    *,
    cwd: str,
    home: str,
    arguments: tuple[Word, ...] | None = None,
    work: Work | None = None,
) -> Script:
    """Read shell text.

    Args:
        text: the source.
        cwd: the directory it would start in; "" when not known.
        home: the user's home directory; "" when not known.
        arguments: its arguments, ``$0`` first; None when they are not known.
        work: the steps it may cost; None when they are not counted.

    Returns:
        Its simple commands and, if anything was not understood, why.
    """
    fault = refusal(text)
    if fault:
        return Script((), (fault,))
    work = work or Work(UNCOUNTED)
    source, rewritten = b"", False
    try:
        root: Any = plain_tree(text, work)
        if root is None:
            source, root, fault = parsed(text, work)
            if root.has_error:
                from toolgate.gate.shell.unclosed import missing_mark

                mark = missing_mark(text)
                if mark:
                    text += mark
                    source, root, fault = parsed(text, work)
            rewritten = source != text.encode()  # it has been put in another form
    except SpentError:
        return Script((), (SPENT,))
    walk = Walk(source, cwd, home, work)
    walk.doubtful = rewritten
    if arguments is not None:
        walk.state.set_values("0", [arguments[0] if arguments else Word(HOLE)])
        walk.state.set_list("@", arguments[1:])
    if fault:
        walk.faults.add(fault)
    try:
        if isinstance(root, Node) and straight.is_straight(root):
            straight.follow(walk, root)
        else:
            walk.statement(root, ())
    except RecursionError:
        walk.faults.add("too-deep")
    except TooManyError:
        walk.faults.add("too-many-commands")
    except SpentError:
        walk.faults.add(SPENT)
    functions = tuple(
        (name, walk.text(body))
        for name, bodies in walk.state.functions.items()
        for body in bodies
        if body is not None
    )
    faults = tuple(sorted(walk.faults))
    return Script(tuple(walk.commands), faults, walk.state.cwd, walk.doubtful, functions)


def _last(node: Any) -> Any:
    """Return the last simple command of a pipeline or list."""
    while node.type in ("pipeline", "list", "negated_command"):
        node = [child for child in node.children if child.is_named][-1]
    return node


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


class Declared(NamedTuple):
    """How variables are declared.

    Args:
        local: as local to the function that runs.
        reference: as names of other variables.
    """

    local: bool = False
    reference: bool = False


class Walk(Expander):
    """One pass over a syntax tree. The result is ``commands`` and ``faults``."""

    def __init__(self, source: bytes, cwd: str, home: str, work: Work) -> None:
        super().__init__(source, State(cwd, home), work)
        self.commands: list[Command] = []
        self._calling: list[str] = []
        self._walked_again: set[str] = set()
        self._steps = 0
        self._belongs: dict[int, Line] = {}
        self._ways: list[Ways] = []
        self._behind = False  # whether the statement walked is left running behind

    def statement(self, node: Any, stdin: tuple[int, ...], piped: bool = False) -> tuple[int, ...]:
        """Walk a statement and return the commands whose output is its output."""
        self._steps += 1
        if self._steps > MAX_STEPS:  # loops and calls walk a statement again and again
            raise TooManyError
        self.work.left -= 4  # counted by hand, because this is called so often
        if self.work.left < 0:
            raise SpentError
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
        children = node.children
        for position, child in enumerate(children):
            self.gap(end, child.start_byte)
            end = child.end_byte
            behind = self._behind
            self._behind = behind or (
                position + 1 < len(children) and children[position + 1].type == "&"
            )
            made += self.statement(child, stdin, piped)
            self._behind = behind
        self.gap(end, node.end_byte)
        return made

    def _conditional(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        before = self.state.copy()
        made = self._children(node, stdin, piped)
        if node.type in _LOOPS and len(self.commands) < MAX_UNROLLED:
            self.state.merge(before)
            made += self._children(node, stdin, piped)  # a later round sees what this one set
        self.state.merge(before)
        self.state.stops = before.stops
        return made

    def _on_if_statement(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        ways = Ways(self.state.copy(), [])
        self._ways.append(ways)
        made = self._children(node, stdin, piped)
        self._ways.pop()
        if not any(child.type == "else_clause" for child in node.children):
            ways.ends.append(ways.begin)
        for end in ways.ends:
            self.state.merge(end)
            self.state.stops = self.state.stops and end.stops
        return made

    def _on_then(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        if self._ways:
            self._ways[-1].begin = self.state.copy()
        return ()

    def _on_else_clause(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        """Walk another way through an ``if``: from where the first one began, not from its end."""
        if self._ways:
            self._ways[-1].ends.append(self.state)
            self.state = self._ways[-1].begin.copy()
        return self._children(node, stdin, piped)

    _on_elif_clause = _on_else_clause

    def _subshell(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        before = self.state.copy()
        made = self._children(node, stdin, piped)
        self.state = before
        return made

    _on_subshell = _subshell

    def _on_list(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        head, parts = self._chain(node)
        return self._links(self.statement(head, stdin, piped), parts, stdin, piped)

    def _chain(self, node: Any) -> tuple[Any, list[Any]]:
        """Return a list's first statement, and each operator with what follows it, in order."""
        parts: list[Any] = []
        while node.type == "list":  # left-nested: a chain of thousands must not recurse
            first, *others = node.children
            self._account_between(first, others)
            parts.append(others)
            node = first
        return node, parts[::-1]

    def _account_between(self, first: Any, others: list[Any]) -> None:
        end = first.end_byte
        for child in others:
            self.gap(end, child.start_byte)
            end = child.end_byte

    def _links(
        self, made: tuple[int, ...], parts: list[Any], stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        """Walk what is joined to a list's head by ``&&`` and ``||``."""
        before = self.state.copy()
        for operator, *children in parts:
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
        first, *others = node.children
        self._account_between(first, others)
        stages = [child for child in (first, *others) if child.is_named]
        parts: list[Any] = []
        if stages[-1].type == "list":
            # The grammar hangs the rest of `a | b | c && d` into the pipe; bash binds | tighter.
            head, parts = self._chain(stages.pop())
            stages += (
                [child for child in head.children if child.is_named]
                if head.type == "pipeline"
                else [head]
            )
        flow = stdin
        before = self.state.copy()
        for position, stage in enumerate(stages):
            last = position == len(stages) - 1
            flow = self.statement(stage, flow, piped or not last)
            self.state = before if last else before.copy()
        return self._links(flow, parts, stdin, piped) if parts else flow

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
        if not any(child.type == "in" for child in node.children):
            values = list(self.state.lists.get("@", ()))  # for f; goes through the arguments
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
            self.state.define(self.text(name), body)
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
            if body is not None:
                own = self._line_of(body)  # a here-string stands inside the command
                line = Line(*(mine + outer for mine, outer in zip(own, line, strict=True)))
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
            if len(redirects) >= MAX_REDIRECTS:
                raise TooManyError
            targets = [Word(text)] if literal else self.spread([Word(text)])
            redirects.extend([Redirect(op, word) for word in targets or [Word("")]])
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
        return (self.add(Command((), (), tuple(redirects), self.state.cwd, stdin, piped)),)

    def _redirect(self, node: Any, line: "Line") -> None:
        if len(line.redirects) >= MAX_REDIRECTS:
            raise TooManyError
        if node.type == "file_redirect":
            operator = next((c.type for c in node.children if not c.is_named), "")
            op = _REDIRECT_OPS.get(operator, operator)
            targets = node.children_by_field_name("destination")
            target, others = targets[:1], targets[1:]
            if operator in _CLOSING:
                target, others = [], targets
            fields = self.fields(target[0]) if target else []
            line.redirects.extend([Redirect(op, word) for word in fields or [Word("")]])
            # The grammar takes every word behind a target as one more; bash, as an argument.
            line.arguments.extend(others)
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
        """Walk a simple command, once for each value that a variable in it may have."""
        several = [name for name, values in self.state.values.items() if len(values) > 1]
        if not several or node is None:
            return self._one_command(node, stdin, piped, line)
        text = self.text(node)
        several = [name for name in several if name in text] if "$" in text else []
        if not several:
            return self._one_command(node, stdin, piped, line)
        before = self.state
        values = [before.values[name] for name in several]
        ways = 1
        for words in values:
            ways *= len(words)
        if ways > MAX_CHOICES or len(before.values) > MAX_VARIABLES:
            values = [[unknown(words)] for words in values]
        made: tuple[int, ...] = ()
        ends: list[State] = []
        for chosen in product(*values):
            self.state = before.copy()
            for name, word in zip(several, chosen, strict=True):
                self.state.values[name] = [word]
            made += self._one_command(node, stdin, piped, line)
            for name, word in zip(several, chosen, strict=True):
                if self.state.values.get(name) == [word]:
                    self.state.values[name] = before.values[name]
            ends.append(self.state)
        for end in ends[:-1]:
            self.state.merge(end)
        return made

    def _one_command(
        self, node: Any, stdin: tuple[int, ...], piped: bool, line: "Line"
    ) -> tuple[int, ...]:
        assigns: list[tuple[str, Word]] = []
        arguments: list[Word] = []
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
            elif kind not in _REDIRECTS:
                named = kind == "command_name" and child.children
                fields = self.fields(child.children[0] if named else child)
                if gap == b"\\\n" and arguments and fields:
                    fields[0] = joined(arguments.pop(), fields[0])  # one word, continued
                arguments.extend(fields)
        if node is not None:
            self.gap(end, node.end_byte)
        arguments += self._behind_redirects(line)
        self.doubtful = self.doubtful or bool(line.trailing)
        piped = piped or bool(line.trailing)
        return self._run(arguments, assigns, line.redirects, stdin, piped)

    def _behind_redirects(self, line: "Line") -> list[Word]:
        """Return the words behind redirections; one that goes on in the next line is one word."""
        arguments: list[Word] = []
        end = -1
        for child in line.arguments:
            fields = self.fields(child)
            if end == child.start_byte:
                self.faults.add("syntax")
            if end >= 0 and self.continues(end, child.start_byte) and arguments and fields:
                fields[0] = joined(arguments.pop(), fields[0])
            end = child.end_byte
            arguments.extend(fields)
        return arguments

    def _run(
        self,
        arguments: list[Word],
        assigns: list[tuple[str, Word]],
        redirects: list[Redirect],
        stdin: tuple[int, ...],
        piped: bool,
    ) -> tuple[int, ...]:
        name = arguments[0].text if arguments else ""
        self.doubtful = self.doubtful or name == "coproc"
        if name in _KEYWORDS:
            self.faults.add("keyword-as-command")
        if name in self.state.aliases:
            self.faults.add("alias-defined-in-text")
        state = self.state
        bodies = state.functions.get(name, (None,)) if state.functions else (None,)
        kept = arguments if None in bodies else []  # a call's body stands for it
        command = Command(
            tuple(kept), tuple(assigns), tuple(redirects), state.cwd, stdin, piped, state.otherwise
        )
        made: tuple[int, ...] = ()
        if None in bodies or redirects or assigns:
            made = (self.add(command),)
        for body in bodies:
            if body is not None:
                before = state.copy()
                made += self._call(name, body, tuple(arguments[1:]), stdin, piped)
                if len(bodies) > 1:
                    state.merge(before)
        if None in bodies:
            if name in _AS_IS and len(arguments) > 1 and arguments[1].text in _DECLARES:
                exported = arguments[1].text in _EXPORTS
                local = bool(self._calling) and not exported
                for word in arguments[2:]:
                    self._declare_word(word, Declared(local))
            self.faults |= state.change(arguments)
            if name == "read":
                self._read_into(arguments[1:], redirects, stdin)
        return made

    def _read_into(
        self, arguments: list[Word], redirects: list[Redirect], stdin: tuple[int, ...]
    ) -> None:
        """Note which commands have printed what one variable is read from."""
        names = [word.text for word in arguments if not word.text.startswith("-")]
        sources = redirects[-1].target.sources if redirects else stdin
        if len(names) == 1 and sources:
            self.state.set_values(names[0], [Word(HOLE, sources=sources)])

    def _call(
        self,
        name: str,
        body: Any,
        arguments: tuple[Word, ...],
        stdin: tuple[int, ...],
        piped: bool,
    ) -> tuple[int, ...]:
        depth = self._calling.count(name)
        if depth and (piped or stdin or self._behind):
            # A function that starts itself beside itself: harmless at most by accident.
            bomb = Command((Word("fork-bomb"),), (), (), self.state.cwd, stdin, piped)
            return (self.add(bomb),)
        if depth and name in self._walked_again:
            return ()  # has been walked with nothing known about its variables
        self._calling.append(name)
        outer = self.state.lists.get("@")
        if depth:
            self._walked_again.add(name)
            self.state.forget()
            arguments = (Word(HOLE),)
        self.state.set_list("@", arguments)
        around, self.state.outer = self.state.outer, {}
        references = self.state.references
        made = self.statement(body, stdin, piped)
        self.state.leave(around, references)
        self.state.set_list("@", outer)
        self._calling.pop()
        return made

    def _on_variable_assignment(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        line = self._belongs.pop(node.id, None)
        if line is not None:  # x=1 >f a: the grammar takes the program for a second target
            arguments = self._behind_redirects(line)
            assigns = [self._assignment(node, keep=not arguments)]
            return self._run(arguments, assigns, line.redirects, stdin, piped)
        before = len(self.commands)
        assign = self._assignment(node, keep=True)
        self.add(Command((), (assign,), (), self.state.cwd))
        return tuple(range(before, len(self.commands)))

    def _on_variable_assignments(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        return self._children(node, stdin, piped)

    def _on_declaration_command(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        options = [self.text(child) for child in node.children[1:]]
        flags = "".join(text for text in options if text[:1] == "-")
        if "f" in flags and self.state.functions:
            self.faults.add("functions-in-text-run-later")
        keyword = self.text(node.children[0])
        local = bool(self._calling) and keyword in ("local", "declare", "typeset")
        declared = Declared(local and "g" not in flags, keyword not in _EXPORTS and "n" in flags)
        if self.state.references and any(text[:2] == "+n" for text in options):
            self.faults.add("name-reference")
        assigns: list[tuple[str, Word]] = []
        arguments: list[Word] = []
        for position, child in enumerate(node.children):
            if position == 0:
                arguments.append(Word(self.text(child)))
            elif child.type == "variable_assignment":
                assigns.append(self._assignment(child, keep=True, declared=declared))
            elif child.type == "variable_name":
                arguments.append(Word(self.text(child)))
                self._declare(self.text(child), declared)
            else:
                fields = self.fields(child)
                arguments.extend(fields)
                for word in fields:
                    self._declare_word(word, declared)
        return (
            self.add(Command(tuple(arguments), tuple(assigns), (), self.state.cwd, stdin, piped)),
        )

    def _declare(self, name: str, declared: "Declared") -> None:
        """Take in a variable that is declared without a value."""
        if declared.reference:
            self.faults.add("name-reference")  # its first value will say which variable it is
        if declared.local:
            self.state.make_local(name)
            if name in self.state.values:  # bash unsets it; dash lets it keep its value
                self.state.set_values(name, [*self.state.look_up(name), Word("")])

    def _declare_word(self, word: Word, declared: "Declared") -> None:
        """Take in an assignment that stands in quotes, as a word of its own."""
        name, equals, value = word.text.partition("=")
        if HOLE in name and not name.startswith("-"):
            self.state.forget()  # which variable is set is not known
        elif equals and name.rstrip("+").isidentifier():
            known = word._replace(text=value if name[-1] != "+" else HOLE)
            self._set(name.rstrip("+"), known, None, False, declared)

    def _set(
        self,
        label: str,
        word: Word,
        items: tuple[Word, ...] | None,
        appended: bool,
        declared: "Declared",
    ) -> None:
        """Give a variable its value, or the name of the variable it stands for."""
        if declared.local:
            self.state.make_local(label)
        if not declared.reference:
            self._keep(label, word, items, appended)
        elif not word.known or not self.state.refer(label, word.text):
            self.faults.add("name-reference")

    def _on_unset_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        for child in node.children[1:]:
            if child.type == "variable_name":
                self.state.set_values(self.text(child), [Word("")])
            elif not all(word.known for word in self.fields(child)):
                self.state.forget()  # which variables are gone is not known
        return ()

    def _on_test_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        raw = self.text(node)
        if raw.startswith("[") and not raw.startswith("[[") and raw[1:2] not in BLANKS:
            self.faults.add("syntax")  # [ab]* is a pattern, and names the program it finds
        self.substitutions(node)
        return ()

    def _assignment(
        self, node: Any, *, keep: bool, declared: "Declared | None" = None
    ) -> tuple[str, Word]:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        array = value is not None and value.type == "array"
        items = self._items(value) if array else None
        if array:
            word = Word(HOLE, sources=tuple(i for item in items or () for i in item.sources))
        else:
            word = self.single(value) if value is not None else Word("")
        if name is not None and name.type == "subscript":
            self.substitutions(name)
            word, name = word._replace(text=HOLE), name.children[0]
        label = self.text(name) if name is not None else ""
        appended = any(child.type == "+=" for child in node.children)
        if appended:
            word = word._replace(text=HOLE)
        if keep:
            self._set(label, word, items if array else None, appended, declared or Declared())
        return self.state.references.get(label, label), word

    def _items(self, array: Any) -> tuple[Word, ...] | None:
        """Return an array's words; None where one is put at a place of its own."""
        children = [child for child in array.children if child.is_named]
        items = tuple(item for child in children for item in self.fields(child))
        return None if any(self.text(child).startswith("[") for child in children) else items

    def _keep(self, label: str, word: Word, items: tuple[Word, ...] | None, appended: bool) -> None:
        before = self.state.lists.get(label, () if not appended else None)
        self.state.set_values(label, [word])
        if items is not None and before is not None:
            self.state.set_list(label, (*before, *items) if appended else items)

    def add(self, command: Command) -> int:
        """Take a command, and return its index."""
        if len(self.commands) >= MAX_COMMANDS:
            raise TooManyError
        self.work.spend(6 + len(command.words) + len(command.stdin) + len(command.cwd) // 12)
        self.commands.append(command)
        return len(self.commands) - 1
