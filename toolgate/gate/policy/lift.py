"""What a person may let through once although the policy asks or denies. Pure.

A policy says it under ``lift``. What is let through is no exception to the policy:
the policy names who may sign, which answers they may lift, and for how long at most.
Specified in ``spec/approvals.md``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from toolgate.approval import Approval
from toolgate.errors import InputError, PolicyError
from toolgate.gate.decision import ASK, DENY
from toolgate.gate.effects.model import Effect
from toolgate.gate.policy.match import applies, applies_to_tool
from toolgate.gate.policy.rule import DEFAULT, Rule

PERSON, NEVER = "person", "never"
TAMPER = "gate.tamper"
"""What changes this gate is never let through, whatever a policy says."""

_NAMED = (("rules", "rule"), ("overrides", "override"))
_KEYS = ("ask", "deny", "never", "minutes", "calls")
_MOST_MINUTES, _MOST_CALLS = 1440, 100
_MINUTE_US = 60_000_000


class Lift(NamedTuple):
    """What a policy lets a person lift.

    Args:
        ask: ``person`` if what is asked may be let through by a signature, else ``never``.
        deny: the same of what a rule denies.
        never: names of rules that are lifted by nobody.
        minutes: how long a signature holds at most.
        calls: how many calls of one class may be let through beforehand.
    """

    ask: str = PERSON
    deny: str = NEVER
    never: tuple[str, ...] = ()
    minutes: int = 60
    calls: int = 20

    def refusal(self, rule: str, answer: str | None, effects: Iterable[str]) -> str:
        """Return why nobody may lift an answer, as a clause; "" if a person may.

        Args:
            rule: the deciding rule.
            answer: what the policy answers by it, ``ask`` or ``deny``; None for a rule that
                is none of the policy's.
            effects: the types of the call's effects.
        """
        if TAMPER in effects:
            return "it changes this gate, which no signature lets through"
        if answer not in (ASK, DENY):
            return f"{rule} is no rule of the policy that asks or denies"
        if rule in self.never:
            return f"the policy lets nobody lift rule {rule}"
        if (self.ask if answer == ASK else self.deny) != PERSON:
            what = "what it asks about" if answer == ASK else "what it denies"
            return f"the policy lets nobody lift {what}"
        return ""


class Lifting(NamedTuple):
    """Who may let one call through, and which of their approvals do.

    Any one of the people is enough. An approval of a whole class lets through what the
    policy asks about and never what it denies.

    Args:
        principals: who may sign.
        answer: what is lifted, ``ask`` or ``deny``.
        minutes: how long an approval holds at most.
    """

    principals: tuple[str, ...]
    answer: str
    minutes: int

    def choose(self, standing: Sequence[Approval]) -> tuple[Approval, ...]:
        """Return the approval that lets the call through, one of this call before one of its class.

        Args:
            standing: the approvals the decision may rest on, in spine order.
        """
        good = [item for item in standing if self._lets_through(item.ev)]
        mine = [item for item in good if item.ev["args_digest"] is not None]
        return tuple((mine or good)[:1])

    def previous(self, principal: str, standing: Sequence[Approval]) -> Approval | None:
        """Return None: nobody waits for another one.

        Raises:
            InputError: the approval could let nothing through.
        """
        return None

    def check(self, ev: Mapping[str, Any]) -> None:
        """Check an approval before it is given.

        Raises:
            InputError: it would let nothing through.
        """
        if not self._lets_through(ev):
            most = f"at most {self.minutes} minutes"
            raise InputError(f"the policy lets a signature hold {most}, and name a class at least")

    def _lets_through(self, ev: Mapping[str, Any]) -> bool:
        return (
            ev["principal"] in self.principals
            and ev["class"] is not None
            and (ev["args_digest"] is not None or self.answer == ASK)
            and ev["expiry"] - ev["ts"] <= self.minutes * _MINUTE_US
        )


def lift_of(compiled: Mapping[str, Any] | None) -> Lift:
    """Return what a compiled policy says under ``lift``; as shipped if it says nothing.

    Raises:
        PolicyError: it has another form than a compiled one.
    """
    if compiled is None:
        return Lift()
    known = dict(compiled) if isinstance(compiled, dict) else {}
    names = known.get("never")
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not texts or known.keys() != set(_KEYS) or lift_faults({**known, "never": []}, {}):
        raise PolicyError("compiled policy", ["lift has another form than a compiled one"])
    return Lift(**{**known, "never": tuple(known["never"])})


def answer_by(policy: Mapping[str, Any], name: str) -> str | None:
    """Return what a compiled policy answers by a rule or override, None if it has none so called.

    Args:
        policy: the compiled policy.
        name: a rule's or an override's name, or ``default``.
    """
    if name == DEFAULT:
        return str(policy.get("default", ASK))
    for kind, label in _NAMED:
        for item in policy.get(kind) or ():
            if item[label] == name:
                return str(item["decide"])
    return None


def is_sealed(
    rules: Iterable[Rule], never: Sequence[str], tool: str, effects: Sequence[Effect]
) -> bool:
    """Say whether a rule that nobody lifts speaks about a call, whichever rule decides on it.

    What the rule depends on besides is not looked at: in doubt nobody lifts it.

    Args:
        rules: the policy's rules.
        never: names of rules that are lifted by nobody.
        tool: the tool's name.
        effects: the call's effects.
    """
    return any(
        any(applies(rule, tool, effect) for effect in effects)
        if rule.effects
        else applies_to_tool(rule.tools, tool)
        for rule in rules
        if rule.name in never
    )


def compiled_lift(value: dict[str, Any]) -> dict[str, Any]:
    """Return ``lift`` without faults as the compiled policy holds it."""
    full = {**Lift()._asdict(), **value}
    return {**full, "never": sorted(set(full["never"]))}


def lift_faults(value: Any, body: Mapping[str, Any]) -> list[str]:
    """Return every fault of ``lift``.

    Args:
        value: what the policy's YAML says under it; None if nothing.
        body: the policy as its YAML says it.
    """
    if value is None:
        return []
    if not isinstance(value, dict):
        return [f"lift is {type(value).__name__}; expected a mapping of {', '.join(_KEYS)}"]
    faults = [f"lift: unknown key {key}" for key in sorted(set(map(str, value)) - set(_KEYS))]
    for key in (ASK, DENY):
        said = value.get(key, NEVER)
        if said not in (PERSON, NEVER):
            faults.append(f"lift: {key} is {said!r:.80}; expected {PERSON} or {NEVER}")
    for key, most in (("minutes", _MOST_MINUTES), ("calls", _MOST_CALLS)):
        number = value.get(key, 1)
        if type(number) is not int or not 1 <= number <= most:
            faults.append(f"lift: {key} is {number!r:.80}; expected a number from 1 to {most}")
    return faults + _never_faults(value.get("never", []), body)


def _never_faults(value: Any, body: Mapping[str, Any]) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        return ["lift: never is not a list of rule names"]
    known = {DEFAULT}
    for kind, label in _NAMED:
        items = body.get(kind)
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and isinstance(item.get(label), str):
                known.add(item[label])
    return [f"lift: never: no rule is called {name}" for name in value if name not in known]
