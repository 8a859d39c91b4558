"""What git's settings let it run: aliases, hooks in another folder, programs by key.

A setting is kept as a part of the file it stands in, whichever call has put it there.
"""

from posixpath import join

from toolgate.gate.effects import entrypoints
from toolgate.gate.effects.defined import put
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import SETTINGS, Reading, part_of
from toolgate.gate.shell.model import Word

RUNS = "settings"
"""Name of the part that holds what any command of git may run."""

_OWN, _WIDE = ".git/config", ".gitconfig"
_ENDINGS = ("/.git/config", "/.gitconfig", "/git/config", "/.gitmodules")
_SHELL_KEYS = ("pager", "editor", "sshcommand", "fsmonitor", "external", "textconv", "clean")
_MORE_SHELL_KEYS = ("smudge", "process", "askpass", "cmd", "command", "driver", "program")
_HOOKS_FOLDER = "core.hookspath"


def is_settings(path: str) -> bool:
    """Say whether git reads its settings from a file."""
    return path.endswith(_ENDINGS)


def settings_of(text: str) -> dict[str, str]:
    """Return what a file of settings lets git run, as shell text by part."""
    found: dict[str, str] = {}
    section = ""
    for source in text.split("\n"):
        line = source.strip()
        if line.startswith("["):
            head, _, line = line[1:].partition("]")
            section = head.split()[0].lower() if head.split() else ""
        key, equals, value = line.partition("=")
        if equals and section:
            value = value.strip().strip('"')
            for part, run in _parts(f"{section}.{key.strip().lower()}", value).items():
                found[part] = f"{found[part]}\n{run}" if part in found else run
    return found


def keep(reader: Reading, key: str, value: Word, *, wide: bool) -> None:
    """Keep a setting that a call makes.

    Args:
        reader: keeps it.
        key: in lower case.
        value: its value.
        wide: whether it holds for every repository of the user.
    """
    file, scope = (_wide(reader), "home") if wide else (_own(reader), "workspace")
    parts = _parts(key, value.text)
    for part, text in parts.items():
        put(reader, part_of(file, part), text if value.known else None, scope)


def expanded(reader: Reading, rest: tuple[Word, ...]) -> list[Effect] | None:
    """Return what a subcommand does that earlier settings have made an alias; None for others."""
    if not rest or not reader.files.defines(SETTINGS):
        return None
    made: list[Effect] | None = None
    for file in (_own(reader), _wide(reader)):
        alias = part_of(file, _alias(rest[0].text))
        if _says_more(reader, alias, file):
            made = [*(made or []), *(reader.run_known(alias, "git") or [])]
    if made is not None and rest[1:]:
        # What stands behind an alias becomes part of its command, which is kept by its effects.
        made.append(reader.unknown("arguments-added", "git"))
    return made


def _says_more(reader: Reading, part: str, file: str) -> bool:
    """Say whether more is known of a part than of its file, which then has such a part."""
    one, whole = reader.files.get(part), reader.files.get(file)
    if one is None or whole is None or one.artifact is None or whole.artifact is None:
        return one is not None
    return one.artifact.holds != whole.artifact.holds


def run(reader: Reading, subcommand: str, rest: tuple[Word, ...]) -> list[Effect]:
    """Return what earlier settings let a command of git run besides.

    What is not known of a program somebody has let git run was weighed when it was set, and
    whether the setting has taken hold makes no difference to one that does nothing of note.
    """
    skips = any(word.text == "--no-verify" for word in rest)
    hooks = () if skips else entrypoints.HOOKS.get(f"git {subcommand}", ())
    made = [
        effect
        for file in (_own(reader), _wide(reader))
        for part in (RUNS, *(f"hook {hook}" for hook in hooks))
        for effect in reader.run_known(part_of(file, part), "git") or []
    ]
    return [e for e in made if e.proof in (PROVED, unresolved("unread-artifact"))]


def _parts(key: str, value: str) -> dict[str, str]:
    section, _, last = key.rpartition(".")
    if section == "alias":
        return {_alias(last): value[1:] if value.startswith("!") else f"git {value}"}
    if key == _HOOKS_FOLDER:
        off = value in ("", "/dev/null")
        return {f"hook {hook}": "" if off else join(value, hook) for hook in _hooks()}
    if section == "pager" or last in _SHELL_KEYS or last in _MORE_SHELL_KEYS:
        return {RUNS: value} if value not in ("true", "false") else {}
    return {}


def _hooks() -> dict[str, None]:
    return dict.fromkeys(hook for hooks in entrypoints.HOOKS.values() for hook in hooks)


def _alias(name: str) -> str:
    return f"alias {name.lower()} "


def _own(reader: Reading) -> str:
    roots = reader.place.roots
    return join(roots[0] if roots else reader.place.cwd, _OWN)


def _wide(reader: Reading) -> str:
    return join(reader.place.home or "/", _WIDE)
