"""The exponential mechanism's general bound: twice beta times the sensitivity of the scores.

Theorem: Probabilities proportional to exp(beta * score) are 2 beta Delta_u private, Delta_u the most that a score moves between adjacent
inputs: the score moves the exponent by beta Delta_u, and the normaliser by as much. In a metric space with scores -d(x, y), Delta_u is the
distance of x and x' by the triangle inequality.

Checked:
- beta >= 0
- Delta_u is the maximum over every adjacent pair and output
- scores move by at most the claimed sensitivity; scores of points are minus their distances

Source: docs/theory/finite.md#exponential-general, McSherry & Talwar 2007; Kleinberg & Ligett 2010, Theorem 2.7
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, call, format_expr, mul, num, sub
from dpverify.trusted.kernel.model import Claim, Exponential
from dpverify.trusted.order.greatest import greatest
from dpverify.trusted.theories.finite.tables import score_pairs, shape, sign

NAME: Final = "exponential-general"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Parameters) -> Bound:
    """tight <= 2 beta Delta_u; the evidence is empty, since everything follows from the claim. Raises Rejected."""
    mechanism = claim.mechanism
    if not isinstance(mechanism, Exponential):
        raise Rejected(NAME, "mechanism", "only an exponential mechanism has scores and beta")
    shape(mechanism.scores)
    if sign(mechanism.beta, dict(claim.domains), "beta") < 0:
        raise Rejected(NAME, "beta", f"{format_expr(mechanism.beta)} is negative; turn the sign of the scores")
    moved = _moved(claim, mechanism)
    value = mul(num(2), mechanism.beta, moved)
    return Bound("upper", value, also={"general bound 2 beta Delta_u": format_expr(value)})


def _moved(claim: Claim, mechanism: Exponential) -> Expr:
    """Delta_u; per unit of distance in the metric form."""
    pairs, divisors = score_pairs(claim)
    if mechanism.points:
        if claim.sensitivity is None:
            return ONE if divisors else ZERO
        return claim.sensitivity
    moves = (call("abs", sub(s, t)) for a, b in pairs if a < b for s, t in zip(mechanism.scores[a], mechanism.scores[b], strict=True))
    return greatest(list(dict.fromkeys((ZERO, *moves))), dict(claim.domains))
