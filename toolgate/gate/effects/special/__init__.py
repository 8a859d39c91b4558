"""Readings that a table cannot express, one function a kind of program."""

from toolgate.gate.effects.special.containers import docker_run
from toolgate.gate.effects.special.files import chmod, dd, find, kill, tar, words_as_shell, xargs
from toolgate.gate.effects.special.git import git_checkout, git_config, git_globals, git_push
from toolgate.gate.effects.special.remote import gh_api, remote_shell

READINGS = {
    "git-push": git_push,
    "git-config": git_config,
    "git-checkout": git_checkout,
    "find": find,
    "dd": dd,
    "chmod": chmod,
    "tar": tar,
    "kill": kill,
    "xargs": xargs,
    "eval": words_as_shell,
    "words": words_as_shell,
    "docker-run": docker_run,
    "gh-api": gh_api,
    "remote-shell": remote_shell,
}

__all__ = ["READINGS", "git_globals"]
