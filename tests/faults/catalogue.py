"""The catalogue of faults: how to damage a sound ledger, and what a verifier must say of it.

A row names the fault, the layer that sees it, the attacker, whether an outside
copy of the head is needed, and the codes of the faults found (not of what
follows from them). Attackers: N edits a line and leaves the rest; R rewrites
everything so that it fits again; B writes bytes; H is no attacker but a host, a
crash or what a trace shows. Two more kinds of rows: a legal form stands beside
the fault it resembles and must give no finding; an undetectable fault says why
nobody can see it.

Rows stand in the modules of this folder, which ``load`` imports.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import ledgers

Damage = Callable[[Any], None]


class Fault(NamedTuple):
    """One row.

    Args:
        id: short name.
        layer: the layer that sees it first; empty where nothing is to be seen.
        attacker: N, R, B or H.
        pin: whether it is seen only with an outside copy of the head.
        damage: does it to a kit.
        expect: codes of the findings that are faults of their own.
        verdict: the verdict.
        origin: the module the row stands in.
        base: name of the ledger it is done to.
        beside: for a legal form, the fault it resembles.
        why: for an undetectable fault, why it is one.
    """

    id: str
    layer: str
    attacker: str
    pin: bool
    damage: Damage
    expect: frozenset[str]
    verdict: str
    origin: str
    base: str = "sound"
    beside: str | None = None
    why: str | None = None

    @property
    def undetectable(self) -> bool:
        """Say whether nothing that is given to the verifier shows the fault."""
        return self.why is not None

    @property
    def title(self) -> str:
        """Return what was done, in words: the damage's docstring, else its name."""
        said = (self.damage.__doc__ or self.id.replace("-", " ")).strip()
        return said.rstrip(".")


CATALOGUE: list[Fault] = []
BASES: dict[str, Callable[[Path], None]] = {"sound": ledgers.build}
"""The ledgers that rows are done to, by name: each is built by the real writer."""


def fault(
    name: str,
    attacker: str,
    *codes: str,
    pin: bool = False,
    verdict: str = "FAIL",
    base: str = "sound",
) -> Callable[[Damage], Damage]:
    """Add a fault that is found under these codes."""

    def add(damage: Damage) -> Damage:
        layer = codes[0].partition(".")[0]
        codes_of = frozenset(codes)
        _add(Fault(name, layer, attacker, pin, damage, codes_of, verdict, _origin(damage), base))
        return damage

    return add


def legal(
    name: str, *, beside: str, verdict: str = "CONDITIONAL", base: str = "sound"
) -> Callable[[Damage], Damage]:
    """Add a legal form, which gives no finding, beside the fault it resembles."""

    def add(change: Damage) -> Damage:
        none: frozenset[str] = frozenset()
        origin = _origin(change)
        _add(Fault(name, "", "H", False, change, none, verdict, origin, base, beside))
        return change

    return add


def undetectable(
    name: str,
    attacker: str,
    why: str,
    *codes: str,
    verdict: str = "CONDITIONAL",
    base: str = "sound",
) -> Callable[[Damage], Damage]:
    """Add a fault that nothing given to the verifier shows, and why.

    ``codes`` are the findings that the undamaged ledger has as well.
    """

    def add(damage: Damage) -> Damage:
        found, origin = frozenset(codes), _origin(damage)
        _add(Fault(name, "", attacker, False, damage, found, verdict, origin, base, None, why))
        return damage

    return add


def load() -> list[Fault]:
    """Import every module of this folder and return all rows, in the order of their names."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in ("catalogue", "freeze") and not path.stem.startswith("test_"):
            import_module(path.stem)
    return sorted(CATALOGUE, key=lambda row: row.id)


def _add(row: Fault) -> None:
    if any(known.id == row.id for known in CATALOGUE):
        raise ValueError(f"two rows of the catalogue are named {row.id}")
    CATALOGUE.append(row)


def _origin(damage: Damage) -> str:
    return Path(sys.modules[damage.__module__].__file__ or "").name
