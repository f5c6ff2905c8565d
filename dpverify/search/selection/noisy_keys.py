"""Proposes the curve of noisy keys: which numbers of new keys are looked at by themselves, and which together."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb

from dpverify.search.composition import plans as building
from dpverify.search.composition.plans import Plan
from dpverify.search.numeric import number, written
from dpverify.search.selection.rough_laws import Rough
from dpverify.trusted.combinators.old_keys import most_keys, old_keys
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import ONE_SIDED, REVERSE, NoisyKeys, on_integers
from dpverify.trusted.theories.selection.noise_laws import closed
from dpverify.trusted.theories.selection.rules import noisy_keys as rule

PlanOf = Callable[[Run], Plan]
"""The plan for the curve of a run."""

_FEW = 8
"""Keys up to which every number of new ones is looked at by itself."""
_MOST = 48
"""How many numbers of new keys are looked at."""
_CLOSE = 1e-13
"""How much more than the worst of single numbers, as a share, several together may be bounded by."""
_ROUNDS = 12
_STILL = 1e-12
_BITS = 64
_NEGLIGIBLE = 1e-40
_HALVINGS = 24
_COUNTS = 64
"""Counts of a key that others have that are looked at, where keys alone are told."""


def plan(run: Run, epsilon: float | None, delta: float, plan_of: PlanOf, order: str = "") -> Plan:
    """The curve of one run, sharp at an epsilon, or where it passes a delta. Raises Undecided with what stopped it.

    order: of the neighbours, where one alone is asked about; the lower bound is then sharp in that one.
    """
    mechanism = run.part.mechanism
    assert isinstance(mechanism, NoisyKeys)
    search = _Search(run, mechanism, plan_of, order)
    if search.most <= _FEW:
        news = list(range(search.most + 1))
        return search.below(news, _passes(search.curve(search.over(news)), delta, order) if epsilon is None else epsilon)
    if epsilon is not None:
        return search.below(search.cut(epsilon), epsilon)
    at = _passes(search.curve(search.over([0, 1, search.most // 2, search.most])), delta, order)
    for _ in range(_ROUNDS):  # what is sharp at one epsilon bounds the others too, and passes delta sooner
        news, before = search.cut(at), at
        at = _passes(search.curve(search.over(news)), delta, order)
        if not at < before * (1 - _STILL):
            break
    return search.below(news, at)


def _passes(curve: Curve, delta: float, order: str) -> float:
    """About where a curve passes a delta, in the order that is asked about."""
    low, high = 0.0, 1.0
    while high < 2**12 and _height(curve, high, order) > delta:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _height(curve, middle, order) > delta else (low, middle)
    return high


def _height(curve: Curve, epsilon: float, order: str = "") -> float:
    if curve.upper is None:
        return math.inf
    with precision(_BITS):
        return float(_profile(curve.upper, order)(rational(Fraction(epsilon))).mid())


def _profile(pair: Pair, order: str) -> Profile:
    """The profile in one order, or in the worse of both."""
    return {ONE_SIDED: pair.forward, REVERSE: pair.backward}.get(order, pair.worst)


class _Search:
    """Plans for the noises of each number of keys, made once."""

    def __init__(self, run: Run, mechanism: NoisyKeys, plan_of: PlanOf, order: str) -> None:
        self._run, self._mechanism, self._plan_of, self._order = run, mechanism, plan_of, order
        self.most = most_keys(mechanism)
        self._plans: dict[int, Plan] = {}
        self._cuts = self._cut_where()

    def over(self, news: list[int]) -> Plan:
        """The plan that looks at these numbers of new keys, each with what follows up to the next."""
        parts = [self._noises(self.most - new) for new in news if new < self.most]
        return {"rule": rule.NAME, "new": news, "parts": parts, **({"cuts": self._cuts} if self._cuts else {})}

    def curve(self, found: Plan) -> Curve:
        """What the rule says of a plan."""
        return building.curve_of_one(self._run, found)

    def cut(self, epsilon: float) -> list[int]:
        """Numbers of new keys so that those looked at together are bounded by no more than the worst of some by itself."""
        news, alone = [0, 1, self.most], {0: self._alone(0, epsilon), self.most: self._alone(self.most, epsilon)}
        while len(news) < _MOST:
            best = max(alone.values())
            far = [
                (low, high)
                for low, high in pairwise(news)
                if high - low > 1 and self._together(low, high - 1, epsilon) > best * (1 + _CLOSE)
            ]
            if not far:
                break
            for low, high in far:
                middle = (low + high) // 2
                alone.setdefault(low, self._alone(low, epsilon))
                alone.setdefault(middle, self._alone(middle, epsilon))
                news += [new for new in (middle, middle + 1) if new not in news]
            news.sort()
        return news

    def below(self, news: list[int], epsilon: float) -> Plan:
        """The plan with the lower bound that is greatest at an epsilon."""
        found = self.over(news)
        singles = [i for i, (low, high) in enumerate(pairwise([*news, self.most + 1])) if high - low == 1]
        tried: list[Plan] = [{"below": i} for i in singles]
        if self._mechanism.report == "keys":
            tried += [{"below": i, "count": count} for i in singles if news[i] < self.most for count in self._counts(epsilon)]
        heights = [(height, -i) for i, below in enumerate(tried) if (height := self._lower({**found, **below}, epsilon)) is not None]
        return {**found, **self._nearer(found, tried[-max(heights)[1]], epsilon)} if heights else found

    def _lower(self, found: Plan, epsilon: float) -> float | None:
        """What a plan has from below at an epsilon, in the order that is asked about; None where it has nothing."""
        with suppress(DpverifyError), precision(_BITS):
            lower = self.curve(found).lower
            if lower is not None:
                return float(_profile(lower, self._order)(rational(Fraction(epsilon))).mid())
        return None

    def _nearer(self, found: Plan, below: Plan, epsilon: float) -> Plan:
        """The lower bound at a count that is better than one of those looked at, on the line."""
        if "count" not in below or on_integers(self._mechanism):
            return below
        at = float(Fraction(below["count"]))
        step = max(number(self._mechanism.threshold) + 2 * _COUNTS, 2) / (4 * _COUNTS)
        low, high = max(at - step, at / 2), at + step
        for _ in range(_HALVINGS):
            tried = [written(Fraction(low + share * (high - low)).limit_denominator(10**6)) for share in (0.382, 0.618)]
            first, second = (self._lower({**found, **below, "count": count}, epsilon) or 0.0 for count in tried)
            low, high = (low, float(Fraction(tried[1]))) if first >= second else (float(Fraction(tried[0])), high)
        return max((below, {**below, "count": tried[0]}), key=lambda one: self._lower({**found, **one}, epsilon) or 0.0)

    def _noises(self, count: int) -> Plan:
        if count not in self._plans:
            self._plans[count] = self._plan_of(Run(old_keys(self._run.part, count)))
        return self._plans[count]

    def _alone(self, new: int, epsilon: float) -> float:
        """About what so many new keys lose."""
        return self._together(new, new, epsilon)

    def _together(self, low: int, high: int, epsilon: float) -> float:
        """About the bound for numbers of new keys from one to another."""
        with precision(_BITS):
            told = float(high * (-self._chance()).log1p())
            noise = self._height_of(self.most - low, epsilon - told), self._height_of(self.most - low, max(0.0, epsilon + told))
            return max(-math.expm1(told) + math.exp(told) * noise[0], noise[1])

    def _height_of(self, count: int, epsilon: float) -> float:
        if not count:
            return 0.0
        return _height(building.curve(Run(old_keys(self._run.part, count)), self._noises(count)), epsilon)

    def _chance(self) -> arb:
        first = rule.First(self._mechanism, self._run.part.sensitivity or ONE, [Fraction(cut) for cut in self._cuts])
        return first.chances(first.moved)()[1]

    def _cut_where(self) -> list[str]:
        """Cuts of noise that has no closed form, among them the point from which a new key is told."""
        noise = self._mechanism.noise
        if closed(noise) is not None:
            return []
        nodes = Rough(noise).nodes
        seen = nodes.z[nodes.density > nodes.density.max() * _NEGLIGIBLE]
        from_new = number(self._mechanism.threshold) - number(self._run.part.sensitivity or ONE)
        low, high = min(float(seen.min()), from_new), max(float(seen.max()), from_new)
        if on_integers(self._mechanism):
            return [str(math.floor(low) - 1), str(math.ceil(high) + 1)]
        inside = [Fraction(at).limit_denominator(10**6) for at in np.linspace(low - 1, high + 1, 17)]
        return [written(cut) for cut in sorted({*inside, Fraction(0), Fraction(from_new).limit_denominator(10**9)})]

    def _counts(self, epsilon: float) -> list[str]:
        """Counts of keys that others have at which whether they are told may tell the most."""
        top = number(self._mechanism.threshold) + 2 * _COUNTS
        spread = np.linspace(0, max(top, 2), 4 * _COUNTS)[1:]
        if on_integers(self._mechanism):
            return [str(count) for count in sorted({max(1, round(at)) for at in spread})]
        return [written(Fraction(at).limit_denominator(1000)) for at in spread]
