"""Variables given to a command: those that programs take code, options or folders from."""

from toolgate.gate.effects import indexes
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_HIJACK = frozenset(
    (
        *("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PROMPT_COMMAND"),
        *("PERL5OPT", "PERL5DB", "PYTHONSTARTUP", "GIT_SSH", "GIT_PROXY_COMMAND"),
        *("GROFF_BIN_PATH", "GROFF_COMMAND_PREFIX", "TEXMFCNF"),
    )
)
_COMMAND_VARIABLES = frozenset(
    (
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "MANPAGER",
        "BROWSER",
        *("SYSTEMD_PAGER", "SYSTEMD_EDITOR", "GH_PAGER", "GH_EDITOR", "AWS_PAGER", "PSQL_PAGER"),
        *("PSQL_EDITOR", "KUBE_EDITOR", "BAT_PAGER", "FCEDIT", "RSYNC_RSH", "CVS_RSH", "SVN_SSH"),
        *("LESSOPEN", "LESSCLOSE"),
    )
)
MAX_FOLDERS = 16
_FILTERS = frozenset(("LESSOPEN", "LESSCLOSE"))
# Folders, in their order, in which programs look for libraries and modules by name.
_SEARCHED = frozenset(
    (
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "PYTHONPATH"),
        *("NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "GCONV_PATH", "GIT_EXEC_PATH"),
    )
)
_LIBRARIES = ("/lib", "/lib64", "/libs", "/site-packages", "/dist-packages", "/node_modules")
# Options that a program takes from its environment, and those of them that load a file.
_LOADING = {
    "NODE_OPTIONS": ("-r", "--require", "--import", "--loader", "--experimental-loader"),
    "RUBYOPT": ("-r",),
    "JAVA_TOOL_OPTIONS": ("-javaagent:", "-agentpath:"),
    "_JAVA_OPTIONS": ("-javaagent:", "-agentpath:"),
    "JDK_JAVA_OPTIONS": ("-javaagent:", "-agentpath:"),
    "MAVEN_OPTS": ("-javaagent:", "-agentpath:"),
}
_GIT_SETTINGS = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"))
_MAKE_OPTIONS = frozenset(("MAKEFLAGS", "GNUMAKEFLAGS"))
# Words put in front of a program's own arguments.
_OPTION_VARIABLES = {"TAR_OPTIONS": "tar"}


def effects_of_assignments(reader: Reading, command: Command) -> list[Effect]:
    """Return the effects of a command's variable assignments."""
    made: list[Effect] = []
    for name, word in command.assigns:
        if name in _HIJACK:
            made.append(reader.unknown("loader-variable", "shell", name))
            path = reader.paths.resolve(word.text, command.cwd)
            made += reader.run_known(path, "shell") or []
        elif name in _COMMAND_VARIABLES:
            text = word.text.lstrip("|-") if name in _FILTERS else word.text
            made += reader.inner(text) if word.known else [reader.unknown(name, "shell")]
        elif name in _OPTION_VARIABLES and word.text and not _runs(command, name):
            # Exported, it stands before the arguments of each later call.
            made.append(reader.unknown("option-variable", "shell", name))
        elif name in indexes.VARIABLES:
            made += indexes.named(reader, word.text, "shell")
        else:
            made += _of_loading(reader, name, word, command)
    return made


def _of_loading(reader: Reading, name: str, word: Word, command: Command) -> list[Effect]:
    """Return what it does that a variable says where code is loaded from."""
    if name in _SEARCHED:
        return _searched(reader, name, word, command)
    if name in _LOADING:
        return _loaded(reader, name, word, command)
    if name in _MAKE_OPTIONS and ("--eval" in word.text or HOLE in word.text):
        return [reader.unknown("option-variable", "shell", name)]
    if name in _GIT_SETTINGS and word.text != "/dev/null":
        path = reader.paths.resolve(word.text, command.cwd)
        if reader.paths.scope(path) in ("temp", "outside", "unknown"):
            return [reader.unknown("git-setting-runs", "git", name)]
    return []


def _searched(reader: Reading, name: str, word: Word, command: Command) -> list[Effect]:
    """Return that a library or module may be any that lies under its name in some folder.

    The project's folders, the system's and those of installed libraries are expected, and
    so is what the environment's own variables name.
    """
    if reader.inside:
        return []
    own = len(word.variables) == word.text.count(HOLE)
    for folder in word.text.split(":")[:MAX_FOLDERS]:
        if not folder or (HOLE in folder and own):
            continue
        path = reader.paths.resolve(folder, command.cwd)
        scope = "unknown" if HOLE in folder else reader.paths.scope(path)
        expected = scope in ("workspace", "system") or (
            scope in ("home", "outside") and path.endswith(_LIBRARIES)
        )
        if not expected:
            return [reader.unknown("search-path-changed", "shell", path)]
    return []


def _loaded(reader: Reading, name: str, word: Word, command: Command) -> list[Effect]:
    """Return the effects of the files that options in a variable load."""
    made: list[Effect] = []
    words = word.text.replace("=", " ").split()
    for position, text in enumerate(words):
        for option in _LOADING[name]:
            if text == option:
                file = words[position + 1] if position + 1 < len(words) else ""
            elif text.startswith(option) and (option[-1] == ":" or option == "-r"):
                file = text[len(option) :].partition("=")[0]
            else:
                continue
            if HOLE in file:
                made.append(reader.unknown("option-variable", "shell", name))
            elif file.startswith((".", "/", "~")):
                made += reader.run_file(Word(file), command, "shell")
            break
    return made


def with_options(words: tuple[Word, ...], command: Command) -> tuple[Word, ...]:
    """Return a call's words with those that a variable before it puts in front."""
    for variable, value in command.assigns:
        if _OPTION_VARIABLES.get(variable) == words[0].text and value.text:
            front = [Word(text) for text in value.text.split()] if value.known else [Word(HOLE)]
            return (words[0], *front, *words[1:])
    return words


def _runs(command: Command, variable: str) -> bool:
    """Say whether a command is the program whose options a variable holds."""
    return bool(command.words) and command.words[0].text == _OPTION_VARIABLES[variable]
