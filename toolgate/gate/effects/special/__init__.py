"""Readings that a table cannot express, one function a kind of program.

Those of programs that few calls run are loaded when the first such call comes:
each module costs every start of the hook.
"""

from collections.abc import Callable

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.files import chmod, dd, find, kill, shares_copy, tar
from toolgate.gate.effects.special.git import (
    git_checkout,
    git_config,
    git_globals,
    git_runs,
    git_shows,
)
from toolgate.gate.effects.special.interpreters import (
    code_filter,
    fed,
    jar,
    sends_input,
    unpacks,
    unread,
)
from toolgate.gate.effects.special.transfer import borg, download, git_clone, mirror, sftp, ssh_key
from toolgate.gate.shell.model import Command

Special = Callable[[Reading, Parsed, str, Command, tuple[str, ...]], list[Effect]]


def _later(module: str, name: str) -> Special:
    """Return a reading that loads its module when it is used."""

    def read(
        reader: Reading, parsed: Parsed, program: str, command: Command, how: tuple[str, ...]
    ) -> list[Effect]:
        from importlib import import_module

        loaded = import_module(f"toolgate.gate.effects.special.{module}")
        reading: Special = getattr(loaded, name)
        return reading(reader, parsed, program, command, how)

    return read


READINGS: dict[str, Special] = {
    "git-push": _later("git_push", "git_push"),
    "git-config": git_config,
    "git-checkout": git_checkout,
    "git-runs": git_runs,
    "git-shows": git_shows,
    "find": find,
    "dd": dd,
    "chmod": chmod,
    "tar": tar,
    "kill": kill,
    "install": shares_copy,
    "xargs": _later("repeated", "xargs"),
    "parallel": _later("repeated", "parallel"),
    "fd": _later("repeated", "fd"),
    "jar": jar,
    "borg": borg,
    "eval": _later("joined", "words_as_shell"),
    "owner": _later("rights", "owner"),
    "grants": _later("rights", "grants"),
    "patched": _later("patches", "patched"),
    "words": _later("joined", "words_as_shell"),
    "bubblewrap": _later("sandbox", "bubblewrap"),
    "docker-run": _later("containers", "docker_run"),
    "gh-api": _later("remote", "gh_api"),
    "remote-shell": _later("remote", "remote_shell"),
    "download": download,
    "mirror": mirror,
    "ssh-key": ssh_key,
    "filter": code_filter,
    "fed": fed,
    "unread": unread,
    "unpacks": unpacks,
    "sends-input": sends_input,
    "environment": _later("variables", "environment"),
    "mongo": _later("databases", "mongo"),
    "git-clone": git_clone,
    "sftp": sftp,
    "pwsh": _later("windows", "pwsh"),
    "cmd": _later("windows", "cmd"),
    "iex": _later("windows", "iex"),
}

__all__ = ["READINGS", "git_globals"]
