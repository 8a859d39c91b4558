"""The tree-sitter grammar for bash, loaded without its packages' Python code.

The two packages hold one extension module each. Loading those directly saves
the hook more than half of what their ``__init__`` files cost at start-up.
"""

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from os import path
from types import ModuleType
from typing import Any

from toolgate.errors import UnavailableError
from toolgate.gate.shell.work import SpentError, Work

_parser: Any = None

# The grammar's scanner indexes C character tables with code points and crashes on
# large ones. To the shell every non-ASCII character is an ordinary word character,
# so each of its bytes is shown to the parser as one that is no name, digit or
# operator. Offsets stay, and texts are always cut from the real source.
_ASCII = bytes(range(128)) + b"%" * 128

_SHORT = 512
"""Length up to which a parse is quick whatever the text; counting would slow it down."""

_CHECK = 240
"""Steps to count for a hundred operations of the parser."""

_GROWTH = 12
"""Steps by which that grows each time: where the text is broken, time goes with the square."""

_CHUNK = 512
"""Bytes the parser is given at a time. In some places it looks ahead to the end of the text for
each word; how often it asks for a piece tells what that takes."""

_LOOK = 10
"""Steps to count for a piece."""


def parse(source: bytes, work: Work | None = None) -> Any:
    """Return the root node of the syntax tree of bash source text.

    Args:
        source: the text.
        work: the steps it may cost; without, or for a short text, they are not counted.

    Raises:
        UnavailableError: the grammar's extension modules are not installed.
        SpentError: it would cost more.
    """
    global _parser
    if _parser is None:
        binding = _extension("tree_sitter")
        language = binding.Language(_extension("tree_sitter_bash").language())
        _parser = binding.Parser(language)
    shown = source.translate(_ASCII)
    if work is None or len(shown) <= _SHORT:
        return _parser.parse(shown).root_node
    return _counted(shown, work)


def _counted(source: bytes, work: Work) -> Any:
    """Return the root node of a long text, unless parsing it takes too many steps.

    Raises:
        SpentError: it takes too many.
    """
    cost = _CHECK

    def piece(offset: int, _: object) -> bytes:
        work.left -= _LOOK
        return source[offset : offset + _CHUNK] if work.left >= 0 else b""

    def stops(offset: int, broken: bool) -> bool:
        nonlocal cost
        work.left -= cost
        cost += _GROWTH
        return work.left < 0

    try:
        tree = _parser.parse(piece, progress_callback=stops)
    except ValueError:
        _parser.reset()
        if work.left >= 0:
            raise
    if work.left < 0:
        raise SpentError
    return tree.root_node


def _extension(package: str) -> ModuleType:
    name = f"{package}._binding"
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    for folder in sys.path:
        for suffix in EXTENSION_SUFFIXES:
            file = path.join(folder, package, "_binding" + suffix)
            if path.isfile(file):
                loader = ExtensionFileLoader(name, file)
                spec = ModuleSpec(name, loader, origin=file)
                module = loader.create_module(spec)
                loader.exec_module(module)
                sys.modules[name] = module
                return module
    raise UnavailableError(f"the parser package {package} is not installed")
