"""Shell text to simple commands.

One walk over the syntax tree follows what bash would do in order: directories
changed, variables set, functions called, here-documents fed. What it cannot
follow becomes a ``HOLE`` in a word or a fault of the whole script; a script
with a fault is never proved harmless.
"""

from itertools import product
from typing import TYPE_CHECKING, Any

from toolgate.gate.shell.expand import BLANKS, Expander, joined, spread, unknown
from toolgate.gate.shell.model import HOLE, Command, Line, Redirect, Script, Word
from toolgate.gate.shell.plain import Plain, read_plain
from toolgate.gate.shell.source import parsed, refusal
from toolgate.gate.shell.state import State
from toolgate.gate.shell.work import (
    MAX_COMMANDS,
    MAX_REDIRECTS,
    SPENT,
    UNCOUNTED,
    SpentError,
    TooManyError,
    Work,
)

if TYPE_CHECKING:
    from toolgate.gate.shell.compound import Ways
    from toolgate.gate.shell.plain import Simple

MAX_STEPS = 8_000
MAX_CHOICES = 12
MAX_VARIABLES = 128
"""With more of them set, a command is walked once: each way through it copies them all."""

_TRANSPARENT = frozenset(("program", "do_group", "compound_statement"))
_COMPOUND = frozenset(
    (
        *("while_statement", "case_statement", "case_item", "c_style_for_statement"),
        *("if_statement", "then", "else_clause", "elif_clause", "for_statement"),
    )
)
_KEYWORDS = frozenset(
    (
        *("then", "do", "done", "fi", "else", "elif", "esac", "if", "while", "until", "for"),
        *("case", "{", "}", "function", "select", "in", "[["),
    )
)
_TAKE_REDIRECTS = frozenset(
    ("command", "redirected_statement", "function_definition", "variable_assignment")
)
_AS_IS = frozenset(("command", "builtin"))
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))


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
    root: Any = None
    try:
        plain = read_plain(text, work)
        if plain is None and (text.count('"') % 2 or text.count("'") % 2):
            plain = _closed(text, work)
        if plain is not None:
            from toolgate.gate.shell.straight import is_straight, script

            if is_straight(plain):
                return script(plain, cwd, home, work)
            if not plain.quotes:
                from toolgate.gate.shell.plain_nodes import program

                root = program(plain)
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


def _closed(text: str, work: Work) -> Plain | None:
    """Read text that would be plain if its last quotation was closed."""
    from toolgate.gate.shell.unclosed import missing_mark

    mark = missing_mark(text)
    return read_plain(text + mark, work) if mark else None


class Walk(Expander):
    """One pass over a syntax tree. The result is ``commands`` and ``faults``."""

    def __init__(self, source: bytes, cwd: str, home: str, work: Work) -> None:
        super().__init__(source, State(cwd, home), work)
        self.commands: list[Command] = []
        self.calling: list[str] = []
        self.walked_again: set[str] = set()
        self._steps = 0
        self.belongs: dict[int, Line] = {}
        self.ways: list[Ways] = []
        self.behind = False  # whether the statement walked is left running behind

    def statement(self, node: Any, stdin: tuple[int, ...], piped: bool = False) -> tuple[int, ...]:
        """Walk a statement and return the commands whose output is its output."""
        self._steps += 1
        if self._steps > MAX_STEPS:  # loops and calls walk a statement again and again
            raise TooManyError
        self.work.left -= 4  # counted by hand, because this is called so often
        if self.work.left < 0:
            raise SpentError
        kind = node.type
        if self.belongs and kind not in _TAKE_REDIRECTS and node.id in self.belongs:
            from toolgate.gate.shell import redirections

            stdin = redirections.taken(self, self.line_of(node), stdin, piped)
        if kind == "ERROR" or node.is_missing:
            self.faults.add("syntax")
            return self.children(node, stdin, piped)
        if kind == "program" and node.has_error:
            self.faults.add("syntax")
        if kind in _TRANSPARENT:
            return self.children(node, stdin, piped)
        if kind in _COMPOUND:
            from toolgate.gate.shell import compound

            return compound.HANDLERS[kind](self, node, stdin, piped)
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

    def children(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        made: tuple[int, ...] = ()
        end = node.start_byte
        children = node.children
        for position, child in enumerate(children):
            self.gap(end, child.start_byte)
            end = child.end_byte
            behind = self.behind
            self.behind = behind or (
                position + 1 < len(children) and children[position + 1].type == "&"
            )
            made += self.statement(child, stdin, piped)
            self.behind = behind
        self.gap(end, node.end_byte)
        return made

    def _subshell(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        before = self.state.copy()
        made = self.children(node, stdin, piped)
        self.state = before
        return made

    _on_subshell = _subshell

    def _on_list(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        from toolgate.gate.shell import chains

        return chains.in_a_list(self, node, stdin, piped)

    def _on_pipeline(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        from toolgate.gate.shell import chains

        return chains.in_a_pipeline(self, node, stdin, piped)

    def _on_negated_command(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        return self.children(node, stdin, piped)

    def _on_function_definition(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        from toolgate.gate.shell import functions

        return functions.define(self, node, stdin, piped)

    def _on_file_redirect(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        from toolgate.gate.shell import redirections

        return redirections.alone(self, node, stdin, piped)

    def _on_redirected_statement(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        from toolgate.gate.shell import redirections

        return redirections.redirected(self, node, stdin, piped)

    def _on_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        line = self.line_of(node)
        made = self.command(node, stdin, piped, line)
        if not line.trailing:
            return made
        from toolgate.gate.shell import redirections

        return redirections.after(self, made, line.trailing, piped)

    def _on_plain_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        """Walk a command that was read without the grammar."""
        simple: Simple = node.simple
        arguments: list[Word] = []
        for position, word in enumerate(simple.words):
            arguments += self._spread(word) if position in simple.kinds else [word]
        redirects: list[Redirect] = []
        for redirect, marked in simple.redirects:
            if len(redirects) >= MAX_REDIRECTS:
                raise TooManyError
            targets = self._spread(redirect.target) if marked else [redirect.target]
            redirects += [Redirect(redirect.op, word) for word in targets or [Word("")]]
        return self._run(arguments, [], redirects, stdin, piped)

    def _spread(self, word: Word) -> list[Word]:
        return spread([word], self.state.home, self.work)

    def line_of(self, node: Any) -> Line:
        belongs = self.belongs.pop(node.id, None) if self.belongs else None
        line = belongs or Line([], [], [])
        for child in node.children:
            if child.type in _REDIRECTS:
                from toolgate.gate.shell.redirections import redirect

                redirect(self, child, line)
        return line

    def carrier(
        self, redirects: list[Redirect], stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        """Hold a compound statement's redirections in a command without words."""
        if not redirects:
            return stdin
        return (self.add(Command((), (), tuple(redirects), self.state.cwd, stdin, piped)),)

    def command(
        self, node: Any, stdin: tuple[int, ...], piped: bool, line: Line
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
        self, node: Any, stdin: tuple[int, ...], piped: bool, line: Line
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
                from toolgate.gate.shell.assignments import assignment

                assigns.append(assignment(self, child, keep=False))
            elif kind not in _REDIRECTS:
                named = kind == "command_name" and child.children
                fields = self.fields(child.children[0] if named else child)
                if gap == b"\\\n" and arguments and fields:
                    fields[0] = joined(arguments.pop(), fields[0])  # one word, continued
                arguments.extend(fields)
        if node is not None:
            self.gap(end, node.end_byte)
        if line.arguments:
            from toolgate.gate.shell import redirections

            arguments += redirections.behind(self, line)
        self.doubtful = self.doubtful or bool(line.trailing)
        piped = piped or bool(line.trailing)
        return self._run(arguments, assigns, line.redirects, stdin, piped)

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
                from toolgate.gate.shell import functions

                before = state.copy()
                made += functions.call(self, name, body, tuple(arguments[1:]), stdin, piped)
                if len(bodies) > 1:
                    state.merge(before)
        if None in bodies:
            if name in _AS_IS and len(arguments) > 1 and arguments[1].text in _DECLARES:
                from toolgate.gate.shell.assignments import EXPORTS, Declared, declare_word

                exported = arguments[1].text in EXPORTS
                local = bool(self.calling) and not exported
                for word in arguments[2:]:
                    declare_word(self, word, Declared(local))
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

    def _on_variable_assignment(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        from toolgate.gate.shell.assignments import assignment

        line = self.belongs.pop(node.id, None)
        if line is not None:  # x=1 >f a: the grammar takes the program for a second target
            from toolgate.gate.shell import redirections

            arguments = redirections.behind(self, line)
            assigns = [assignment(self, node, keep=not arguments)]
            return self._run(arguments, assigns, line.redirects, stdin, piped)
        before = len(self.commands)
        assign = assignment(self, node, keep=True)
        self.add(Command((), (assign,), (), self.state.cwd))
        return tuple(range(before, len(self.commands)))

    def _on_variable_assignments(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        return self.children(node, stdin, piped)

    def _on_declaration_command(
        self, node: Any, stdin: tuple[int, ...], piped: bool
    ) -> tuple[int, ...]:
        from toolgate.gate.shell import assignments

        return assignments.declaration(self, node, stdin, piped)

    def _on_unset_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        from toolgate.gate.shell import assignments

        return assignments.unset(self, node, stdin, piped)

    def _on_test_command(self, node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
        raw = self.text(node)
        if raw.startswith("[") and not raw.startswith("[[") and raw[1:2] not in BLANKS:
            self.faults.add("syntax")  # [ab]* is a pattern, and names the program it finds
        self.substitutions(node)
        return ()

    def add(self, command: Command) -> int:
        """Take a command, and return its index."""
        if len(self.commands) >= MAX_COMMANDS:
            raise TooManyError
        self.work.spend(6 + len(command.words) + len(command.stdin) + len(command.cwd) // 12)
        self.commands.append(command)
        return len(self.commands) - 1
