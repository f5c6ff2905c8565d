"""Noisy max with log-concave noise over all real answers, or integers: the tight epsilon for every number of candidates.

Theorem: The index of the greatest of n answers with independent log-concave noise, a and b the limits of the slope of -log f to the left
and to the right, has the tight epsilon r min(b, (n - 1) a) over all answers: r = 2D where each moves by at most D, r = D where all move the
same way or one moves alone. Where answers differ by D times a point v of a hull, or of its opposite, it is D times the greatest, over the
points and all i, of the least of b s + a sum of (v_j - v_i - s)_+. The greatest noisy answer itself has D max(n a, b) on the reals.

Checked:
- the noise is on the line and log-concave, with limits of the slope of -log f that are positive, or infinite
- the number of candidates is an integer of at least 1, the sensitivity at least 0
- from below in a hull, on the integers: D times each of its points is of integers

Source: docs/theory/selection.md#log-concave-noisy-max
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, num, sub
from dpverify.trusted.kernel.model import Claim, NoisyMax, Vector
from dpverify.trusted.sensitivity.steps_between import reaches_every_point
from dpverify.trusted.theories.selection.compared import Asked, Value, asked, greatest, least, most_lead, slopes, times, total

NAME: Final = "log-concave-noisy-max"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def check(claim: Claim, evidence: Parameters) -> Bound:
    """The bound that "side" asks for; a lower one may fix parameters under "at". Raises Rejected, Undecided."""
    question = asked(claim, evidence, NAME)
    mechanism = question.claim.mechanism
    if not isinstance(mechanism, NoisyMax):
        raise Rejected(NAME, "the mechanism", "it is no noisy max")
    count = mechanism.candidates
    left, right = slopes(question, mechanism.noise)
    if mechanism.report == "value":
        require(not mechanism.hull, Rejected(NAME, "report", "of answers in a hull it is about the index"))
        return question.bound(_value(question, mechanism, left, right), {"says": "greatest-value"}, {"says": "all-one-way"})
    if mechanism.report == "index+gap" and not certainly_le(num(2), count, question.domains):
        raise Rejected(NAME, "candidates", "there is no lead over a next one where there may be one alone")
    if mechanism.report == "index+gap" and question.side == "upper":
        leads_move_together(question, count)
    span = most_lead(mechanism)
    if mechanism.report == "index+gap" and question.side == "upper":
        cost = times(question, span, greatest(question, left, right))
    elif mechanism.hull:
        cost = _of_hull(question, mechanism, left, right)
    else:
        cost = times(question, span, least(question, right, times(question, sub(count, ONE), left)))
    moves = {"says": {"all": "winner-down-others-up", "hull": "by-a-point-of-the-hull"}.get(mechanism.neighbours, "winner-down-alone")}
    return question.bound(cost, {"says": "index-far-from-others"}, moves)


def _of_hull(question: Asked, mechanism: NoisyMax, left: Value, right: Value) -> Value:
    """The most, over the points and their opposites and all that may win, of the least that shifts of the noises cost, by how far the
    winner's goes up: what each of the others gains beyond that its noise goes down."""
    if question.side == "lower" and not reaches_every_point(mechanism, question.moved, question.domains):
        raise Rejected(NAME, "hull", "integers do not certainly move by its points")
    both = [tuple(sign * x for x in row) for row in mechanism.hull for sign in (1, -1)]
    gains = {tuple(sorted(x - own for x in row if x > own)) for row in both for own in row}

    def cost(gained: Vector) -> Value:
        beyond = {s: sum((x - s for x in gained if x > s), Fraction(0)) for s in (Fraction(0), *gained)}
        return least(question, *(total(times(question, num(s), right), times(question, num(x), left)) for s, x in beyond.items()))

    return greatest(question, *dict.fromkeys(cost(gained) for gained in sorted(gains)))


def leads_move_together(question: Asked, count: Expr) -> None:
    """Raises Rejected on the integers for three candidates or more: a lead of 0 tells that others are as great, whose noises move too."""
    if question.whole and not certainly_le(count, num(2), question.domains):
        raise Rejected(question.rule, "report", "on the integers several answers may be the greatest; a lead of 0 tells of them all")


def _value(question: Asked, mechanism: NoisyMax, left: Value, right: Value) -> Value:
    """For each unit that answers move by, where the greatest noisy answer is told.

    On the integers the bound for answers that move apart is that of the index and the value together.
    """
    count: Expr = ONE if mechanism.neighbours == "one" else mechanism.candidates
    if question.whole and mechanism.neighbours == "all" and question.side == "upper":
        return total(greatest(question, left, right), times(question, sub(count, ONE), left))
    return greatest(question, times(question, count, left), right)
