"""How many calls to label before a bound can be shown, and how likely it then is to be shown.

A plan allows c events: the bound is shown if at most c are found. The numbers
are for calls drawn at random. Calls that come in sessions say less, so a claim
about the process needs the design effect on top; a claim about a finite
population from a simple random sample does not.
"""

from fractions import Fraction
from math import ceil, comb, floor
from typing import NamedTuple

from evalkit.errors import RefusedError, UsageError
from evalkit.stats.alternatives import at_most
from evalkit.stats.bisection import first
from evalkit.stats.counts import (
    MOST,
    closed_share,
    count,
    exact_alpha,
    exact_share,
    open_share,
    positive,
)
from evalkit.stats.hypergeometric import exact_tail, population_of, tail_probability

BINOMIAL = "smallest n by the exact binomial tail"
HYPERGEOMETRIC = "smallest n by the exact hypergeometric tail"
_CLOSE = 1e-8
_MOST_EXACT = 1_000_000
"""Largest product of calls and terms that is added up in integers."""


class Plan(NamedTuple):
    """How many calls to label for a one-sided claim "below the bound".

    Args:
        n: calls to label.
        allowed: events among them with which the bound is still shown.
        bound: rate that is to be excluded, in (0, 1).
        population: calls of the finite population; None for a claim about the process.
        tail: probability of so few events at the bound; at most 1 - level.
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        estimand: ``process``, ``finite``, or ``census`` where every call must be labeled.
        side: ``upper``.
    """

    n: int
    allowed: int
    bound: float
    population: int | None
    tail: float
    level: float
    method: str
    estimand: str
    side: str


class Power(NamedTuple):
    """How likely a plan is to show its bound.

    Args:
        plan: the plan.
        rate: the supposed true rate, in [0, 1]; of a finite population rounded to whole events.
        events: events of the finite population at that rate; None for the process.
        passes: probability of at most the allowed events.
    """

    plan: Plan
    rate: float
    events: int | None
    passes: float


class Inflated(NamedTuple):
    """A plan for calls that come in sessions.

    Args:
        plan: the plan for independent calls.
        session_size: mean calls of a session that are labeled.
        icc: supposed intraclass correlation, in [0, 1].
        design_effect: 1 + (session_size - 1) * icc.
        n: calls to label.
    """

    plan: Plan
    session_size: float
    icc: float
    design_effect: float
    n: int


def sample_size(
    bound: float, allowed: int = 0, level: float = 0.95, population: int | None = None
) -> Plan:
    """Return the smallest number of calls with which a one-sided bound can be shown.

    Args:
        bound: rate that is to be excluded, in (0, 1).
        allowed: events with which it is still shown.
        level: confidence level, in (0, 1).
        population: calls of a finite population; None for a claim about the process.

    Returns:
        The plan. Where no sample is enough it is the whole population, a census.

    Raises:
        UsageError: a bound or level outside (0, 1); what is no count; a need beyond 2**53.
        RefusedError: the allowed events alone reach the bound in this population.
    """
    share, few, alpha = open_share("bound", bound), count("allowed", allowed), exact_alpha(level)
    if population is None:
        n = _process(few, share, alpha)
        tail = at_most(few, n, share)
        return Plan(n, few, share, None, tail, float(level), BINOMIAL, "process", "upper")
    whole = population_of(count("population", population))
    # The fewest events that are no longer below the bound; the decimal that was written counts.
    events = floor(exact_share(share) * whole) + 1
    if events > whole or few >= events:
        raise RefusedError(
            f"{few} events among {whole} calls are not below {share:g}: no sample can show it"
        )
    n = first(lambda drawn: _finite(few, drawn, whole, events, alpha), few + 1, whole)
    tail = 0.0 if n == whole else tail_probability(few, n, whole, events, upper=False)
    estimand = "census" if n == whole else "finite"
    return Plan(n, few, share, whole, tail, float(level), HYPERGEOMETRIC, estimand, "upper")


def power(plan: Plan, rate: float) -> Power:
    """Return how likely a plan is to show its bound at a supposed true rate.

    Args:
        plan: what ``sample_size`` returned.
        rate: the supposed true rate, in [0, 1].

    Raises:
        UsageError: a rate outside [0, 1].
    """
    share = closed_share("rate", rate)
    if plan.population is None:
        return Power(plan, share, None, at_most(plan.allowed, plan.n, share))
    events = round(exact_share(share) * plan.population)
    if plan.estimand == "census":
        passes = float(events <= plan.allowed)
    else:
        passes = tail_probability(plan.allowed, plan.n, plan.population, events, upper=False)
    return Power(plan, share, events, passes)


def inflated(plan: Plan, session_size: float, icc: float) -> Inflated:
    """Return how many calls a plan needs when they come in sessions.

    Args:
        plan: a plan for a claim about the process.
        session_size: mean calls of a session that are labeled, at least 1.
        icc: supposed intraclass correlation, in [0, 1].

    Raises:
        UsageError: a plan for a finite population, whose draw needs no inflation; a session
            size below 1; a correlation outside [0, 1].

    Source: Kish (1965), Survey Sampling.
    """
    size, alike = positive("session_size", session_size), closed_share("icc", icc)
    if plan.population is not None:
        raise UsageError("the plan is for a finite population: its random draw is not clustered")
    if size < 1:
        raise UsageError(f"session_size is {size:g}: expected at least 1")
    effect = 1 + (size - 1) * alike
    return Inflated(plan, size, alike, effect, ceil(plan.n * effect))


def _process(few: int, bound: float, alpha: Fraction) -> int:
    low = few + 1
    high = low
    while not _independent(few, high, bound, alpha):
        high *= 2
        if high > MOST:
            raise UsageError(f"bound is {bound!r}: no countable number of calls can show it")
    return first(lambda n: _independent(few, n, bound, alpha), low, high)


def _independent(few: int, n: int, bound: float, alpha: Fraction) -> bool:
    """Return whether at most ``few`` events of n have probability alpha or less."""
    found, share = at_most(few, n, bound), float(alpha)
    if abs(found - share) > _CLOSE * share or n * (few + 1) > _MOST_EXACT:
        return found <= share
    event, whole = exact_share(bound).as_integer_ratio()
    ways = sum(comb(n, k) * event**k * (whole - event) ** (n - k) for k in range(few + 1))
    return bool(ways <= alpha * whole**n)


def _finite(few: int, n: int, population: int, events: int, alpha: Fraction) -> bool:
    found, share = tail_probability(few, n, population, events, upper=False), float(alpha)
    if abs(found - share) > _CLOSE * share:
        return found <= share
    return exact_tail(few, n, population, events, upper=False) <= alpha
