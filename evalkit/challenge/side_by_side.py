"""Gates side by side on the same sets: one comparison a set, and a table of them all. Pure.

Sets are never pooled: each has its own question, and a sum of matches would weigh them by how
many cases their authors wrote.
"""

from typing import Any

from evalkit.challenge.compare import comparison, hold_together
from evalkit.challenge.past import PastRun
from evalkit.errors import RefusedError, UsageError

SCHEMA = "evalkit/side-by-side/1"


def side_by_side(runs: list[PastRun]) -> dict[str, Any]:
    """Return comparisons of runs of several sets, and the gates' matches set by set.

    Args:
        runs: sealed runs; each set has at least two of them.

    Returns:
        ``sets`` (a comparison each; their tests are one family), ``gates`` (name each, in the
        order they are first named) and ``table`` (``set``, ``cases`` and a ``cells`` list, one
        a gate: ``match, rate, permissive, dangerous_allow, stricter, unscored, loss, run``, or
        None where the gate was not run on the set).

    Raises:
        UsageError: a run is named twice, or a gate has two runs of one set.
        RefusedError: a set has one run only.
    """
    groups: dict[str, list[PastRun]] = {}
    for run in runs:
        groups.setdefault(run.set_digest, []).append(run)
    for group in groups.values():
        if len(group) < 2:
            raise RefusedError(
                f"run {group[0].run} is the only one of {group[0].set} ({group[0].set_digest}): "
                "expected at least two runs of each set"
            )
    sets = [comparison(group) for group in groups.values()]
    families = hold_together([other for made in sets for other in made["against"]])
    for made in sets:
        made["families"] = families
    gates = list(dict.fromkeys(gate_of(run) for run in runs))
    return {
        "schema": SCHEMA,
        "gates": gates,
        "table": [
            _line(made, group, gates) for made, group in zip(sets, groups.values(), strict=True)
        ],
        "sets": sets,
    }


def gate_of(run: PastRun) -> str:
    """Return what a run's gate is called: its name, or our build, and its policy."""
    name = f"build {run.build[7:19]}" if run.gate is None else run.gate
    return f"{name}, policy {run.policy[7:19]}"


def _line(made: dict[str, Any], group: list[PastRun], gates: list[str]) -> dict[str, Any]:
    cells: dict[str, dict[str, Any]] = {}
    for run, row in zip(group, made["runs"], strict=True):
        gate = gate_of(run)
        if gate in cells:
            raise UsageError(
                f"runs {cells[gate]['run']} and {run.run} are both of {gate} on {run.set}: "
                "expected one run of a gate on a set"
            )
        names = ("run", "match", "permissive", "dangerous_allow", "stricter", "unscored", "loss")
        cells[gate] = {**{name: row[name] for name in names}, "rate": row["rate"]}
    return {
        "set": made["set"],
        "set_digest": made["set_digest"],
        "cases": made["cases"],
        "cells": [cells.get(gate) for gate in gates],
    }
