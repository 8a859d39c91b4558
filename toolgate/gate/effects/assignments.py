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
_FILTERS = frozenset(("LESSOPEN", "LESSCLOSE"))
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
