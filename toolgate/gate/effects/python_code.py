"""Inline Python, read by its syntax tree for files, processes and hosts it reaches."""

import ast

from toolgate.gate.effects.access import access
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_HOLE_NAME = "hole__"
_SHELL = frozenset(
    (
        "os.system",
        "os.popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "commands.getoutput",
    )
)
_PROCESS = frozenset(
    f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")
)
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
    ("Path.write_text", "Path.write_bytes", "Path.touch", "os.makedirs", "os.mkdir", "Path.mkdir")
)
_READ = frozenset(("Path.read_text", "Path.read_bytes", "Path.open"))
_COPY = frozenset(
    (
        "shutil.copy",
        "shutil.copy2",
        "shutil.copyfile",
        "shutil.copytree",
        "shutil.move",
        "os.rename",
        "os.replace",
    )
)
_FETCH = frozenset(
    f"{module}.{verb}" for module in ("requests", "httpx") for verb in ("get", "head", "options")
) | {"urllib.request.urlopen", "urllib.request.urlretrieve"}
_SEND = frozenset(
    f"{module}.{verb}"
    for module in ("requests", "httpx")
    for verb in ("post", "put", "patch", "delete", "request")
)
_OPAQUE = frozenset(
    ("exec", "eval", "compile", "__import__", "importlib.import_module", "runpy.run_path")
)
_RAW_NETWORK = frozenset(("socket", "smtplib", "ftplib", "telnetlib", "paramiko", "ctypes", "pty"))


def effects_of_python(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what Python source does to files, processes and hosts."""
    try:
        tree = ast.parse(text.replace(HOLE, _HOLE_NAME))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [reader.unknown("code-does-not-parse", name)]
    names: dict[str, str] = {}
    made: list[Effect] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                package = item.name.partition(".")[0]
                names[item.asname or package] = item.name if item.asname else package
                made += _module(item.name, reader, name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                names[item.asname or item.name] = f"{node.module}.{item.name}"
            made += _module(node.module, reader, name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            made += _call(node, names, reader, command, name)
    return made


def _module(module: str, reader: Reading, name: str) -> list[Effect]:
    package = module.partition(".")[0]
    return [reader.unknown(f"module-{package}", name)] if package in _RAW_NETWORK else []


def _call(
    node: ast.Call, names: dict[str, str], reader: Reading, command: Command, name: str
) -> list[Effect]:
    called = _dotted(node.func, names)
    first = _literal(node.args[0]) if node.args else HOLE
    if called in _SHELL:
        return reader.inner(first) if HOLE not in first else [reader.code_not_known(name)]
    if called in _PROCESS:
        return _process(node, reader, command, name)
    if called.startswith("Path."):
        first = _path_of(node.func)
    if called in _DELETE:
        how = ("recursive",) if called == "shutil.rmtree" else ()
        return access("fs.delete", first, reader, command, name, how)
    if called in ("open", "io.open", "Path.open"):
        return _open(node, first, reader, command, name)
    if called in _WRITE:
        return access("fs.write", first, reader, command, name)
    if called in _READ:
        return access("fs.read", first, reader, command, name)
    if called in _COPY and len(node.args) > 1:
        moved = called in ("shutil.move", "os.rename", "os.replace")
        source = access("fs.delete" if moved else "fs.read", first, reader, command, name)
        return source + access("fs.write", _literal(node.args[1]), reader, command, name)
    if called in _FETCH:
        return [reader.net("net.fetch", first, name)]
    if called in _SEND:
        target = (
            _literal(node.args[1]) if called.endswith("request") and len(node.args) > 1 else first
        )
        return [reader.net("net.send", target, name, ("send",))]
    if called in ("os.chmod", "Path.chmod"):
        return access("fs.permission", first, reader, command, name)
    if called in ("os.kill", "os.killpg"):
        return [Effect("proc.kill", "outside", name, True, "proved", name, "")]
    if called.startswith(("os.exec", "os.spawn")):
        return [reader.code_not_known(name)]
    if called in _OPAQUE:
        if called in ("exec", "eval") and HOLE not in first:
            return effects_of_python(first, reader, command, name)
        return [reader.code_not_known(name)]
    return []


def _open(node: ast.Call, path: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    modes = [_literal(node.args[1])] if len(node.args) > 1 else []
    modes += [_literal(item.value) for item in node.keywords if item.arg == "mode"]
    writes = any(char in mode for mode in modes for char in ("w", "a", "x", "+", HOLE))
    return access("fs.write" if writes else "fs.read", path, reader, command, name)


def _process(node: ast.Call, reader: Reading, command: Command, name: str) -> list[Effect]:
    argument = node.args[0] if node.args else None
    if isinstance(argument, (ast.List, ast.Tuple)) and argument.elts:
        words = tuple(Word(_literal(item)) for item in argument.elts)
        return reader.invoke(words, command)
    text = _literal(argument) if argument is not None else HOLE
    return reader.inner(text) if HOLE not in text else [reader.code_not_known(name)]


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(names.get(node.id, node.id))
        return ".".join(reversed(parts))
    if isinstance(node, ast.Call):
        made = _dotted(node.func, names)
        if made.rpartition(".")[2] in ("Path", "PurePath", "PosixPath"):
            return "Path." + ".".join(reversed(parts))
        if made in ("__import__", "importlib.import_module") and node.args:
            return ".".join([_literal(node.args[0]), *reversed(parts)])
    return "?." + ".".join(reversed(parts))


def _path_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return _literal(node.args[0]) if isinstance(node, ast.Call) and node.args else HOLE


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return HOLE if _HOLE_NAME in node.value else node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left), _literal(node.right)
        return left + right
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) for part in node.values)
    if isinstance(node, ast.Call) and _dotted(node.func, {}) in (
        "os.path.expanduser",
        "expanduser",
    ):
        return _literal(node.args[0]) if node.args else HOLE
    return HOLE
