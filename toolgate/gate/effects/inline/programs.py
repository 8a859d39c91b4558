"""Calls that start programs: shell text, lists of words, files that are run."""

import ast
from typing import Self

from toolgate.gate.effects.inline.arguments import Arguments
from toolgate.gate.effects.inline.values import Texts
from toolgate.gate.effects.model import Effect
from toolgate.gate.shell.model import HOLE, Redirect, Word

_SHELLS = frozenset(
    ("sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "cmd.exe", "powershell.exe")
)


class ProgramActs(Arguments):
    """Reads calls that start programs."""

    def shell(self, texts: Texts) -> list[Effect]:
        """Return the effects of shell text."""
        made: list[Effect] = []
        for text in texts:
            if HOLE in text or self._is_bare_shell(text.split()):
                made.append(self.reader.code_not_known(self.name))
            else:
                made += self.unpacked(text) + self.reader.inner(text, cwd=self.command.cwd)
        return made

    def unpacked(self, text: str) -> list[Effect]:
        """Return that code which is run was written down encoded, whatever it does."""
        if not any(part in text for part in self.values.unpacked):
            return []
        return [self.reader.unknown("encoded-code", self.name)]

    def _is_bare_shell(self, words: list[str]) -> bool:
        """Say whether a program is a shell that is not told here what to do."""
        found = bool(words) and words[0].rpartition("/")[2] in _SHELLS
        found = found and all(
            word in ("-i", "-l", "-", "-s", "--norc", "--noprofile") for word in words[1:]
        )
        self.bare_shells = self.bare_shells or found
        return found

    def _shell(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        inside = self._elsewhere(node)
        lists = self.values.lists(node.args[position]) if len(node.args) > position else None
        if lists and called == "proc_open":
            return inside.words_of(lists)
        return inside.shell(inside.texts(node, position, "cmd"))

    def _elsewhere(self, node: ast.Call) -> Self:
        """Return a reader for the directory that a call starts its program in."""
        folder = self.keyword(node, "cwd") or self.keyword(node, "chdir")
        if folder is None:
            return self
        path = self.reader.paths.resolve(self.values.texts(folder)[0], self.command.cwd)
        moved = self.command._replace(cwd="" if HOLE in path else path)
        return type(self)(self.values, self.reader, moved, self.name, self.read_code, self.exposure)

    def _process(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        argument = node.args[0] if node.args else self.keyword(node, "args")
        inside = self._elsewhere(node)
        shell = self.keyword(node, "shell")
        in_shell = isinstance(shell, ast.Constant) and bool(shell.value)
        lists = self.values.lists(argument)
        if in_shell or lists is None:
            return inside.shell(self.values.texts(argument))
        given = self.keyword(node, "input") or self.keyword(node, "stdin")
        return inside.words_of(lists, given)

    def _list(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        argument = node.args[position] if len(node.args) > position else None
        lists = self.values.lists(argument)
        if lists is None and called == "pty.spawn":
            return self.shell(self.values.texts(argument))
        if called == "Deno.run":
            lists = self.values.lists(self.keyword(node, "cmd"))
        return self.words_of(lists) if lists else [self.reader.code_not_known(self.name)]

    def _words(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        if called == "Deno.Command":
            given = self.keyword(node, "args") or ast.List([], ast.Load())
            return self._program(node.args[0] if node.args else None, given)
        lists = self.values.lists(ast.List(node.args[position:], ast.Load()))
        return self.words_of(lists) if lists else [self.reader.code_not_known(self.name)]

    def _start(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        """Read a program and the list of its arguments, or shell text where that is asked for."""
        shell = self.keyword(node, "shell")
        in_shell = isinstance(shell, ast.Constant) and bool(shell.value)
        given = node.args[position + 1] if len(node.args) > position + 1 else None
        if given is None or isinstance(given, ast.Dict | ast.Lambda):
            given = ast.List([], ast.Load())
        program = node.args[position] if len(node.args) > position else None
        inside = self._elsewhere(node)
        if in_shell:
            joined = ast.Call(
                ast.Attribute(
                    ast.List([program or ast.Constant(None), ast.Starred(given)]), "join"
                ),
                [ast.Constant(" ")],
                [],
            )
            return inside.shell(self.values.texts(joined))
        return inside._program(program, given)

    def _program(self, program: ast.expr | None, given: ast.expr) -> list[Effect]:
        lists = self.values.lists(given)
        if program is None or lists is None:
            lists = [[ast.Constant(None)]]
        first = program or ast.Constant(None)
        return self.words_of([[first, *items] for items in lists])

    def _argv(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self._elsewhere(node).argv(
            [item for item in node.args[position:] if not isinstance(item, ast.Dict)]
        )

    def argv(self, items: list[ast.expr]) -> list[Effect]:
        """Read a program and its arguments; one text alone is shell text."""
        if items and self.words.language == "ruby" and len(items) > 1:
            known = (
                self.values.lists(items[0]) is not None
                or HOLE not in self.values.texts(items[0])[0]
            )
            items = items if known else items[1:]  # an environment
        lists = self.values.lists(ast.List(items, ast.Load()))
        if len(items) == 1:
            inner = self.values.lists(items[0])
            if inner is None:
                return self.shell(self.values.texts(items[0]))
            lists = inner
        if not lists:
            return [self.reader.code_not_known(self.name)]
        return self.words_of(lists)

    def _pipeline(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return [effect for item in node.args for effect in self.argv([item])]

    def words_of(self, lists: list[list[ast.expr]], given: ast.expr | None = None) -> list[Effect]:
        """Return the effects of a program with arguments, for every list they may be."""
        made: list[Effect] = []
        for items in lists:
            if not items:
                continue
            words = tuple(self._word(item) for item in items)
            redirects: tuple[Redirect, ...] = ()
            if given is not None:
                redirects = (Redirect("<<<", Word(self.values.texts(given)[0])),)
            command = self.command._replace(words=words, redirects=redirects, stdin=(), assigns=())
            if len(words) == 1 and " " in words[0].text and self.words.language in ("ruby", "perl"):
                made += self.shell((words[0].text,))
            elif given is None and self._is_bare_shell([word.text for word in words]):
                made.append(self.reader.code_not_known(self.name))
            else:
                made += self.reader.invoke(words, command)
        return made or [self.reader.code_not_known(self.name)]

    def _word(self, item: ast.expr) -> Word:
        texts = self.values.texts(item)
        text = texts[0] if len(texts) == 1 else HOLE
        return Word(text, glob="*" in text)

    def _file(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        made: list[Effect] = []
        for text in self.texts(node, position):
            plain = HOLE not in text or "/" in text.partition(HOLE)[0]
            module = self.words.language == "perl" and not any(c in text for c in "/.")
            if plain and not module:
                made += self.reader.run_file(Word(text), self.command, self.name)
            elif called == "do" or (self.words.language == "php" and HOLE in text):
                made.append(self.reader.code_not_known(self.name))
        return made

    def _module(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        made: list[Effect] = []
        for text in self.texts(node, position):
            if HOLE in text:
                made.append(self.reader.code_not_known(self.name))
            elif "://" in text or text.startswith((".", "/", "data:")):
                made += self.reader.run_file(Word(text), self.command, self.name)
        return made
