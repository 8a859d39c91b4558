"""Names that earlier calls have given a meaning: aliases, functions, programs on the search path.

What a name stands for is kept like a file's content, under a path no file can have.
Whether a shell outlives its call is the host's to say (``Place.kept_shell``). A file
that shells or git read as they start, and a program put into a folder that is usually
searched, count with any host.
"""

from posixpath import basename, dirname, join

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import DEFINED, FUNCTION, SHELL, Reading, Written, part_of
from toolgate.gate.facts.session import DEFINED_EARLIER
from toolgate.gate.shell.model import HOLE, Command, Script

SHELL_STARTS = frozenset(
    (
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".profile", ".zshrc"),
        *(".zshenv", ".zprofile", ".zlogin", ".kshrc", ".mkshrc", ".envrc"),
    )
)
"""Names of files that a shell reads as it starts, or as it enters their folder."""

_SEARCHED_NAMES = frozenset((".local/bin", ".cargo/bin", ".bin", "go/bin", "node_modules/.bin"))
_SEARCHED = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin")
_TOOLS = ("venv/bin", "env/bin", "node_modules/.bin", ".cargo/bin", "go/bin", ".local/bin")
_EXPORTS = frozenset(("export", "declare", "typeset", "readonly"))
_SHELLS_OWN = frozenset(
    (
        *("cd", "pushd", "popd", "export", "declare", "typeset", "readonly", "local", "unset"),
        *("alias", "unalias", "set", "shopt", "echo", "printf", "test", "[", "true", "false", ":"),
        *("pwd", "type", "command", "builtin", "hash", "read", "wait", "kill", "exit", "return"),
        *("eval", "exec", "source", ".", "trap", "shift", "ulimit", "umask", "times", "jobs"),
    )
)
"""What shells do by themselves, without a program that they look for."""
_TOOLS_KEEP = ("/bin", "/sbin", "/shims", "/Scripts")
_INSTALLED = ("/opt/", "/nix/", "/snap/", "/home/linuxbrew/")
_HOMES = ("/home/", "/Users/", "/root/")
_EMPTY = "/tmp/made-by-mktemp"
SEARCH = "PATH"
MAX_FUNCTIONS = 16
MAX_FOLDERS = 16
"""How many folders that a text puts in front of the search path are looked through."""


def name_part(name: str) -> str:
    """Return what a name's meaning in shells of this session is kept under."""
    return part_of(SHELL, name + FUNCTION)


def found_part(name: str) -> str:
    """Return what a program is kept under that was put where programs are usually found."""
    return part_of(SHELL, "found " + name)


def program_part(name: str) -> str:
    """Return what programs of a name are kept under that the session has written anywhere."""
    return part_of(SHELL, "program " + name)


def put(reader: Reading, part: str, text: str | None, scope: str) -> None:
    """Keep what a name stands for from here on."""
    reader.files.put(part, Written(text, False, False, scope=scope))
    reader.files.put(DEFINED, Written("", False, False, scope=scope, part=True))


def keep(reader: Reading, script: Script) -> list[Effect]:
    """Keep what a text has defined in a shell that outlives it.

    Returns:
        Effects where a known program is hidden: a call of it is another one from here on.
    """
    made: list[Effect] = []
    for name, body in script.functions[:MAX_FUNCTIONS]:
        made += define(reader, name, f"{name}() {body}\n{name}\n", calls=body)
    if len(script.functions) > MAX_FUNCTIONS:
        made.append(reader.unknown("too-many-functions", "shell"))
    for command in script.commands:
        if command.words and command.words[0].text not in _EXPORTS:
            continue
        for folder in folders(command, reader):
            if not folder.endswith(_TOOLS) and folder not in _SEARCHED:
                put(reader, part_of(SHELL, SEARCH), "", "workspace")
                made.append(reader.unknown("search-path-changed", "shell", folder))
    return made


def define(reader: Reading, name: str, text: str | None, *, calls: str) -> list[Effect]:
    """Keep what a name stands for in a shell that outlives its call.

    Args:
        reader: keeps it.
        name: the name.
        text: shell text that runs it; None when it is not known.
        calls: its body, read for what it does besides.
    """
    put(reader, name_part(name), text, "workspace")
    if reader.entry(name) is None:
        return []
    # The body stands where a known program did, and will be run as if it were that.
    return [reader.unknown("name-redefined", name, name), *reader.inner(calls)]


def folders(command: Command, reader: Reading) -> list[str]:
    """Return the folders a command's own assignment puts in front of the search path.

    One that is not known is a ``HOLE``, unless a variable of the environment names it and
    it is called as folders of programs are (``$JAVA_HOME/bin``).
    """
    values = [word for name, word in command.assigns if name == SEARCH]
    for word in command.words[1:]:
        name, equals, value = word.text.partition("=")
        if equals and name == SEARCH:
            values.append(word._replace(text=value))
    found: list[str] = []
    for word in values:
        named = list(word.variables) if len(word.variables) == word.text.count(HOLE) else []
        parts = word.text.split(":")
        for position, folder in enumerate(parts):
            here, named = named[: folder.count(HOLE)], named[folder.count(HOLE) :]
            before = here == [SEARCH] if here else position == len(parts) - 1
            if (folder == HOLE and before) or len(found) > MAX_FOLDERS:
                break  # what was searched before, or more than is looked through
            if HOLE in folder:
                found += [] if here and folder.endswith(_TOOLS_KEEP) else [HOLE]
                continue
            found.append(reader.paths.resolve(folder or ".", command.cwd))
    return found


def searched(reader: Reading, name: str, places: list[str]) -> list[Effect]:
    """Return what a program of a name does that may lie in a folder searched before others.

    In a folder that is the project's own, or one where tools are installed, nobody is known to
    have put a program of another's name. Elsewhere it may be any program.
    """
    if len(places) > MAX_FOLDERS:
        return [reader.unknown("too-many-folders", name, name)]
    for folder in places:
        made = reader.run_known(join(folder, name), name) if folder != HOLE else None
        if made is not None:
            return made or [reader.inspect(name)]
        if name not in _SHELLS_OWN and not _expected(reader, folder):
            return [reader.unknown("search-path-changed", name, folder)]
    return []


def _expected(reader: Reading, folder: str) -> bool:
    """Say whether programs are expected in a folder: the project's, or one of installed tools."""
    if reader.inside:
        return True  # what lies there is not this machine's
    if HOLE in folder:
        return False
    scope = reader.paths.scope(folder)
    if scope in ("workspace", "system") or folder.startswith(_EMPTY):
        return True
    if scope == "home" or folder.startswith(_INSTALLED):
        return folder.endswith(_TOOLS_KEEP)
    return folder.startswith(_HOMES) and folder.endswith(_TOOLS)


def redefined(reader: Reading, name: str, *, by_shell: bool) -> list[Effect]:
    """Return what a name does that earlier calls have given another meaning; else nothing.

    Args:
        reader: knows the earlier calls.
        name: the name.
        by_shell: whether the shell itself looks it up, among its aliases and functions first.
    """
    known = reader.run_known(name_part(name), name) if by_shell else None
    if known is None:
        known = reader.run_known(found_part(name), name)
    search = reader.files.get(part_of(SHELL, SEARCH)) if known is None else None
    if search is not None:
        known = reader.run_known(program_part(name), name)
        if known is not None and search.artifact is not None:
            reader.files.rest_on(DEFINED_EARLIER, *search.artifact.entries)
    if known is None:
        return []
    hides = reader.entry(name) is not None
    made = known or [reader.inspect(name)]
    return [*made, reader.unknown("name-redefined", name, name)] if hides else made


def meanings(path: str, reader: Reading) -> list[str]:
    """Return under what else a written program is kept, beside its path."""
    folder, name = dirname(path), basename(path)
    if not name or HOLE in path:
        return []
    if folder in _SEARCHED or folder.endswith(tuple(_SEARCHED_NAMES)) or _is_environment(folder):
        return [found_part(name)]
    # Only a name that shells know as a program's can stand for it.
    return [program_part(name)] if reader.entry(name) is not None else []


def _is_environment(folder: str) -> bool:
    return folder.endswith(("venv/bin", "/env/bin"))
