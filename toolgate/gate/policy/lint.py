"""What is sound in a policy and yet not meant: rules that change no answer, exceptions that ended.

Pure: the time, and what the policy's examples have shown, are passed in.
"""

from collections.abc import Collection
from typing import Any

from toolgate.gate.decision import ALLOW, STRICTNESS
from toolgate.gate.policy.covering import covers, never_fits
from toolgate.gate.policy.judge_source import judge_remarks
from toolgate.gate.policy.overrides_source import expiry_of


def lint(
    body: Any, now: int, own: Collection[str] | None = None, silent: Collection[str] = ()
) -> list[str]:
    """Return every remark on a policy, also on one that has faults elsewhere.

    Args:
        body: the policy as its YAML says it, with what it extends. What has not the form of
            a rule, class or override is left aside: it is a fault.
        now: microseconds UTC.
        own: names of the rules and overrides to remark on; None for all. That a policy makes
            idle what it extends is why it was written.
        silent: names of rules and overrides that have spoken about none of the policy's own
            examples.
    """
    rules = [rule for rule in _mappings(body, "rules", "rule") if "decide" in rule]
    some = [rule for rule in rules if own is None or rule["rule"] in own]
    remarks = [remark for rule in some for remark in _impossible(rule)]
    remarks += _shadowed(some, rules)
    remarks += _classes(_mappings(body, "classes", "name"))
    remarks += _ended(_mappings(body, "overrides", "override"), now)
    remarks += judge_remarks(body)
    remarks += [
        f"{_named(item)}: no example of the policy is a call that it speaks about"
        for item in [*rules, *_mappings(body, "overrides", "override")]
        if (item.get("rule") or item["override"]) in silent
    ]
    return remarks


def names_of(body: Any) -> set[str]:
    """Return the names of the rules and overrides that a policy's own source holds."""
    rules, overrides = _mappings(body, "rules", "rule"), _mappings(body, "overrides", "override")
    return {rule["rule"] for rule in rules} | {item["override"] for item in overrides}


def _mappings(body: Any, key: str, label: str) -> list[dict[str, Any]]:
    """Return the items of a list that have the form of one, each name once."""
    items = body.get(key) if isinstance(body, dict) else None
    found: dict[str, dict[str, Any]] = {}
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get(label), str) and _is_formed(item):
            found.setdefault(item[label], item)
    return list(found.values())


def _is_formed(item: dict[str, Any]) -> bool:
    """Say whether what is compared of an item has the form that it must have."""
    effects = item.get("effects") or []
    return (
        all(_is_texts(item.get(key) or []) for key in ("tools", "facts"))
        and isinstance(item.get("decide", ALLOW), str)
        and item.get("decide", ALLOW) in STRICTNESS
        and isinstance(effects, list)
        and all(isinstance(one, dict) and all(map(_is_flat, one.values())) for one in effects)
        and isinstance(item.get("when") or {}, dict)
        and all(map(_is_texts, (item.get("when") or {}).values()))
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, (str, bool)) for one in value)


def _named(item: dict[str, Any]) -> str:
    return f"rule {item['rule']}" if "rule" in item else f"override {item['override']}"


def _impossible(rule: dict[str, Any]) -> list[str]:
    """Return why a rule, or a part of one, can speak about nothing."""
    items = rule.get("effects") or []
    whys = [never_fits(item) for item in items]
    return [
        f"rule {rule['rule']}: effect {number} fits nothing: {why}"
        for number, why in enumerate(whys, 1)
        if why is not None
    ]


def _shadowed(some: list[dict[str, Any]], rules: list[dict[str, Any]]) -> list[str]:
    """Return which of some rules another one, at least as strict, makes idle."""
    remarks: list[str] = []
    for rule in some:
        for other in rules:
            if other is rule or STRICTNESS[other["decide"]] < STRICTNESS[rule["decide"]]:
                continue
            # A rule over whole calls that allows says nothing where an effect has its own answer.
            if other["decide"] == ALLOW and not other.get("effects"):
                continue
            even = other["decide"] == rule["decide"]
            if even and set(rule.get("facts") or ()) > set(other.get("facts") or ()):
                continue  # of equal answers the one that rests on facts is told
            twins = even and covers(rule, other) and rule["rule"] < other["rule"]
            if covers(other, rule) and not twins:
                how = "as strict" if even else "stricter"
                remarks.append(
                    f"rule {rule['rule']}: changes no answer, because rule {other['rule']}, "
                    f"which is {how}, speaks wherever it does"
                )
                break
    return remarks


def _classes(classes: list[dict[str, Any]]) -> list[str]:
    return [
        f"class {item['name']}: no call is of it, because class {earlier['name']} comes first"
        for place, item in enumerate(classes)
        for earlier in [next((one for one in classes[:place] if covers(one, item)), None)]
        if earlier is not None
    ]


def _ended(overrides: list[dict[str, Any]], now: int) -> list[str]:
    remarks: list[str] = []
    for item in overrides:
        try:
            expires = expiry_of(item.get("expires"))
        except ValueError:
            continue  # a fault, told with the others
        if expires <= now:
            remarks.append(
                f"override {item['override']}: no longer applies since {item['expires']} is over; "
                f"its owner is {item.get('owner')}"
            )
    return remarks
