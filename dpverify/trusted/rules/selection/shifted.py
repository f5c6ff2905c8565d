"""What outputs of above threshold lose by shifts of its noises (theory#log-concave-threshold)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.language.expr import ONE, ZERO, Expr, add, mul, num, sub
from dpverify.trusted.language.model import AboveThreshold
from dpverify.trusted.rules.selection.compared import Asked, Value, greatest, least, slopes, times, total

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

    threshold, answers: the slopes of their noises to the left and to the right. told: what the fresh noise of each positive adds.
    """

    question: Asked
    up: int
    down: int
    threshold: tuple[Value, Value]
    answers: tuple[Value, Value]
    told: Value

    def of(self, negatives: Expr, positives: Expr) -> Value:
        """What an output loses, with one noise of the threshold that is shifted up with the negatives, down with the positives, or not."""
        q, u, v = self.question, num(self.up), num(self.down)
        up = total(times(q, u, self.threshold[1]), times(q, mul(positives, add(u, v)), self.answers[1]))
        still = total(times(q, mul(negatives, u), self.answers[0]), times(q, mul(positives, v), self.answers[1]))
        down = total(times(q, v, self.threshold[0]), times(q, mul(negatives, add(u, v)), self.answers[0]))
        return total(least(q, up, still, down), times(q, positives, self.told))


def least_count(question: Asked, queries: Expr, most: Expr) -> Expr:
    """The most positives that there can be."""
    found = least(question, queries, most)
    assert not isinstance(found, Infinite)
    return found


def losses_of(question: Asked, mechanism: AboveThreshold) -> list[Loss]:
    """For each way to move."""
    threshold, answers = slopes(question, mechanism.threshold_noise), slopes(question, mechanism.query_noise)
    losses = []
    for up, down in MOVES[mechanism.neighbours]:
        told: Value = ZERO
        if mechanism.fresh is not None:
            left, right = slopes(question, mechanism.fresh)
            told = times(question, num(down), right)
            if question.side == "upper":  # a lower bound is at positives that move down; an upper one covers those that move up, too
                told = greatest(question, told, times(question, num(up), left))
        losses.append(Loss(question, up, down, threshold, answers, told))
    return losses


def everywhere(loss: Loss, mechanism: AboveThreshold, way: str, queries: Expr, most: Expr) -> Value:
    """More than any output loses, by one shift for each noise of the threshold, of which there are `most` where it is drawn again."""
    question, told = loss.question, times(loss.question, most, loss.told)
    if way == "still":
        # of a query, what a negative loses and what a positive loses beside that
        each = times(question, num(loss.up), loss.answers[0])
        beside = _beyond(question, times(question, num(loss.down), loss.answers[1]), each)
        return total(times(question, queries, each), times(question, most, beside), told)
    draws = most if mechanism.resample else ONE
    noise = loss.threshold[1] if way == "up" else loss.threshold[0]
    paid = times(question, mul(draws, num(loss.up if way == "up" else loss.down)), noise)
    count, slope = (most, loss.answers[1]) if way == "up" else (queries, loss.answers[0])
    return total(paid, times(question, mul(count, num(loss.up + loss.down)), slope), told)


def _beyond(question: Asked, value: Value, other: Value) -> Value:
    """How much the one is above the other, at least 0."""
    if isinstance(value, Infinite) or isinstance(other, Infinite):
        return value
    return greatest(question, ZERO, sub(value, other))
