"""A policy that extends another: what each of the two says, made one."""

from collections.abc import Callable
from typing import Any

from toolgate.canonical import digest
from toolgate.errors import PolicyError
from toolgate.gate.policy.faults import policy_faults
from toolgate.gate.policy.yaml_source import read_yaml
from toolgate.records import is_digest

SHIPPED = ("balanced", "permissive", "strict")
_KEYS = {"policy", "file", "digest", "without"}
_OWN = ("version", "name", "about", "examples", "authored_by")
"""What a policy says of itself alone."""

_WORDS = ("default", "fail_mode", "unattended", "judge", "lift")
_MAPPINGS = ("axes", "mcp", "facts", "principals", "composition")
_LISTS = ("rules", "overrides", "classes", "authors")
_DEEPEST = 8


def extended(
    body: Any, bases: Callable[[dict[str, Any]], bytes] | None, name: str, depth: int = 0
) -> Any:
    """Return what a policy says together with what it extends.

    Args:
        body: the policy as its YAML says it; one that extends nothing comes back as it is.
        bases: finds the source of what ``extends`` means; None where nothing may be extended.
        name: what to call the policy in messages.
        depth: how many policies extend this one.

    Raises:
        PolicyError: what it extends is not named soundly, has another digest, or has faults.
        UnavailableError: it cannot be read.
    """
    said = body.get("extends") if isinstance(body, dict) else None
    if said is None:
        return body
    faults = extends_faults(said)
    if bases is None and not faults:
        faults = ["extends: no other policy may be extended here"]
    if depth >= _DEEPEST:
        faults.append(f"extends: more than {_DEEPEST} policies, each extending the next")
    if faults or bases is None:
        raise PolicyError(name, faults)
    source = bases(said)
    base_name = said.get("file") or said["policy"]
    if "digest" in said and digest(source) != said["digest"]:
        found = digest(source)
        raise PolicyError(name, [f"extends: {base_name} has digest {found}, not {said['digest']}"])
    base = extended(read_yaml(source, base_name), bases, base_name, depth + 1)
    faults = [f"extends {base_name}: {fault}" for fault in policy_faults(base)]
    faults += _without_faults(said.get("without", []), base, base_name) if not faults else []
    if faults:
        raise PolicyError(name, faults)
    return _joined(base, body, set(said.get("without", [])))


def extends_faults(said: Any) -> list[str]:
    """Return every fault of what ``extends`` says."""
    if not isinstance(said, dict):
        return ["extends: expected policy, or file and digest"]
    faults = [f"extends: unknown key {key}" for key in sorted(set(map(str, said)) - _KEYS)]
    if ("policy" in said) is ("file" in said):
        faults.append("extends: expected either policy, a shipped one, or file")
    elif "file" in said:
        if not isinstance(said["file"], str) or not said["file"]:
            faults.append("extends: file is not the name of one")
        if "digest" not in said:
            faults.append("extends: digest is missing; a file is extended as it was read then")
    elif said["policy"] not in SHIPPED:
        shipped = ", ".join(SHIPPED)
        faults.append(f"extends: policy is {said['policy']!r:.80}; expected one of {shipped}")
    if "digest" in said and not is_digest(said["digest"]):
        faults.append(f"extends: digest is {said['digest']!r:.90}; expected sha256: and 64 digits")
    without = said.get("without", [])
    if not isinstance(without, list) or not all(isinstance(one, str) and one for one in without):
        faults.append("extends: without is not a list of rule names")
    return faults


def _without_faults(without: list[str], base: dict[str, Any], name: str) -> list[str]:
    known = {rule["rule"] for rule in base.get("rules") or []}
    return [
        f"extends: {name} has no rule {one} to leave out" for one in without if one not in known
    ]


def _joined(base: dict[str, Any], own: dict[str, Any], without: set[str]) -> dict[str, Any]:
    """Return both as one: the own words stand, lists add up, and the own entry of a name stands.

    Rules are not replaced by name: two different ones of a name are a fault, so that nobody
    loosens a rule without saying that it is left out. What has the wrong form comes through
    as it is, to be found as a fault.
    """
    made = {key: own[key] for key in _OWN if key in own}
    made.update({key: base[key] for key in _WORDS if key in base})
    made.update({key: value for key, value in own.items() if key not in made and key != "extends"})
    made.update({key: own[key] for key in _WORDS if key in own})
    left = {
        **base,
        "rules": [rule for rule in base.get("rules") or [] if rule["rule"] not in without],
    }
    for key in _MAPPINGS:
        ours = own.get(key) or {}
        if isinstance(ours, dict) and (ours or left.get(key)):
            made[key] = _mapped(left.get(key) or {}, ours, deep=key == "axes")
    names = own.get("names") or {}
    if isinstance(names, dict) and (names or left.get("names")):
        made["names"] = _named(left.get("names") or {}, names)
    for key in _LISTS:
        ours = own.get(key) or []
        if isinstance(ours, list) and (ours or left.get(key)):
            made[key] = _listed(ours, left.get(key) or [], "name" if key == "classes" else "")
    return made


def _mapped(base: dict[str, Any], own: dict[str, Any], *, deep: bool) -> dict[str, Any]:
    made = {**base, **own}
    for key in set(base) & set(own) if deep else ():
        if isinstance(base[key], dict) and isinstance(own[key], dict):
            made[key] = {**base[key], **own[key]}
    return made


def _named(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    made = {**base, **own}
    for key in set(base) & set(own):
        if isinstance(base[key], list) and isinstance(own[key], list):
            made[key] = [*base[key], *own[key]]
    return made


def _listed(own: list[Any], base: list[Any], label: str) -> list[Any]:
    """Return the own items and then the base's; of classes, the own one of a name stands."""
    taken = {item.get(label) for item in own if isinstance(item, dict)} if label else set()
    return [*own, *(item for item in base if not label or item.get(label) not in taken)]
