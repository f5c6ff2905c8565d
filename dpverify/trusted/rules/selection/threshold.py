"""Above threshold with log-concave noise over all real answers, or integers: the tight epsilon for given counts, and for all of them.

An output of k negatives and c positives, where answers move up by u D at negatives and down by v D at positives, loses D times the least of
a u + c b (u + v), k b' u + c b v and a' v + k b' (u + v): a' and a, b' and b are the slopes of the noises of the threshold and of the
answers to the left and to the right. That is concave in c where k + c is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dpverify.trusted.facts.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, mul, num, sub
from dpverify.trusted.language.model import AboveThreshold, Claim, Source
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.rules.selection.compared import Asked, Value, asked, at_most, greatest, least, slopes, times, total

NAME: Final = "log-concave-threshold"
STATEMENT: Final = (
    "Above threshold with log-concave noises, whose -log densities have the slopes a' and a (threshold), b' and b (answers) to the left "
    "and to the right in the limit, loses D min(a' + 2k b', k b' + c b, a + 2c b) on an output of k negatives and c positives, tight over "
    "all answers that each move by at most D; the most over the outputs that may occur is the tight epsilon, D(a + 2c b) without a limit "
    "on the number of queries. Telling by how much costs nothing more; telling the noisy answers costs k b' + c max(b', b) in all."
)
CHECKED: Final = (
    "the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite",
    "the numbers of queries and positives are integers of at least 1, the sensitivity at least 0",
    "the output that is named as the worst loses no less than the next ones on both sides: losses are concave in the number of positives",
)
ASSUMED: Final = ("the sampler is ideal", "the noises of the threshold and of different answers are independent")
SOURCE: Final = Source("docs/theory/selection.md#log-concave-threshold")

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

    def shifted(self, way: str, negatives: Expr, positives: Expr) -> Value:
        """What a shift of the threshold's noise costs: "up" with the negatives, "down" with the positives, or none, "still"."""
        q, u, v = self.question, num(self.up), num(self.down)
        if way == "up":
            return total(times(q, u, self.threshold[1]), times(q, mul(positives, add(u, v)), self.answers[1]))
        if way == "down":
            return total(times(q, v, self.threshold[0]), times(q, mul(negatives, add(u, v)), self.answers[0]))
        return total(times(q, mul(negatives, u), self.answers[0]), times(q, mul(positives, v), self.answers[1]))

    def of(self, negatives: Expr, positives: Expr) -> Value:
        """What an output loses, with one noise of the threshold."""
        cheapest = least(self.question, *(self.shifted(way, negatives, positives) for way in ("up", "still", "down")))
        return total(cheapest, times(self.question, positives, self.told))


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound that "side" asks for. Raises Rejected, Undecided, CertificateError.

    evidence: of an upper bound "shift", one of Loss.shifted, for all counts; or "peaks", for each way to move the number of positives of
    the output that loses the most. Of a lower bound the number of "positives" and "negatives" of an output, and "move", the number of the
    way to move; where the threshold is drawn again the negatives are those before each positive. Neither where answers are told, or one
    moves alone. Of a lower bound for exact answers "exact" alone, which is true.
    """
    question = asked(claim, evidence, NAME, near=evidence.get("exact") is True)
    mechanism = question.claim.mechanism
    if not isinstance(mechanism, AboveThreshold):
        raise Rejected(NAME, "the mechanism", "it is no above threshold")
    if "exact" in evidence:
        return _exact(question, mechanism)
    queries = question.natural(mechanism.queries, "queries")
    most = queries if mechanism.positives is None else question.natural(mechanism.positives, "positives")
    if mechanism.report == "answers+value":
        value = _told(question, mechanism, queries, least_count(question, queries, most))
        return question.bound(value, "all answers, told far below where they are", "up at negatives")
    if mechanism.neighbours == "one":
        return question.bound(_one(question, mechanism, queries, most), "one answer far from the others", "that one alone")
    losses = losses_of(question, mechanism)
    if question.side == "lower":
        return _lower(question, mechanism, losses, evidence, queries, most)
    if "peaks" in evidence:
        return question.bound(_at_peaks(question, mechanism, losses, evidence["peaks"], queries, most), "", "")
    way = evidence.get("shift")
    if way not in ("up", "still", "down"):
        raise CertificateError(f"{NAME}: 'shift' is {str(way)[:20]!r}, not up, still or down.")
    return question.bound(greatest(question, *(_everywhere(loss, mechanism, way, queries, most) for loss in losses)), "", "")


def _exact(question: Asked, mechanism: AboveThreshold) -> Bound:
    """Two exact answers less than the sensitivity apart, the first negative, the second positive: no noise does so once they have met."""
    domains = question.domains
    if question.side != "lower" or mechanism.query_noise is not None or mechanism.threshold_noise is None:
        raise Rejected(NAME, "the answers", "they are not exact, or the threshold is, or this is no lower bound")
    if getattr(mechanism.threshold_noise, "support", (None, None)) != (None, None) or question.whole:
        raise Rejected(NAME, "the threshold", "its noise is not certainly positive everywhere on the line")
    slopes(question, mechanism.threshold_noise)
    room = ONE if mechanism.bounds is None else sub(mechanism.bounds[1], mechanism.bounds[0])
    if not certainly_le(num(2), question.natural(mechanism.queries, "queries"), domains):
        raise Rejected(NAME, "the queries", "they are not certainly two or more")
    if not (certainly_lt(ZERO, question.moved, domains) and certainly_lt(ZERO, room, domains)):
        raise Rejected(NAME, "the sensitivity", "it is not certain that answers move")
    if mechanism.positives is not None:
        question.natural(mechanism.positives, "positives")
    return question.bound(
        INFINITE, "a negative, then a positive, of two answers with less than the sensitivity between them", "until they meet"
    )


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
            # a lower bound is at positives that move down; an upper one covers those that move up, too
            ways = [right] * down + [left] * (up if question.side == "upper" else 0)
            told = greatest(question, *ways) if ways else ZERO
        losses.append(Loss(question, up, down, threshold, answers, told))
    return losses


def _everywhere(loss: Loss, mechanism: AboveThreshold, way: str, queries: Expr, most: Expr) -> Value:
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


def _at_peaks(question: Asked, mechanism: AboveThreshold, losses: list[Loss], peaks: Any, queries: Expr, most: Expr) -> Value:
    """The greatest loss over all outputs: at the peak of a concave function of the number of positives, for each way to move."""
    if mechanism.resample:
        raise Rejected(NAME, "resample", "where the threshold is drawn again the worst output is not known by its number of positives")
    if not isinstance(queries, Num) or not isinstance(most, Num):
        raise Rejected(NAME, "queries", "the worst output wants numbers of queries and positives")
    total_count, limit = int(queries.value), int(min(queries.value, most.value))
    if not isinstance(peaks, list) or len(peaks) != len(losses) or not all(type(peak) is int and 0 <= peak <= limit for peak in peaks):
        raise CertificateError(f"{NAME}: 'peaks' is no list of {len(losses)} numbers of positives from 0 to {limit}.")
    highest = []
    for loss, peak in zip(losses, peaks, strict=True):
        value = loss.of(num(total_count - peak), num(peak))
        for beside in (peak - 1, peak + 1):
            if 0 <= beside <= limit and not at_most(question, loss.of(num(total_count - beside), num(beside)), value):
                raise Rejected(NAME, "peaks", f"{beside} positives do not certainly lose at most what {peak} do")
        highest.append(value)
    return greatest(question, *highest)


def _lower(question: Asked, mechanism: AboveThreshold, losses: list[Loss], evidence: Mapping[str, Any], queries: Expr, most: Expr) -> Bound:
    """What one output loses."""
    negatives, positives, move = (evidence.get(key) for key in ("negatives", "positives", "move"))
    if type(negatives) is not int or type(positives) is not int or type(move) is not int or min(negatives, positives, move) < 0:
        raise CertificateError(f"{NAME}: a lower bound wants 'negatives', 'positives' and 'move', integers of at least 0.")
    if move >= len(losses):
        raise CertificateError(f"{NAME}: there are {len(losses)} ways to move.")
    k, c, loss = num(negatives), num(positives), losses[move]
    asked_for = mul(c, add(k, ONE)) if mechanism.resample else add(k, c)
    if not certainly_le(asked_for, queries, question.domains) or not certainly_le(c, most, question.domains):
        raise Rejected(NAME, "the output", "it is not certain that so many are asked for, or may be positive")
    value = times(question, c, loss.of(k, ONE)) if mechanism.resample else loss.of(k, c)
    each = " before each" if mechanism.resample else ""
    moves = f"{'up' if loss.up else 'not'} at negatives, {'down' if loss.down else 'not'} at positives"
    return question.bound(value, f"{positives} positives and {negatives} negatives{each}", moves)


def _one(question: Asked, mechanism: AboveThreshold, queries: Expr, most: Expr) -> Value:
    """What outputs lose at most where one answer alone moves: up at a negative, or down at a positive, with no noise shifted or all."""
    if mechanism.resample:
        raise Rejected(NAME, "resample", "it is not looked at where one answer moves alone")
    threshold, answers = slopes(question, mechanism.threshold_noise), slopes(question, mechanism.query_noise)
    others = sub(queries, ONE)
    up = least(question, answers[0], total(threshold[1], times(question, least_count(question, others, most), answers[1])))
    down = least(question, answers[1], total(threshold[0], times(question, others, answers[0])))
    if mechanism.fresh is None:
        return greatest(question, up, down)
    left, right = slopes(question, mechanism.fresh)
    return greatest(question, up, left, total(down, right))


def _told(question: Asked, mechanism: AboveThreshold, queries: Expr, most: Expr) -> Value:
    """What outputs lose at most where the noisy answers that are above the threshold are told, whatever the noise of the threshold."""
    left, right = slopes(question, mechanism.query_noise)
    either = greatest(question, left, right)
    if mechanism.neighbours == "one":
        return either
    if mechanism.neighbours == "all":
        return total(times(question, sub(queries, most), left), times(question, most, either))
    up, down = times(question, queries, left), times(question, most, right)
    return {"increasing": up, "decreasing": down}.get(mechanism.neighbours) or greatest(question, up, down)
