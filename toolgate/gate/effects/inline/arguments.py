"""The arguments of a program's calls, and the files that they name."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable

from toolgate.gate.effects.inline.access import access
from toolgate.gate.effects.inline.exposure import Exposure
from toolgate.gate.effects.inline.names import Names
from toolgate.gate.effects.inline.network import Network
from toolgate.gate.effects.inline.values import UNKNOWN, Texts, Values
from toolgate.gate.effects.inline.vocabulary import OWNER
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command

ReadCode = Callable[[str, str, Command], list[Effect]]


class Arguments(ABC):
    """Reads calls, one after the other, in one working directory.

    Args:
        values: what expressions can be.
        reader: reads shell text that the program runs.
        command: the command that runs the program, in the directory it is in.
        name: the program that runs it.
        read_code: reads code of a language that this program runs.
        exposure: which expressions hold secrets of the environment.
    """

    def __init__(
        self,
        values: Values,
        reader: Reading,
        command: Command,
        name: str,
        read_code: ReadCode,
        exposure: Exposure,
    ) -> None:
        self.values = values
        self.names: Names = values.names
        self.words = values.words
        self.reader = reader
        self.command = command
        self.name = name
        self.read_code = read_code
        self.exposure = exposure
        self.network = Network(values, reader, name, exposure)
        self.bare_shells = False

    def texts(self, node: ast.Call, position: int, keyword: str = "") -> Texts:
        """Return what an argument can be, or the owner of a method."""
        if position == OWNER:
            func = node.func
            return self.values.texts(func.value) if isinstance(func, ast.Attribute) else UNKNOWN
        if len(node.args) > position:
            return self.values.texts(node.args[position])
        for item in node.keywords:
            if keyword and item.arg == keyword:
                return self.values.texts(item.value)
        return UNKNOWN

    def keyword(self, node: ast.Call, name: str) -> ast.expr | None:
        """Return a keyword argument."""
        return next((item.value for item in node.keywords if item.arg == name), None)

    def access(self, kind: str, texts: Texts, how: tuple[str, ...] = ()) -> list[Effect]:
        """Return the effects of touching every path of some texts."""
        return [
            effect
            for text in texts
            for effect in access(kind, text, self.reader, self.command, self.name, how)
        ]

    def each(self, node: ast.Call, start: int) -> Texts:
        """Return the texts of every argument from one on; of ``$_`` where there is none."""
        if len(node.args) <= start:
            return self.values.texts(ast.Name("$_", ast.Load())) if start == 0 else ()
        paths = (item for item in node.args[start:] if not isinstance(item, ast.Dict))
        return tuple(text for item in paths for text in self.values.texts(item))

    @abstractmethod
    def shell(self, texts: Texts) -> list[Effect]:
        """Return the effects of shell text."""

    @abstractmethod
    def argv(self, items: list[ast.expr]) -> list[Effect]:
        """Read a program and its arguments; one text alone is shell text."""
