"""Linear images of lp balls: volume and second moments in closed form.

Theorem: The image T B of the unit ball B of an lp norm has the volume |det T| (2 Gamma(1 + 1/p))^d / Gamma(1 + d/p) and the second moments
c T T', c = Gamma(3/p) Gamma(1 + d/p) / (Gamma(1/p) Gamma(1 + (d + 2)/p)); for p = infinity |det T| 2^d and T T'/3.

Checked:
- the body is an lp ball, an ellipsoid, or has d independent points or pairs of facets

Source: docs/theory/bodies.md#simple-body
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import factorial
from typing import Any, Final

from flint import fmpq, fmpq_mat

from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.bodies import Body, BodyOf
from dpverify.trusted.geometry.linear import matrix, to_fraction, up_to_sign
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import PI, Expr, Num, call, div, mul, num, power, sqrt
from dpverify.trusted.kernel.model import Claim, Matrix
from dpverify.trusted.theories.utility import shapes

NAME: Final = "simple-body"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> Body:
    """Volume and second moments; the mean length of a Euclidean ball.

    evidence: "of", "query" or "norm"; "axes", if given, rows of rationals, for ellipsoids alone. Raises Rejected, CertificateError.
    """
    of = shapes.body_named(evidence)
    axes = shapes.axes_told(evidence, shapes.dimension_of(claim, of, NAME), NAME)
    p, gram = _image(claim, of)
    if p == 2:
        rows = matrix(axes)
        gram = rows * gram * rows.transpose()
    elif "axes" in evidence:
        raise Rejected(NAME, "the axes", "of such bodies ellipsoids alone are seen along axes in closed form")
    d, determinant = len(axes), to_fraction(gram.det())
    require(determinant != 0, Rejected(NAME, "the body", "it has no interior"))
    share = _second(p, d)
    second = tuple(tuple(mul(share, Num(to_fraction(x))) for x in row) for row in gram.tolist())
    return Body(of, axes, mul(sqrt(Num(determinant)), _volume(p, d)), True, second, _mean(p, gram, axes))


def _image(claim: Claim, of: BodyOf) -> tuple[Fraction | None, fmpq_mat]:
    """(p, T T') where the body is the image of the lp ball under a square matrix T. Raises Rejected."""
    dimension, query = shapes.dimension_of(claim, of, NAME), answered(claim)
    if of == "query" and query is not None and query.adjacency == "l2":
        f = matrix(query.rows)
        return Fraction(2), f * f.transpose()
    if of == "norm" and (norm := shapes.norm_of(claim)).kind in ("lp", "ellipsoid"):
        return (norm.p, matrix(shapes.unit(dimension))) if norm.kind == "lp" else (Fraction(2), matrix(norm.matrix))
    points, rows = shapes.generators(claim, of, NAME), shapes.facets(claim, of, NAME)
    if points is not None:
        columns = _square(points, dimension).transpose()
        return Fraction(1), columns * columns.transpose()
    square = _square(rows or (), dimension)
    return None, (square.transpose() * square).inv()


def _square(rows: Matrix, dimension: int) -> fmpq_mat:
    kept = up_to_sign(rows)
    if len(kept) != dimension or matrix(kept).det() == 0:
        raise Rejected(NAME, "the body", f"it has not {dimension} points or pairs of facets, all independent")
    return matrix(kept)


def _volume(p: Fraction | None, d: int) -> Expr:
    """Of the unit ball of the lp norm."""
    if p is None:
        return num(2**d)
    if p == 2:  # pi^(d/2) / Gamma(1 + d/2), without a root
        half = d // 2
        return mul(Num(Fraction(2**d * factorial(half), factorial(d)) if d % 2 else Fraction(1, factorial(half))), power(PI, num(half)))
    return div(power(mul(num(2), _gamma(1 + 1 / p)), num(d)), _gamma(1 + d / p))


def _second(p: Fraction | None, d: int) -> Expr:
    """The mean square of one coordinate in the unit ball of the lp norm."""
    if p is None:
        return num(Fraction(1, 3))
    if p == 2:
        return num(Fraction(1, d + 2))
    return div(mul(_gamma(3 / p), _gamma(1 + d / p)), mul(_gamma(1 / p), _gamma(1 + (d + 2) / p)))


def _mean(p: Fraction | None, gram: fmpq_mat, axes: Matrix) -> tuple[Expr, Expr] | None:
    """The mean length in a Euclidean ball, d/(d + 1) of its radius, and in an interval."""
    d = len(axes)
    squares = gram * shapes.lengths(axes)
    square = squares[0, 0]
    if (p != 2 and d > 1) or squares != square * matrix(shapes.unit(d)):
        return None
    mean = mul(Num(Fraction(d, d + 1)), sqrt(Num(to_fraction(fmpq(square)))))
    return mean, mean


def _gamma(x: Fraction) -> Expr:
    """The gamma function of a positive rational."""
    return num(factorial(int(x) - 1)) if x.denominator == 1 else call("gamma", Num(x))
