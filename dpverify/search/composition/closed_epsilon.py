"""The tight epsilon at a delta in closed form: delta is a line in e^epsilon near it, or a single exponential.

Where the profile of a finite mechanism is P(S) - e^epsilon Q(S) for an event S, it is delta at log((P(S) - delta)/Q(S)).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, floor

from flint import arb

from dpverify.search.composition.plans import Plan
from dpverify.trusted.combinators.responses import randomized_response
from dpverify.trusted.combinators.runs import Run, leaf, merged, reach, whole
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, call, div, format_expr, mul, neg, num, power, sub
from dpverify.trusted.kernel.model import Claim, Exponential, KaryResponse, Table
from dpverify.trusted.theories.composition.rules import closed_epsilon as rule
from dpverify.trusted.theories.composition.rules.closed_profile import at
from dpverify.trusted.theories.curves.faces import faces_of
from dpverify.trusted.theories.curves.optimal_delta import MAX_TERMS
from dpverify.trusted.theories.curves.rules import laplace


def propose(claim: Claim, near: Fraction) -> list[Plan]:
    """A line for the tight epsilon in closed form, which is not far from `near`; none where no form is known."""
    runs = merged(whole(claim).part)
    if claim.domains or claim.delta is None or len(runs) != 1:
        return []
    try:
        found = ZERO if _holds_at_0(claim, claim.delta) else _closed(runs[0], claim.delta, rational(near))
        if found is None:
            return []
        if claim.epsilon is not None and certainly_equal(found, claim.epsilon):
            found = claim.epsilon
        later = floor(float(constant(found).mid())) + 2  # delta falls until it is the mass that only one distribution has
        return [{"rule": rule.NAME, "evidence": {"epsilon": format_expr(found), "later": str(later)}}]
    except (DpverifyError, ValueError, OverflowError):
        return []


def _holds_at_0(claim: Claim, delta: Expr) -> bool:
    """Whether the closed form of the tight delta is at most a delta already at epsilon 0."""
    try:
        return certainly_le(at(claim, ZERO)[0], delta)
    except DpverifyError:
        return False


def _closed(run: Run, delta: Expr, near: arb) -> Expr | None:
    """The epsilon where the closed form of the profile is delta."""
    noise = run.part.mechanism
    if run.times == 1 and isinstance(noise, Table | Exponential | KaryResponse):
        return _solved(*_finite(leaf(run), near), delta)
    if isinstance(noise, Table):
        response = randomized_response(noise)
        return None if response is None or run.times > MAX_TERMS else _solved(*_responses(response, run.times, near), delta)
    if run.times == 1 and run.part.query is None:
        ratio = laplace.scale_ratio(noise, reach(run).upper)
        return None if ratio is None else add(ratio, mul(num(2), call("log", sub(ONE, delta))))
    return None


def _solved(p: Expr, q: Expr, delta: Expr) -> Expr:
    return call("log", div(sub(p, delta), q))


def _finite(asked: Claim, near: arb) -> tuple[Expr, Expr]:
    """P(S) and Q(S) of the event that is worst near an epsilon."""
    faces = faces_of(asked.mechanism, asked.sensitivity)
    face = max(faces.all.values(), key=lambda face: float(face.at(near).mid()))
    balls, factor = faces.weights.balls(), near.exp()
    inside = [(i, j, times) for (i, j), times in face.cells if balls[i] > factor * balls[j]]
    weights = [weight.expr for weight in faces.weights.all]
    p = add(*(mul(num(times), weights[i]) for i, _, times in inside))
    return p, add(*(mul(num(times), weights[j]) for _, j, times in inside))


def _responses(loss: Expr, count: int, near: arb) -> tuple[Expr, Expr]:
    """The same of `count` equal binary responses, each of this loss."""
    p: list[Expr] = [ZERO]
    q: list[Expr] = [ZERO]
    for i in range(count + 1):
        if constant(mul(num(count - 2 * i), loss)) > near:
            p.append(mul(num(comb(count, i)), call("exp", mul(num(-i), loss))))
            q.append(mul(num(comb(count, i)), call("exp", mul(num(i - count), loss))))
    total = power(add(ONE, call("exp", neg(loss))), num(count))
    return div(add(*p), total), div(add(*q), total)
