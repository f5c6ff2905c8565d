"""Proposes what is proved of noisy votes on one database: at which neighbours it is the worst, and on which grids losses are added."""

from __future__ import annotations

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


def plan(run: Run, epsilon: float | None, delta: float, digits: int) -> Plan:
    """The curve, sharp at an epsilon, or where it passes a delta."""
    sigma, lists = votes.read(run.part.mechanism)
    ordered, single = sorted(lists), lists.total() == 1
    with precision(_BITS):
        answers = [votes.Answer(sigma, each) for each in ordered]
        worst = [_worst_mean(answer) for answer in answers]
        if single:
            at = _passes(answers[0].at_most(), delta) if epsilon is None else epsilon
            return {"rule": rule.NAME, "moves": [_worst_at(answers[0], at)]}
        found: Plan = {"rule": rule.NAME, "moves": worst}
        pairs, times = [answer.at_most() for answer in answers], [lists[each] for each in ordered]
        lowers = [answer.at(move) if answer.moves else pair for answer, move, pair in zip(answers, worst, pairs, strict=True)]
        for key, way in (("grid", pairs), ("reverse", [pair.reversed for pair in pairs])):
            below = lowers if key == "grid" else [pair.reversed for pair in lowers]
            found[key] = losses.propose(way, times, epsilon, None if epsilon is not None else delta, digits, _MOST_CELLS, None, below)
            with suppress(DpverifyError):  # without, the lower bound is less sharp
                found[key] = losses.touching(below, found[key])
    return found


def _worst_mean(answer: votes.Answer) -> int:
    """The neighbour of the greatest mean loss, in the worse order: what counts where many lists are told."""
    means = [max(float((sum((sign * (p if sign > 0 else q) * (p / q).log() for p, q in met), arb(0))).mid()) for sign in (1, -1)) for met in answer.met()]
    return max(range(len(means)), key=lambda i: means[i]) if means else 0


def _worst_at(answer: votes.Answer, epsilon: float) -> int:
    """The neighbour of the greatest divergence at an epsilon."""
    at = rational(Fraction(epsilon))
    heights: Sequence[arb] = [answer.at(move).worst(at) for move in range(len(answer.moves))]
    return max(range(len(heights)), key=lambda i: heights[i].mid()) if heights else 0


def _passes(pair: Pair, delta: float) -> float:
    """About where a curve passes a delta."""
    low, high = 0.0, 1.0
    while high < 2**12 and pair.worst(rational(Fraction(high))).mid() > delta:
        high *= 2
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if pair.worst(rational(Fraction(middle))).mid() > delta else (low, middle)
    return high
