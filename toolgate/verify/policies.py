"""The policies of a ledger: whether one is held and announced, and the class it gives a call."""

from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import msgspec

from toolgate.verify.policy import ActionClass, Policy, Wanted
from toolgate.verify.shapes import Decision, Effect

_KNOWN_EFFECTS, _KNOWN_CLASSES = 8, 4096  # what is remembered must not grow with the ledger

OTHER = "other"
"""The class of an action no class of its policy applies to."""


class Policies:
    """The policies a ledger holds, read once each."""

    def __init__(
        self,
        text: Callable[[str], bytes | None],
        signature: Callable[[str], bytes | None],
    ) -> None:
        self.announced: dict[str, int] = {}
        self.composed: set[str] = set()
        self.governed: dict[str, set[str]] = defaultdict(set)
        self.signature = signature
        self._text = text
        self._read: dict[str, tuple[str | None, Policy]] = {}
        self._classes: dict[tuple[Any, ...], str] = {}

    def fault(self, version: str, before: int | None) -> str | None:
        """Return the code of what is wrong with a policy, None if nothing is.

        Args:
            version: the policy's digest.
            before: number of the spine entry it must have been announced before;
                None for the one that is read next.
        """
        if version not in self._read:
            self._read[version] = self._load(version)
        fault = self._read[version][0]
        if fault is None:
            announced = self.announced.get(version)
            if announced is None or (before is not None and announced > before):
                return "entries.policy_unknown"
        return fault

    def held(self, version: str) -> Policy | None:
        """Return a policy that is held unaltered, None if there is none."""
        if version not in self._read:
            self._read[version] = self._load(version)
        fault, policy = self._read[version]
        return policy if fault is None else None

    def announced_at(self, version: str) -> int | None:
        """Return the number of the spine entry that announced a policy, None if none did."""
        return self.announced.get(version)

    def _load(self, version: str) -> tuple[str | None, Policy]:
        text = self._text(version)
        if text is None:
            return "entries.policy_unknown", Policy()
        if "sha256:" + sha256(text).hexdigest() != version:
            return "entries.policy_altered", Policy()
        try:
            policy = msgspec.json.decode(text, type=Policy)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return "entries.policy_unknown", Policy()
        self.composed |= policy.composition.keys()
        return None, policy

    def class_of(self, entry: Decision) -> str:
        """Return the first class of the policy that applies to a decision."""
        effects = entry.effects
        version, tool = entry.ev.policy_version, entry.intent.action_type
        if len(effects) > _KNOWN_EFFECTS:
            return class_of(self._read[version][1].classes, tool, effects)
        key: tuple[Any, ...] = (version, tool)
        for one in effects:
            key += (one.type, one.scope, one.reversible, one.proof)
        found = self._classes.get(key)
        if found is None:
            if len(self._classes) > _KNOWN_CLASSES:
                self._classes.clear()
            found = class_of(self._read[version][1].classes, tool, effects)
            self._classes[key] = found
        return found


def class_of(classes: list[ActionClass], tool: str, effects: list[Effect]) -> str:
    """Return the name of the first class whose predicate holds; ``other`` if none does.

    Args:
        classes: the policy's classes, in order.
        tool: the tool's name.
        effects: the decision's effects.
    """
    for item in classes:
        if item.tools and not any(_named(tool, pattern) for pattern in item.tools):
            continue
        wanted = item.effects
        if not wanted or any(_meets(one, want) for one in effects for want in wanted):
            return item.name
    return OTHER


def _named(name: str, pattern: str) -> bool:
    """Say whether a name fits a pattern in which ``*`` alone stands for any characters."""
    first, *parts = pattern.split("*")
    if not parts:
        return name == pattern
    last = parts.pop()
    if not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for part in parts:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def _meets(effect: Effect, want: Wanted) -> bool:
    return (
        (want.type is None or effect.type in want.type)
        and (want.scope is None or effect.scope in want.scope)
        and (want.reversible is None or effect.reversible in want.reversible)
        and (
            want.proof is None
            or effect.proof in want.proof
            or (effect.proof.startswith("unresolved(") and "unresolved" in want.proof)
        )
    )
