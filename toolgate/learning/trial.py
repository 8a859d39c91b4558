"""Proposals tried out: held-back calls decided again as if a proposal were in the policy.

Only the vault's inputs can be decided on. By the rules alone: what a judge said, or what the
user forbade in words, is not asked again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from toolgate.canonical import MAX_INTEGER, canonical_bytes, parse
from toolgate.gate.decision import ALLOW
from toolgate.gate.engine import Gate
from toolgate.gate.facts.history import Recorded
from toolgate.gate.facts.session import Fact
from toolgate.gate.open import second_opinion
from toolgate.gate.policy.model import Policy
from toolgate.gate.recorded import resource_ref
from toolgate.learning.answers import DENIED, OPEN, REFUSED, HeldBack
from toolgate.learning.proposals import Left, Proposal
from toolgate.replay import Made, Replay, call_of, links_of


class _Tried:
    """What became of the calls under one proposal, by entry: whether it lets them through."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.passes: dict[str, bool] = {}


def try_out(
    proposals: Iterable[Proposal],
    held_back: Mapping[str, HeldBack],
    made: Iterable[Made],
    replay: Replay,
    base: Gate,
    salt: bytes,
) -> tuple[list[Proposal], list[Left]]:
    """Return proposals with what they do, and those that would let a refused call through.

    Args:
        proposals: what is proposed.
        held_back: the held-back calls by entry.
        made: the ledger's decisions.
        replay: the ledger and its vault.
        base: the gate under the policy in use.
        salt: the ledger's salt.
    """
    trials = [(one, _Tried(_gate_with(one, base))) for one in proposals]
    for decision in made if trials else ():
        if decision.line.digest in held_back:
            _decide(decision, replay, salt, base, [tried for _, tried in trials])
    kept: list[Proposal] = []
    left: list[Left] = []
    for one, tried in trials:
        refused = [
            entry
            for entry, passes in tried.passes.items()
            if passes and held_back[entry].answer == REFUSED
        ]
        if refused:
            why = f"decided again with it, {refused[0][7:15]} would pass, which was refused"
            left.append(Left(one.of or "default", one.tool, one.approved, why))
        else:
            kept.append(_with(one, tried.passes, held_back))
    return kept, left


def _gate_with(one: Proposal, base: Gate) -> Gate:
    """Return the gate under a policy with a proposal in it."""
    policy = parse(base.policy_bytes)
    said: dict[str, Any] = {
        "decide": ALLOW,
        "because": "tried out",
        "effects": [dict(item) for item in one.effects],
    }
    if one.of is None:
        rule = {"rule": one.name, **said, "tools": [one.tool]}
        whole = {**policy, "rules": [*policy["rules"], rule]}
    else:
        override = {"override": one.name, "of": one.of, **said, "owner": "nobody"}
        override["expires"] = MAX_INTEGER
        whole = {**policy, "overrides": [*policy.get("overrides", ()), override]}
    return Gate(Policy(canonical_bytes(whole)), base.catalog, second_opinion)


def _decide(made: Made, replay: Replay, salt: bytes, base: Gate, trials: list[_Tried]) -> None:
    """Decide one call again under each proposal, unless it would pass without any."""
    held = replay.input_of(made.entry)
    if isinstance(held, str):
        return
    call, entry = call_of(held), made.entry
    facts = [Fact(fact.code, fact.entry) for fact in entry.facts]
    links = links_of(held)

    def passes(gate: Gate) -> bool:
        known = Recorded(
            lambda path: resource_ref(path, salt), made.before, facts, entry.turn, links
        )
        return gate.decide(call, known).state == ALLOW

    if passes(base):
        return  # another policy held it back
    for tried in trials:
        tried.passes[made.line.digest] = passes(tried.gate)


def _with(one: Proposal, passes: Mapping[str, bool], held_back: Mapping[str, HeldBack]) -> Proposal:
    """Return a proposal with what else it lets through, as far as it was tried."""

    def found(answer: str, thought: tuple[str, ...]) -> tuple[str, ...]:
        untried = [entry for entry in thought if entry not in passes]
        sure = [
            entry
            for entry, passing in passes.items()
            if passing and held_back[entry].answer == answer
        ]
        order = {entry: place for place, entry in enumerate(held_back)}
        return tuple(sorted({*untried, *sure}, key=order.__getitem__))

    mine = [passes[entry] for entry in one.covers if entry in passes]
    return one._replace(
        denied=found(DENIED, one.denied),
        open=found(OPEN, one.open),
        tried=(sum(mine), len(mine)),
    )
