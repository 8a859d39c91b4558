"""What a catalogue entry may say. Faults are collected, all of them, not just the first."""

from typing import Any

from toolgate.action import SCOPES
from toolgate.gate.effects.model import TYPES

ROLES = frozenset(
    (
        "text",
        "list",
        "read",
        "write",
        "append",
        "delete",
        "permission",
        "link",
        "exec",
        "shell",
        "python",
        "javascript",
        "ruby",
        "perl",
        "php",
        "awk",
        "sed",
        "sql",
        "lua",
        "module",
        "url",
        "host",
        "data",
        "upload",
        "item",
        "transfer",
        "measure",
        "stage",
        "edit",
        "listen",
        "index",
        "folder",
    )
)
SPECIAL = frozenset(
    (
        "git",
        "git-push",
        "git-config",
        "git-checkout",
        "git-runs",
        "git-shows",
        "find",
        "dd",
        "chmod",
        "tar",
        "kill",
        "install",
        "docker-run",
        "bubblewrap",
        "gh-api",
        "remote-shell",
        "xargs",
        "parallel",
        "jar",
        "fd",
        "borg",
        "eval",
        "words",
        "download",
        "filter",
        "mirror",
        "ssh-key",
        "fed",
        "pwsh",
        "cmd",
        "iex",
        "unread",
        "unpacks",
        "sends-input",
        "environment",
        "mongo",
        "git-clone",
        "patched",
        "owner",
        "grants",
        "sftp",
    )
)
KEYS = frozenset(
    (
        "values",
        "operands",
        "stop",
        "whole",
        "wraps",
        "assigns",
        "chdir",
        "code",
        "joins",
        "splits",
        "keeps",
        "late",
        "runs",
        "when",
        "does",
        "how",
        "dry",
        "subcommands",
        "other",
        "special",
        "stdin",
        "inside",
        "reads",
        "style",
    )
)
WHEN_KEYS = frozenset(
    ("any", "none", "value", "words", "bare", "operands", "does", "how", "inspect")
)


def faults_of(name: str, entry: Any) -> list[str]:
    """Return what is wrong with an entry, one sentence each."""
    if not isinstance(entry, dict):
        return [f"{name}: expected a mapping"]
    faults = [f"{name}: unknown key {key}" for key in sorted(set(entry) - KEYS)]
    for option, role in (entry.get("values") or {}).items():
        if role not in ROLES:
            faults.append(f"{name}: option {option} has unknown role {role}")
        if not option.startswith(("-", "+")):
            faults.append(f"{name}: {option} is not spelled like an option")
    faults += _roles(name, entry.get("operands") or [])
    faults += _does(name, entry.get("does") or [])
    if entry.get("special") not in (None, *SPECIAL):
        faults.append(f"{name}: unknown special reading {entry['special']}")
    if entry.get("stdin") not in (
        None,
        "shell",
        "python",
        "javascript",
        "ruby",
        "perl",
        "php",
        "sql",
    ):
        faults.append(f"{name}: stdin cannot be {entry['stdin']}")
    if entry.get("inside") not in (None, "container", "remote-host"):
        faults.append(f"{name}: a command cannot run inside {entry['inside']}")
    if entry.get("style") not in (None, "powershell", "dos"):
        faults.append(f"{name}: no options are written in the style {entry['style']}")
    for clause in entry.get("when") or []:
        faults += [f"{name}: unknown key {key} in when" for key in sorted(set(clause) - WHEN_KEYS)]
        faults += _roles(name, clause.get("operands") or [])
        faults += _does(name, clause.get("does") or [])
    for word, below in (entry.get("subcommands") or {}).items():
        faults += faults_of(f"{name} {word}", below)
    if entry.get("other") is not None:
        faults += faults_of(f"{name} (other)", entry["other"])
    return faults


def example_faults(file: str, examples: Any, names: set[str]) -> list[str]:
    """Return what is wrong with the examples of a family, one sentence each.

    Args:
        file: the family's file, for the sentences.
        examples: program to command to its effects, as written.
        names: the programs the family describes.
    """
    if not isinstance(examples, dict):
        return [f"{file}: examples are {examples!r}; expected programs with their commands"]
    faults: list[str] = []
    for program, commands in examples.items():
        where = f"{file}: examples of {program}"
        if program not in names:
            faults.append(f"{where}: this file does not describe {program}")
        if not isinstance(commands, dict) or not commands:
            faults.append(f"{where}: expected commands with their effects")
            continue
        for command, effects in commands.items():
            written = effects if isinstance(effects, list) else []
            if not written or not all(isinstance(item, str) for item in written):
                faults.append(f"{where}: {command!r} has no list of effects")
                continue
            written = [item.partition(" ")[0] for item in written]
            faults += _does(f"{where}: {command!r}", written)
    return faults


def _roles(name: str, roles: list[str]) -> list[str]:
    return [
        f"{name}: unknown operand role {role}" for role in roles if role.rstrip("*?") not in ROLES
    ]


def _does(name: str, items: list[str]) -> list[str]:
    faults = []
    for item in items:
        kind, _, scope, _ = effect_parts(item)
        if kind not in TYPES:
            faults.append(f"{name}: unknown effect type {kind}")
        if scope and scope not in SCOPES:
            faults.append(f"{name}: unknown scope {scope}")
    return faults


def effect_parts(item: str) -> tuple[str, tuple[str, ...], str, str]:
    """Split ``type:how,how@scope=resource`` into its four parts; all but the type may be absent."""
    head, _, resource = item.partition("=")
    head, _, scope = head.partition("@")
    kind, _, how = head.partition(":")
    return kind, tuple(part for part in how.split(",") if part), scope, resource
