"""Inline code of languages without a parser here, read by its tokens.

Names of calls that start processes, touch files or reach hosts are looked up
in a table a language; the first literal argument is what they act on. A call
whose argument is no literal acts on something unknown.
"""

from posixpath import join
from typing import NamedTuple

from toolgate.gate.effects.access import access
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.tokens import Token, tokenize
from toolgate.gate.shell.model import HOLE, Command, Word

MAX_FOLDERS = 4
MAX_ARGUMENT_TOKENS = 120

_SYNC = {
    "exec": "shell",
    "spawn": "argv",
    "execFile": "argv",
    "unlink": "delete",
    "rm": "delete",
    "rmdir": "delete",
    "writeFile": "write",
    "appendFile": "write",
    "truncate": "write",
    "readFile": "read",
    "copyFile": "copy",
    "cp": "copy",
    "rename": "move",
    "open": "open",
    "symlink": "link",
    "link": "link",
    "chmod": "permission",
    "chown": "permission",
    "remove": "delete",
    "writeTextFile": "write",
    "readTextFile": "read",
}
_JAVASCRIPT = {
    **_SYNC,
    **{name + "Sync": kind for name, kind in _SYNC.items()},
    "createWriteStream": "write",
    "createReadStream": "read",
    "fork": "file",
    "fetch": "fetch",
    "post": "send",
    "put": "send",
    "patch": "send",
    "request": "send",
    "connect": "connect",
    "createConnection": "connect",
    "chdir": "chdir",
    "write": "write",
    "require": "module",
    "import": "module",
    "runInThisContext": "opaque",
    "runInNewContext": "opaque",
    "runInContext": "opaque",
    "compileFunction": "opaque",
    "Command": "opaque",
    "eval": "opaque",
    "Function": "opaque",
}
_RUBY = {
    "system": "argv",
    "exec": "argv",
    "spawn": "argv",
    "popen": "argv",
    "popen2": "argv",
    "popen2e": "argv",
    "popen3": "argv",
    "capture2": "argv",
    "capture2e": "argv",
    "capture3": "argv",
    "pipeline": "argv",
    "delete": "delete",
    "unlink": "delete",
    "rm": "delete",
    "rm_r": "delete",
    "rm_f": "delete",
    "rm_rf": "delete",
    "remove": "delete",
    "remove_dir": "delete",
    "remove_entry": "delete",
    "remove_entry_secure": "delete",
    "rmtree": "delete",
    "rmdir": "delete",
    "write": "write",
    "binwrite": "write",
    "truncate": "write",
    "touch": "write",
    "read": "read",
    "binread": "read",
    "readlines": "read",
    "foreach": "read",
    "open": "open",
    "new": "open",
    "cp": "copy",
    "cp_r": "copy",
    "copy": "copy",
    "copy_file": "copy",
    "install": "copy",
    "mv": "move",
    "move": "move",
    "rename": "move",
    "ln": "link",
    "ln_s": "link",
    "ln_sf": "link",
    "symlink": "link",
    "chmod": "permission-last",
    "chown": "permission-last",
    "chmod_R": "permission-last",
    "chdir": "chdir",
    "cd": "chdir",
    "load": "file",
    "require_relative": "file",
    "eval": "opaque",
    "send": "opaque",
    "__send__": "opaque",
    "public_send": "opaque",
    "method": "opaque",
    "class_eval": "opaque",
    "module_eval": "opaque",
    "instance_eval": "opaque",
    "get": "fetch",
    "post": "send",
    "post_form": "send",
    "put": "send",
}
_PERL = {
    "system": "argv",
    "exec": "argv",
    "unlink": "delete",
    "rmtree": "delete",
    "rmdir": "delete",
    "remove_tree": "delete",
    "open": "open",
    "sysopen": "open",
    "readpipe": "shell",
    "rename": "move",
    "move": "move",
    "copy": "copy",
    "link": "link",
    "symlink": "link",
    "truncate": "write",
    "chmod": "permission-last",
    "chown": "permission-last",
    "chdir": "chdir",
    "connect": "connect",
    "INET": "connect",
    "eval": "eval",
    "do": "do",
}
_PHP = {
    "exec": "shell",
    "shell_exec": "shell",
    "system": "shell",
    "passthru": "shell",
    "popen": "shell",
    "proc_open": "shell",
    "pcntl_exec": "argv",
    "unlink": "delete",
    "rmdir": "delete",
    "file_put_contents": "write",
    "touch": "write",
    "file_get_contents": "read",
    "readfile": "read",
    "file": "read",
    "show_source": "read",
    "highlight_file": "read",
    "parse_ini_file": "read",
    "fopen": "open",
    "copy": "copy",
    "rename": "move",
    "move_uploaded_file": "move",
    "symlink": "link",
    "link": "link",
    "chmod": "permission",
    "chown": "permission",
    "chdir": "chdir",
    "include": "file",
    "include_once": "file",
    "require": "file",
    "require_once": "file",
    "curl_exec": "opaque",
    "fsockopen": "send",
    "pfsockopen": "send",
    "stream_socket_client": "send",
    "mail": "send",
    "eval": "opaque",
    "assert": "opaque",
    "create_function": "opaque",
    "call_user_func": "opaque",
    "call_user_func_array": "opaque",
}
_TABLES = {"javascript": _JAVASCRIPT, "ruby": _RUBY, "perl": _PERL, "php": _PHP}
# Languages in which a call has brackets; in the others its name may stand alone.
_BRACKETED = frozenset(("javascript", "php"))
# Names too common to mean a file or host unless they belong to, or come from, such a module.
_AMBIGUOUS = {
    "javascript": frozenset(
        (
            *("rm", "cp", "open", "link", "rename", "chmod", "chown", "truncate", "remove"),
            *("post", "put", "patch", "request", "connect", "createConnection", "write"),
            *("chdir", "Command", "symlink", "rmdir", "unlink"),
        )
    ),
    "ruby": frozenset(
        (
            *("delete", "write", "read", "get", "post", "put", "rm", "new", "copy", "move"),
            *("remove", "install", "touch", "rename", "truncate", "link", "cd", "cp", "mv", "ln"),
            *("foreach", "unlink", "rmdir", "readlines", "pipeline"),
        )
    ),
    "perl": frozenset(("move", "copy", "link", "connect", "INET")),
    "php": frozenset(("file", "copy", "link", "rename", "touch")),
}
_OWNERS = frozenset(
    (
        "File",
        "IO",
        "Dir",
        "FileUtils",
        "Pathname",
        "HTTP",
        "Net",
        "Open3",
        "Process",
        "Kernel",
        "TCPSocket",
        "fs",
        "fsp",
        "promises",
        "axios",
        "https",
        "http",
        "net",
        "tls",
        "process",
        "Deno",
        "Bun",
    )
)
_FILE_MODULES = ("fs/promises", "'fs'", '"fs"', "node:fs", "fs-extra", "FileUtils", "File::")


def effects_of_calls(
    language: str, text: str, reader: Reading, command: Command, name: str
) -> list[Effect]:
    """Return what inline code does, by the calls it makes."""
    try:
        code = _Code(language, text, tokenize(text, language), reader, name)
        made: list[Effect] = []
        for folder in code.folders(command):
            made += code.effects(command._replace(cwd=folder))
    except RecursionError:
        return [reader.unknown("code-too-deep", name)]
    return made


class _Code:
    """The tokens of one piece of code, and the names that are given one literal."""

    def __init__(
        self, language: str, text: str, tokens: list[Token], reader: Reading, name: str
    ) -> None:
        self.language = language
        self.text = text
        self.tokens = tokens
        self.reader = reader
        self.name = name
        self.table = _TABLES[language]
        self.constants = _constants(tokens)
        self.has_files = any(mark in text for mark in _FILE_MODULES)

    def folders(self, command: Command) -> list[str]:
        """Return the directories the code may be in; "" when a change leads somewhere unknown."""
        found = [command.cwd]
        for position, token in enumerate(self.tokens):
            if self.table.get(token.value) == "chdir" and self._is_call(position):
                path = (self.arguments(position) or [HOLE])[0]
                folder = self.reader.paths.resolve(path, command.cwd)
                found.append("" if HOLE in folder else folder)
        found = list(dict.fromkeys(found))
        return found if len(found) <= MAX_FOLDERS else [command.cwd, ""]

    def effects(self, command: Command) -> list[Effect]:
        """Return the effects of every call, in one working directory."""
        made: list[Effect] = []
        for position, token in enumerate(self.tokens):
            runs = self.language in ("ruby", "perl", "php") or (
                position and self.tokens[position - 1].value in ("$", "shell")
            )
            if token.kind == "tick" and runs:
                made += self._run(token.value, command)
            elif self._is_named_by_variable(position):
                made.append(self.reader.code_not_known(self.name))
            elif token.value in self.table and self._is_call(position):
                made += self._effect(self.table[token.value], position, command)
        return made

    def _is_named_by_variable(self, position: int) -> bool:
        """Say whether a call's name is in a variable: ``$f(...)`` of PHP."""
        token = self.tokens[position]
        variable = self.language == "php" and token.kind == "name" and token.value[:1] == "$"
        return variable and self._at(position + 1).value == "("

    def _at(self, position: int) -> Token:
        inside = 0 <= position < len(self.tokens)
        return self.tokens[position] if inside else Token("mark", "")

    def _is_call(self, position: int) -> bool:
        token, after = self.tokens[position], self._at(position + 1)
        if token.kind == "text":
            # An index such as fs["rmSync"](...).
            return after.value == "]" and self._at(position + 2).value == "("
        if token.kind != "name" or self._at(position - 1).value in ("def", "sub", "function"):
            return False
        optional = after.value == "?" and self._at(position + 2).value == "."
        includes = self.language == "php" and self.table[token.value] == "file"
        if self.language in _BRACKETED and after.value != "(" and not optional and not includes:
            return False
        if after.value in ("=", ":") and self._at(position + 2).value not in ("=", ":", "~"):
            return False
        if self.language == "javascript" and token.value == "exec":
            return "child_process" in self.text  # a pattern has an exec of its own
        if token.value not in _AMBIGUOUS[self.language]:
            return True
        before = self._at(position - 1).value
        if before not in (".", ">", ":"):
            return self.has_files or self.language == "php"
        owners = {one.value for one in self.tokens[max(0, position - 4) : position]}
        required = bool(owners & {"require", ")"}) and self.has_files
        return bool(owners & _OWNERS) or required

    def arguments(self, position: int) -> list[str]:
        """Return the arguments of a call, arrays opened up; a hole for each that is no literal."""
        start = position + 1
        while self._at(start).value in ("]", "?", ".") and self._at(start).kind == "mark":
            start += 1
        bracketed = self._at(start).value == "("
        start += bracketed
        found: list[str] = []
        current: list[Token] = []
        depth = 0
        for token in self.tokens[start : start + MAX_ARGUMENT_TOKENS]:
            mark = token.value if token.kind == "mark" else ""
            if mark == ")" and depth == 0:
                break
            if not bracketed and depth == 0 and (mark in (";", "}") or _ends(token)):
                break
            if mark in ("(", "{"):
                depth += 1
            elif mark in (")", "}"):
                depth -= 1
            if mark == "," and depth == 0:
                found.append(self._value(current))
                current = []
            elif not (mark in ("[", "]") and depth == 0):
                current.append(token)
        return [*found, self._value(current)] if current else found

    def _value(self, tokens: list[Token]) -> str:
        """Return what an argument is: its literal, a name's one literal, or a hole."""
        parts = [token for token in tokens if token.value not in ("my", "our", "local")]
        joins = "+" if self.language in ("javascript", "ruby") else "."
        if len(parts) > 1:
            parts = [part for part in parts if part != Token("mark", joins)]
        if parts and all(part.kind in ("text", "tick") for part in parts):
            return "".join(part.value for part in parts)
        if len(parts) == 1:
            return self.constants.get(parts[0].value, HOLE)
        if any(part.value == "join" for part in parts):
            texts = [part.value for part in parts if part.kind == "text"]
            names = [part for part in parts if part.kind == "name" and part.value in self.constants]
            return join(*texts) if texts and not names and "HOME" not in self.text else HOLE
        if parts and parts[0].kind == "text":
            return parts[0].value + HOLE
        return HOLE

    def _effect(self, kind: str, position: int, command: Command) -> list[Effect]:
        found = self.arguments(position)
        first = found[0] if found else HOLE
        last = found[-1] if found else HOLE
        if kind in ("eval", "do"):
            return self._perl_block(kind, position, command)
        if kind == "shell":
            return self._run(first, command)
        if kind == "argv":
            return self._start(found, command)
        if kind == "opaque":
            return [self.reader.code_not_known(self.name)]
        if kind == "open":
            return self._open(found, position, command)
        if kind == "module":
            if HOLE in first:
                return [self.reader.code_not_known(self.name)]
            return self._run_file(first, command) if first.startswith((".", "/")) else []
        if kind == "file":
            return [] if HOLE in first else self._run_file(first, command)
        if kind == "connect":
            host = next((item for item in found if HOLE not in item), HOLE)
            return [self.reader.net("net.send", host, self.name, ("send",))]
        if kind in ("fetch", "send"):
            sends = kind == "send" or "POST" in self.text or "PUT" in self.text
            return [self.reader.net("net.send" if sends else "net.fetch", first, self.name)]
        if kind == "chdir":
            return []
        return self._touch(kind, found, first, last, command)

    def _touch(
        self, kind: str, found: list[str], first: str, last: str, command: Command
    ) -> list[Effect]:
        if kind == "delete":
            deep = any(mark in self.text for mark in ("recursive", "rm_r", "tree", "remove_"))
            return self._access("fs.delete", first, command, ("recursive",) if deep else ())
        second = found[1] if len(found) > 1 else HOLE
        if kind == "copy":
            return [
                *self._access("fs.read", first, command),
                *self._access("fs.write", second, command),
            ]
        if kind == "move":
            return [
                *self._access("fs.delete", first, command, ("move",)),
                *self._access("fs.write", second, command),
            ]
        if kind == "link":
            return self._access("fs.link", second, command)
        if kind == "permission-last":
            return self._access("fs.permission", last, command)
        return self._access("fs." + kind, first, command)

    def _access(
        self, kind: str, path: str, command: Command, how: tuple[str, ...] = ()
    ) -> list[Effect]:
        return access(kind, path, self.reader, command, self.name, how)

    def _open(self, found: list[str], position: int, command: Command) -> list[Effect]:
        """Read an opened file, or a command that is opened like one."""
        if self.language == "ruby" and self.tokens[position].value == "new":
            if self._at(position - 2).value == "TCPSocket":
                host = found[0] if found else HOLE
                return [self.reader.net("net.send", host, self.name, ("send",))]
            if self._at(position - 2).value != "File":
                return []
        if self.language == "perl":
            found = found[1:]  # the handle
            modes = found[0] if len(found) > 1 else ""
            if modes.strip() in ("|-", "-|"):
                return self._start(found[1:], command)
            path = found[1] if len(found) > 1 else found[0] if found else HOLE
            if not modes and (path.strip().startswith("|") or path.strip().endswith("|")):
                return self._run(path.strip(" |"), command)
            modes = modes or path[:2]
            path = path if len(found) > 1 else path.strip("<>+ ")
        else:
            path = found[0] if found else HOLE
            modes = found[1] if len(found) > 1 else ""
            if path.startswith("|"):
                return self._run(path[1:], command)
        writes = any(char in modes for char in f"wax+>{HOLE}")
        return self._access("fs.write" if writes else "fs.read", path, command)

    def _perl_block(self, kind: str, position: int, command: Command) -> list[Effect]:
        """Read ``eval`` and ``do``: a block is read where it stands, a text or file is run."""
        after = self._at(position + 1)
        if after.value == "{" or (after.value == "(" and self._at(position + 2).value == "{"):
            return []
        if kind == "do":
            return self._run_file(after.value, command) if after.kind == "text" else []
        if after.kind == "text" and HOLE not in after.value:
            return effects_of_calls("perl", after.value, self.reader, command, self.name)
        return [self.reader.code_not_known(self.name)]

    def _run_file(self, path: str, command: Command) -> list[Effect]:
        return self.reader.run_file(Word(path), command, self.name)

    def _start(self, found: list[str], command: Command) -> list[Effect]:
        """Read a program and its arguments; one text alone is shell text."""
        while found and found[0] == HOLE and self.language == "ruby" and len(found) > 1:
            found = found[1:]  # an environment
        if not found or HOLE in found[0]:
            return [self.reader.code_not_known(self.name)]
        if len(found) == 1 or " " in found[0]:
            return self._run(found[0], command)
        words = tuple(Word(text, glob=False) for text in found)
        inner = command._replace(words=words, redirects=(), stdin=(), assigns=())
        return self.reader.invoke(words, inner)

    def _run(self, literal: str, command: Command) -> list[Effect]:
        if HOLE in literal:
            return [self.reader.code_not_known(self.name)]
        return self.reader.inner(literal, cwd=command.cwd)


class _Given(NamedTuple):
    value: str
    times: int


def _constants(tokens: list[Token]) -> dict[str, str]:
    """Return the names that are given exactly one value, and that a literal."""
    given: dict[str, _Given] = {}
    for position, token in enumerate(tokens[:-2]):
        is_name = token.kind == "name" and tokens[position + 1].value == "="
        if not is_name or tokens[position + 1].kind != "mark" or tokens[position + 2].value == "=":
            continue
        after = tokens[position + 3].value if position + 3 < len(tokens) else ";"
        literal = tokens[position + 2].kind == "text" and after not in ("+", ".", "%", "?", "*")
        value = tokens[position + 2].value if literal else HOLE
        times = given[token.value].times + 1 if token.value in given else 1
        given[token.value] = _Given(value, times)
    return {name: one.value for name, one in given.items() if one.times == 1}


def _ends(token: Token) -> bool:
    """Say whether a word ends the arguments of a call without brackets."""
    return token.kind == "name" and token.value in ("or", "and", "if", "unless", "for", "do", "end")
