"""The best of a random number of runs: gamma of a logarithmic law by its mean, whether more of a run is known than an epsilon, orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, islice, permutations
from typing import Any, Final

from dpverify.search.composition import stated_guarantee
from dpverify.search.numeric import number
from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, num, symbols
from dpverify.trusted.kernel.model import BestOf, Domain, Measure, Table
from dpverify.trusted.theories.composition.rules import best_of as rule
from dpverify.trusted.theories.composition.rules import best_of_renyi as renyi

_BITS: Final = 256
_FINE: Final = 90
"""Bits of gamma: enough for an epsilon of many digits, and few enough for the kernel to see on which side of the mean it is."""
_SHORT: Final = 10**6
_ROUGH: Final = 64
_OUTPUTS: Final = 8
_PAIRS: Final = 60
_NEVER: Final = 1e-12
_MOST: Final = 10**5
_NOTHING: Final = -200.0
"""The logarithm of a delta that is as good as none."""
_GRID: Final = [Fraction(5, 4), Fraction(3, 2), *map(Fraction, (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 1024))]


def gamma(mean: Expr, side: str) -> Fraction:
    """A rational just below gamma, for a bound from above, or just above it; gamma itself where that is short.

    Raises Undecided for a mean in parameters.
    """
    if symbols(mean):
        raise Undecided("the mean of a logarithmic number of runs wants a value; negative_binomial with eta = 0 takes gamma in parameters.")
    with precision(_BITS):
        wanted, low = constant(mean), Fraction(1, 2)
        while not constant(rule.logarithmic_mean(Num(low))) > wanted:
            low /= 2
        high = min(Fraction(1), 2 * low)
        for _ in range(_FINE):
            middle = (low + high) / 2
            low, high = (middle, high) if constant(rule.logarithmic_mean(Num(middle))) > wanted else (low, middle)
    short = high.limit_denominator(_SHORT)
    if 0 < short < 1 and certainly_equal(rule.logarithmic_mean(Num(short)), mean):
        return short
    return low if side == "upper" else high


def is_attained(best: BestOf, domains: tuple[tuple[str, Domain], ...]) -> bool:
    """Whether no more is known of the part than a pure epsilon."""
    try:
        rule.attained(best, dict(domains))
    except Rejected:
        return False
    return True


def worst_output(best: BestOf) -> Iterator[dict[str, Any]]:
    """Where the best of some runs of a small table loses the most: two inputs, an output and those below it; nothing of other parts."""
    table = best.part.mechanism
    if not isinstance(table, Table) or len(table.rows[0]) > _OUTPUTS or any(symbols(x) for x in (*chain(*table.rows), *best.numbers)):
        return
    told = {"gamma": str(gamma(best.numbers[0], "upper"))} if best.law == "logarithmic" else {}
    pairs = table.adjacent or tuple(permutations(range(len(table.rows)), 2))
    rows, outputs = [[number(x) for x in row] for row in table.rows], range(len(table.rows[0]))
    tried = list[tuple[float, dict[str, Any]]]()
    for a, b in islice(dict.fromkeys((*pairs, *((b, a) for a, b in pairs))), _PAIRS):
        for y in outputs:
            for below in chain(*(combinations([z for z in outputs if z != y], n) for n in outputs)):
                chances = [_rough(best, row, below, y, told) for row in (rows[a], rows[b])]
                if min(chances) > _NEVER:
                    tried.append((math.log(chances[0] / chances[1]), {"inputs": [a, b], "output": y, "below": list(below), **told}))
    if tried:
        yield max(tried, key=lambda one: one[0])[1]


def _rough(best: BestOf, row: Sequence[float], below: Sequence[int], output: int, told: Mapping[str, str]) -> float:
    """About how probable an output is to be the best, up to a factor."""
    least = sum(row[one] for one in below)

    def at(x: float) -> float:
        first = number(best.numbers[0])
        if best.law == "fixed":
            return float(x**first)
        if best.law == "poisson":
            return math.exp(first * (x - 1))
        if best.law == "geometric":
            return x / (first - (first - 1) * x)
        eta, least = (0.0, float(Fraction(told["gamma"]))) if best.law == "logarithmic" else (first, number(best.numbers[1]))
        rest = 1 - (1 - least) * x
        return -math.log(rest) if eta == 0 else math.copysign(rest**-eta, eta)

    return at(least + row[output]) - at(least)


class Orders:
    """Which second order the divergences of the best of some runs are told. Raises Undecided, Rejected where those of a run are unknown."""

    def __init__(self, best: BestOf) -> None:
        self._best = best
        self._gamma = str(gamma(best.numbers[0], "upper")) if best.law == "logarithmic" else ""
        of, _ = renyi.of_a_run(best)
        self.stated = stated_guarantee.orders_of([run.part.mechanism for run in merged(best.part)])
        with precision(_ROUGH):
            self._known = [(order, float(constant(of(order)).mid())) for order in self.stated or _GRID]
        self._first = Fraction(0) if best.law == "poisson" else min(self._known, key=self._truncated)[0]

    def told(self, order: Fraction) -> dict[str, Any]:
        """What the rule is told at an order."""
        second = self._first or min(self._known, key=partial(self._poisson, math.log(order / (order - 1))))[0]
        return {"second": str(second), "gamma": self._gamma}

    def _truncated(self, known: tuple[Fraction, float]) -> float:
        order, divergence = float(known[0]), known[1]
        spread = {"geometric": lambda: 1 / number(self._best.numbers[0]), "logarithmic": lambda: float(Fraction(self._gamma))}
        least = spread.get(self._best.law, lambda: number(self._best.numbers[-1]))()
        return (1 - 1 / order) * divergence - math.log(least) / order

    def _poisson(self, epsilon: float, known: tuple[Fraction, float]) -> float:
        order, divergence = float(known[0]), known[1]
        return max(_NOTHING, (order - 1) * (divergence - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1))


def curve_plan(best: BestOf, epsilon: float | None, delta: float | None) -> dict[str, Any]:
    """A plan for the curve, sharp at an epsilon or a delta. Raises Undecided, Rejected."""
    orders = Orders(best)

    def at(measure: Measure) -> Expr:
        assert measure.at is not None
        if measure.at > _MOST:
            return num(10**9)  # of such an order nothing is looked for
        return renyi.divergence(best, measure.at, orders.told(measure.at))[0]

    found = [one for one in stated_guarantee.points([at], [1], orders.stated, epsilon, delta) if Fraction(one[0]) <= _MOST]
    return {"rule": renyi.NAME, "points": [[order, eps, *orders.told(Fraction(order)).values()] for order, eps in found]}
