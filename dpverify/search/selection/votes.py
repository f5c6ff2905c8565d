"""Proposes what is proved of noisy votes on one database: at which neighbours it is the worst, and on which grids losses are added."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.search.composition import loss_distribution as losses
from dpverify.search.composition.plans import Plan
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.selection import votes
from dpverify.trusted.theories.selection.rules import noisy_votes as rule
from dpverify.trusted.theories.selection.rules import votes_epsilon as pure

_BITS: Final = 64
_GUARD: Final = 64
_ROUNDS: Final = 40
_MOST_CELLS: Final = 1500
"""Cells of the grid of one list."""


def propose(_: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds on the pure epsilon."""
    bits = int(3.33 * digits) + _GUARD
    return [{"rule": pure.NAME, "evidence": {"side": side}, "prec": bits} for side in ("upper", "lower")]


def plan(run: Run, epsilon: float | None, delta: float, digits: int) -> Plan:
    """The curve, sharp at an epsilon, or where it passes a delta."""
    sigma, lists = votes.read(run.part.mechanism)
    times = [lists[each] for each in sorted(lists)]
    with precision(_BITS):
        answers = [votes.Answer(sigma, each) for each in sorted(lists)]
        pairs = [answer.at_most() for answer in answers]
        if lists.total() == 1:
            at = rational(Fraction(_passes(pairs[0], delta) if epsilon is None else epsilon))
            return {"rule": rule.NAME, "moves": [_worst(answers[0], lambda pair: pair.forward(at), lambda pair: pair.backward(at))]}
        found: Plan = {"rule": rule.NAME, "moves": [[0, 0] for _ in answers]}
        for place, key in enumerate(("grid", "reverse")):
            losing = [[_Loss(met, place) for met in answer.met()] for answer in answers]
            order = _order(losing, times, epsilon, delta)
            for told, every in zip(found["moves"], losing, strict=True):
                told[place] = max(range(len(every)), key=lambda i: every[i].cumulant(order)) if every else 0
            lowers = [rule.curve(answer, told).lower for answer, told in zip(answers, found["moves"], strict=True)]
            ways = [[pair if place == 0 else pair.reversed for pair in some] for some in (pairs, [pair for pair in lowers if pair])]
            found[key] = losses.propose(ways[0], times, epsilon, None if epsilon is not None else delta, digits, _MOST_CELLS, None, ways[1])
            with suppress(DpverifyError):  # without, the lower bound is less sharp
                found[key] = losses.touching(ways[1], found[key])
    return found


def _worst(answer: votes.Answer, *heights: Callable[[Pair], arb]) -> list[int]:
    """The neighbour of each greatest height."""
    every = [answer.at(move) for move in range(len(answer.moves))]
    return [max(range(len(every)), key=lambda i: float(height(every[i]).mid())) if every else 0 for height in heights]


class _Loss:
    """What is lost at a neighbour in one order, in floats."""

    def __init__(self, met: votes.Met, place: int) -> None:
        both = [(p, q)[::-1] if place else (p, q) for p, q in met]
        self._seen = [(float(q.mid()), float((p / q).log().mid())) for p, q in both if float(q.mid()) > 0]

    def cumulant(self, order: float) -> float:
        """(a - 1) D_a at an order."""
        top = max(order * loss for _, loss in self._seen)
        return top + math.log(sum(mass * math.exp(order * loss - top) for mass, loss in self._seen))


def _order(losing: Sequence[Sequence[_Loss]], times: Sequence[int], epsilon: float | None, delta: float) -> float:
    """The order of the divergence that tells the most of delta at an epsilon, or of epsilon at a delta."""
    orders: list[float] = [1 + 2.0 ** (k / 4) for k in range(-16, 64)]

    def total(order: float) -> float:
        return sum(count * max((one.cumulant(order) for one in every), default=0.0) for count, every in zip(times, losing, strict=True))

    if epsilon is not None:
        return min(orders, key=lambda order: total(order) - (order - 1) * epsilon)
    return min(orders, key=lambda order: (total(order) - math.log(delta)) / (order - 1))


def _passes(pair: Pair, delta: float) -> float:
    """About where a curve passes a delta."""
    low, high = 0.0, 1.0
    while high < 2**12 and pair.worst(rational(Fraction(high))).mid() > delta:
        high *= 2
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if pair.worst(rational(Fraction(middle))).mid() > delta else (low, middle)
    return high
