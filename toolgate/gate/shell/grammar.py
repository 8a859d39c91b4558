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

_parser: Any = None

# The grammar's scanner indexes C character tables with code points and crashes on
# large ones. To the shell every non-ASCII character is an ordinary word character,
# so each of its bytes is shown to the parser as one that is no name, digit or
# operator. Offsets stay, and texts are always cut from the real source.
_ASCII = bytes(range(128)) + b"%" * 128


def parse(source: bytes) -> Any:
    """Return the root node of the syntax tree of bash source text.

    Raises:
        UnavailableError: the grammar's extension modules are not installed.
    """
    global _parser
    if _parser is None:
        binding = _extension("tree_sitter")
        language = binding.Language(_extension("tree_sitter_bash").language())
        _parser = binding.Parser(language)
    return _parser.parse(source.translate(_ASCII)).root_node


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
