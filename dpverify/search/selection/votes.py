"""Proposes what is proved of noisy votes on one database: at which neighbours it is the worst, and on which grids losses are added."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def plan(run: Run, epsilon: float | None, delta: float, digits: int, order: str = "") -> Plan:
    """The curve, sharp at an epsilon, or where it passes a delta. order: of the neighbours, where one alone is asked about."""
    sigma, lists = votes.read(run.part.mechanism)
    times, places = [lists[each] for each in sorted(lists)], [int(sign < 0) for sign in votes.ORDERS[order]]
    with precision(_BITS):
        answers = [votes.Answer(sigma, each) for each in sorted(lists)]
        pairs = [answer.at_most() for answer in answers]
        if lists.total() == 1:
            asked = (pairs[0].one_way, pairs[0].reversed.one_way)[places[0]] if order else pairs[0]
            at = rational(Fraction(_passes(asked, delta) if epsilon is None else epsilon))
            return {"rule": rule.NAME, "moves": [_worst(answers[0], at, places)]}
        losing = [[[_Loss(met, place) for met in answer.met()] for answer in answers] for place in places]
        moves = _worst_of_all(losing, times, epsilon, delta)
        found: Plan = {"rule": rule.NAME, "moves": moves}
        lowers = [rule.curve(answer, move).lower or pair for answer, move, pair in zip(answers, moves, pairs, strict=True)]
        for key in ("grid", "reverse"):
            found[key] = losses.propose(pairs, times, epsilon, None if epsilon is not None else delta, digits, _MOST_CELLS, None, lowers)
            with suppress(DpverifyError):  # without, the lower bound is less sharp
                found[key] = losses.touching(lowers, found[key])
            pairs, lowers = ([pair.reversed for pair in some] for some in (pairs, lowers))
    return found


def _worst(answer: votes.Answer, at: arb, places: Sequence[int]) -> int:
    """The neighbour of the greatest divergence at an epsilon, in some of the orders."""
    every = [answer.at(move) for move in range(len(answer.moves))]
    heights = [max(float((pair.forward, pair.backward)[place](at).mid()) for place in places) for pair in every]
    return max(range(len(every)), key=lambda i: heights[i]) if every else 0


def _worst_of_all(
    orders: Sequence[Sequence[Sequence[_Loss]]], times: Sequence[int], epsilon: float | None, delta: float
) -> list[int]:  # fmt: skip
    """The neighbour in each list that counts the most where all are told, in the worse of some orders."""

    def height(losing: Sequence[Sequence[_Loss]]) -> float:
        return _total(losing, times, _order(losing, times, epsilon, delta))

    losing = max(orders, key=height)
    at = _order(losing, times, epsilon, delta)
    return [max(range(len(every)), key=lambda i: every[i].cumulant(at)) if every else 0 for every in losing]


class _Loss:
    """What is lost at a neighbour in one order, in floats."""

    def __init__(self, met: votes.Met, place: int) -> None:
        both = [(p, q)[::-1] if place else (p, q) for p, q in met]
        self._seen = [(float(q.mid()), float((p / q).log().mid())) for p, q in both if float(q.mid()) > 0]

    def cumulant(self, order: float) -> float:
        """(a - 1) D_a at an order."""
        top = max(order * loss for _, loss in self._seen)
        return top + math.log(sum(mass * math.exp(order * loss - top) for mass, loss in self._seen))


def _total(losing: Sequence[Sequence[_Loss]], times: Sequence[int], order: float) -> float:
    """(a - 1) D_a of all lists, each at its worst neighbour."""
    return sum(count * max((one.cumulant(order) for one in every), default=0.0) for count, every in zip(times, losing, strict=True))


def _order(losing: Sequence[Sequence[_Loss]], times: Sequence[int], epsilon: float | None, delta: float) -> float:
    """The order of the divergence that tells the most of delta at an epsilon, or of epsilon at a delta."""
    orders: list[float] = [1 + 2.0 ** (k / 4) for k in range(-16, 64)]
    if epsilon is not None:
        return min(orders, key=lambda order: _total(losing, times, order) - (order - 1) * epsilon)
    return min(orders, key=lambda order: (_total(losing, times, order) - math.log(delta)) / (order - 1))


def _passes(pair: Pair, delta: float) -> float:
    """About where a curve passes a delta."""
    low, high = 0.0, 1.0
    while high < 2**12 and pair.worst(rational(Fraction(high))).mid() > delta:
        high *= 2
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if pair.worst(rational(Fraction(middle))).mid() > delta else (low, middle)
    return high
