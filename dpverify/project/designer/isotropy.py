"""How far the body of differences is from isotropic position, and the map that takes it there (Hardt and Talwar, Section 6).

With M the covariance of the uniform law on K, the isotropic constant is L = det(M)^(1/(2d)) / Vol(K)^(1/d). In isotropic position, volume 1
and M = L^2 I, the mean square error of the K-norm mechanism is at most so many times what the volume bound says of any mechanism for real
histograms at l1 distance; elsewhere it is as much larger as the arithmetic mean of the eigenvalues of M is above their geometric mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Final

import numpy as np
from flint import arb

from dpverify.project.designer import exact
from dpverify.project.designer.candidates import NotTried
from dpverify.project.designer.question import Question
from dpverify.search.utility import bodies
from dpverify.search.utility.polytopes import most_facets
from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.balls import exact as dyadic
from dpverify.trusted.kernel.expr import ONE, Expr, Num, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Matrix, Query, Radial
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.sensitivity.queries import differences

MOST_FACETS: Final = 70_000
"""Of the body whose covariance is asked for here."""
BITS: Final = 24
"""Of the entries of the map, beside its greatest."""
_PRECISION: Final = 128
_LEAST: Final = 1e-15

Between = tuple[Expr, Expr]


@dataclass(frozen=True, slots=True)
class Isotropy:
    """Of the body of the independent rows of a query; pairs are numbers that enclose.

    constant: L. anisotropy: the root of the arithmetic over the geometric mean of the eigenvalues of M, 1 in isotropic position. most: how
    many times the volume bound the mean error of the K-norm mechanism is at most, in isotropic position. map: T, in rationals, of which T K
    is near isotropic position; off: what the entries of T M T'/L^2 differ by from those of the unit matrix at most.
    """

    constant: Between
    anisotropy: Between
    most: Between
    map: Matrix
    off: Expr


def isotropy(question: Question) -> Isotropy | NotTried:
    """Certified from the exact volume and second moments of the body, where its facets are in reach."""
    kept, adjacency = exact.basis(question.query.rows), question.query.adjacency
    rows, d = tuple(question.query.rows[i] for i in kept), len(kept)
    if adjacency != "l2" and most_facets(len(differences(Query(rows, adjacency))), d) > MOST_FACETS:
        return NotTried("isotropy", "the body of differences may have too many facets to look at its covariance.")
    claim = Claim(Radial(parse("exp(-r)"), L2, num(d)), ONE, query=Query(rows, adjacency))
    with precision(_PRECISION):
        fact = bodies.fact(Proof(claim), "query")
        body = None if fact is None else fact.says
        if not isinstance(body, Body) or not body.exact or body.second is None:
            return NotTried("isotropy", "volume and covariance of the body of differences are not known.")
        second = [tuple(x.value for x in row if isinstance(x, Num)) for row in body.second]
        return _of(tuple(second), constant(body.volume), d)


def _of(second: Matrix, volume: arb, d: int) -> Isotropy:
    m = matrix(second)
    determinant = rational(to_fraction(m.det()))
    geometric = determinant.root(d)
    constant_ = determinant.root(2 * d) / volume.root(d)
    trace = rational(sum((second[i][i] for i in range(d)), start=second[0][0] * 0))
    ball = arb.pi() ** (arb(d) / 2) / (arb(d) / 2 + 1).gamma()
    most = constant_ * (d + 1) ** 2 / arb(d).sqrt() * (ball / factorial(d)).root(d)
    turned = _map(second, float(constant_.mid()))
    image = exact.times(exact.times(turned, second), exact.transposed(turned))
    square = constant_**2
    gaps = [abs(rational(x) / square - int(i == j)) for i, row in enumerate(image) for j, x in enumerate(row)]
    off = max((gap.upper() for gap in gaps), key=float)
    return Isotropy(_ends(constant_), _ends((trace / d / geometric).sqrt()), _ends(most), turned, Num(dyadic(off)))


def _map(second: Matrix, length: float) -> Matrix:
    """L M^(-1/2) up to a rotation, rounded beside the sizes of the coordinates."""
    units = 2.0 ** np.round(np.log2(np.sqrt(np.diag(exact.floats(second)))))
    values, axes = np.linalg.eigh(exact.floats(second) / np.outer(units, units))
    found = (axes / np.sqrt(np.maximum(values, values.max() * _LEAST))) @ axes.T * length
    top = 2.0 ** np.ceil(np.log2(np.abs(found).max()))
    sizes = [Fraction(top) / Fraction(unit) for unit in units]
    return tuple(tuple(x * size for x, size in zip(row, sizes, strict=True)) for row in exact.binary(found / top, BITS))


def _ends(ball: arb) -> Between:
    return Num(dyadic(ball.lower())), Num(dyadic(ball.upper()))
