"""``toolgate hook``: the settings that make an agent call the gate."""

import json
import os
import sys

import click

_EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionDenied",
    "UserPromptSubmit",
    "Stop",
    "SessionStart",
    "SessionEnd",
)
_MATCHED = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionDenied")


@click.group()
def hook() -> None:
    """Print the settings that install the hook."""


@hook.command()
@click.option(
    "--block-on-failure",
    is_flag=True,
    help="Add onFailure: block, for hosts of version 2.1.295 and later; older ones may refuse it.",
)
def settings(block_on_failure: bool) -> None:
    """Print the hooks section for the settings file of Claude Code.

    The command names this interpreter and this package by absolute path. A
    bare python3 may be missing where the agent runs, and the agent then runs
    every call.
    """
    click.echo(json.dumps({"hooks": _hooks(block_on_failure)}, indent=2))


def _hooks(block_on_failure: bool) -> dict[str, object]:
    import toolgate.hook

    program = os.path.realpath(sys.executable)
    file = os.path.join(os.path.dirname(os.path.abspath(toolgate.hook.__file__)), "main.py")
    command: dict[str, object] = {
        "type": "command",
        "command": program,
        "args": ["-I", "-S", "-E", file],
        "timeout": 10,
    }
    if block_on_failure:
        command["onFailure"] = "block"
    sections: dict[str, object] = {}
    for event in _EVENTS:
        entry: dict[str, object] = {"hooks": [command]}
        if event in _MATCHED:
            entry["matcher"] = "*"
        sections[event] = [entry]
    return sections
