"""The form in which the vault keeps what the gate was given for one decision."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolgate.canonical import canonical_bytes, parse
from toolgate.errors import CanonicalizationError, InputError

VERSION = 1

FIELDS: Mapping[str, tuple[type, ...]] = {
    "agent": (list,),
    "auth_mode": (str,),
    "call": (str,),
    "host": (str,),
    "input": (dict,),
    "key": (str, type(None)),
    "mode": (str, type(None)),
    "place": (dict,),
    "principal": (str,),
    "session": (str,),
    "task": (dict, type(None)),
    "tool": (str,),
    "ts": (int,),
}
"""The fields of a kept call and their types."""

PLACE: Mapping[str, type] = {"cwd": str, "gate": list, "home": str, "roots": list, "temp": list}
"""The fields of its place and their types; ``disposable``, a list, only where it holds any,
``kept_shell`` only where it is true, and ``links``, an object of paths and of lists of where links
on the disk took them, only where there were any."""


TASK: Mapping[str, type] = {"count": int, "digest": str, "whole": bool}
"""What stands for a task: how many of the session's prompts, their digest, whether whole."""


class GateInput(NamedTuple):
    """What the gate was given for one decision.

    Args:
        exact: whether nothing in it was replaced by its digest.
        call: the call's fields: agent (a list), auth_mode, call (the id the ledger has),
            host, input, key, mode, place, principal, session, task, tool, ts.
    """

    exact: bool
    call: dict[str, Any]

    def as_bytes(self) -> bytes:
        """Return the bytes that are kept.

        Raises:
            CanonicalizationError: the tool's input has no canonical form.
        """
        return canonical_bytes({"v": VERSION, "exact": self.exact, "call": self.call})


def read_input(data: bytes) -> GateInput:
    """Read what was kept.

    Raises:
        InputError: the bytes are not of this form.
    """
    try:
        body = parse(data)
    except CanonicalizationError as error:
        raise InputError(f"vault entry is {error}") from None
    if not isinstance(body, dict) or body.keys() != {"v", "exact", "call"}:
        raise InputError("vault entry: expected an object of v, exact and call")
    call = body["call"]
    if body["v"] != VERSION or type(body["exact"]) is not bool or not _is_call(call):
        raise InputError("vault entry: a field has a value outside its domain")
    return GateInput(body["exact"], call)


def _is_call(call: Any) -> bool:
    if type(call) is not dict or call.keys() != FIELDS.keys():
        return False
    place, task = call["place"], call["task"]
    if task is not None and not _is_task(task):
        return False
    return (
        all(type(call[name]) in kinds for name, kinds in FIELDS.items())
        and place.keys() - {"disposable", "kept_shell", "links"} == PLACE.keys()
        and place.get("disposable") != []
        and place.get("kept_shell", True) is True
        and place.get("links", True)
        and _are_links(place.get("links", {}))
        and all(type(place[name]) is kind for name, kind in PLACE.items())
        and all(_are_texts(held) for held in (call["agent"], *_lists(place)))
    )


def _is_task(task: dict[str, Any]) -> bool:
    named = task.keys() == TASK.keys()
    return named and all(type(task[name]) is kind for name, kind in TASK.items())


def _are_links(links: Any) -> bool:
    return type(links) is dict and all(_are_texts(found) and found for found in links.values())


def _lists(place: dict[str, Any]) -> list[list[Any]]:
    return [place["gate"], place["roots"], place["temp"], place.get("disposable", [])]


def _are_texts(values: Any) -> bool:
    return type(values) is list and all(type(value) is str for value in values)
