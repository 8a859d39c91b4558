"""Git: refspecs, checkouts that discard, configuration that runs."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.patterns import matches_any
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_FORCE = ["-f", "--force", "--force-with-lease", "--force-if-includes"]
_DELETE = ["-d", "--delete", "--prune"]
_RUNS = (
    "core.hookspath",
    "core.sshcommand",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.gitproxy",
    "sequence.editor",
    "diff.external",
    "credential.",
    "gpg.program",
    "filter.",
    "pager.",
    "difftool.",
    "mergetool.",
    "uploadpack.",
    "http.proxy",
    "url.",
)


def git_push(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what a push publishes, overwrites or deletes, ref by ref."""
    if parsed.has(["-n", "--dry-run"], abbreviated=False):
        return []
    marks = list(how)
    if parsed.has(_FORCE):
        marks.append("force")
    if parsed.has(_DELETE):
        marks.append("delete")
    refs = list(parsed.operands[1:])
    remote = parsed.operands[0].text if parsed.operands else "origin"
    if ":" in remote or "/" in remote:
        marks.append("url")
    if parsed.has(["--mirror"]):
        # Everything that is not here is removed there, protected branches included.
        return [_publish(name, f"{remote} *", [*marks, "mirror", "force", "delete", "protected"])]
    if parsed.has(["--all", "--branches"]):
        marks.append("protected")
    if not refs:
        return [_publish(name, remote, marks)]
    return [_ref(reader, word, remote, name, marks) for word in refs]


def _ref(reader: Reading, word: Word, remote: str, name: str, marks: list[str]) -> Effect:
    text = word.text
    marks = list(marks)
    if text.startswith("+"):
        marks.append("force")
        text = text[1:]
    source, colon, target = text.partition(":")
    if colon and not source:
        marks.append("delete")
    branch = (target if colon else source).removeprefix("refs/heads/")
    if not branch:
        # ":" alone pushes every branch both sides have.
        marks.append("protected")
    if matches_any(branch, reader.settings.protected_refs):
        marks.append("protected")
    effect = _publish(name, f"{remote} {branch}", marks)
    if HOLE in branch and ("force" in marks or "delete" in marks):
        return effect._replace(proof=unresolved("ref-not-known"))
    return effect


def _publish(name: str, resource: str, marks: list[str]) -> Effect:
    how = " ".join(dict.fromkeys(marks))
    return Effect("vcs.publish", "outside", resource, False, PROVED, name, how)


def git_checkout(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whether a checkout switches branches or throws away changes to files."""
    words = [word.text for word in command.words]
    paths = words[words.index("--") + 1 :] if "--" in words else []
    if parsed.has(["--pathspec-from-file"]):
        paths.append("--pathspec-from-file")
    if parsed.has(["--ours", "--theirs"]):
        return []  # takes one side of a conflict; git refuses it for any other path
    forced = parsed.has(["-f", "--force"])
    creates = parsed.has(["-b", "-B", "--orphan", "-t", "--track", "--detach"])
    if not creates and not paths:
        operands = [word.text for word in parsed.operands]
        paths = [text for text in operands if _is_pathspec(text)] or operands[1:]
    if forced or parsed.has(["-B"]) or paths:
        resource = " ".join(paths) or "worktree"
        return [Effect("vcs.discard", "workspace", resource, False, PROVED, name, "checkout")]
    return []


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
    runs = _runs(key, value.text)
    kind = "runs" if runs else "key"
    return [Effect("vcs.config", scope, key, True, PROVED, name, kind)]


def _runs(key: str, value: str) -> bool:
    if key.startswith("alias."):
        return value.startswith("!") or HOLE in value
    return key.startswith(_RUNS) and key != "url."


def git_globals(
    reader: Reading, parsed: Parsed, command: Command, made: list[Effect]
) -> tuple[list[Effect], tuple[Word, ...]]:
    """Apply ``git -c`` settings: aliases are expanded, keys that run programs are effects.

    Returns:
        The effects so far and the words from the subcommand on.
    """
    rest = parsed.rest
    for option, value in parsed.options:
        if option not in ("-c", "--config-env") or value is None:
            continue
        key, _, setting = value.text.partition("=")
        key = key.lower()
        if key.startswith("alias.") and rest and rest[0].text.lower() == key[6:]:
            if setting.startswith("!"):
                return [*made, *reader.inner(setting[1:])], (Word("version"),)
            if HOLE in setting:
                return [*made, reader.code_not_known("git")], (Word("version"),)
            rest = (*(Word(part) for part in setting.split()), *rest[1:])
        elif _runs(key, setting):
            shell = setting.removeprefix("!")
            harmless = key == "core.pager" and shell in ("cat", "less", "")
            if not harmless:
                made = [*made, reader.unknown("git-setting-runs", "git", key)]
    return made, rest
