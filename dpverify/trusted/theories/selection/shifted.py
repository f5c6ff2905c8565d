"""What outputs of above threshold lose by shifts of its noises (theory#log-concave-threshold)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, mul, num, sub
from dpverify.trusted.kernel.model import AboveThreshold
from dpverify.trusted.theories.selection.compared import Asked, Value, greatest, least, slopes, times, total

MOVES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "all": ((1, 1),),
    "monotone": ((1, 0), (0, 1)),
    "increasing": ((1, 0),),
    "decreasing": ((0, 1),),
}
"""How far, in units of the sensitivity, answers go up at negatives and down at positives where they move so together."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What outputs lose where answers move up by `up` at negatives and down by `down` at positives, for each unit of the sensitivity.

    threshold, answers: the slopes of their noises to the left and to the right. lowered, raised: what the fresh noise of a positive adds
    whose answer moves down so, or up.
    """

    question: Asked
    up: int
    down: int
    threshold: tuple[Value, Value]
    answers: tuple[Value, Value]
    lowered: Value = ZERO
    raised: Value = ZERO

    def of(self, negatives: Expr, positives: Expr, raised: Expr = ZERO) -> Value:
        """What an output loses, with one noise of the threshold that is shifted up with the negatives, down with the positives, or not.

        positives: whose answers move down. raised: how many more there are, whose answers move up with the negatives.
        """
        q, u, v = self.question, num(self.up), num(self.down)
        up = total(times(q, u, self.threshold[1]), times(q, mul(positives, add(u, v)), self.answers[1]))
        still = total(times(q, mul(negatives, u), self.answers[0]), times(q, mul(positives, v), self.answers[1]))
        down = total(times(q, v, self.threshold[0]), times(q, mul(negatives, add(u, v)), self.answers[0]))
        return total(least(q, up, still, down), times(q, positives, self.lowered), times(q, raised, self.raised))


def least_count(question: Asked, queries: Expr, most: Expr) -> Expr:
    """The most positives that there can be."""
    found = least(question, queries, most)
    assert not isinstance(found, Infinite)
    return found


def losses_of(question: Asked, mechanism: AboveThreshold) -> list[Loss]:
    """For each way to move."""
    threshold, answers = slopes(question, mechanism.threshold_noise), slopes(question, mechanism.query_noise)
    left, right = (ZERO, ZERO) if mechanism.fresh is None else slopes(question, mechanism.fresh)
    return [
        Loss(question, up, down, threshold, answers, times(question, num(down), right), times(question, num(up), left))
        for up, down in MOVES[mechanism.neighbours]
    ]


def everywhere(loss: Loss, mechanism: AboveThreshold, way: str, queries: Expr, most: Expr) -> Value:
    """More than any output loses, by one shift for each noise of the threshold, of which there are `most` where it is drawn again.

    That is a number for each query, and for each positive what it loses beside that, whichever way its answer moves.
    """
    question = loss.question
    up, down = num(loss.up), num(loss.down)
    turned, paid, each = {
        "up": (add(up, down), (up, loss.threshold[1]), ZERO),
        "still": (down, (ZERO, ZERO), times(question, up, loss.answers[0])),
        "down": (ZERO, (down, loss.threshold[0]), times(question, add(up, down), loss.answers[0])),
    }[way]
    draws = most if mechanism.resample else ONE
    lowered = total(times(question, turned, loss.answers[1]), loss.lowered)
    beside = _beyond(question, lowered if loss.raised == ZERO else greatest(question, lowered, loss.raised), each)
    return total(times(question, mul(draws, paid[0]), paid[1]), times(question, queries, each), times(question, most, beside))


def _beyond(question: Asked, value: Value, other: Value) -> Value:
    """How much the one is above the other, at least 0."""
    if isinstance(value, Infinite) or isinstance(other, Infinite) or other == ZERO:
        return value
    return ZERO if value == ZERO else greatest(question, ZERO, sub(value, other))
