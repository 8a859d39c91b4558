"""Policy YAML v1 to compiled JSON: strict keys, every fault reported at once."""

from typing import Any

from toolgate.action import SCOPES
from toolgate.canonical import canonical_bytes
from toolgate.errors import PolicyError
from toolgate.gate.decision import AXES, COMPOSITION
from toolgate.gate.effects.model import TYPES
from toolgate.gate.effects.settings import Settings
from toolgate.gate.facts.session import ASKABLE, CODES
from toolgate.gate.policy.match import EFFECT_KEYS
from toolgate.gate.policy.mcp import compiled_mcp, mcp_faults
from toolgate.gate.policy.model import FORMAT
from toolgate.gate.policy.people import compiled_composition, people_faults

_TOP = {
    "version",
    "name",
    "about",
    "default",
    "unattended",
    "names",
    "mcp",
    "classes",
    "rules",
    "authored_by",
    "authors",
    "composition",
    "principals",
    "facts",
}
_RULE = {"rule", "decide", "axis", "because", "tools", "effects", "facts"}
_CLASS = {"name", "tools", "effects"}
_CLASS_EFFECT = ("type", "scope", "reversible", "proof")
_MOST_TURNS = 10_000
_DECIDE = ("allow", "ask", "deny")


def compile_policy(
    source: bytes, catalog_digest: str, *, name: str = "policy", lexicon: str | None = None
) -> bytes:
    """Compile policy YAML.

    Args:
        source: the YAML text.
        catalog_digest: digest of the catalogue its decisions rest on.
        name: what to call the source in messages.
        lexicon: digest of the lexicon its readings of a task rest on; None for whichever is there.

    Returns:
        Canonical JSON; its SHA-256 is the policy digest.

    Raises:
        PolicyError: with every fault found.
    """
    import yaml

    try:
        body = yaml.load(source.decode("utf-8"), Loader=_strict_loader(yaml))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise PolicyError(name, [f"{where}{problem}"]) from None
    except UnicodeDecodeError as error:
        raise PolicyError(name, [f"not UTF-8 at byte {error.start}"]) from None
    except RecursionError:
        raise PolicyError(name, ["nested too deep"]) from None
    except ValueError as error:  # a date or a number that is none
        raise PolicyError(name, [f"a value cannot be read: {str(error)[:80]}"]) from None
    faults = _faults(body)
    if faults:
        raise PolicyError(name, faults)
    return canonical_bytes(_compiled(body, catalog_digest, lexicon))


def _strict_loader(yaml: Any) -> Any:
    """Return a safe loader that refuses a key given twice, and aliases, which may multiply."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml is imported late, so it is untyped here
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                at = self.peek_event()
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"alias *{at.anchor:.40}: write out what it stands for",
                    at.start_mark,
                )
            return super().compose_node(parent, index)

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is a word, no list or mapping", key_node.start_mark
                )
            key = loader.construct_object(key_node, deep=True)
            if key in made:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r:.80} is given twice", key_node.start_mark
                )
            made[key] = loader.construct_object(value_node, deep=True)
        return made

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Loader


def _compiled(body: dict[str, Any], catalog_digest: str, lexicon: str | None) -> dict[str, Any]:
    names = body.get("names") or {}
    rules = {canonical_bytes(rule): rule for rule in body.get("rules") or []}
    return {
        "format": FORMAT,
        "name": body["name"],
        "catalog": catalog_digest,
        "lexicon": lexicon,
        "default": body.get("default", "ask"),
        "unattended": body.get("unattended") or {"modes": [], "ask": "deny"},
        "authored_by": body.get("authored_by"),
        "authors": sorted(set(body.get("authors") or [])),
        "composition": compiled_composition(body.get("composition") or {}),
        "principals": body.get("principals") or {},
        "names": {key: sorted(set(names.get(key) or [])) for key in Settings._fields},
        "mcp": compiled_mcp(body.get("mcp") or {}),
        "facts": body.get("facts") or {},
        "classes": body.get("classes") or [],
        # Neither order nor repetition carries meaning, so neither is kept.
        "rules": sorted(rules.values(), key=lambda rule: str(rule["rule"])),
    }


def _faults(body: Any) -> list[str]:
    if not isinstance(body, dict):
        return ["expected a mapping with version, name and rules"]
    faults = [f"unknown key {key}" for key in sorted(set(map(str, body)) - _TOP)]
    if body.get("version") != 1:
        faults.append(f"version is {body.get('version')!r}; this program reads version 1")
    if not isinstance(body.get("name"), str) or not body["name"]:
        faults.append("name is missing")
    if body.get("default", "ask") not in ("ask", "deny"):
        faults.append(f"default is {body.get('default')!r}; expected ask or deny")
    faults += _unattended_faults(body.get("unattended"))
    faults += _names_faults(body.get("names"))
    faults += mcp_faults(body.get("mcp"))
    faults += _items(body.get("classes"), "class", "name", _class_faults)
    faults += _facts_faults(body.get("facts"))
    faults += _items(body.get("rules"), "rule", "rule", _rule_faults)
    faults += _unaged_faults(body)
    return faults + people_faults(body)


def _items(value: Any, what: str, label: str, check: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        return [f"{what} list is {type(value).__name__}; expected a list"]
    faults: list[str] = []
    seen: dict[str, Any] = {}
    for position, item in enumerate(value, 1):
        if not isinstance(item, dict):
            faults.append(f"{what} {position}: expected a mapping")
            continue
        name = item.get(label)
        if not isinstance(name, str) or not name:
            faults.append(f"{what} {position}: {label} is missing")
        elif name in seen and seen[name] != item:
            faults.append(f"{what} {name}: two different entries have this name")
        seen[str(name)] = item
        faults += check(item, f"{what} {name or position}")
    return faults


def _rule_faults(rule: dict[str, Any], where: str) -> list[str]:
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, rule)) - _RULE)]
    if rule.get("decide") not in _DECIDE:
        faults.append(f"{where}: decide is {rule.get('decide')!r}; expected allow, ask or deny")
    if rule.get("rule") == COMPOSITION:
        faults.append(f"{where}: this name is kept for what approvals decide")
    if rule.get("axis") not in (None, *AXES):
        faults.append(f"{where}: unknown axis {rule.get('axis')!r}")
    if not isinstance(rule.get("because"), str) or not rule.get("because"):
        faults.append(f"{where}: because is missing")
    if not rule.get("tools") and not rule.get("effects"):
        faults.append(f"{where}: neither tools nor effects; it would speak about everything")
    faults += _texts(rule.get("tools"), f"{where}: tools")
    wrong = _texts(rule.get("facts"), f"{where}: facts")
    unknown = [] if wrong else sorted(set(rule.get("facts") or ()) - set(CODES))
    faults += wrong + [f"{where}: unknown fact {code}" for code in unknown]
    return faults + _effect_faults(rule.get("effects"), where, EFFECT_KEYS)


def _facts_faults(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict):
        return [f"facts is {type(value).__name__}; expected a mapping of facts to turns"]
    faults: list[str] = []
    for code, item in value.items():
        if code not in ASKABLE:
            faults.append(f"facts: {code} does not age; expected one of {', '.join(ASKABLE)}")
        turns = item.get("turns") if isinstance(item, dict) and set(item) == {"turns"} else None
        if type(turns) is not int or not 1 <= turns <= _MOST_TURNS:
            faults.append(f"facts: {code}: expected turns, a number from 1 to {_MOST_TURNS}")
    return faults


def _unaged_faults(body: dict[str, Any]) -> list[str]:
    """Refuse a rule over a fact that the policy does not say the age of: it would never apply."""
    aged = body.get("facts") if isinstance(body.get("facts"), dict) else {}
    rules = body.get("rules") if isinstance(body.get("rules"), list) else []
    return [
        f"rule {rule.get('rule')}: facts says nothing of how long {code} counts"
        for rule in rules or ()
        if isinstance(rule, dict) and isinstance(rule.get("facts"), list)
        for code in rule["facts"]
        if code in ASKABLE and code not in (aged or {})
    ]


def _class_faults(item: dict[str, Any], where: str) -> list[str]:
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, item)) - _CLASS)]
    faults += _texts(item.get("tools"), f"{where}: tools")
    return faults + _effect_faults(item.get("effects"), where, _CLASS_EFFECT)


def _effect_faults(effects: Any, where: str, keys: tuple[str, ...]) -> list[str]:
    if effects is None:
        return []
    if not isinstance(effects, list):
        return [f"{where}: effects is {type(effects).__name__}; expected a list"]
    faults: list[str] = []
    domains = {"type": TYPES, "scope": SCOPES}
    for effect in effects:
        if not isinstance(effect, dict) or not effect:
            faults.append(f"{where}: an effect is a mapping with at least one key")
            continue
        for key, value in effect.items():
            if key not in keys:
                faults.append(f"{where}: unknown key {key} in an effect")
                continue
            if key == "reversible":
                if not isinstance(value, list) or not all(isinstance(item, bool) for item in value):
                    faults.append(f"{where}: reversible is a list of true and false")
                continue
            if value is None:
                faults.append(f"{where}: {key} is empty; an effect without it means any")
                continue
            faults += _texts(value, f"{where}: {key}")
            unknown = (
                sorted(set(value) - set(domains[key])) if key in domains and not faults else []
            )
            faults += [f"{where}: unknown {key} {item}" for item in unknown]
    return faults


def _texts(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        return [f"{where} is not a list of texts"]
    return []


def _unattended_faults(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict) or set(value) != {"modes", "ask"}:
        return ["unattended: expected the keys modes and ask"]
    faults = _texts(value["modes"], "unattended: modes")
    if value["ask"] not in ("ask", "deny"):
        faults.append(f"unattended: ask is {value['ask']!r}; expected ask or deny")
    return faults


def _names_faults(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict):
        return ["names: expected a mapping"]
    faults = [
        f"names: unknown key {key}" for key in sorted(set(map(str, value)) - set(Settings._fields))
    ]
    for key in Settings._fields:
        faults += _texts(value.get(key), f"names: {key}")
    for host in value.get("trusted_hosts") or []:
        if not isinstance(host, str) or "/" in host or "*" in host or "." not in host:
            faults.append(
                f"names: trusted host {host!r} is not a bare host name such as api.example.com"
            )
    return faults
