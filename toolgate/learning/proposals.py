"""Rules and overrides that would cover what people keep approving. Pure.

A proposal is as narrow as the ledger allows: it names the kinds of effects that were
approved and nothing beside them. What must never be proposed is left out here, with
the reason, so that nobody has to notice it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from toolgate.canonical import digest_of
from toolgate.gate.decision import ALLOW, ASK
from toolgate.gate.effects.model import PROVED, is_stored
from toolgate.gate.effects.patterns import matches_any
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.policy.rule import DEFAULT
from toolgate.learning.answers import (
    APPROVED,
    DENIED,
    INFERRED,
    OPEN,
    REFUSED,
    REPORTED,
    SIGNED,
    HeldBack,
    Shape,
)

LEAST = 5
"""How many approvals a proposal rests on at least, unless it is told another number."""

_SENDS = frozenset(("net.send", "net.shell", "msg.send", "vcs.publish"))
_KEPT = frozenset(("type", "scope", "reversible", "proof"))
"""The keys of a rule's item that an entry of the ledger is enough for."""


class Proposal(NamedTuple):
    """A rule or override that would cover approved calls.

    Args:
        name: its name, the same whenever it is proposed.
        of: the rule it is an exception from; None for a rule where none spoke before.
        tool: the tool it is limited to; None for an override, which knows no tools.
        effects: its items.
        counts: how many calls it covers, by what became of them.
        sessions: in how many sessions.
        covers: entries of the approved calls it covers.
        denied: entries of calls that were denied and that it would have allowed, as far as
            the ledger shows.
        open: the same of asks that nobody answered.
        tried: how many of the covered calls passed when they were decided again with it, and
            how many that was done with.
    """

    name: str
    of: str | None
    tool: str | None
    effects: tuple[dict[str, Any], ...]
    counts: dict[str, int]
    sessions: int
    covers: tuple[str, ...]
    denied: tuple[str, ...]
    open: tuple[str, ...]
    tried: tuple[int, int] = (0, 0)

    @property
    def approved(self) -> int:
        """Return how many approved calls it covers."""
        return sum(self.counts.values())


class Left(NamedTuple):
    """Approved calls for which nothing is proposed, and why.

    Args:
        rule: the rule that asked.
        tool: the tool, None for several.
        approved: how many of them were approved.
        why: the reason.
    """

    rule: str
    tool: str | None
    approved: int
    why: str


class _Said(NamedTuple):
    """A call, and the effects that the deciding rule spoke about.

    An entry does not keep all that rules look at, so there are two readings.

    Args:
        one: the call.
        may: the effects it may have spoken about.
        must: those it has spoken about for certain.
    """

    one: HeldBack
    may: frozenset[Shape]
    must: frozenset[Shape]

    def is_covered(self, shapes: frozenset[Shape]) -> bool:
        """Say whether leave for some effects lets the call through for certain.

        Where an entry shows no effect that the rule spoke about, nothing is certain.
        """
        return self.may <= shapes and bool(self.may) is bool(shapes)

    def may_pass(self, shapes: frozenset[Shape]) -> bool:
        """Say whether leave for some effects may let the call through."""
        return self.must <= shapes and not self.may.isdisjoint(shapes)


class _Matter(NamedTuple):
    """What a group of calls has in common."""

    rule: str
    tool: str | None
    shapes: tuple[Shape, ...]


def propose(
    held_back: Iterable[HeldBack], policy: Mapping[str, Any], least: int = LEAST
) -> tuple[list[Proposal], list[Left]]:
    """Return what would cover calls that people approved, and what is left out.

    Args:
        held_back: the calls.
        policy: the compiled policy that is in use.
        least: how many approvals a proposal rests on at least.

    Returns:
        Those that cover most first.
    """
    by_rule: dict[tuple[str, str | None], list[_Said]] = defaultdict(list)
    matters: set[_Matter] = set()
    for one in held_back:
        tool = one.tool if one.rule == DEFAULT else None
        said = _spoken_about(one, policy)
        by_rule[one.rule, tool].append(said)
        if one.answer in APPROVED:
            matters.add(_Matter(one.rule, tool, tuple(sorted(said.may))))
    made: list[Proposal] = []
    left: list[Left] = []
    widest: list[_Matter] = []
    for matter in sorted(matters, key=lambda item: (-len(item.shapes), item)):
        inside, beside = frozenset(matter.shapes), by_rule[matter.rule, matter.tool]
        covered = [said.one for said in beside if said.is_covered(inside)]
        approved = sum(one.answer in APPROVED for one in covered)
        if approved < least or any(_holds(wider, matter) for wider in widest):
            continue
        passing = [said.one for said in beside if said.may_pass(inside)]
        why = _never(matter, passing or covered, policy)
        if why:
            left.append(Left(matter.rule, matter.tool, approved, why))
            continue
        widest.append(matter)
        made.append(_proposal(matter, covered, passing))
    order = sorted(made, key=lambda one: (-one.approved, one.name))
    return order, sorted(left, key=lambda one: (-one.approved, one))


def _holds(wider: _Matter, matter: _Matter) -> bool:
    """Say whether what one proposal covers is covered by another."""
    same = (wider.rule, wider.tool) == (matter.rule, matter.tool)
    return same and bool(matter.shapes) and set(matter.shapes) <= set(wider.shapes)


def _spoken_about(one: HeldBack, policy: Mapping[str, Any]) -> _Said:
    """Return the effects of a call that its deciding rule spoke about, or may have."""
    shapes = [shape for shape in one.shapes if not is_stored(shape.type)]
    if one.rule != DEFAULT:
        rule = _named(policy, one.rule)
        items = rule.get("effects") or [] if rule else []
        may = _fitting(items, shapes)
        must = _fitting([item for item in items if item.keys() <= _KEPT], shapes)
        return _Said(one, may, must)
    allows = [
        (item, _always(rule, one.tool) and item.keys() <= _KEPT)
        for rule in policy.get("rules") or ()
        if rule["decide"] == ALLOW
        for item in rule.get("effects") or ()
    ]
    unknown = {shape for shape in shapes if (shape.type, shape.proof) != ("inspect", PROVED)}
    certain = _fitting([item for item, always in allows if always], shapes)
    possible = _fitting([item for item, _ in allows], shapes)
    return _Said(one, frozenset(unknown - certain), frozenset(unknown - possible))


def _fitting(items: Iterable[Mapping[str, Any]], shapes: Iterable[Shape]) -> frozenset[Shape]:
    """Return the effects that items of rules may fit, as far as an entry shows."""
    wanted = list(items)
    return frozenset(shape for shape in shapes if any(_may_fit(item, shape) for item in wanted))


def _always(rule: Mapping[str, Any], tool: str) -> bool:
    """Say whether a rule stands for every call of a tool."""
    tools = tuple(rule.get("tools") or ())
    bound = rule.get("facts") or rule.get("when")
    return not bound and (not tools or matches_any(tool, tools))


def _may_fit(item: Mapping[str, Any], shape: Shape) -> bool:
    """Say whether an item of a rule may fit an effect, as far as an entry shows."""
    proofs = item.get("proof")
    unresolved = shape.proof != PROVED and "unresolved" in (proofs or ())
    programs = item.get("program")
    return (
        shape.type in (item.get("type") or [shape.type])
        and shape.scope in (item.get("scope") or [shape.scope])
        and shape.reversible in (item.get("reversible") or [shape.reversible])
        and (proofs is None or shape.proof in proofs or unresolved)
        and (programs is None or not shape.program or matches_any(shape.program, tuple(programs)))
    )


def _named(policy: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    return next((rule for rule in policy.get("rules") or () if rule["rule"] == name), None)


def _never(matter: _Matter, passing: list[HeldBack], policy: Mapping[str, Any]) -> str:
    """Return why nothing is proposed that would let some calls through; "" if it may be."""
    rule = _named(policy, matter.rule)
    answer = policy.get("default") if matter.rule == DEFAULT else rule and rule["decide"]
    if answer != ASK:
        return "the policy in use asks by no such rule"
    if not matter.shapes and rule is None:
        return "their entries do not show which effect no rule spoke for"
    if not matter.shapes:
        return "the rule speaks about whole calls, which have no exceptions"
    if rule is not None and rule.get("floor"):
        return "the rule is a floor, which has no exceptions"
    refused = [one for one in passing if one.answer == REFUSED]
    if refused:
        return f"{_many(len(refused))} refused ({_short(refused[0].entry)})"
    for one in passing:
        why = _guarded(one)
        if why:
            return why
    unclear = [shape for shape in matter.shapes if shape.proof != PROVED and not shape.program]
    tools = {one.tool for one in passing}
    if unclear and not tools.isdisjoint(SHELL_TOOLS):
        return (
            f"what the calls do is {unclear[0].proof}, and only the vault could tell which "
            "programs they are"
        )
    return ""


def _guarded(one: HeldBack) -> str:
    """Return why a call is of a kind that no proposal may ever allow."""
    types = {shape.type for shape in one.shapes}
    scopes = {shape.scope for shape in one.shapes}
    if "gate.tamper" in types or "gate" in scopes:
        return "some of them change this gate"
    secret = "secret" in scopes or any(kind.startswith("secret.") for kind in types)
    if secret and not types.isdisjoint(_SENDS):
        return "some of them send where a secret is at hand"
    return ""


def _proposal(matter: _Matter, covered: list[HeldBack], passing: list[HeldBack]) -> Proposal:
    effects = _items(matter.shapes)
    of = None if matter.rule == DEFAULT else matter.rule
    counts = Counter(one.answer for one in covered)
    return Proposal(
        name="learned-" + digest_of([of, matter.tool, list(effects)])[7:15],
        of=of,
        tool=matter.tool,
        effects=effects,
        counts={word: counts[word] for word in (SIGNED, REPORTED, INFERRED)},
        sessions=len({one.session for one in covered if one.answer in APPROVED}),
        covers=tuple(one.entry for one in covered if one.answer in APPROVED),
        denied=tuple(one.entry for one in passing if one.answer == DENIED),
        open=tuple(one.entry for one in passing if one.answer == OPEN),
    )


def _items(shapes: tuple[Shape, ...]) -> tuple[dict[str, Any], ...]:
    """Return the items that describe effects, those of several programs as one."""
    programs: dict[Shape, set[str]] = defaultdict(set)
    for shape in shapes:
        programs[shape._replace(program="")].add(shape.program)
    return tuple(
        {
            "type": [kind.type],
            "scope": [kind.scope],
            "reversible": [kind.reversible],
            "proof": [kind.proof],
            **({} if "" in some else {"program": sorted(some)}),
        }
        for kind, some in programs.items()
    )


def _many(count: int) -> str:
    return "one of them was" if count == 1 else f"{count} of them were"


def _short(entry: str) -> str:
    return entry[7:15]
