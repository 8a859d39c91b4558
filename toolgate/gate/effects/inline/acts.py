"""What each call of a program does to files, processes, hosts and databases."""

import ast
from functools import cache

from toolgate.gate.effects.inline.arguments import ReadCode
from toolgate.gate.effects.inline.exposure import Exposure
from toolgate.gate.effects.inline.files import FileActs
from toolgate.gate.effects.inline.programs import ProgramActs
from toolgate.gate.effects.inline.values import UNKNOWN, Values
from toolgate.gate.effects.inline.vocabulary import Act, vocabulary
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

_STARTING = frozenset(("shell", "process", "argv", "start", "eval", "list", "words"))
_CHANGES_CALLED = frozenset(("delete", "deletes", "tree", "trees"))
_SQL_STARTS = frozenset(
    (
        *("select", "insert", "update", "delete", "drop", "truncate", "create", "alter", "grant"),
        *("revoke", "copy", "with", "replace", "pragma", "explain", "call", "vacuum", "attach"),
        *("merge", "show", "set", "begin", "commit", "rollback"),
    )
)
_PATH_METHODS = frozenset(
    (
        *("unlink", "rmdir", "write_text", "write_bytes", "touch", "mkdir", "read_text", "open"),
        *("read_bytes", "chmod", "lchmod", "symlink_to", "hardlink_to", "link_to"),
    )
)
_UNNAMED_OWNER = frozenset(("remove", "unlink", "rmdir"))


@cache
def _acting_words(language: str) -> frozenset[str]:
    """Return the last words of what starts programs or deletes, in every spelling."""
    kinds, table = _STARTING | _CHANGES_CALLED, vocabulary(language).acts
    named = {name.rpartition(".")[2] for name, act in table.items() if act.kind in kinds}
    return frozenset(named | {name + "Sync" for name in named})


class Acts(FileActs, ProgramActs):
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
        super().__init__(values, reader, command, name, read_code, exposure)
        self.acting = self._imports_what_acts()
        self._acting_words = _acting_words(self.words.language)

    def _imports_what_acts(self) -> bool:
        """Say whether the program takes in a module that makes files or processes likely."""
        if any(
            value.partition(".")[0] in self.words.acting for value in self.names.imported.values()
        ):
            return True
        for call in self.names.calls:
            if self.values.dotted(call.func) in self.words.importers and call.args:
                module = self.values.texts(call.args[0])[0].removeprefix("node:")
                if module.partition("/")[0] in self.words.acting:
                    return True
        return False

    def call(self, node: ast.Call) -> list[Effect]:
        """Return what one call does, and what functions handed to it would do."""
        called, act = self.act(node)
        made = self.exposure.printed(node, called)
        if called in ("getattr", "vars") and self._of_module(node, called):
            return [*made, self.reader.code_not_known(self.name)]
        if act is None:
            by_value = called == "?" or isinstance(node.func, ast.Subscript)
            if called.rpartition(".")[2] == HOLE or (by_value and self._is_variable(node.func)):
                made.append(self.reader.code_not_known(self.name))
            return made + self._unlisted(node, called)
        return made + self.done(act, node, called)

    def _is_variable(self, func: ast.expr) -> bool:
        """Say whether the name of what is called is itself a value: ``$f(...)``, ``&$f(...)``."""
        dynamic = self.words.language in ("php", "perl")
        if isinstance(func, ast.Name):
            given = self.names.given(func.id)
            if given and all(isinstance(value, ast.Lambda) for value in given):
                return False  # read where it stands
        kinds = (ast.Name, ast.BinOp, ast.JoinedStr, ast.Subscript, ast.Constant)
        return dynamic and isinstance(func, kinds)

    def act(self, node: ast.Call) -> tuple[str, Act | None]:
        """Return what is called, and what that does."""
        called = self.values.dotted(node.func)
        table = self.words.acts
        if self.words.language == "python":
            called = self._python_name(node, called)
        elif self.words.language == "php":
            called = called.lower() if called.lower() in table else called
        if called in table:
            return called, table[called]
        owner, _, method = called.rpartition(".")
        if not owner:
            return called, None
        root = owner.partition(".")[0]
        if self.words.language == "python":
            known = root in {v.partition(".")[0] for v in self.names.imported.values()}
            if (
                known
                and root not in ("pathlib", "os", "subprocess", "shutil")
                and not self._is_anyones(method)
            ):
                return called, None
        raw = node.func.attr if isinstance(node.func, ast.Attribute) else method
        found = table.get("*." + raw) or table.get("*." + method)
        if found is None and root == "?" and self.words.language == "ruby":
            bare = table.get(method)
            found = bare if bare is not None and bare.kind in _STARTING else None
        if found is None and self.acting and (root == "?" or not self._is_own(root)):
            found = table.get("~." + method)
        if found is not None and found.kind == "sql" and not self._is_sql(node, found):
            found = None
        return called, found

    def _is_anyones(self, method: str) -> bool:
        act = self.words.acts.get("*." + method)
        return act is not None and act.kind in ("sql", "send")

    def _is_own(self, root: str) -> bool:
        """Say whether the owner of a method is a value that the program itself has made."""
        given = self.names.given(root)
        made = (ast.List, ast.Dict, ast.Constant, ast.JoinedStr, ast.Tuple)
        return bool(given) and all(isinstance(value, made) for value in given)

    def _is_sql(self, node: ast.Call, act: Act) -> bool:
        return any(
            text.lstrip(" \n\t(").partition(" ")[0].strip(";").lower() in _SQL_STARTS
            for text in self.texts(node, act.position)
        )

    def _python_name(self, node: ast.Call, called: str) -> str:
        """Return a call's name, told by its method alone where its owner is not known."""
        owner, _, method = called.rpartition(".")
        if called.startswith("pathlib.Path."):
            return called.removeprefix("pathlib.")
        first = owner.partition(".")[0]
        known = first in {v.partition(".")[0] for v in self.names.imported.values()}
        if not owner or (known and first != "pathlib") or first == "Path":
            return called
        if method in _PATH_METHODS:
            return f"Path.{method}"
        if method in ("rename", "replace") and len(node.args) == 1 and not node.keywords:
            return "Path.rename"
        if method in _UNNAMED_OWNER and (first == "?" or not self.names.is_assigned(first)):
            return f"os.{method}"
        return called

    def _of_module(self, node: ast.Call, called: str) -> bool:
        """Say whether a member of a dangerous module is taken by a name that is not known."""
        modules = ("os", "subprocess", "shutil", "builtins")
        if not node.args or self.values.dotted(node.args[0]) not in modules:
            return False
        return called == "getattr" and HOLE in self.texts(node, 1)[0]

    def taken(self) -> list[Effect]:
        """Return what functions do that are handed over or kept: ``map(os.remove, x)``.

        Who calls them with what is not followed; a name for one is.
        """
        made: list[Effect] = []
        for node in self.names.taken:
            last = node.attr if isinstance(node, ast.Attribute) else node.id
            if last not in self._acting_words:
                continue
            if isinstance(node, ast.Name) and node.id not in self.names.imported:
                given = self.names.given(node.id)
                if not given or not isinstance(given[0], ast.Attribute | ast.Call):
                    continue
            act = self.words.acts.get(self.values.dotted(node))
            if act is not None and act.kind in _CHANGES_CALLED:
                made += self.access("fs.delete", UNKNOWN)
            elif act is not None and act.kind in _STARTING:
                made.append(self.reader.code_not_known(self.name))
        return made

    def _unlisted(self, node: ast.Call, called: str) -> list[Effect]:
        """Read calls that are no entry of a table: ``extractall``, ``.write`` of a secret."""
        method = called.rpartition(".")[2]
        if method in ("extractall", "extractTo"):
            given = node.args or self.keyword(node, "path") is not None
            into = self.texts(node, 0, "path") if given else (".",)
            return self.access("fs.write", into, ("extract",))
        if called.startswith(("os.exec", "os.spawn")):
            return [self.reader.code_not_known(self.name)]
        return self.network.unlisted(node, called)

    def done(self, act: Act, node: ast.Call, called: str) -> list[Effect]:
        """Return the effects of an act on the arguments of a call."""
        kind, position = act
        method = getattr(self, "_" + kind, None)
        if method is not None:
            return list(method(node, position, called))
        return self.network.done(act, node, called)

    def handed_over(self) -> list[Effect]:
        """Return that a shell is handed to the network, once every call was read."""
        return self.network.shell(self.bare_shells) + self.taken()

    def _opaque(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        return [self.reader.code_not_known(self.name)]

    def _eval(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        """Read code that the program runs, where it is written down in it."""
        if not node.args:
            block = self.words.language in ("perl", "ruby")
            return [] if block and called != "eval" else [self.reader.code_not_known(self.name)]
        argument = node.args[-1] if called in ("Function", "create_function") else node.args[0]
        if isinstance(argument, ast.Lambda | ast.Dict):
            return []  # a function or block, which is read where it stands
        if called in ("setTimeout", "setInterval") and not isinstance(
            argument, ast.Constant | ast.JoinedStr
        ):
            return []
        if self.network.is_fetched(argument):
            return [
                self.reader.code_not_known(self.name)._replace(
                    how="remote", proof="unresolved(remote-code)"
                )
            ]
        made: list[Effect] = []
        for text in self.values.texts(argument):
            if HOLE in text:
                made.append(self.reader.code_not_known(self.name))
            else:
                made += self.unpacked(text)
                made += self.read_code(self.words.language, text, self.command)
        return made

    def _apply(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        """Read ``call_user_func("system", ...)`` and ``send(:system, ...)``."""
        if not node.args or isinstance(node.args[0], ast.Lambda):
            return []
        owner = called.rpartition(".")[0]
        return self._named_call(node.args[0], owner, node.args[1:])

    def _applied(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        if not node.args:
            return []
        given = node.args[1] if len(node.args) > 1 else None
        return self._named_call(
            node.args[0], "", list(given.elts) if isinstance(given, ast.List) else None
        )

    def _map(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        if not node.args:
            return []
        return self._named_call(node.args[0], "", node.args[1:2])

    def _mapped(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        if len(node.args) <= position:
            return []
        return self._named_call(node.args[position], "", node.args[:1])

    def _named_call(
        self, function: ast.expr, owner: str, arguments: list[ast.expr] | None
    ) -> list[Effect]:
        """Return what a function does that is named by a text."""
        if isinstance(function, ast.Lambda | ast.List | ast.Dict) or (
            isinstance(function, ast.Constant) and not isinstance(function.value, str)
        ):
            return []  # read where it stands
        made: list[Effect] = []
        for name in self.values.texts(function):
            if HOLE in name:
                return [self.reader.code_not_known(self.name)]
            spelled = f"{owner}.{name}" if owner and owner != "?" else name
            table = self.words.acts
            act = table.get(spelled) or table.get(f"*.{name}") or table.get(name)
            if act is None:
                continue
            if arguments is None:
                return [self.reader.code_not_known(self.name)]
            made += self.done(act, ast.Call(ast.Name(spelled, ast.Load()), arguments, []), spelled)
        return made

    def _kill(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        looks = len(node.args) > 1 and self.values.texts(node.args[1 - position])[0] == "0"
        if looks:
            return []
        return [Effect("proc.kill", "outside", self.name, True, PROVED, self.name, "")]

    def _sql(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        if not self._is_sql(node, Act("sql", position)) or self._in_memory():
            return []
        from toolgate.gate.effects.inline.sql import effects_of_sql

        return [
            effect
            for text in self.texts(node, position)
            for effect in effects_of_sql(text, self.reader, self.name)
        ]

    def _in_memory(self) -> bool:
        """Say whether the only databases the program opens are kept in memory."""
        opened = [
            text
            for call in self.names.calls
            if self.values.dotted(call.func).rpartition(".")[2]
            in ("connect", "Database", "open", "PDO")
            for text in (self.texts(call, 0) if call.args else ())
        ]
        return bool(opened) and all(":memory:" in text for text in opened)
