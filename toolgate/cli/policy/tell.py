"""A policy's rules in plain English. Pure."""

from collections.abc import Iterable
from typing import Any

from toolgate.gate.decision import ALLOW, ASK, DENY
from toolgate.gate.policy.axes import SHIPPED
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import Rule
from toolgate.views import phrases
from toolgate.views.sheet import Sheet

_HEADS = {DENY: "Denied", ASK: "Asked first", ALLOW: "Allowed"}
_BECOMES = {ASK: "stays an ask", DENY: "is denied"}
_ANSWERS = {ASK: "asked about", DENY: "denied", ALLOW: "allowed"}
_CALLERS = {"host": "host", "principal": "principal", "agent": "agent chain", "mode": "mode"}


def tell(policy: Policy, rules: Iterable[Rule], sheet: Sheet) -> None:
    """Tell a policy: what holds where no rule speaks, and its rules by their answer.

    Args:
        policy: the policy.
        rules: which of its rules to tell.
        sheet: takes the lines.
    """
    sheet.title(f"policy {policy.name}")
    sheet.exact("digest", policy.digest)
    sheet.say(
        f"What no rule speaks about, and is not proved only to look, is {_ANSWERS[policy.default]}."
    )
    sheet.say(f"Where the gate itself fails to read a call, it is {_ANSWERS[policy.fail_mode]}.")
    if policy.unattended_modes:
        modes = _or(sorted(policy.unattended_modes))
        sheet.say(
            f"In mode {modes} nobody can be asked: an ask {_BECOMES[policy.unattended_answer]}."
        )
    _judge(policy, sheet)
    _axes(policy, sheet)
    told = list(rules)
    for answer, head in _HEADS.items():
        some = [rule for rule in told if rule.decide == answer]
        if some:
            sheet.head(f"{head} ({len(some)})")
        for rule in some:
            _rule(rule, sheet)
    _overrides(policy, sheet, {rule.name for rule in told})


def _judge(policy: Policy, sheet: Sheet) -> None:
    judge = policy.judge
    if judge is None:
        return
    where = f" at {judge.url}" if judge.url else ""
    pin = "" if judge.pinned else " (UNPINNED)"
    sheet.say(
        f"Where the user's task leaves a question open, model {judge.model}{pin} of backend "
        f"{judge.backend} is asked{where}, within {judge.deadline_ms} ms. What it does not "
        f"answer falls to {judge.fail_mode}."
    )


def about_item(item: dict[str, Any]) -> str:
    """Return what one description of an effect means, as a clause."""
    parts = [
        _or([phrases.EFFECTS.get(kind, kind) for kind in item.get("type", [])]) or "do anything"
    ]
    if "scope" in item:
        parts.append(_or([phrases.SCOPES.get(scope, scope) for scope in item["scope"]]))
    if "program" in item:
        parts.append("by " + _or(item["program"]))
    if "resource" in item:
        parts.append("of " + _or(item["resource"]))
    if "how" in item:
        parts.append("being " + _or(item["how"]))
    if item.get("all"):
        parts.append("being " + " and ".join(item["all"]))
    if item.get("without"):
        parts.append("not being " + _or(item["without"]))
    if "reversible" in item:
        parts.append(
            _or(["can be undone" if one else "cannot be undone" for one in item["reversible"]])
        )
    if "proof" in item:
        parts.append("where that is " + _or(item["proof"]))
    return ", ".join(parts)


def _rule(rule: Rule, sheet: Sheet) -> None:
    axis = f" [{rule.axis}]" if rule.axis else ""
    sheet.say(f"{rule.name}{axis}: {rule.because}")
    if rule.floor:
        sheet.bullet("a floor: no request and no override lowers it")
    if rule.tools:
        sheet.bullet(f"only tools {_or(list(rule.tools))}")
    for key, values in (rule.when or {}).items():
        said = (
            "only where the call's text fits"
            if key == "text"
            else f"only where the {_CALLERS[key]} is"
        )
        sheet.bullet(f"{said} {_or(values)}")
    if rule.facts:
        sheet.bullet(f"only where the session has the facts {' and '.join(rule.facts)}")
    for item in rule.effects:
        sheet.bullet(about_item(item))
    if not rule.effects:
        sheet.bullet("whatever the call does")


def _axes(policy: Policy, sheet: Sheet) -> None:
    axes = policy.axes
    shipped = {axis.name: axis for axis in SHIPPED}
    for name, axis in axes.axes.items():
        if axis != shipped.get(name):
            own = "" if name in shipped else f"; {axis.question}"
            sheet.say(f"Axis {name} asks from {axis.ask} on and denies from {axis.deny} on{own}.")


def _overrides(policy: Policy, sheet: Sheet, told: set[str]) -> None:
    shown = [one for one in policy.overrides if one.of in told]
    if shown:
        sheet.head(f"Exceptions ({len(shown)})")
    for one in shown:
        day = one.last_day()
        sheet.say(
            f"{one.name}: {one.decide} instead of rule {one.of}, until {day}, by {one.owner}: "
            f"{one.because}"
        )
        for item in one.effects:
            sheet.bullet(about_item(item))


def _or(words: list[str]) -> str:
    return " or ".join(words) if len(words) < 3 else ", ".join(words[:-1]) + " or " + words[-1]
