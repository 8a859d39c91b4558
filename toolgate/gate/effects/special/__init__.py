"""Readings that a table cannot express, one function a kind of program."""

from toolgate.gate.effects.special.containers import docker_run
from toolgate.gate.effects.special.files import chmod, dd, find, kill, tar, words_as_shell
from toolgate.gate.effects.special.git import (
    git_checkout,
    git_config,
    git_globals,
    git_push,
    git_runs,
    git_shows,
)
from toolgate.gate.effects.special.interpreters import code_filter, jar, unread
from toolgate.gate.effects.special.mongo import mongo
from toolgate.gate.effects.special.remote import gh_api, remote_shell
from toolgate.gate.effects.special.repeated import fd, parallel, xargs
from toolgate.gate.effects.special.transfer import borg, download, mirror, ssh_key

READINGS = {
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
    "jar": jar,
    "fd": fd,
    "borg": borg,
    "mongo": mongo,
    "eval": words_as_shell,
    "words": words_as_shell,
    "docker-run": docker_run,
    "gh-api": gh_api,
    "remote-shell": remote_shell,
    "download": download,
    "mirror": mirror,
    "ssh-key": ssh_key,
    "filter": code_filter,
    "unread": unread,
}

__all__ = ["READINGS", "git_globals"]
