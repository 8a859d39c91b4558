"""What a miss costs: a matrix the set may state, times the severity a case may state. Pure.

The counts say how often a gate errs, the loss how much that matters. It is a sum of weights
and no rate of independent draws, so it gets no interval.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evalkit.challenge.case import LABELS, ChallengeSet
from evalkit.challenge.fields import Fields, shown
from toolgate.gate.decision import STRICTNESS

PERMISSIVE_STEP, STRICTER_STEP = 4, 1
"""What one step costs where the set states nothing: an answer too mild four times one too strict.

Source: the default of the public practice of numbered sets.
"""
MOST_COST, MOST_SEVERITY = 1_000, 100

Matrix = Mapping[str, Mapping[str, int]]
"""Cost by expected and decided."""


class Weights(NamedTuple):
    """What the misses of a set cost.

    Args:
        matrix: cost by expected and decided.
        severity: what a case's cost is multiplied by, by case id; 1 where it is not there.
    """

    matrix: Matrix
    severity: Mapping[str, int]


def weights_of(made: ChallengeSet) -> Weights:
    """Return what a set states of its misses, or the defaults."""
    return Weights(made.loss, {case.id: case.severity for case in made.cases if case.severity > 1})


def default_cost(expected: str, decided: str) -> int:
    """Return what an answer costs where the set states nothing: its steps, weighted."""
    step = STRICTNESS[decided] - STRICTNESS[expected]
    return step * STRICTER_STEP if step > 0 else -step * PERMISSIVE_STEP


def default_matrix() -> dict[str, dict[str, int]]:
    """Return the matrix of a set that states none."""
    return {
        expected: {decided: default_cost(expected, decided) for decided in LABELS}
        for expected in LABELS
    }


def matrix_of(fields: Fields) -> dict[str, dict[str, int]]:
    """Return the set's matrix; cells it does not state have their default.

    Args:
        fields: the set.
    """
    made = default_matrix()
    stated = fields.body.get("loss")
    if stated is None:
        return made
    rows = Fields(stated, "loss", fields.faults)
    for expected, cells in rows.body.items():
        if expected not in LABELS:
            rows.faults.add(rows.path(expected), "one of " + ", ".join(LABELS), shown(expected))
            continue
        row = Fields(cells, rows.path(expected), fields.faults)
        for decided in row.body:
            if decided not in LABELS or decided == expected:
                wanted = "one of " + ", ".join(word for word in LABELS if word != expected)
                row.faults.add(row.path(decided), wanted, shown(decided))
            else:
                made[expected][decided] = row.whole(decided, 0, MOST_COST)
    return made


UNWEIGHTED = Weights(default_matrix(), {})
"""What misses cost where nothing is stated."""


def severity_of(fields: Fields) -> int:
    """Return a case's severity, 1 where it states none."""
    return 1 if fields.body.get("severity") is None else fields.whole("severity", 1, MOST_SEVERITY)


def loss(answers: Iterable[tuple[str, str, str]], weights: Weights) -> dict[str, Any]:
    """Return what the answers cost.

    Args:
        answers: case id, expected and decided; a decided that is no label is no answer.
        weights: what misses cost.

    Returns:
        ``lost`` (over the cases with an answer), ``worst`` (with the dearest answer for every
        case without one), ``most`` (the dearest answer to every case), ``permissive`` and
        ``stricter`` (their parts of ``lost``), ``severe`` (cases with a severity above 1) and
        ``matrix``.
    """
    parts = {"permissive": 0, "stricter": 0}
    most = missing = severe = 0
    for case, expected, decided in answers:
        severity = weights.severity.get(case, 1)
        severe += severity > 1
        dearest = max(weights.matrix[expected].values()) * severity
        most += dearest
        if decided not in LABELS:
            missing += dearest
            continue
        milder = STRICTNESS[decided] < STRICTNESS[expected]
        cost = weights.matrix[expected][decided] * severity
        parts["permissive" if milder else "stricter"] += cost
    lost = sum(parts.values())
    return {
        "lost": lost,
        "worst": lost + missing,
        "most": most,
        **parts,
        "severe": severe,
        "matrix": {expected: dict(row) for expected, row in weights.matrix.items()},
    }
