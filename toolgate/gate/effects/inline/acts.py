"""What each call of a program does to files, processes, hosts and databases."""

import ast
from collections.abc import Callable
from functools import cache

from toolgate.gate.effects.inline.access import access
from toolgate.gate.effects.inline.exposure import Exposure
from toolgate.gate.effects.inline.names import Names
from toolgate.gate.effects.inline.network import Network
from toolgate.gate.effects.inline.values import UNKNOWN, Texts, Values
from toolgate.gate.effects.inline.vocabulary import OWNER, Act, vocabulary
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Redirect, Word

_STARTING = frozenset(("shell", "process", "argv", "start", "eval", "list", "words"))
_CHANGES_CALLED = frozenset(("delete", "deletes", "tree", "trees"))
_WRITING_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "CREAT", "TRUNC")
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
_SHELLS = frozenset(
    ("sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "cmd.exe", "powershell.exe")
)
_UNNAMED_OWNER = frozenset(("remove", "unlink", "rmdir"))


@cache
def _acting_words(language: str) -> frozenset[str]:
    """Return the last words of what starts programs or deletes, in every spelling."""
    kinds, table = _STARTING | _CHANGES_CALLED, vocabulary(language).acts
    named = {name.rpartition(".")[2] for name, act in table.items() if act.kind in kinds}
    return frozenset(named | {name + "Sync" for name in named})


ReadCode = Callable[[str, str, Command], list[Effect]]


class Acts:
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
        self.acting = self._imports_what_acts()
        self.bare_shells = False
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

    # Arguments

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

    # Acts

    def done(self, act: Act, node: ast.Call, called: str) -> list[Effect]:
        """Return the effects of an act on the arguments of a call."""
        kind, position = act
        method = getattr(self, "_" + kind, None)
        if method is not None:
            return list(method(node, position, called))
        return self.network.done(act, node, called)

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

    # Programs that are started

    def shell(self, texts: Texts) -> list[Effect]:
        """Return the effects of shell text."""
        made: list[Effect] = []
        for text in texts:
            if HOLE in text or self._is_bare_shell(text.split()):
                made.append(self.reader.code_not_known(self.name))
            else:
                made += self.reader.inner(text, cwd=self.command.cwd)
        return made

    def _is_bare_shell(self, words: list[str]) -> bool:
        """Say whether a program is a shell that is not told here what to do."""
        found = bool(words) and words[0].rpartition("/")[2] in _SHELLS
        found = found and all(
            word in ("-i", "-l", "-", "-s", "--norc", "--noprofile") for word in words[1:]
        )
        self.bare_shells = self.bare_shells or found
        return found

    def handed_over(self) -> list[Effect]:
        """Return that a shell is handed to the network, once every call was read."""
        return self.network.shell(self.bare_shells) + self.taken()

    def _shell(self, node: ast.Call, position: int, called: str) -> list[Effect]:
        inside = self._elsewhere(node)
        lists = self.values.lists(node.args[position]) if len(node.args) > position else None
        if lists and called == "proc_open":
            return inside.words_of(lists)
        return inside.shell(inside.texts(node, position, "cmd"))

    def _elsewhere(self, node: ast.Call) -> "Acts":
        """Return a reader for the directory that a call starts its program in."""
        folder = self.keyword(node, "cwd") or self.keyword(node, "chdir")
        if folder is None:
            return self
        path = self.reader.paths.resolve(self.values.texts(folder)[0], self.command.cwd)
        moved = self.command._replace(cwd="" if HOLE in path else path)
        return Acts(self.values, self.reader, moved, self.name, self.read_code, self.exposure)

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
