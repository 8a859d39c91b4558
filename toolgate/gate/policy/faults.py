"""What is wrong with a policy's source: every fault, each with where it is."""

from typing import Any

from toolgate.action import SCOPES
from toolgate.gate.decision import COMPOSITION
from toolgate.gate.effects.model import TYPES
from toolgate.gate.effects.settings import Settings
from toolgate.gate.facts.session import ASKABLE, CODES
from toolgate.gate.policy.axes_source import axes_faults, axis_names
from toolgate.gate.policy.conditions import pattern_count_faults, when_faults
from toolgate.gate.policy.examples import example_faults
from toolgate.gate.policy.judge_source import judge_faults
from toolgate.gate.policy.lift import lift_faults
from toolgate.gate.policy.match import EFFECT_KEYS
from toolgate.gate.policy.mcp import mcp_faults
from toolgate.gate.policy.overrides_source import override_faults
from toolgate.gate.policy.people import people_faults
from toolgate.gate.policy.texts import text_faults
from toolgate.gate.policy.trust import trust_faults

_TOP = {
    "version",
    "name",
    "about",
    "extends",
    "default",
    "fail_mode",
    "unattended",
    "axes",
    "names",
    "mcp",
    "classes",
    "rules",
    "overrides",
    "examples",
    "authored_by",
    "authors",
    "composition",
    "principals",
    "facts",
    "lift",
    "judge",
}
_RULE = {"rule", "decide", "axis", "because", "tools", "effects", "facts", "when", "floor"}
_CLASS = {"name", "tools", "effects"}
_CLASS_EFFECT = ("type", "scope", "reversible", "proof")
_MOST_TURNS = 10_000
_DECIDE = ("allow", "ask", "deny")


def policy_faults(body: Any) -> list[str]:
    """Return every fault of a policy.

    Args:
        body: the policy as its YAML says it, with what it extends.
    """
    if not isinstance(body, dict):
        return ["expected a mapping with version, name and rules"]
    faults = [f"unknown key {key}" for key in sorted(set(map(str, body)) - _TOP)]
    if body.get("version") != 1:
        faults.append(f"version is {body.get('version')!r}; this program reads version 1")
    faults += text_faults(body, "name", "name")
    if body.get("default", "ask") not in ("ask", "deny"):
        faults.append(f"default is {body.get('default')!r}; expected ask or deny")
    if body.get("fail_mode", "deny") not in ("ask", "deny"):
        faults.append(f"fail_mode is {body.get('fail_mode')!r:.80}; expected ask or deny")
    faults += _unattended_faults(body.get("unattended"))
    faults += axes_faults(body.get("axes"))
    faults += _names_faults(body.get("names"))
    faults += mcp_faults(body.get("mcp"))
    faults += _items(body.get("classes"), "class", "name", _class_faults)
    faults += _facts_faults(body.get("facts"))
    axes = axis_names(body)
    faults += _items(
        body.get("rules"), "rule", "rule", lambda item, where: _rule_faults(item, where, axes)
    )
    faults += _unaged_faults(body)
    faults += pattern_count_faults(body)
    faults += _overrides_faults(body)
    faults += judge_faults(body)
    faults += lift_faults(body.get("lift"), body)
    faults += _items(body.get("examples"), "example", "", example_faults)
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
        name = item.get(label) if label else str(position)
        wrong = text_faults(item, label, f"{what} {position}: {label}") if label else []
        faults += wrong
        if wrong:
            name = None
        elif name in seen and seen[name] != item:
            faults.append(f"{what} {name}: two different entries have this name")
        else:
            seen[str(name)] = item
        faults += check(item, f"{what} {name or position}")
    return faults


def _rule_faults(rule: dict[str, Any], where: str, axes: tuple[str, ...]) -> list[str]:
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, rule)) - _RULE)]
    if rule.get("decide") not in _DECIDE:
        faults.append(f"{where}: decide is {rule.get('decide')!r}; expected allow, ask or deny")
    if rule.get("rule") == COMPOSITION:
        faults.append(f"{where}: this name is kept for what approvals decide")
    if rule.get("axis") not in (None, *axes):
        faults.append(f"{where}: unknown axis {rule.get('axis')!r}")
    faults += text_faults(rule, "because", f"{where}: because")
    if not any(rule.get(key) for key in ("tools", "effects", "when")):
        faults.append(
            f"{where}: neither tools nor effects nor when; it would speak about everything"
        )
    if not isinstance(rule.get("floor", False), bool):
        faults.append(f"{where}: floor is {rule['floor']!r:.80}; expected true or false")
    faults += when_faults(rule, where)
    faults += _texts(rule.get("tools"), f"{where}: tools")
    wrong = _texts(rule.get("facts"), f"{where}: facts")
    unknown = [] if wrong else sorted(set(rule.get("facts") or ()) - set(CODES))
    faults += wrong + [f"{where}: unknown fact {code}" for code in unknown]
    return faults + _effect_faults(rule.get("effects"), where, EFFECT_KEYS)


def _overrides_faults(body: dict[str, Any]) -> list[str]:
    rules = body.get("rules") if isinstance(body.get("rules"), list) else []
    named = {
        rule["rule"]: rule
        for rule in rules or ()
        if isinstance(rule, dict) and isinstance(rule.get("rule"), str)
    }

    def faults_of(item: dict[str, Any], where: str) -> list[str]:
        name = item.get("override")
        known = isinstance(name, str) and name in named
        taken = [f"{where}: a rule has this name"] if known else []
        return [
            *taken,
            *override_faults(item, where, named),
            *_effect_faults(item.get("effects"), where, EFFECT_KEYS),
        ]

    return _items(body.get("overrides"), "override", "override", faults_of)


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
            wrong = _texts(value, f"{where}: {key}")
            faults += wrong
            known = key in domains and not wrong
            unknown = sorted(set(value) - set(domains[key])) if known else []
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
    return faults + trust_faults(value)
