"""Above threshold with log-concave noise over all real answers, or integers: the tight epsilon for given counts, and for all of them.

An output of k negatives and c positives, where answers move up by u D at negatives and down by v D at positives, loses D times the least of
a u + c b (u + v), k b' u + c b v and a' v + k b' (u + v): a' and a, b' and b are the slopes of the noises of the threshold and of the
answers to the left and to the right. That is concave in c where k + c is given.

Theorem: Above threshold with log-concave noises, whose -log densities have the slopes a' and a (threshold), b' and b (answers) to the left
and to the right in the limit, loses D min(a' + 2k b', k b' + c b, a + 2c b) on an output of k negatives and c positives, tight over all
answers that each move by at most D; the most over the outputs that may occur is the tight epsilon, D(a + 2c b) without a limit on the
number of queries. Telling by how much costs nothing more; telling the noisy answers costs k b' + c max(b', b) in all.

Checked:
- the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite
- the numbers of queries and positives are integers of at least 1, the sensitivity at least 0
- the output that is named as the worst loses no less than the next ones on both sides: losses are concave in the number of positives

Source: docs/theory/selection.md#log-concave-threshold
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.kernel.bounds import INFINITE, Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, mul, num, sub
from dpverify.trusted.kernel.model import AboveThreshold, Claim
from dpverify.trusted.language.rationals import read_whole, to_whole
from dpverify.trusted.theories.selection.compared import Asked, Value, a_law, asked, at_most, greatest, least, slopes, times, total
from dpverify.trusted.theories.selection.shifted import Loss, everywhere, least_count, losses_of

NAME: Final = "log-concave-threshold"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def check(claim: Claim, evidence: Parameters) -> Bound:
    """The bound that "side" asks for. Raises Rejected, Undecided, CertificateError.

    evidence: of an upper bound "shift", which way the noise of the threshold goes for all counts: "up" with what negatives do, "down"
    with what positives do, or "still"; or "peaks", for each way to move the number of positives of the output that loses the most; with
    fresh noise a list, for each number of positives that move down how many more move up. Of a lower bound the number of "positives" and
    "negatives" of an output, "raised", of further positives that move up, and "move", the number of the way to move; where the threshold is
    drawn again the negatives are those before each positive. Neither where answers are told, or one moves alone. Of a lower bound for exact
    answers "exact" alone, which is true.
    """
    question = asked(claim, evidence, NAME, near=evidence.get("exact") is True)
    mechanism = question.claim.mechanism
    if not isinstance(mechanism, AboveThreshold):
        raise Rejected(NAME, "the mechanism", "it is no above threshold")
    if "exact" in evidence:
        return exact(question, mechanism)
    queries = mechanism.queries
    most = queries if mechanism.positives is None else mechanism.positives
    if mechanism.report == "answers+value":
        value = _told(question, mechanism, queries, least_count(question, queries, most))
        bound = question.bound(value, {"says": "all-told-far-below"}, {"says": "up-at-negatives"})
        return replace(bound, assumed=a_law(question, mechanism.threshold_noise))
    if mechanism.neighbours == "one":
        return question.bound(_one(question, mechanism, queries, most), {"says": "one-far-answer"}, {"says": "that-one-alone"})
    losses = losses_of(question, mechanism)
    if question.side == "lower":
        return _lower(question, mechanism, losses, evidence, queries, most)
    if "peaks" in evidence:
        return question.bound(_at_peaks(question, mechanism, losses, evidence["peaks"], queries, most))
    return question.bound(greatest(question, *(everywhere(loss, mechanism, evidence["shift"], queries, most) for loss in losses)))


def _at_peaks(question: Asked, mechanism: AboveThreshold, losses: list[Loss], peaks: Any, queries: Expr, most: Expr) -> Value:
    """The greatest loss over all outputs: at the peak of a concave function of the number of positives, for each way to move."""
    if mechanism.resample:
        raise Rejected(NAME, "resample", "where the threshold is drawn again the worst output is not known by its number of positives")
    if not isinstance(queries, Num) or not isinstance(most, Num):
        raise Rejected(NAME, "queries", "the worst output wants numbers of queries and positives")
    total_count, limit = int(queries.value), int(min(queries.value, most.value))
    highest: list[Value] = []
    for loss, peak in zip(losses, peaks, strict=True):
        if isinstance(peak, list):
            every = zip(range(limit + 1), peak, strict=True)
            highest += [_peak(question, loss, total_count, limit, down, up) for down, up in every]
        elif not at_most(question, loss.raised, loss.lowered):
            raise Rejected(NAME, "peaks", "positives that move up do not certainly lose at most what they do that move down")
        else:
            highest.append(_peak(question, loss, total_count, limit, peak, None))
    return greatest(question, *highest)


def _peak(question: Asked, loss: Loss, queries: int, limit: int, positives: Any, raised: Any) -> Value:
    """What no output loses more than of those with other numbers of positives, or of those that move up where they are told.

    Where others lose the same number for each of theirs none need be looked at but the next ones.
    """
    tried, most = (positives, limit) if raised is None else (raised, limit - positives)
    tried = to_whole(tried, "peaks", NAME, 0, most)

    def lost(count: int) -> Value:
        down, up = (count, 0) if raised is None else (positives, count)
        return loss.of(num(queries - down - up), num(down), num(up))

    value = lost(tried)
    for beside in (tried - 1, tried + 1):
        if 0 <= beside <= most and not at_most(question, lost(beside), value):
            raise Rejected(NAME, "peaks", f"{beside} positives do not certainly lose at most what {tried} do")
    return value


def _lower(question: Asked, mechanism: AboveThreshold, losses: list[Loss], evidence: Parameters, queries: Expr, most: Expr) -> Bound:
    """What one output loses."""
    negatives, positives, raised = (read_whole({"raised": 0, **evidence}, key, NAME, 0) for key in ("negatives", "positives", "raised"))
    move = read_whole(evidence, "move", NAME, 0, len(losses) - 1)
    if raised and mechanism.resample:
        raise Rejected(NAME, "raised", "where the threshold is drawn again positives that move up are not looked at")
    k, c, up, loss = num(negatives), num(positives), num(raised), losses[move]
    asked_for = mul(c, add(k, ONE)) if mechanism.resample else add(k, c, up)
    if not certainly_le(asked_for, queries, question.domains) or not certainly_le(add(c, up), most, question.domains):
        raise Rejected(NAME, "the output", "it is not certain that so many are asked for, or may be positive")
    value = times(question, c, loss.of(k, ONE)) if mechanism.resample else loss.of(k, c, up)
    output = {"says": "counts", "positives": positives, "negatives": negatives, "each": mechanism.resample, "raised": raised}
    return question.bound(value, output, {"says": "moves", "up": bool(loss.up), "down": bool(loss.down), "raised": raised})


def _one(question: Asked, mechanism: AboveThreshold, queries: Expr, most: Expr) -> Value:
    """What outputs lose at most where one answer alone moves: up at a negative, or down at a positive, with no noise shifted or all.

    Where the threshold is drawn again after each positive, one positive alone has the noise of the threshold that the answer has.
    """
    most = least_count(question, ONE, most) if mechanism.resample else most
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


def exact(question: Asked, mechanism: AboveThreshold) -> Bound:
    """Two exact answers less than the sensitivity apart, the first negative, the second positive: no noise does so once they have met."""
    domains = question.domains
    if question.side != "lower" or mechanism.query_noise is not None or mechanism.threshold_noise is None:
        raise Rejected(NAME, "the answers", "they are not exact, or the threshold is, or this is no lower bound")
    if getattr(mechanism.threshold_noise, "support", (None, None)) != (None, None) or question.whole:
        raise Rejected(NAME, "the threshold", "its noise is not certainly positive everywhere on the line")
    slopes(question, mechanism.threshold_noise)
    room = ONE if mechanism.bounds is None else sub(mechanism.bounds[1], mechanism.bounds[0])
    require(certainly_le(num(2), mechanism.queries, domains), Rejected(NAME, "the queries", "they are not certainly two or more"))
    if not (certainly_lt(ZERO, question.moved, domains) and certainly_lt(ZERO, room, domains)):
        raise Rejected(NAME, "the sensitivity", "it is not certain that answers move")
    return question.bound(INFINITE, {"says": "two-near-answers"}, {"says": "until-they-meet"})
