"""Rules of a project: they add to the policy in use, and can only tighten it. Pure.

That they do is not looked for but follows from what they may say. The strictest rule wins, so
a further rule that asks or denies makes no answer milder; such rules are all a project may
write. Names, trust, axes, classes, exceptions and allows are the user's alone. A rule of a
project belongs to no axis, because an axis can let a request of the user soften an ask.
"""

import json
from typing import Any

from toolgate.canonical import canonical_bytes
from toolgate.errors import PolicyError
from toolgate.gate.policy.faults import policy_faults
from toolgate.gate.policy.yaml_source import read_yaml

PREFIX = "project/"
"""How the name of a project's rule begins in decisions, so that it is no rule of the user's."""

_KEYS = {"version", "name", "about", "rules", "examples"}
_MILDER = ("axis", "floor")


def tightened(compiled: bytes, source: bytes, name: str) -> bytes:
    """Return a compiled policy with the rules of a project.

    Args:
        compiled: the policy in use.
        source: the project's policy, YAML.
        name: what to call that in messages.

    Raises:
        PolicyError: it is no sound policy, or says what might loosen.
    """
    twice: list[str] = []
    body = read_yaml(source, name, twice)
    policy = json.loads(compiled)
    faults = [*twice, *_loosening(body)] if isinstance(body, dict) else []
    known = {key: policy[key] for key in ("facts",) if policy.get(key)}
    faults += policy_faults({**body, **known} if isinstance(body, dict) and not faults else body)
    if not faults:
        faults = _many(policy, body)
    if faults:
        raise PolicyError(name, list(dict.fromkeys(faults)))
    rules = {canonical_bytes(rule): rule for rule in body.get("rules") or []}
    added = [{**rule, "rule": PREFIX + rule["rule"], "floor": True} for rule in rules.values()]
    policy["authored_by"] = None  # its author has signed another text
    policy["rules"] = sorted([*policy["rules"], *added], key=lambda rule: str(rule["rule"]))
    return canonical_bytes(policy)


def _loosening(body: dict[str, Any]) -> list[str]:
    """Return what a project may not say."""
    faults = [
        f"{key} is not for a project to say: its rules may only ask or deny"
        for key in sorted(set(map(str, body)) - _KEYS)
    ]
    rules = body.get("rules")
    for rule in rules if isinstance(rules, list) else []:
        if not isinstance(rule, dict):
            continue
        if rule.get("decide") == "allow":
            faults.append(f"rule {rule.get('rule')}: allows; a rule of a project may ask or deny")
        faults += [
            f"rule {rule.get('rule')}: {key} is not for a project to say"
            for key in _MILDER
            if key in rule
        ]
    return faults


def _many(policy: dict[str, Any], body: dict[str, Any]) -> list[str]:
    """Return a fault where both together hold more patterns of text than one policy may."""
    from toolgate.gate.policy.conditions import pattern_count_faults

    return pattern_count_faults({"rules": [*policy["rules"], *(body.get("rules") or [])]})
