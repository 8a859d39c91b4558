"""The literals of a policy and the example commands of the catalogue, with where they stand.

Nothing is decided here: a literal is text, and whether it occurs in a case says nothing of how
a gate would answer. So a set can be checked without being looked at.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalkit.errors import UsageError

NAME, PATH, EXPRESSION = "name", "path", "expression"


class Literal(NamedTuple):
    """A piece of text that somebody wrote into a policy.

    Args:
        where: what it belongs to, such as ``rule no-prod`` or ``names.secret_paths``.
        text: the literal, with ``*`` for any characters, or a regular expression.
        kind: ``name``, ``path`` or ``expression``.
    """

    where: str
    text: str
    kind: str


def policy_literals(compiled: dict[str, Any]) -> list[Literal]:
    """Return the literals of a compiled policy, sorted, each once.

    Args:
        compiled: the compiled policy's JSON.
    """
    found = [
        Literal(f"names.{name}", text, PATH if name.endswith("_paths") else NAME)
        for name, texts in (compiled.get("names") or {}).items()
        for text in texts
        if isinstance(text, str)
    ]
    found += [Literal("mcp", tool, NAME) for tool in compiled.get("mcp") or {}]
    for kind, key in (("rule", "rules"), ("override", "overrides")):
        for body in compiled.get(key) or []:
            found += _of_rule(f"{kind} {body.get(kind)}", body)
    return sorted(set(found))


def _of_rule(where: str, body: dict[str, Any]) -> list[Literal]:
    found = [Literal(where, text, NAME) for text in body.get("tools") or []]
    for item in body.get("effects") or []:
        found += [Literal(where, text, NAME) for text in item.get("program") or []]
        found += [Literal(where, text, PATH) for text in item.get("resource") or []]
    texts = (body.get("when") or {}).get("text") or []
    return found + [Literal(where, text, EXPRESSION) for text in texts]


def read_policy(path: str | None) -> list[Literal]:
    """Return the literals of a policy file, YAML or compiled; of the shipped one for None.

    Raises:
        UnavailableError: it cannot be read.
        PolicyError: it is refused.
    """
    from toolgate.canonical import parse
    from toolgate.gate.open import default_gate, gate_from

    gate = default_gate() if path is None else gate_from(path)
    return policy_literals(parse(gate.policy_bytes))


def catalogue_examples() -> list[tuple[str, str]]:
    """Return the example commands of the shipped catalogue: program and command.

    Raises:
        UsageError: the catalogue's sources are not there.
    """
    return [
        (program, command)
        for body in _families(None).values()
        for program, commands in (body.get("examples") or {}).items()
        for command in commands
    ]


def newer_words(before: str) -> list[Literal]:
    """Return the words the shipped catalogue has and an earlier one had not.

    Args:
        before: the folder of the earlier families.

    Raises:
        UsageError: there are no families, or one is no YAML.
    """
    old = {word for body in _families(before).values() for word in _words(_stated(body))}
    found = {
        Literal(f"catalogue {family}", word, NAME)
        for family, body in _families(None).items()
        for word in _words(_stated(body))
        if word not in old
    }
    return sorted(found)


def _stated(body: dict[str, Any]) -> list[Any]:
    """Return what a family says of programs, its prose and its examples apart."""
    return [body.get(name) for name in ("programs", "groups", "aliases")]


def _words(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one


def _families(folder: str | None) -> dict[str, dict[str, Any]]:
    """Return the families of a catalogue by file name; of the shipped one for None."""
    import yaml

    from toolgate.gate.catalog.compile import FAMILIES

    place = folder or FAMILIES
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    found: dict[str, dict[str, Any]] = {}
    try:
        for name in sorted(os.listdir(place)):
            if name.endswith(".yaml"):
                with open(os.path.join(place, name), "rb") as file:
                    body = yaml.load(file, Loader=loader)
                found[name.removesuffix(".yaml")] = body if isinstance(body, dict) else {}
    except (OSError, yaml.YAMLError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "a file that is no YAML"
        raise UsageError(f"{place}: expected the families of a catalogue, got: {reason}") from None
    if not found:
        raise UsageError(f"{place}: expected the families of a catalogue, got no .yaml file")
    return found
