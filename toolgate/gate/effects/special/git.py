"""Git: checkouts that discard, configuration that runs, files shown from the past."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.patterns import matches
from toolgate.gate.effects.reading import SETTINGS, Reading
from toolgate.gate.shell.model import HOLE, Command, Word

# Keys whose value git runs, or which name a folder or file of such keys.
_RUNS = (
    "core.hookspath",
    "core.sshcommand",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "core.worktree",
    "sequence.editor",
    "interactive.difffilter",
    "init.templatedir",
    "include.path",
    "diff.external",
    "credential.*",
    "gpg.program",
    "filter.*",
    "pager.*",
    "difftool.*",
    "mergetool.*",
    "uploadpack.*",
    "http.proxy",
    "protocol.allow",
    "sendemail.smtpserver",
    "imap.tunnel",
    "web.browser",
    "url.*",
)
# The same in sections that carry a name of their own in the middle: section, last component.
_RUNS_IN = {
    "includeif": ("path",),
    "diff": ("textconv", "command"),
    "merge": ("driver",),
    "gpg": ("program", "defaultkeycommand"),
    "tar": ("command",),
    "trailer": ("command", "cmd"),
    "submodule": ("update",),
    "remote": ("vcs", "uploadpack", "receivepack", "proxy"),
    "browser": ("cmd", "path"),
    "man": ("cmd", "path"),
    "protocol": ("allow",),
    "guitool": ("cmd",),
    "sendemail": ("smtpserver",),
    "http": ("proxy",),
    "hook": ("command",),
}
# Whose effect depends on the call they are given for.
_BY_CALL = ("core.pager", "core.editor", "sequence.editor", "gc.pruneexpire", "gc.reflogexpire")
_HARMLESS_VALUES = {
    "core.hookspath": ("/dev/null",),
    "core.fsmonitor": ("true", "false"),
    "protocol.ext.allow": ("never",),
    "protocol.allow": ("never", "user"),
}
_STOPS_HALFWAY = ("merge", "cherry-pick", "rebase", "revert", "am", "pull")
_GLOBAL_VALUES = (
    "-C",
    "-c",
    "--config-env",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--attr-source",
)
_TALKS = ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule", "archive")
_NAMES_ONLY = ["--name-only", "--name-status", "--stat", "--numstat", "--shortstat", "--summary"]
_FALSE = ("false", "no", "off", "0")


def earlier(reader: Reading, command: Command) -> list[Command]:
    """Return the commands of the text before one; none when the command is built by another."""
    position = next(
        (
            index
            for index, other in enumerate(reader.script.commands)
            if other.words and command.words and other.words[-1] is command.words[-1]
        ),
        0,
    )
    return list(reader.script.commands[:position])


def git_words(command: Command) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Split a command at git's subcommand: what stands between git and it, and the rest."""
    words = command.words
    start = next((i for i, word in enumerate(words) if word.text.rpartition("/")[2] == "git"), None)
    if start is None:
        return (), ()
    position = start + 1
    while position < len(words) and words[position].text.startswith("-"):
        position += 2 if words[position].text in _GLOBAL_VALUES else 1
    return words[start + 1 : position], words[position:]


def inline_settings(words: tuple[Word, ...]) -> list[tuple[str, str]]:
    """Return the settings given as ``-c KEY=VALUE`` or ``--config KEY=VALUE``, keys folded."""
    found: list[tuple[str, str]] = []
    for position, word in enumerate(words):
        text = word.text
        if text in ("-c", "--config", "--config-env") and position + 1 < len(words):
            text = words[position + 1].text
        elif text.startswith(("--config=", "--config-env=")):
            text = text.partition("=")[2]
        elif text.startswith("-c") and "=" in text:
            text = text[2:]
        else:
            continue
        key, _, value = text.partition("=")
        found.append((key.lower(), value))
    return found


def git_checkout(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whether a checkout switches branches or throws away changes to files."""
    words = [word.text for word in command.words]
    paths = words[words.index("--") + 1 :] if "--" in words else []
    if parsed.has(["--pathspec-from-file"]):
        paths.append("--pathspec-from-file")
    if parsed.has(["--ours", "--theirs"]):
        # Takes one side of a conflict, and of any other file its last commit.
        marks = "checkout resolve" if _in_conflict(reader, command) else "checkout"
        resource = " ".join(word.text for word in parsed.operands) or "worktree"
        return [Effect("vcs.discard", "workspace", resource, False, PROVED, name, marks)]
    forced = parsed.has(["-f", "--force"])
    creates = parsed.has(["-b", "-B", "--orphan", "-t", "--track", "--detach"])
    if not creates and not paths:
        operands = [word.text for word in parsed.operands]
        paths = [text for text in operands if _is_pathspec(text)] or operands[1:]
    if forced or parsed.has(["-B"]) or paths:
        resource = " ".join(paths) or "worktree"
        return [Effect("vcs.discard", "workspace", resource, False, PROVED, name, "checkout")]
    return []


def _in_conflict(reader: Reading, command: Command) -> bool:
    """Say whether an earlier command of the text can have stopped at a conflict."""
    for before in earlier(reader, command):
        texts = [word.text for word in git_words(before)[1][:2]]
        if texts[:1] and texts[0] in _STOPS_HALFWAY:
            return True
        if texts in (["stash", "pop"], ["stash", "apply"]):
            return True
    return False


def _is_pathspec(text: str) -> bool:
    """Say whether a lone operand of checkout names files, by its form."""
    if text in (".", "..", "*") or text.startswith((":", "./", "../")) or text.endswith("/"):
        return True
    suffix = text.rpartition("/")[2].rpartition(".")[2]
    return suffix != text.rpartition("/")[2] and suffix.isalpha() and len(suffix) <= 5


def git_config(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what setting a configuration key changes: some keys name programs git will run."""
    reads = parsed.has(
        ["--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch", "--show-origin"]
    )
    operands = [
        word for word in parsed.operands if word.text not in ("get", "set", "list", "unset")
    ]
    if parsed.operands and parsed.operands[0].text in ("get", "list"):
        reads = True
    setting = len(operands) > 1 or parsed.has(["--unset", "--unset-all", "--add", "--replace-all"])
    if reads or not operands or not setting:
        return []
    wide = parsed.has(["--global", "--system"])
    value = operands[1] if len(operands) > 1 else Word("")
    scope = "home" if wide else "workspace"
    key = operands[0].text.lower()
    if _unguards_clean(key, value.text):
        return [Effect("vcs.discard", "workspace", key, False, PROVED, name, "clean")]
    kind = "runs" if _runs(key, value.text) else "key"
    from toolgate.gate.effects import gitnames

    gitnames.keep(reader, key, value, wide=wide)
    return [Effect("vcs.config", scope, key, True, PROVED, name, kind)]


def _runs(key: str, value: str) -> bool:
    if HOLE in key:
        return True
    if key.startswith("alias."):
        return value.startswith("!") or HOLE in value
    section, _, rest = key.partition(".")
    last = rest.rpartition(".")[2]
    if "." in rest and last in _RUNS_IN.get(section, ()):
        return True
    return any(matches(key, pattern) for pattern in _RUNS)


def _unguards_clean(key: str, value: str) -> bool:
    return key == "clean.requireforce" and (value.lower() in _FALSE or HOLE in value)


def git_globals(
    reader: Reading, parsed: Parsed, command: Command, made: list[Effect]
) -> tuple[list[Effect], tuple[Word, ...]]:
    """Apply ``git -c`` settings: aliases are expanded, keys that run programs are effects.

    Returns:
        The effects so far and the words from the subcommand on.
    """
    rest = parsed.rest
    subcommand = rest[0].text.lower() if rest else ""
    if any(option == "--exec-path" and value is not None for option, value in parsed.options):
        made = [*made, reader.unknown("git-exec-path", "git")]
    settings = [
        (value.text.partition("=")[0].lower(), value.text.partition("=")[2])
        for option, value in parsed.options
        if option in ("-c", "--config-env") and value is not None
    ]
    # Of a setting that is given twice the later counts, but for helpers, which all run.
    settings = [
        *{key: (key, value) for key, value in settings if not key.endswith(".helper")}.values(),
        *(one for one in settings if one[0].endswith(".helper")),
    ]
    settings += inline_settings(rest) if subcommand == "clone" else []
    if reader.files.defines(SETTINGS):
        from toolgate.gate.effects import gitnames

        known = gitnames.expanded(reader, rest)
        if known is not None:
            return [*made, *known], (Word("version"),)
        made = [*made, *gitnames.run(reader, subcommand, rest)]
    settings += [
        (word.text.lower(), HOLE)
        for variable, word in command.assigns
        if variable.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS"))
    ]
    for key, setting in settings:
        if key.startswith("alias.") and subcommand == key[6:]:
            if setting.startswith("!"):
                return [*made, *reader.inner(setting[1:])], (Word("version"),)
            if HOLE in setting:
                return [*made, reader.code_not_known("git")], (Word("version"),)
            rest = (*(Word(part) for part in setting.split()), *rest[1:])
        elif _unguards_clean(key, setting) and subcommand == "clean":
            if not {"-n", "--dry-run"} & {word.text for word in rest}:
                discard = Effect("vcs.discard", "workspace", "git clean", False, PROVED, "git")
                made = [*made, discard._replace(how="clean")]
        elif key in _BY_CALL:
            from toolgate.gate.effects.special.git_setting import effects_of

            made = [*made, *effects_of(key, setting, subcommand, rest, reader)]
        elif _runs(key, setting) and setting and setting not in _HARMLESS_VALUES.get(key, ()):
            made = [*made, reader.unknown("git-setting-runs", "git", key)]
    if subcommand in _TALKS:
        made = [*made, *_external_transport(reader, rest)]
    return made, rest


def _external_transport(reader: Reading, words: tuple[Word, ...]) -> list[Effect]:
    """Read ``ext::COMMAND``, a remote that is a command."""
    made: list[Effect] = []
    for word in words:
        if word.text.startswith("ext::"):
            text = word.text[5:].replace("% ", " ").replace("%%", "%")
            made += reader.inner(text) if word.known else [reader.code_not_known("git")]
    return made


def git_runs(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Read the command behind ``git bisect run`` and ``git submodule foreach``."""
    words = parsed.rest
    if name.endswith("bisect"):
        if not words or words[0].text != "run":
            return []
        words = words[1:]
    elif len(words) == 1:
        text = words[0]
        return (
            reader.inner(text.text, cwd=command.cwd) if text.known else [reader.unknown(name, name)]
        )
    return reader.invoke(words, command._replace(words=words)) if words else []


def git_shows(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the secrets among the files whose content git prints, now or from a commit.

    Revisions and paths cannot be told apart by their form, so only what would
    be a secret as a path counts.
    """
    subcommand = name.rpartition(" ")[2]
    patch = parsed.has(["-p", "-u", "--patch", "-L", "--cc", "-c", "-m"], abbreviated=False)
    if subcommand in ("log", "whatchanged") and not patch:
        return []
    if parsed.has(_NAMES_ONLY, abbreviated=False) and not patch:
        return []
    if subcommand == "cat-file" and parsed.has(["-t", "-s", "-e"], abbreviated=False):
        return []
    operands = list(parsed.operands)
    if subcommand == "grep" and not parsed.has(["-e", "-f"], abbreviated=False):
        operands = operands[1:]  # the pattern
    lines = [value for option, value in parsed.options if option == "-L" and value is not None]
    made: list[Effect] = []
    for word in (*operands, *lines):
        path = word.text.rpartition(":")[2]
        made += [
            effect
            for effect in reader.touch("fs.read", word._replace(text=path), command, name)
            if path and effect.type == "secret.read"
        ]
    return made
