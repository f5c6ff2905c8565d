"""The number at which an event just costs what may be spent: a noise multiplier, a sampling rate, a number of steps.

Floats guess, with the accountant of dp-accounting where it has words for the event. What is handed out is proved: at the value from above,
and at the one beside it, a unit further, from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation
from scipy import optimize

from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import exact
from dpverify.accounting.objects import of_object
from dpverify.accounting.relations import Relation
from dpverify.errors import CalibrationError

_GRID: Final = 1e-3
_DOUBLINGS: Final = 40
_ROUNDS: Final = 12
Bounds = tuple[Decimal, Decimal]


@dataclass(frozen=True)
class Calibrated:
    """What was found. epsilon: proved bounds at the value, the upper one at most the target; beside, epsilon_beside: a unit further.

    settled: whether more than the target is spent there, proved from below; else it may do, and is not known to.
    """

    value: float | int
    epsilon: Bounds
    beside: float | int
    epsilon_beside: Bounds
    settled: bool


def calibrate(
    make_event: Callable[[Any], Any],
    target_epsilon: Any,
    target_delta: Any,
    *,
    neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
    bracket: tuple[float, float] | None = None,
    discrete: bool = False,
    digits: int = 5,
) -> Calibrated:
    """The value of an event's parameter that spends what may be spent, to so many significant digits, and never more.

    make_event: the DpEvent of a value (a float, or an int where `discrete`), whose cost rises or falls with it. bracket: two values between
    which it lies, such as (0, 1) for a rate; searched from 1 without it. Raises ValueError for targets that are none, and CalibrationError
    where nothing is found.
    """
    epsilon, delta = (_number(value, name) for value, name in ((target_epsilon, "target_epsilon"), (target_delta, "target_delta")))
    search = _Search(make_event, epsilon, delta, neighboring_relation, discrete, digits)
    return search.settled(*search.guessed(bracket))


def _number(value: Any, name: str) -> Fraction:
    found = exact(value)
    if isinstance(found, float) or found < 0 or (name == "target_delta" and found > 1):
        raise ValueError(f"{name} must be a number of at least 0{', and at most 1' * (name == 'target_delta')}, found {value!r:.60}.")
    return found


class _Search:
    """A search for one number."""

    def __init__(
        self, make: Callable[[Any], Any], epsilon: Fraction, delta: Fraction, relation: NeighboringRelation, discrete: bool, digits: int
    ) -> None:
        self.make, self.epsilon, self.delta = make, epsilon, delta
        self.relation, self.discrete, self.digits = relation, discrete, digits
        self.known: dict[float, Bounds] = {}
        self.tried: dict[float, float] = {}

    def value(self, x: float) -> float | int:
        """A value that may be given to make an event."""
        return round(x) if self.discrete else float(x)

    def guess(self, x: float) -> float:
        """By how much a value spends too much, about."""
        if x not in self.tried:
            event = self.make(self.value(x))
            try:
                accountant = PLDAccountant(self.relation, value_discretization_interval=_GRID)
                found = float(accountant.compose(event).get_epsilon(float(self.delta)))
            except Exception:  # whatever it cannot do, and it says so in many ways
                found = float(self._cost(event, Fraction(1, 100))[1])
            self.tried[x] = (found if math.isfinite(found) else 1e9) - float(self.epsilon)
        return self.tried[x]

    def guessed(self, bracket: tuple[float, float] | None) -> tuple[float, float]:
        """About the value, and about how fast the cost changes there. Raises CalibrationError."""
        low, high = bracket or self._bracket()
        smallest = 0.0 if self.discrete else 1e-6 * max(abs(low), abs(high))  # no noise at all, and no rate, need no guess
        ends = [x or smallest for x in (low, high)]
        if (self.guess(ends[0]) > 0) == (self.guess(ends[1]) > 0):
            spends = "more" if self.guess(ends[0]) > 0 else "no more"
            raise CalibrationError(f"calibrate: at both {low:g} and {high:g} {spends} than the target is spent. Give another bracket.")
        near = max(10.0 ** -(self.digits + 1), 1e-12)
        if self.discrete:
            root = optimize.bisect(self.guess, *map(round, ends), xtol=0.5)
        else:
            root = optimize.brentq(self.guess, *ends, xtol=near * 1e-3 * abs(ends[1] or 1), rtol=near)
        step = max(abs(root) * 1e-2, 1.0 if self.discrete else 0.0)
        sides = [min(max(root + sign * step, min(ends)), max(ends)) for sign in (-1, 1)]
        slope = (self.guess(sides[1]) - self.guess(sides[0])) / (sides[1] - sides[0])
        return root, slope

    def _bracket(self) -> tuple[float, float]:
        """Two values, powers of 2, one of which spends too much."""
        at: float = 1
        for _ in range(_DOUBLINGS):
            if (self.guess(at) > 0) != (self.guess(2 * at) > 0):
                return at, 2 * at
            rises = self.guess(2 * at) > self.guess(at)
            further = (self.guess(at) > 0) != rises
            at = 2 * at if further or (self.discrete and at == 1) else at / 2
        raise CalibrationError("calibrate: no value was found at which the target is spent. Give a bracket.")

    def settled(self, root: float, slope: float) -> Calibrated:
        """The value with its neighbour, both proved."""
        unit = Fraction(1) if self.discrete else Fraction(10) ** (math.floor(math.log10(abs(root))) + 1 - self.digits)
        inward = 1 if slope > 0 else -1
        place = math.floor(Fraction(root) / unit) + (slope < 0)
        width = abs(Fraction(slope) * unit) / 8
        for _ in range(_ROUNDS):
            low, high = self._at(place * unit, width)
            if high <= self.epsilon:
                beside = self._at((place + inward) * unit, width)
                if beside[1] > self.epsilon:
                    here, there = (self.value(float(one * unit)) for one in (place, place + inward))
                    return Calibrated(here, (low, high), there, beside, beside[0] > self.epsilon)
            off = (self.epsilon - Fraction(high)) / abs(Fraction(slope) * unit) if high.is_finite() else Fraction(-1)
            place += inward * (max(1, math.floor(off)) if high <= self.epsilon else min(-1, math.floor(off)))
        raise CalibrationError("calibrate: guesses and proofs do not agree on where the target is spent. Ask for fewer digits.")

    def _at(self, x: Fraction, width: Fraction) -> Bounds:
        """Proved bounds at a value, to that width where it is to be had."""
        at = float(x)
        if at not in self.known:
            self.known[at] = self._cost(self.make(self.value(at)), width)
        return self.known[at]

    def _cost(self, event: Any, width: Fraction) -> Bounds:
        found = Cost([(of_object(event), 1)], Relation[self.relation.name]).epsilon(self.delta, width=width)
        return found.lower, found.upper


__all__ = ["Calibrated", "calibrate"]
