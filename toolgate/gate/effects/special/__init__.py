"""Readings that a table cannot express, one function a kind of program.

Readings that few calls need are loaded with the first that does.
"""

from collections.abc import Callable
from typing import Any

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.containers import docker_run
from toolgate.gate.effects.special.files import (
    chmod,
    dd,
    find,
    kill,
    parallel,
    tar,
    words_as_shell,
    xargs,
)
from toolgate.gate.effects.special.git import (
    git_checkout,
    git_config,
    git_globals,
    git_push,
    git_runs,
    git_shows,
)
from toolgate.gate.effects.special.interpreters import code_filter, fed, unread
from toolgate.gate.effects.special.remote import gh_api, remote_shell
from toolgate.gate.effects.special.transfer import download, git_clone, mirror, sftp, ssh_key
from toolgate.gate.shell.model import Command


def _environment(*given: Any) -> Any:
    from toolgate.gate.effects.special.variables import environment

    return environment(*given)


def _mongo(*given: Any) -> Any:
    from toolgate.gate.effects.special.databases import mongo

    return mongo(*given)


Special = Callable[[Reading, Parsed, str, Command, tuple[str, ...]], list[Effect]]


def _windows(name: str) -> Special:
    """Return a reading of a Windows shell, loaded when one is first met."""

    def read(
        reader: Reading, parsed: Parsed, program: str, command: Command, how: tuple[str, ...]
    ) -> list[Effect]:
        from toolgate.gate.effects.special import windows

        reading: Special = getattr(windows, name)
        return reading(reader, parsed, program, command, how)

    return read


READINGS: dict[str, Special] = {
    "git-push": git_push,
    "git-config": git_config,
    "git-checkout": git_checkout,
    "git-runs": git_runs,
    "git-shows": git_shows,
    "find": find,
    "dd": dd,
    "chmod": chmod,
    "tar": tar,
    "kill": kill,
    "xargs": xargs,
    "parallel": parallel,
    "eval": words_as_shell,
    "words": words_as_shell,
    "docker-run": docker_run,
    "gh-api": gh_api,
    "remote-shell": remote_shell,
    "download": download,
    "mirror": mirror,
    "ssh-key": ssh_key,
    "filter": code_filter,
    "fed": fed,
    "unread": unread,
    "environment": _environment,
    "mongo": _mongo,
    "git-clone": git_clone,
    "sftp": sftp,
    "pwsh": _windows("pwsh"),
    "cmd": _windows("cmd"),
    "iex": _windows("iex"),
}

__all__ = ["READINGS", "git_globals"]
