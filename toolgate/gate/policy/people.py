"""The people of a policy: whose keys they are, who approves what, who wrote it."""

from typing import Any

from toolgate.gate.policy.compose import ALL_OF, ANY_OF, OPERATORS, STAGED
from toolgate.records import is_digest
from toolgate.signing import is_key, is_weak

_KEY_FORM = "expected ed25519: and 64 lower-case hex digits"
_WEAK = "is a point of small order, under which anybody can sign"
_OPERATORS = f"{ALL_OF}, {ANY_OF} or {STAGED}"


def people_faults(body: dict[str, Any]) -> list[str]:
    """Return every fault of ``principals``, ``composition``, ``authors`` and ``authored_by``.

    Args:
        body: the policy as its YAML says it.
    """
    principals = body.get("principals")
    names = set(principals) if isinstance(principals, dict) else set()
    return [
        *_principals_faults(principals),
        *_composition_faults(body.get("composition"), names, _classes(body.get("classes"))),
        *_authors_faults(body.get("authors"), names),
        *_authored_faults(body.get("authored_by")),
    ]


def compiled_composition(composition: dict[str, Any]) -> dict[str, Any]:
    """Return a composition without faults as the compiled policy holds it."""
    return {
        name: {
            "operator": item["operator"],
            "principals": item["principals"],
            **({"n": item.get("n", 1)} if item["operator"] == ANY_OF else {}),
        }
        for name, item in composition.items()
    }


def _classes(value: Any) -> set[str]:
    items = value if isinstance(value, list) else []
    return {"other"} | {
        item["name"]
        for item in items
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _principals_faults(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict):
        return ["principals: expected a mapping from name to a list of keys"]
    faults: list[str] = []
    holder: dict[str, str] = {}
    for name, keys in value.items():
        where = f"principals {name}"
        if not isinstance(name, str) or not name:
            faults.append(f"principals: {name!r} is not a name")
        if not isinstance(keys, list) or not keys:
            faults.append(f"{where}: expected a list of at least one key")
            continue
        for key in keys:
            if not is_key(key):
                faults.append(f"{where}: {key!r:.80} is not a key; {_KEY_FORM}")
            elif is_weak(key):
                faults.append(f"{where}: {key} {_WEAK}")
            elif key in holder:
                whose = "is given twice" if holder[key] == name else f"is {holder[key]}'s as well"
                faults.append(f"{where}: key {key} {whose}")
            else:
                holder[key] = str(name)
    return faults


def _composition_faults(value: Any, names: set[str], classes: set[str]) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict):
        return ["composition: expected a mapping from class to operator"]
    faults: list[str] = []
    for name, item in value.items():
        where = f"composition {name}"
        if name not in classes:
            faults.append(f"{where}: no class has this name")
        if not isinstance(item, dict):
            faults.append(f"{where}: expected operator, principals and n")
            continue
        unknown = sorted(set(map(str, item)) - {"operator", "n", "principals"})
        faults += [f"{where}: unknown key {key}" for key in unknown]
        faults += _rule_faults(item, where, names)
    return faults


def _rule_faults(item: dict[str, Any], where: str, names: set[str]) -> list[str]:
    faults: list[str] = []
    operator, principals = item.get("operator"), item.get("principals")
    if operator not in OPERATORS:
        faults.append(f"{where}: operator is {operator!r}; expected {_OPERATORS}")
    if not _is_names(principals) or not principals:
        faults.append(f"{where}: principals is not a list of at least one name")
        principals = []
    if len(set(principals)) < len(principals):
        faults.append(f"{where}: a principal is named twice")
    faults += [
        f"{where}: unknown principal {one}" for one in dict.fromkeys(principals) if one not in names
    ]
    if "n" in item and operator in (ALL_OF, STAGED):
        faults.append(f"{where}: n belongs to {ANY_OF}; {operator} needs every principal")
    elif "n" in item:
        most = max(len(set(principals)), 1)
        if type(item["n"]) is not int or not 1 <= item["n"] <= most:
            faults.append(f"{where}: n is {item['n']!r}; expected a number from 1 to {most}")
    return faults


def _authors_faults(value: Any, names: set[str]) -> list[str]:
    if value is None:
        return []
    if not _is_names(value):
        return ["authors is not a list of names"]
    return [f"authors: unknown principal {one}" for one in value if one not in names]


def _authored_faults(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict) or set(value) != {"name", "key", "authorizing_policy"}:
        return ["authored_by: expected name, key and authorizing_policy"]
    faults: list[str] = []
    if not isinstance(value["name"], str) or not value["name"]:
        faults.append("authored_by: name is not text")
    if not is_key(value["key"]):
        faults.append(f"authored_by: {value['key']!r:.80} is not a key; {_KEY_FORM}")
    elif is_weak(value["key"]):
        faults.append(f"authored_by: {value['key']} {_WEAK}")
    above = value["authorizing_policy"]
    if above is not None and not is_digest(above):
        faults.append(
            f"authored_by: authorizing_policy is {above!r:.80}; expected a policy digest or null"
        )
    return faults
