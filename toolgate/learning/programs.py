"""Which programs held-back calls ran, as the vault's inputs tell it."""

from collections import defaultdict

from toolgate.errors import InputError
from toolgate.gate.effects.model import is_stored
from toolgate.learning.answers import HeldBack, Shape
from toolgate.replay import Replay, call_of

_ANY = "*"


def with_programs(one: HeldBack, replay: Replay) -> HeldBack:
    """Return a call with the programs of its effects, where the vault still has its input.

    They are told only if the call, read once more by itself, has the effects its entry keeps.

    Args:
        one: the call.
        replay: the ledger, its vault and its policies.
    """
    gate = replay.gate_under(one.decision.ev.policy_version)
    held = replay.input_of(one.decision)
    if isinstance(gate, str) or isinstance(held, str):
        return one
    try:
        effects = gate.effects(call_of(held))
    except InputError:
        return one
    programs: dict[Shape, set[str]] = defaultdict(set)
    for effect in effects:
        kind = Shape(effect.type, effect.scope, effect.reversible, effect.proof)
        if not is_stored(effect.type):
            programs[kind].add(effect.program)
    if programs.keys() != {shape for shape in one.shapes if not is_stored(shape.type)}:
        return one
    # A name with a star would be a pattern in a rule, and one that is empty is not known.
    named = {
        kind._replace(program="" if _ANY in name else name)
        for kind, names in programs.items()
        for name in names
    }
    return one._replace(shapes=tuple(sorted(named)))
