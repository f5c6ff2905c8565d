"""What the direction of noise adds to the moments of its size: means of powers of its length and of its coordinates.

Of noise R D, D with the cone measure of a norm's unit ball and R apart from it, E||R D||^p = E R^p E||D||^p, and u = U^(1/d) D is uniform
in the ball, U uniform on (0, 1): E||D||^p = (d + p)/d E||u||^p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.facts.premises import body_of
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, div, mul, num, power, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Norm
from dpverify.trusted.theories.utility.closed_moments import gamma_ratio
from dpverify.trusted.theories.utility.laws import Law

RULE: Final = "noise-moments"


@dataclass(frozen=True, slots=True)
class Between:
    """A number that two closed forms certainly enclose; the same one twice where it is known."""

    lower: Expr
    upper: Expr


Total = Between | None
"""Of the Euclidean length; None where it is known only by its coordinates."""


def means(law: Law, p: int, claim: Claim, premises: Sequence[Fact], wanted: int) -> tuple[Total, list[Between]]:
    """E||D||_2^p, and E|D_i|^p of the first coordinates that are wanted. Raises Rejected for a norm whose ball is not told of.

    premises: for a norm by columns or facets, the fact of its unit ball; means of its coordinates are not among what that states.
    """
    d = law.dimension
    if law.norm is None or d == 1:
        one = ONE if law.norm is None else power(length_on_the_line(law.norm), num(p))
        total = mul(num(d), one) if p == 2 or d == 1 else None
        return _exactly(total), [Between(one, one)] * min(wanted, d)
    if law.norm.kind in ("columns", "facets"):
        return _of_body(law, p, claim, premises, wanted)
    single = coordinate(law.norm.p if law.norm.kind == "lp" else Fraction(2), d, p)
    if law.norm.kind == "lp":
        round_total = ONE if law.norm.p == 2 else None
        return _exactly(mul(num(d), single) if p == 2 else round_total), [Between(single, single)] * min(wanted, d)
    variances = [Num(law.norm.matrix[i][i]) for i in range(d)]
    parts = [mul(single, power(v, Num(Fraction(p, 2)))) for v in variances]
    return _exactly(add(*parts) if p == 2 else None), [Between(part, part) for part in parts[:wanted]]


def coordinate(q: Fraction | None, d: int, p: int) -> Expr:
    """E|D_i|^p under the cone measure of the unit ball of l_q in R^d.

    With independent g of density proportional to exp(-|x|^q), D = g/||g||_q is apart from ||g||_q, and ||g||_q^q has the law Gamma(d/q); in
    the maximum norm D_i is a sign with probability 1/d, else uniform on (-1, 1).
    """
    if q is None:
        return Num(Fraction(1, d) + (1 - Fraction(1, d)) / (1 + p))
    return div(gamma_ratio(Num(1 / q), p / q), gamma_ratio(Num(d / q), p / q))


def _exactly(value: Expr | None) -> Total:
    return None if value is None else Between(value, value)


def length_on_the_line(norm: Norm) -> Expr:
    """The length of the unit of a norm on the line."""
    if norm.kind == "lp":
        return ONE
    if norm.kind == "ellipsoid":
        return sqrt(Num(norm.matrix[0][0]))
    lengths = [abs(row[0]) for row in norm.matrix]
    return Num(max(lengths) if norm.kind == "columns" else 1 / max(lengths))


def _of_body(law: Law, p: int, claim: Claim, premises: Sequence[Fact], wanted: int) -> tuple[Total, list[Between]]:
    d = law.dimension
    require(bool(premises), Rejected(RULE, "the norm", "its unit ball is a premise: a fact of its moments"))
    [body] = (body_of(premise, claim, "norm", RULE) for premise in premises)
    if body.axes != tuple(tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d)):
        raise Rejected(RULE, "the unit ball", "its fact is along other axes than those of the coordinates")
    ratio = Num(Fraction(d + p, d))
    if p == 1:
        if body.mean is None:
            raise Rejected(RULE, "the unit ball", "its fact does not state its mean length")
        singles = [Between(mul(ratio, low), mul(ratio, high)) for low, high in (body.sizes or ())]
        return Between(mul(ratio, body.mean[0]), mul(ratio, body.mean[1])), singles[:wanted]
    if body.second is None:
        raise Rejected(RULE, "the unit ball", "its fact does not state its second moments")
    parts = [mul(ratio, body.second[i][i]) for i in range(d)]
    return _exactly(add(*parts)), [Between(part, part) for part in parts[:wanted]]
