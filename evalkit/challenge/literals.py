"""The literals of a policy and the example commands of the catalogue, with where they stand.

Nothing is decided here: a literal is text, and whether it occurs in a case says nothing of how
a gate would answer. So a set can be checked without being looked at.
"""

import os
from typing import Any, NamedTuple

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
        OSError: the catalogue's sources are not there.
    """
    import yaml

    from toolgate.gate.catalog.compile import FAMILIES

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    found: list[tuple[str, str]] = []
    for name in sorted(os.listdir(FAMILIES)):
        if name.endswith(".yaml"):
            with open(os.path.join(FAMILIES, name), "rb") as file:
                body = yaml.load(file, Loader=loader)
            for program, commands in (body.get("examples") or {}).items():
                found += [(program, command) for command in commands]
    return found
