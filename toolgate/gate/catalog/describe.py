"""What a catalogue entry says, in plain words."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from toolgate.gate.catalog.schema import effect_parts

ROLES = {
    "text": "text",
    "list": "a path that is only looked at",
    "read": "a file that is read",
    "write": "a file that is written",
    "append": "a file that is added to",
    "folder": "an empty folder that is made",
    "delete": "a file that is deleted",
    "permission": "a file whose permissions change",
    "link": "a link that is made",
    "exec": "a file that is run",
    "shell": "shell text that is run",
    "module": "a Python module that is run",
    "url": "a URL that is fetched",
    "host": "a host that is contacted",
    "listen": "an address that is listened on",
    "index": "the address of an index that packages are installed from",
    "data": "data that is sent (@file is read)",
    "upload": "a file that is read and sent",
    "measure": "a file that is counted, compared or digested",
    "stage": "a path; a secret there goes under version control",
    "edit": "a file that is shown and written",
    "item": "a request item; the file it names is read and sent",
    "transfer": "copied; host:path is on another machine, the last is written",
}
_ANY_NUMBER = "any number, each "


def describe(name: str, entry: dict[str, Any]) -> list[str]:
    """Return what an entry says, one fact a line, subcommands indented below.

    Args:
        name: the program, or the program and its subcommand.
        entry: its entry.
    """
    return [name, *("  " + line for line in _lines(name, entry))]


def _lines(name: str, entry: dict[str, Any]) -> Iterator[str]:
    for item in entry.get("does", ()):
        yield f"always: {_effect(item)}"
    if entry.get("how"):
        yield f"all of it: {', '.join(entry['how'])}"
    if "wraps" in entry:
        yield _wrapping(entry)
    if entry.get("splits"):
        yield f"with {_any(entry['splits'])}: its words stand before that command"
    if entry.get("operands"):
        yield f"operands: {_operands(entry['operands'])}"
    if entry.get("stdin"):
        yield f"standard input is run as {entry['stdin']} where no code and no file is named"
    if entry.get("special"):
        yield f"read by code of its own ({entry['special']})"
    if entry.get("dry"):
        yield f"with {_any(entry['dry'])}: nothing is changed"
    if entry.get("reads"):
        yield f"behind any nouns only look: {', '.join(entry['reads'])}"
    yield from _values(entry.get("values") or {})
    for clause in entry.get("when", ()):
        yield _clause(clause)
    if entry.get("stop"):
        yield "options end at the first operand"
    if entry.get("whole"):
        yield "-name is one option, no cluster of letters"
    yield from _subcommands(name, entry)
    if not any(key in entry for key in _ACTS) and _harmless(entry.get("operands", ())):
        roles = (entry.get("values") or {}).values()
        more = "" if _harmless(roles) and not entry.get("when") else ", but for what is said above"
        yield f"looks only{more}"


_ACTS = ("does", "wraps", "stdin", "special", "subcommands", "other")


def _harmless(roles: Iterable[str]) -> bool:
    return all(role.rstrip("*?") in ("text", "list") for role in roles)


def _subcommands(name: str, entry: dict[str, Any]) -> Iterator[str]:
    below = entry.get("subcommands") or {}
    alike: dict[str, list[str]] = {}
    for word, one in below.items():
        alike.setdefault(json.dumps(one or {}, sort_keys=True), []).append(word)
    for key, words in alike.items():
        yield from describe(f"{name} {', '.join(words)}", json.loads(key))
    if below and entry.get("other") is not None:
        yield from describe(f"{name} (any other subcommand)", entry["other"])
    elif entry.get("keeps"):
        yield "any other subcommand: the program of a command that is run"
    elif below:
        yield "any other subcommand: not known, so unresolved"


def _wrapping(entry: dict[str, Any]) -> str:
    after = entry["wraps"]
    where = {"container": " in a container", "remote-host": " on another machine"}
    text = "runs the command" + (f" that follows {after} operands" if after > 1 else "")
    text = "runs the command that follows one operand" if after == 1 else text
    text = "runs the command that follows" if after == 0 else text
    text += where.get(entry.get("inside", ""), "")
    return text + ("; NAME=value words may stand before it" if entry.get("assigns") else "")


def _operands(roles: list[str]) -> str:
    star = next((index for index, role in enumerate(roles) if role.endswith("*")), None)
    words = []
    for index, role in enumerate(roles):
        said = _role(role)
        if index == star:
            said = _ANY_NUMBER + said
        elif role.endswith("?"):
            said += ", if given"
        words.append(said)
    if star is None:
        words[-1] += "; further ones as the last"
    return "; ".join(words)


def _role(role: str) -> str:
    bare = role.rstrip("*?")
    return ROLES.get(bare, f"{bare} code that is read")


def _values(values: dict[str, str]) -> Iterator[str]:
    by_role: dict[str, list[str]] = {}
    for option, role in values.items():
        by_role.setdefault(role, []).append(option)
    for role, options in by_role.items():
        yield f"{', '.join(options)} VALUE: {_role(role)}"


def _clause(clause: dict[str, Any]) -> str:
    holds = []
    if clause.get("any"):
        holds.append(f"with {_any(clause['any'])}")
    if clause.get("none"):
        holds.append(f"without {_any(clause['none'])}")
    for option, values in (clause.get("value") or {}).items():
        holds.append(f"where {option} is {_any([str(value) for value in values])} or not known")
    if clause.get("words"):
        holds.append(f"where an operand is like {_any(clause['words'])}")
    if clause.get("bare"):
        holds.append("without operands")
    says = [_effect(item) for item in clause.get("does", ())]
    if clause.get("how"):
        says.append(f"all of it: {', '.join(clause['how'])}")
    if clause.get("operands"):
        says.append(f"operands: {_operands(clause['operands'])}")
    if clause.get("inspect"):
        says.append("looks only")
    return f"{', '.join(holds) or 'always'}: {'; '.join(says) or 'nothing more'}"


def _any(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _effect(item: str) -> str:
    kind, how, scope, resource = effect_parts(item)
    text = kind + (f" of {resource}" if resource else "")
    text += f" [{' '.join(how)}]" if how else ""
    return text + (f" ({scope})" if scope else "")
