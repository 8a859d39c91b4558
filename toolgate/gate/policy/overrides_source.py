"""What a policy's source says of overrides: checked, and compiled."""

from datetime import UTC, date, datetime
from typing import Any

from toolgate.gate.decision import ALLOW, ASK, DENY, STRICTNESS
from toolgate.gate.policy.texts import text_faults

_KEYS = {"override", "of", "decide", "because", "owner", "expires", "effects"}
_TEXTS = ("because", "owner")
_ANSWERS = (ALLOW, ASK, DENY)  # a tuple: what a source says may be a list, which no set takes
_DAY = 24 * 3600 * 1_000_000


def override_faults(
    item: dict[str, Any], where: str, rules: dict[str, dict[str, Any]]
) -> list[str]:
    """Return every fault of an override, but for its effects.

    Args:
        item: the override as the source says it.
        where: what to call it in messages.
        rules: the policy's rules by name.
    """
    faults = [f"{where}: unknown key {key}" for key in sorted(set(map(str, item)) - _KEYS)]
    faults += [fault for key in _TEXTS for fault in text_faults(item, key, f"{where}: {key}")]
    if item.get("effects") in (None, []):
        faults.append(f"{where}: effects is missing; an override names what it is for")
    faults += _expiry_faults(item.get("expires"), where)
    of = item.get("of")
    rule = rules.get(of) if isinstance(of, str) else None
    if rule is None:
        return [*faults, f"{where}: of is {of!r:.80}; expected the name of a rule"]
    if rule.get("floor") is True:
        faults.append(f"{where}: rule {of} is a floor; nothing lowers it")
    if not rule.get("effects"):
        faults.append(f"{where}: rule {of} speaks about whole calls and has no effects to except")
    if item.get("decide") not in _ANSWERS:
        faults.append(f"{where}: decide is {item.get('decide')!r:.80}; expected allow or ask")
    elif rule.get("decide") in _ANSWERS and (
        STRICTNESS[item["decide"]] >= STRICTNESS[rule["decide"]]
    ):
        faults.append(
            f"{where}: {item['decide']} is no less strict than rule {of}; write a rule instead"
        )
    return faults


def expiry_of(value: Any) -> int:
    """Return the moment a day's end passes, microseconds UTC.

    Args:
        value: a date as YAML reads one, or as text such as 2027-01-31.

    Raises:
        ValueError: it is no day.
    """
    text = str(value)
    if len(text) != len("2027-01-31"):
        raise ValueError(text)
    day = date.fromisoformat(text)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return int(midnight.timestamp()) * 1_000_000 + _DAY


def _expiry_faults(value: Any, where: str) -> list[str]:
    if value is None:
        return [f"{where}: expires is missing; an override ends on a day, such as 2027-01-31"]
    try:
        expiry_of(value)
    except (ValueError, OverflowError):
        return [f"{where}: expires is {str(value)!r:.80}; expected a day such as 2027-01-31"]
    return []


def compiled_overrides(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return overrides without faults as the compiled policy holds them."""
    made = {
        item["override"]: {
            **{key: value for key, value in item.items() if value is not None},
            "expires": expiry_of(item["expires"]),
        }
        for item in items
    }
    return [made[name] for name in sorted(made)]
