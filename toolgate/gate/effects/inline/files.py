"""Calls that touch files: read, write, delete, copy, move, link, open."""

import ast

from toolgate.gate.effects.inline.arguments import Arguments
from toolgate.gate.effects.inline.values import UNKNOWN, Texts
from toolgate.gate.effects.inline.vocabulary import OWNER, Act
from toolgate.gate.effects.model import Effect
from toolgate.gate.shell.model import HOLE

_WRITING_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "CREAT", "TRUNC")


class FileActs(Arguments):
    """Reads calls that touch files; each method is named for the act it reads."""

    def _delete(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        deep = any(key.arg == "recursive" for key in node.keywords)
        return self.access("fs.delete", self.texts(node, position), ("recursive",) if deep else ())

    def _deletes(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.delete", self.each(node, position))

    def _tree(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        if called == "fs.rm" and not any(key.arg == "recursive" for key in node.keywords):
            literal = len(node.args) < 2 or isinstance(node.args[1], ast.Dict | ast.Lambda)
            how = () if literal else ("recursive",)
            return self.access("fs.delete", self.texts(node, position), how)
        return self.access("fs.delete", self.texts(node, position), ("recursive",))

    def _trees(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.delete", self.each(node, position), ("recursive",))

    def _write(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        made = self.access("fs.write", self.texts(node, position))
        return made + self.exposure.kept(node, made)

    def _read(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        made: list[Effect] = []
        for text in self.texts(node, position):
            if "://" in text and not text.startswith(("file:", "php:", "data:")):
                made += self.network.reached("net.fetch", (text,), node)
            elif not text.isdigit() and not text.startswith("php:"):
                made += self.access("fs.read", (text.removeprefix("file://"),))
        return made

    def _permission(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.permission", self.texts(node, position))

    def _permissions(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.permission", self.each(node, position))

    def _copy(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self._read(node, position, called) + self.access(
            "fs.write", self.texts(node, 1, "dst")
        )

    def _move(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.delete", self.texts(node, position), ("move",)) + self.access(
            "fs.write", self.texts(node, 1, "dst")
        )

    def _moved(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.delete", self.texts(node, OWNER), ("move",)) + self.access(
            "fs.write", self.texts(node, 0)
        )

    def _link(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return self.access("fs.link", self.texts(node, position))

    def _extract(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        into = self.texts(node, position) if len(node.args) > position else (".",)
        return self.access("fs.write", into, ("extract",))

    def _flags(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        flags = ast.dump(ast.Tuple(node.args[1:], ast.Load()))
        writes = any(flag in flags for flag in _WRITING_FLAGS)
        return self.access("fs.write" if writes else "fs.read", self.texts(node, position))

    def _sysopen(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        flags = ast.dump(ast.Tuple(node.args[2:], ast.Load()))
        writes = "RDONLY" not in flags or any(flag in flags for flag in _WRITING_FLAGS)
        return self.access("fs.write" if writes else "fs.read", self.texts(node, position))

    def _open(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        """Read an opened file, a command that Ruby opens like one, or a URL."""
        after = 0 if position == OWNER else position + 1
        given = len(node.args) > after and not isinstance(node.args[after], ast.Dict | ast.Lambda)
        given = given or self.keyword(node, "mode") is not None
        modes = self.texts(node, after, "mode") if given else ("r",)
        writes = any(char in mode.partition(":")[0] for mode in modes for char in f"wax+{HOLE}")
        made: list[Effect] = []
        for path in self.texts(node, position):
            if path.startswith("|") and self.words.language == "ruby":
                made += self.shell((path[1:],))
            elif "://" in path and self.words.language in ("php", "ruby"):
                made += (
                    []
                    if path.startswith("php:")
                    else self.network.reached("net.fetch", (path,), node)
                )
            else:
                made += self.access("fs.write" if writes else "fs.read", (path,))
        return made

    def _perlopen(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        """Read ``open`` of Perl: a mode and a path, a path with its mode in it, or a command."""
        items = node.args[1:]
        if not items:
            return []
        if len(items) == 1:
            return self._perl_path(self.texts(node, 1))
        modes = self.texts(node, 1)
        made: list[Effect] = []
        for mode in modes:
            if mode.strip() in ("|-", "-|"):
                made += self.argv(items[1:])
            elif "&" in mode:
                continue  # another handle, doubled
            else:
                writes = any(char in mode for char in f">+{HOLE}")
                scalar = not isinstance(
                    items[1], ast.Constant | ast.Name | ast.JoinedStr | ast.BinOp
                )
                paths = UNKNOWN if scalar else self.texts(node, 2)
                made += self.access("fs.write" if writes else "fs.read", paths)
        return made

    def _perl_path(self, texts: Texts) -> list[Effect]:
        made: list[Effect] = []
        for text in texts:
            bare = text.strip()
            if bare.startswith("|") or bare.endswith("|"):
                made += self.shell((bare.strip(" |"),))
            elif bare.startswith((">&", "<&")):
                continue
            elif bare.startswith((">", "+", HOLE)):
                made += self.access("fs.write", (bare.lstrip(">+ <"),))
            else:
                made += self.access("fs.read", (bare.lstrip("< "),))
        return made

    def _fetched(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        made = self.network.done(Act("fetch", position), node, called)
        return made + self.access("fs.write", self.texts(node, position + 1))

    def _chdir(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return []
