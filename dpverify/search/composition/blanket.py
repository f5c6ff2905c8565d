"""Proposes the curve of a shuffle of finitely many outputs: how finely sums are enclosed, and which records are worst for each other.

Sums are looked at in floats, by the saddle point of their Laplace transform.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice, product

import numpy as np
from flint import arb

from dpverify.search.composition.plans import Plan
from dpverify.search.composition.roots import crossing
from dpverify.search.decimals import decimals
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import call
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Shuffle
from dpverify.trusted.theories.composition import blanket
from dpverify.trusted.theories.composition.rules import privacy_blanket as rule
from dpverify.trusted.theories.composition.rules import shuffling

_SHARP = 7
_ROUGH = 3
"""Half of the bits to which a sum is known where many epsilons are asked."""
_WITNESS = 12
_APART = 2.0**-14
"""Between which epsilons the chances of an event are enclosed by the slope of a curve, times the epsilon."""
_BITS = 256
_MOST_TRIED = 20_000
_MOST_PAIRS = 200
_STEPS = 30

class Law:
    """What others tell alike, and what the one tells on both data, by sort: exactly, and in floats."""

    def __init__(self, people: int, sorts: rule.Sorts) -> None:
        self.people, self._sorts = people, [(*map(constant, sort), times) for sort, times in sorts.items()]
        alike, first, second = np.array([[float(x) for x in sort[:3]] for sort in self._sorts]).T
        self._masses, self._first, self._second = alike * np.array([*sorts.values()]), first / alike, second / alike

    def exactly(self, epsilon: arb, smoothing: int) -> arb:
        """H, enclosed."""
        return blanket.divergence(self.people, self._sorts, smoothing, epsilon)  # type: ignore[arg-type]

    def about(self, epsilon: float) -> float:
        """About H, by the saddle point."""
        masses, values = self._masses, self._first - math.exp(epsilon) * self._second
        if (values <= 0).all():
            return 0.0
        variance = float(masses @ values**2)
        at, total, spread = max(-float(masses @ values) / variance, 1 / math.sqrt(self.people * variance)), 1.0, variance
        for _ in range(_STEPS):
            weights = masses * np.exp(at * values)
            total = 1 + float(masses @ np.expm1(at * values))
            mean = float(weights @ values) / total
            spread = float(weights @ values**2) / total - mean**2
            at = max(at - (self.people * mean - 2 / at) / (self.people * spread + 2 / at**2), at / 2)
        height = self.people * math.log(total) - 2 * math.log(at) - math.log(self.people)
        return math.exp(height) / math.sqrt(2 * math.pi * (self.people * spread + 2 / at**2))


class Sums:
    """The laws of a shuffle. Raises Rejected for what is no table, and where others hide nothing of the one."""

    def __init__(self, shuffle: Shuffle) -> None:
        self.people, self.outputs = shuffling.people_of(shuffle), rule.outputs_of(shuffle.part.mechanism)
        rows = self.outputs.rows
        pairs = [pair for one in self.outputs.pairs if rows[one[0]] != rows[one[1]] for pair in (one, one[::-1])]
        require(len(pairs) <= _MOST_PAIRS, Rejected(rule.NAME, "the part", "too many pairs of records are to be looked at"))
        alike = tuple(call("min", *column) for column in zip(*rows, strict=True))
        self.above = [Law(self.people, self.outputs.sorts(alike, pair)) for pair in pairs]
        self.below = dict[tuple[tuple[int, int], int], Law]()
        for pair, others in islice(product(pairs, range(len(rows))), _MOST_TRIED):
            with suppress(Rejected):
                self.below[pair, others] = Law(self.people, self.outputs.sorts(rows[others], pair))

    def worst(self, epsilon: float) -> tuple[tuple[int, int], int] | None:
        """The pair and the record of the others that are about the worst."""
        return max(self.below, key=lambda at: self.below[at].about(epsilon), default=None)

    def told(self, below: Plan) -> list[Law]:
        """The laws of the data that a plan names, in both orders."""
        (i, j), others = below["pair"], below["others"]
        return [self.below[at] for at in (((i, j), others), ((j, i), others)) if at in self.below]


def passes(laws: Sequence[Law], delta: float) -> Fraction | None:
    """About where the greatest H of some laws passes a delta: by floats, and by how much these are wrong there."""

    def about(epsilon: float) -> float:
        return max((law.about(epsilon) for law in laws), default=0.0)

    root = crossing(about, delta)
    if root is None:
        return None
    law = max(laws, key=lambda law: law.about(float(root)))
    true = float(law.exactly(rational(root), _SHARP - 1).mid())
    return crossing(about, delta * law.about(float(root)) / true) if true > 0 else root


def plan(shuffle: Shuffle, epsilon: float | None, delta: float, one: bool) -> Plan:
    """The curve of a shuffle, from below about best at an epsilon, or where it passes a delta. Raises Rejected.

    one: whether that one epsilon alone is asked, where sums are enclosed to more bits.
    """
    sums = Sums(shuffle)
    found: Plan = {"rule": rule.NAME, "smoothing": _SHARP if one else _ROUGH}
    worst = sums.worst(float(passes(sums.above, delta) or 0) if epsilon is None else epsilon)
    if worst is not None:
        found["below"] = {"pair": [*worst[0]], "others": worst[1]}
    return found


def described(fact: Fact, epsilon: arb) -> dict[str, str]:
    """The data of the lower pair, and the event that tells them apart best."""
    assert isinstance(fact.about, Run) and isinstance(fact.about.part.mechanism, Shuffle)
    sums, told = Sums(fact.about.part.mechanism), fact.parameters["below"]
    with precision(_BITS):
        one, other, others = *told["pair"], told["others"]
        laws = {order: sums.below[order, others].exactly for order in ((one, other), (other, one))}
        pair = max(laws, key=lambda order: float(laws[order](epsilon, _SHARP).mid()))
        height, apart = laws[pair](epsilon, _WITNESS), arb(_APART) * epsilon.max(arb(_APART))
        slopes = [(height - laws[pair](epsilon + by, _WITNESS)) / ((epsilon + by).exp() - epsilon.exp()) for by in (apart, -apart)]
        q = slopes[0].union(slopes[1])  # H is convex in e^epsilon, and its slope is -Q(S)
        weights = ", ".join(_weights(sums.outputs, pair, others, epsilon))
        return {
            "pair": f"one person with the record {pair[0]}, or {pair[1]}, where all others have the record {others}",
            "event": f"S = {{the sum over all people of the weight of what they tell is above 0}}; weights of the outputs: {weights}",
            "P": decimals(height + epsilon.exp() * q),
            "Q": decimals(q),
            "P - exp(epsilon)*Q": decimals(height),
        }


def _weights(outputs: rule.Outputs, pair: tuple[int, int], others: int, epsilon: arb) -> Iterator[str]:
    """What each output counts in the event: the likelihood of the one's records less e^epsilon times, by that of the others'."""
    for y, (alike, first, second) in enumerate(zip(*(outputs.rows[row] for row in (others, *pair)), strict=True)):
        name = f"{y}" if outputs.times[y] == 1 else f"each of {outputs.times[y]} others"
        if constant(alike) > 0:
            weight = (constant(first) - epsilon.exp() * constant(second)) / constant(alike)
            yield f"{name}: {float(weight.mid()):.6g}"
