"""Inline Python, read by its syntax tree for files, processes and hosts it reaches."""

import ast

from toolgate.gate.effects.access import access
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.python_values import HOLE_NAME, UNKNOWN, Names, Texts
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Redirect, Word

MAX_FOLDERS = 4

_SHELL = frozenset(
    (
        "os.system",
        "os.popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "commands.getoutput",
        "asyncio.create_subprocess_shell",
    )
)
_PROCESS = frozenset(
    f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")
)
# Calls that start a program: position of the first argument that belongs to its words.
_ARGUMENT_LIST = {
    "os.posix_spawn": 1,
    "os.posix_spawnp": 1,
    "os.execv": 1,
    "os.execve": 1,
    "os.execvp": 1,
    "os.execvpe": 1,
    "os.spawnv": 2,
    "os.spawnve": 2,
    "os.spawnvp": 2,
    "os.spawnvpe": 2,
    "pty.spawn": 0,
}
_ARGUMENTS = {
    "asyncio.create_subprocess_exec": 0,
    "os.execl": 1,
    "os.execle": 1,
    "os.execlp": 1,
    "os.execlpe": 1,
    "os.spawnl": 2,
    "os.spawnle": 2,
    "os.spawnlp": 2,
    "os.spawnlpe": 2,
}
_DELETE = frozenset(
    (
        "os.remove",
        "os.unlink",
        "os.rmdir",
        "os.removedirs",
        "shutil.rmtree",
        "Path.unlink",
        "Path.rmdir",
    )
)
_WRITE = frozenset(
    (
        "Path.write_text",
        "Path.write_bytes",
        "Path.touch",
        "Path.mkdir",
        "os.makedirs",
        "os.mkdir",
        "os.mkfifo",
        "os.mknod",
        "os.truncate",
        "shutil.make_archive",
    )
)
_READ = frozenset(("Path.read_text", "Path.read_bytes"))
_PERMISSION = frozenset(
    (
        "os.chmod",
        "os.lchmod",
        "os.chown",
        "os.lchown",
        "shutil.chown",
        "os.setxattr",
        "Path.chmod",
        "Path.lchmod",
    )
)
_COPY = frozenset(
    ("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.copymode")
)
_MOVE = frozenset(("shutil.move", "os.rename", "os.renames", "os.replace"))
_LINK = frozenset(("os.symlink", "os.link"))
_LINK_METHODS = frozenset(("Path.symlink_to", "Path.hardlink_to", "Path.link_to"))
_OPEN = frozenset(
    (
        "open",
        "io.open",
        "codecs.open",
        "gzip.open",
        "bz2.open",
        "lzma.open",
        "zipfile.ZipFile",
        "tarfile.open",
        "tarfile.TarFile",
        "Path.open",
    )
)
# Methods that say what they do whatever they belong to, once an owner is not known.
_PATH_METHODS = frozenset(
    name.partition(".")[2]
    for name in (*_DELETE, *_WRITE, *_READ, *_PERMISSION, *_LINK_METHODS)
    if name.startswith("Path.")
)
_ONE_ARGUMENT_METHODS = frozenset(("rename", "replace"))
_ANY_OWNER = {
    "system": "os.system",
    "popen": "os.popen",
    "rmtree": "shutil.rmtree",
    "removedirs": "os.removedirs",
    "Popen": "subprocess.Popen",
    "check_output": "subprocess.check_output",
    "check_call": "subprocess.check_call",
    "getoutput": "subprocess.getoutput",
    "execvp": "os.execvp",
    "execv": "os.execv",
}
_UNNAMED_OWNER = {"remove": "os.remove", "unlink": "os.unlink", "rmdir": "os.rmdir"}
_CLIENTS = ("requests", "httpx", "aiohttp")
_FETCH = frozenset(f"{m}.{v}" for m in _CLIENTS for v in ("get", "head", "options"))
_SEND = frozenset(f"{m}.{v}" for m in _CLIENTS for v in ("post", "put", "patch", "delete"))
_REQUEST = frozenset(f"{m}.{v}" for m in _CLIENTS for v in ("request", "stream"))
_URLLIB = frozenset(
    ("urllib.request.urlopen", "urllib.request.urlretrieve", "urllib.request.Request")
)
_OPAQUE = frozenset(
    (
        "exec",
        "eval",
        "compile",
        "__import__",
        "importlib.import_module",
        "runpy.run_path",
        "runpy.run_module",
        "code.interact",
    )
)
_RAW_NETWORK = frozenset(("smtplib", "ftplib", "telnetlib", "paramiko", "ctypes", "pty"))
_CONNECTS = frozenset(("connect", "connect_ex", "create_connection", "sendto"))
_WRITING_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")


def effects_of_python(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what Python source does to files, processes and hosts."""
    try:
        tree = ast.parse(text.replace(HOLE, HOLE_NAME))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [reader.unknown("code-does-not-parse", name)]
    try:
        return _effects_of_tree(tree, reader, command, name)
    except RecursionError:
        return [reader.unknown("code-too-deep", name)]


def _effects_of_tree(tree: ast.AST, reader: Reading, command: Command, name: str) -> list[Effect]:
    names = Names(tree, reader.place.home)
    modules = dict.fromkeys(value.partition(".")[0] for value in names.imported.values())
    made = [
        reader.unknown(f"module-{module}", name) for module in modules if module in _RAW_NETWORK
    ]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for folder in _folders(calls, names, reader, command):
        code = _Code(names, reader, command._replace(cwd=folder), name)
        for call in calls:
            made += code.call(call)
    return made


def _folders(
    calls: list[ast.Call], names: Names, reader: Reading, command: Command
) -> tuple[str, ...]:
    """Return the directories the code may be in; "" when a change leads somewhere unknown."""
    found = [command.cwd]
    for call in calls:
        if names.dotted(call.func) in ("os.chdir", "os.fchdir", "contextlib.chdir"):
            for text in names.texts(call.args[0] if call.args else None):
                folder = reader.paths.resolve(text, command.cwd)
                found.append("" if HOLE in folder else folder)
    found = list(dict.fromkeys(found))
    return tuple(found) if len(found) <= MAX_FOLDERS else (command.cwd, "")


class _Code:
    """Reads calls, one after the other, in one working directory."""

    def __init__(self, names: Names, reader: Reading, command: Command, name: str) -> None:
        self.names = names
        self.reader = reader
        self.command = command
        self.name = name

    def call(self, node: ast.Call) -> list[Effect]:
        """Return what one call does, and what functions handed to it would do."""
        called = self._called(node)
        made = self._passed_on(node)
        if called in ("getattr", "vars") and self._of_module(node, called):
            return [*made, self.reader.code_not_known(self.name)]
        for read in (self._starts, self._touches, self._talks, self._runs):
            found = read(node, called)
            if found is not None:
                return made + found
        return made

    def _called(self, node: ast.Call) -> str:
        """Return a call's name, told by its method alone where its owner is not known."""
        called = self.names.dotted(node.func)
        owner, _, method = called.rpartition(".")
        if called.startswith("pathlib.Path."):
            return called.removeprefix("pathlib.")
        first = owner.partition(".")[0]
        known = first in {v.partition(".")[0] for v in self.names.imported.values()}
        if not owner or (known and first != "pathlib") or first == "Path":
            return called
        if method in _PATH_METHODS or method == "open":
            return f"Path.{method}"
        if method in _ONE_ARGUMENT_METHODS and len(node.args) == 1 and not node.keywords:
            return "Path.rename"
        if method in _ANY_OWNER:
            return _ANY_OWNER[method]
        if method in _UNNAMED_OWNER and (first == "?" or not self.names.is_assigned(first)):
            return _UNNAMED_OWNER[method]
        return called

    def _of_module(self, node: ast.Call, called: str) -> bool:
        """Say whether a member of a dangerous module is taken by a name that is not known."""
        if not node.args or self.names.dotted(node.args[0]) not in (
            "os",
            "subprocess",
            "shutil",
            "builtins",
        ):
            return False
        return called == "getattr" and HOLE in self._texts(node, 1)[0]

    def _passed_on(self, node: ast.Call) -> list[Effect]:
        """Return what a function does that is handed over to be called: ``map(os.remove, x)``."""
        made: list[Effect] = []
        for item in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(item, ast.Attribute | ast.Name):
                named = self.names.dotted(item)
                if named in _DELETE:
                    made += access("fs.delete", HOLE, self.reader, self.command, self.name)
                elif named in _SHELL or named in _PROCESS:
                    made.append(self.reader.code_not_known(self.name))
        return made

    def _texts(self, node: ast.Call, position: int, keyword: str = "") -> Texts:
        if len(node.args) > position:
            return self.names.texts(node.args[position])
        for item in node.keywords:
            if keyword and item.arg == keyword:
                return self.names.texts(item.value)
        return UNKNOWN

    def _keyword(self, node: ast.Call, name: str) -> ast.expr | None:
        return next((item.value for item in node.keywords if item.arg == name), None)

    def _owner(self, node: ast.Call) -> Texts:
        func = node.func
        return self.names.texts(func.value) if isinstance(func, ast.Attribute) else UNKNOWN

    def _access(self, kind: str, texts: Texts, how: tuple[str, ...] = ()) -> list[Effect]:
        return [
            effect
            for text in texts
            for effect in access(kind, text, self.reader, self.command, self.name, how)
        ]

    def _starts(self, node: ast.Call, called: str) -> list[Effect] | None:
        if called in _SHELL:
            return self._shell(self._texts(node, 0, "cmd"))
        if called in _PROCESS:
            return self._process(node)
        if called in _ARGUMENT_LIST:
            position = _ARGUMENT_LIST[called]
            return self._argv(node.args[position] if len(node.args) > position else None)
        if called in _ARGUMENTS:
            items = node.args[_ARGUMENTS[called] :]
            return self._argv(ast.List(items, ast.Load()))
        return None

    def _shell(self, texts: Texts) -> list[Effect]:
        made: list[Effect] = []
        for text in texts:
            known = HOLE not in text
            made += (
                self.reader.inner(text, cwd=self.command.cwd)
                if known
                else [self.reader.code_not_known(self.name)]
            )
        return made

    def _process(self, node: ast.Call) -> list[Effect]:
        argument = node.args[0] if node.args else self._keyword(node, "args")
        inside = self
        folder = self._keyword(node, "cwd")
        if folder is not None:
            path = self.reader.paths.resolve(self.names.texts(folder)[0], self.command.cwd)
            moved = self.command._replace(cwd="" if HOLE in path else path)
            inside = _Code(self.names, self.reader, moved, self.name)
        shell = self._keyword(node, "shell")
        in_shell = isinstance(shell, ast.Constant) and bool(shell.value)
        if in_shell or not self._is_list(argument):
            return inside._shell(self.names.texts(argument))
        return inside._argv(argument, self._keyword(node, "input") or self._keyword(node, "stdin"))

    def _is_list(self, node: ast.expr | None) -> bool:
        return self._list(node) is not None

    def _list(self, node: ast.expr | None) -> list[ast.expr] | None:
        if isinstance(node, ast.List | ast.Tuple):
            return list(node.elts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._list(node.left), self._list(node.right)
            return None if left is None else left + (right or [ast.Constant(None)])
        if isinstance(node, ast.Name) and len(self.names.values.get(node.id, ())) == 1:
            value = self.names.values[node.id][0]
            return list(value.elts) if isinstance(value, ast.List | ast.Tuple) else None
        return None

    def _argv(self, node: ast.expr | None, given: ast.expr | None = None) -> list[Effect]:
        items = self._list(node)
        if not items:
            return [self.reader.code_not_known(self.name)]
        words = tuple(
            Word(text, glob="*" in text)
            for item in items
            for text in [self.names.texts(item)[0] if _one(self.names.texts(item)) else HOLE]
        )
        redirects: tuple[Redirect, ...] = ()
        if given is not None:
            redirects = (Redirect("<<<", Word(self.names.texts(given)[0])),)  # HOLE for a pipe
        command = self.command._replace(words=words, redirects=redirects, stdin=(), assigns=())
        return self.reader.invoke(words, command)

    def _touches(self, node: ast.Call, called: str) -> list[Effect] | None:
        path = self._owner(node) if called.startswith("Path.") else self._texts(node, 0)
        if called in _DELETE:
            how = ("recursive",) if called == "shutil.rmtree" else ()
            return self._access("fs.delete", path, how)
        if called in _OPEN:
            return self._open(node, path, 0 if called == "Path.open" else 1)
        if called == "os.open":
            flags = ast.dump(ast.Tuple(node.args[1:], ast.Load()))
            writes = any(flag in flags for flag in _WRITING_FLAGS)
            return self._access("fs.write" if writes else "fs.read", path)
        if called in _WRITE:
            return self._access("fs.write", path)
        if called in _READ:
            return self._access("fs.read", path)
        if called in _PERMISSION:
            return self._access("fs.permission", path)
        if called in _COPY or called in _MOVE:
            source = "fs.delete" if called in _MOVE else "fs.read"
            how = ("move",) if called in _MOVE else ()
            return self._access(source, path, how) + self._access(
                "fs.write", self._texts(node, 1, "dst")
            )
        if called == "Path.rename":
            return self._access("fs.delete", path, ("move",)) + self._access(
                "fs.write", self._texts(node, 0)
            )
        if called in _LINK:
            return self._access("fs.link", self._texts(node, 1))
        if called in _LINK_METHODS:
            return self._access("fs.link", path)
        if called == "shutil.unpack_archive" or called.rpartition(".")[2] == "extractall":
            into = self._texts(node, 0 if called.endswith("extractall") else 1, "path")
            given = node.args or self._keyword(node, "path") is not None
            return self._access("fs.write", into if given else (".",), ("extract",))
        return None

    def _open(self, node: ast.Call, path: Texts, position: int) -> list[Effect]:
        given = len(node.args) > position or self._keyword(node, "mode") is not None
        modes = self._texts(node, position, "mode") if given else ("r",)
        writes = any(char in mode.partition(":")[0] for mode in modes for char in f"wax+{HOLE}")
        return self._access("fs.write" if writes else "fs.read", path)

    def _talks(self, node: ast.Call, called: str) -> list[Effect] | None:
        method = called.rpartition(".")[2]
        if called in _FETCH:
            return self._net("net.fetch", self._texts(node, 0, "url"))
        if called in _SEND:
            return self._net("net.send", self._texts(node, 0, "url"))
        if called in _REQUEST:
            looks = all(text.lower() in ("get", "head") for text in self._texts(node, 0, "method"))
            return self._net("net.fetch" if looks else "net.send", self._texts(node, 1, "url"))
        if called in _URLLIB:
            body = self._keyword(node, "data") or self._keyword(node, "method")
            second = len(node.args) > 1 and not called.endswith("retrieve")
            sends = body is not None or second
            return self._net("net.send" if sends else "net.fetch", self._texts(node, 0, "url"))
        if called in ("http.client.HTTPConnection", "http.client.HTTPSConnection"):
            return self._net("net.send", self._texts(node, 0, "host"))
        if method in _CONNECTS and self._is_socket(called):
            address = node.args[-1 if method == "sendto" else 0] if node.args else None
            if isinstance(address, ast.Tuple) and address.elts:
                address = address.elts[0]
            return self._net("net.send", self.names.texts(address))
        if called == "os.dup2" and self._is_socket("?"):
            return [Effect("net.shell", "outside", "socket", False, PROVED, self.name, "socket")]
        return None

    def _is_socket(self, called: str) -> bool:
        modules = {value.partition(".")[0] for value in self.names.imported.values()}
        owner = called.partition(".")[0]
        return "socket" in modules and (owner == "socket" or owner not in modules)

    def _net(self, kind: str, texts: Texts) -> list[Effect]:
        how = ("send",) if kind == "net.send" else ()
        return [self.reader.net(kind, text, self.name, how) for text in texts]

    def _runs(self, node: ast.Call, called: str) -> list[Effect] | None:
        if called in ("os.kill", "os.killpg"):
            return [Effect("proc.kill", "outside", self.name, True, PROVED, self.name, "")]
        if called.startswith(("os.exec", "os.spawn")):
            return [self.reader.code_not_known(self.name)]
        if called not in _OPAQUE:
            return None
        made: list[Effect] = []
        for text in self._texts(node, 0):
            if called in ("exec", "eval") and HOLE not in text:
                made += effects_of_python(text, self.reader, self.command, self.name)
            else:
                made.append(self.reader.code_not_known(self.name))
        return made


def _one(texts: Texts) -> bool:
    return len(texts) == 1
