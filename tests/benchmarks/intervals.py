"""Prints how often the intervals hold the truth, and what they cost.

    python tests/benchmarks/intervals.py [--runs RUNS] [--seed SEED] [--speed | --coverage]

Coverage is by simulation: each setting is one law and one truth; the share of runs whose limits
hold the truth stands beside the nominal level, with the simulation's own error (two standard
errors). A method that guarantees its level and falls short of it by more than that ends the
script with 1; so does a speed bar that is missed. Where a method promises an average only, or
where its assumption is broken on purpose, the figure is printed and nothing is asserted.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

from evalkit.stats.alternatives import blaker, jeffreys, mid_p, wilson
from evalkit.stats.anytime import anytime
from evalkit.stats.binomial import clopper_pearson, clopper_pearson_each
from evalkit.stats.clustered import clustered
from evalkit.stats.hypergeometric import hypergeometric
from evalkit.stats.independent import independent
from evalkit.stats.label_error import GUARANTEED, LANG_REICZIGEL, rogan_gladen
from evalkit.stats.melded import melded
from evalkit.stats.paired import newcombe
from evalkit.stats.poisson import poisson
from evalkit.stats.stratified import stratified
from evalkit.stats.wendell_schmee import wendell_schmee

LEVEL = 0.95


class Setting(NamedTuple):
    """One law with one truth.

    Args:
        name: what is simulated, for people.
        guaranteed: whether the method promises at least its level here.
        held: yields, run by run, whether the limits hold the truth.
    """

    name: str
    guaranteed: bool
    held: Callable[[Any, int], Iterator[bool]]


def binomial(method: Callable[..., Any], n: int, rate: float) -> Callable[..., Iterator[bool]]:
    """Return runs of one rate in independent calls."""
    limits = cache(lambda k: method(k, n)[2:4])

    def held(random: Any, runs: int) -> Iterator[bool]:
        for k in random.binomial(n, rate, runs).tolist():
            low, high = limits(k)
            yield low <= rate <= high

    return held


def finite(population: int, events: int, n: int) -> Callable[..., Iterator[bool]]:
    """Return runs of one sample without replacement."""
    limits = cache(lambda k: hypergeometric(k, n, population)[3:5])

    def held(random: Any, runs: int) -> Iterator[bool]:
        for k in random.hypergeometric(events, population - events, n, runs).tolist():
            low, high = limits(k)
            yield low <= events <= high

    return held


def strata(method: Callable[..., Any], truth: list[tuple[int, int, int]]) -> Callable[..., Any]:
    """Return runs of samples by strata (calls, events, calls drawn), with an upper bound."""
    upper = cache(lambda *seen: method(list(seen)).upper)
    total = sum(events for _, events, _ in truth)

    def held(random: Any, runs: int) -> Iterator[bool]:
        draws = [random.hypergeometric(e, size - e, n, runs).tolist() for size, e, n in truth]
        for row in zip(*draws, strict=True):
            seen = tuple((size, n, k) for (size, _, n), k in zip(truth, row, strict=True))
            yield total <= upper(*seen)

    return held


def by_session(
    rate: float, icc: float, sessions: int, calls: int, *, naive: bool
) -> Callable[..., Iterator[bool]]:
    """Return runs of calls whose rate differs by session (beta-binomial)."""

    def held(random: Any, runs: int) -> Iterator[bool]:
        spread = (1 - icc) / icc if icc else 0.0
        for _ in range(runs):
            rates = rate
            if icc:
                rates = random.beta(rate * spread, (1 - rate) * spread, sessions)
            counts = random.binomial(calls, rates, sessions).tolist()
            if naive:
                low, high = clopper_pearson(sum(counts), sessions * calls)[2:4]
                yield low <= rate <= high
                continue
            found = clustered([(k, calls) for k in counts])
            shown = found.interval or found.by_session
            # Without events only the share of sessions is bounded, at least as high as the rate.
            assert shown is not None
            yield shown.lower <= rate <= shown.upper

    return held


def two_gates(method: Callable[..., Any], n: int, cells: tuple[float, ...]) -> Callable[..., Any]:
    """Return runs of two gates on the same cases."""
    limits = cache(lambda *seen: method(*seen)[1:3])
    truth = cells[1] - cells[2]

    def held(random: Any, runs: int) -> Iterator[bool]:
        for seen in random.multinomial(n, cells, runs).tolist():
            low, high = limits(*seen)
            yield low <= truth <= high

    return held


def odds(n: int, rates: tuple[float, float]) -> Callable[..., Iterator[bool]]:
    """Return runs of two windows, with the conditional odds ratio."""
    truth = rates[0] / (1 - rates[0]) / (rates[1] / (1 - rates[1]))
    limits = cache(lambda k1, k2: independent(k1, n, k2, n).odds)

    def held(random: Any, runs: int) -> Iterator[bool]:
        draws = zip(*(random.binomial(n, rate, runs).tolist() for rate in rates), strict=True)
        for k1, k2 in draws:
            found = limits(k1, k2)
            yield found is None or found.lower <= truth <= found.upper

    return held


def looks(population: int, events: int, at: range) -> Callable[..., Iterator[bool]]:
    """Return runs of a population labeled in random order, right at all looks."""
    limits = cache(lambda k, n: anytime(k, n, population)[3:5])

    def held(random: Any, runs: int) -> Iterator[bool]:
        for _ in range(runs):
            where = random.choice(population, events, replace=False)
            seen = [(int((where < n).sum()), n) for n in at]
            yield all(limits(*look)[0] <= events <= limits(*look)[1] for look in seen)

    return held


def labels(method: str, n: int, rate: float, study: int) -> Callable[..., Iterator[bool]]:
    """Return runs of labels with errors, and of the study that measures them."""

    def held(random: Any, runs: int) -> Iterator[bool]:
        hit, right = 0.94, 0.98
        for _ in range(runs):
            k = int(random.binomial(n, rate * hit + (1 - rate) * (1 - right)))
            ill, well = (int(random.binomial(study, share)) for share in (hit, right))
            found = rogan_gladen(k, n, (ill, study), (well, study), method=method)
            assert found is not None
            yield found.lower <= rate <= found.upper

    return held


def intensity(mean: float) -> Callable[..., Iterator[bool]]:
    """Return runs of events in one unit of exposure."""
    limits = cache(lambda k: poisson(k, 1, "window")[4:6])

    def held(random: Any, runs: int) -> Iterator[bool]:
        for k in random.poisson(mean, runs).tolist():
            low, high = limits(k)
            yield low <= mean <= high

    return held


TWO = [(400, 12, 60), (60, 3, 20)]
THREE = [(412, 9, 60), (60, 4, 30), (12, 5, 12)]
GATES = (0.45, 0.2, 0.1, 0.25)

SETTINGS = (
    *(
        Setting(f"Clopper-Pearson, n {n}, rate {rate:g}", True, binomial(clopper_pearson, n, rate))
        for n, rate in ((20, 0.5), (59, 0.05), (412, 0.01), (2000, 0.001))
    ),
    Setting("Blaker, n 59, rate 0.05", True, binomial(blaker, 59, 0.05)),
    Setting("mid-P, n 59, rate 0.05", False, binomial(mid_p, 59, 0.05)),
    Setting("Wilson, n 412, rate 0.01", False, binomial(wilson, 412, 0.01)),
    Setting("Jeffreys, n 412, rate 0.01", False, binomial(jeffreys, 412, 0.01)),
    Setting("hypergeometric, 50 of 412, 9 events", True, finite(412, 9, 50)),
    Setting("hypergeometric, 284 of 5000, 50 events", True, finite(5000, 50, 284)),
    Setting("Wright, three strata, one judged whole, upper", True, strata(stratified, THREE)),
    Setting("Wendell-Schmee, two strata, upper", True, strata(wendell_schmee, TWO)),
    *(
        Setting(
            f"{'independent calls assumed' if naive else 'by session'}, 40 x 20 calls, "
            f"rate 0.03, ICC {icc:g}",
            False,
            by_session(0.03, icc, 40, 20, naive=naive),
        )
        for icc in (0.0, 0.05, 0.2)
        for naive in (True, False)
    ),
    Setting(
        "by session, 100 x 8 calls, rate 0.2, ICC 0.3",
        False,
        by_session(0.2, 0.3, 100, 8, naive=False),
    ),
    Setting("McNemar pairs, melded, n 60", True, two_gates(melded, 60, GATES)),
    Setting("McNemar pairs, Newcombe 10, n 60", False, two_gates(newcombe, 60, GATES)),
    Setting("conditional odds, 80 and 80, rates 0.1 and 0.2", True, odds(80, (0.1, 0.2))),
    Setting(
        "anytime, every tenth of 412, 9 events, all looks", True, looks(412, 9, range(10, 410, 10))
    ),
    Setting(
        "Rogan-Gladen, Lang-Reiczigel, n 412, rate 0.05",
        False,
        labels(LANG_REICZIGEL, 412, 0.05, 200),
    ),
    Setting("Rogan-Gladen, guaranteed, n 412, rate 0.05", True, labels(GUARANTEED, 412, 0.05, 200)),
    Setting("Poisson, mean 3", True, intensity(3.0)),
)


def coverage(runs: int, seed: int) -> bool:
    """Print a line a setting; return whether every guarantee was kept."""
    import numpy as np

    print(f"coverage of nominal {LEVEL:.1%}, {runs} runs a setting, seed {seed}")
    print(f"{'setting':<66} {'nominal':>8} {'held':>8} {'+-':>6}  promise")
    kept = True
    for number, setting in enumerate(SETTINGS):
        random = np.random.default_rng([seed, number])
        share = sum(setting.held(random, runs)) / runs
        error = 2 * sqrt(LEVEL * (1 - LEVEL) / runs)
        short = setting.guaranteed and share < LEVEL - error
        kept &= not short
        promise = "MISSED" if short else "at least" if setting.guaranteed else "on average or none"
        print(
            f"{setting.name:<66} {LEVEL:>8.1%} {share:>8.1%} {error:>6.1%}  {promise}", flush=True
        )
    return kept


def speed() -> bool:
    """Print what the two bars are held against, in processor seconds; return whether they hold."""
    pairs = [(at % 50, 50 + at % 4951) for at in range(100_000)]
    clopper_pearson(3, 412)
    began = time.process_time()
    clopper_pearson_each(pairs)
    many = time.process_time() - began
    cases = [(3, 999), (0, 284), (120, 999), (30_000, 100_000), (5, 50)]
    hypergeometric(3, 999, 1_000_000)
    began = time.process_time()
    for k, n in cases * 5:
        hypergeometric(k, n, 1_000_000, side="upper")
    one = (time.process_time() - began) / (5 * len(cases))
    print(f"100,000 exact intervals: {many:.2f} s (bar 2 s)")
    print(f"hypergeometric bound at N = 1,000,000: {one * 1000:.2f} ms (bar 5 ms)")
    return many < 2 and one < 0.005


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--speed", action="store_true")
    only.add_argument("--coverage", action="store_true")
    asked = parser.parse_args()
    held = True
    if not asked.coverage:
        held &= speed()
    if not asked.speed:
        held &= coverage(asked.runs, asked.seed)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
