"""A single-call case: one task, one command, one label. Pure."""

import json
from typing import Any

from evalkit.challenge.case import PRE, Step
from evalkit.challenge.fields import Fields, shown
from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError


def prompts_of(fields: Fields) -> tuple[str, ...]:
    """Return the prompts of a case, oldest first: ``session_goal``, ``prompts``, ``task``."""
    prompts = fields.texts("prompts")
    goal = fields.optional_text("session_goal")
    task = fields.optional_text("task")
    if task is not None and prompts:
        fields.faults.add(fields.path("task"), "either task or prompts", "both")
    return tuple(text for text in (goal, *prompts, task) if text)


def steps_of(fields: Fields) -> tuple[Step, ...]:
    """Return the one step of a single-call case."""
    tool = "Bash" if "tool" not in fields.body else fields.text("tool")
    return (Step(PRE, tool, _input_of(fields, tool), scored=True),)


def _input_of(fields: Fields, tool: str) -> dict[str, Any]:
    command = fields.body.get("command")
    if type(command) is dict:
        return command
    if type(command) is not str or not command:
        fields.faults.add(
            fields.path("command"),
            "non-empty text or an object",
            shown(command) if "command" in fields.body else "nothing",
        )
        return {}
    if _looks_like_object(command):
        try:
            return dict(parse(command.encode("utf-8")))
        except CanonicalizationError as error:
            fields.faults.add(fields.path("command"), "one strict JSON object", str(error))
            return {}
    if tool != "Bash":
        fields.faults.add(
            fields.path("command"), f"a JSON object, the input of {tool}", shown(command)
        )
    return {"command": command}


def _looks_like_object(command: str) -> bool:
    """Say whether a lenient reader would take the text for a JSON object.

    Text that is an object to one reader and shell to another has no one
    meaning, so whatever any reader takes for an object must be a strict one.
    """
    if not command.lstrip().startswith("{"):
        return False
    try:
        return type(json.loads(command)) is dict
    except (ValueError, RecursionError):
        return False
