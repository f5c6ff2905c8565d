"""Noise of any norm whose exponent is Lipschitz: the Laplace pair dominates it, and is attained in some norms.

Theorem. Let p = exp(-h) be a density on R^d with |h(y) - h(y')| <= L ||y - y'|| for some norm, and ||v|| = t. Then the divergence
of (p, p(. - v)) is at most (1 - exp((epsilon - L t)/2))_+ for every epsilon >= 0: that of Laplace noise of scale 1/L moved by t.

Proof. Let u = v/t, q = p(. - t u), S = {p > e^epsilon q} and H(t) = P(S) - e^epsilon Q(S). As S is optimal, H'(t) is e^epsilon times
the integral over S of the slope of q along u, for almost every t. On a line parallel to u, S is a union of intervals (a_i, b_i) with
p = e^epsilon q at their finite ends, so the line adds the sum of p(b_i) - p(a_i) to H', p counted as 0 at infinite ends. As the slope
of p is at most L p in size, L times the integral of p over the line without S is at least the sum of |p(b_i) - p(a_(i+1))|, with
p(a) for what precedes the first interval and p(b) for what follows the last; and L e^epsilon times the integral of q over S is at
least the sum of |p(b_i) - p(a_i)|. Each is at least what the line adds to H'. Over all lines, H' <= L (1 - H)/2. And H = 0 while
L t <= epsilon. So 1 - H >= exp((epsilon - L t)/2).

Attained. Let h = L ||.|| with ||y|| = max |<a_i, y>| over facets a_i, and |<a_i, v>| = D for all of them. Along v, ||y + s v/D|| is
max |s + x_i| = |s - m| + n with m and n free of s: on every line, p is Laplace about m. Which line it is does not change with the
shift, so that the pair is the Laplace pair. This holds for the vertices of the ball of l1, and of linf, and of their linear images.

Other polytopes. Where h = L ||.||, min(p, e^epsilon q) is log-concave in y and v together, and its integral over y in v (Prekopa). So
over the ball of radius D the divergence is greatest at a vertex, where it is an exact integral (see `polyhedra`), and it does not fall
along a ray. Where there are too many facets for that, a reader who only looks whether y is in the cone over the facets F with
<a_F, v> = -D, or in the opposite cone moved by v, or in neither, sees a loss of L D, -L D or 0: a pair of three outcomes, P of the
first the cone's share of the volume.

Theorem: Noise of density exp(-h(||y||)) in any norm, h with slopes of at most L, at distance D is dominated by Laplace noise on the line
moved by L D scales: delta(epsilon) <= (1 - exp((epsilon - L D)/2))_+. For h = L r this is met along a vector that lies in every facet of
the ball of radius D up to sign, such as the vertices of l1 and linf. For other polytopes of few facets the greatest divergence is at a
vertex, and the pair of each vertex is integrated exactly. Where h is concave, the pure epsilon h(D) - h(0) gives the pair of randomized
response, and the smaller of the two is taken.

Checked:
- h is continuous, and its slope is within L everywhere, or h is concave and finite at 0
- the density is integrable
- the scale is positive and the sensitivity at least 0
- for the lower bound, that the shift lies in every facet up to sign, or by which part of the noise it is seen

Source: docs/theory/curves.md#lipschitz-exponent
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from flint import arb, fmpq, fmpq_mat

from dpverify.trusted.combinators.exponents import Exponent, exponent
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, known
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.geometry.cones import Cones, vertices
from dpverify.trusted.geometry.linear import dot, up_to_sign
from dpverify.trusted.geometry.polyhedra import Shift
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import exact, rational
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, div, mul, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Matrix, Mechanism, Norm, Radial
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.rationals import to_fraction, to_whole
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.lipschitz import dominating, laplacian, require_sensible

NAME: Final = "lipschitz-exponent"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run.

    parameters: "slope" and "cuts" as `slopes.told` reads them, or "pure", true, for the pure epsilon of a concave exponent; "vertex", a
    vector in all facets of the unit ball up to sign; "corner", which vertex of it is the lower bound's; "normaliser" as in
    `integrable.require_integrable`; "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided,
    CertificateError.
    """
    both = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), parameters, stated=run.part.query is None)
    return settled.noise(run, both, parameters)


def curve(noise: Mechanism, reach: Sensitivity, told: Mapping[str, Any], stated: bool = False) -> Curve:
    """The curve of radial noise in any norm. told: the parameters of the line. stated: shifts of this length occur in every direction.

    Raises Rejected where the noise is not radial or makes no sense, Undecided where its exponent has neither a bounded slope nor a
    finite pure epsilon.
    """
    shape = exponent(noise)
    if shape is None or not isinstance(noise, Radial):
        raise Rejected(NAME, "the noise", "it is not radial noise with a positive density and values for all parameters")
    require_sensible(noise, reach, told)
    shapes = Shapes("r", True, {})
    h, distance = shapes.tidy(shape.h), div(reach.upper, shape.scale)
    slope, rest = linear_part(h, "r")
    if "r" in symbols(rest) or not shapes.positive(slope):
        return Curve(dominating(h, shapes, distance, told), None, (NAME,), ASSUMED)
    upper, seen = laplacian(mul(slope, distance)), _seen(shape, reach, stated, told)
    length, weight = (None, Fraction(0)) if seen is None else seen
    ratio = ZERO if length is None else div(mul(slope, length), shape.scale)
    if weight == 1 and certainly_equal(ratio, mul(slope, distance)):
        return Curve(upper, upper, (NAME,), ASSUMED)
    exactly = at_vertices(shape, div(slope, shape.scale), reach, stated, told)
    if exactly is not None:
        return Curve(*exactly, (NAME,), ASSUMED)
    lower = None if length is None else laplacian(ratio) if weight == 1 else _cones(ratio, weight)
    return Curve(upper, lower, (NAME,), ASSUMED)


# -- upper bounds ---------------------------------------------------------------------------------


# -- lower bounds ---------------------------------------------------------------------------------


def _seen(shape: Exponent, reach: Sensitivity, stated: bool, told: Mapping[str, Any]) -> tuple[Expr, Fraction] | None:
    """(D, w) such that some two neighbours look, through part of the noise exp(-||y||), D apart with weight w; None where none is known.

    w = 1: they have the Laplace pair. Otherwise the loss is D and -D on two opposite cones, each of mass w about its own answer.
    """
    at = reach.at if reach.at is not None and len(reach.at) == shape.dimension else None
    forms = _forms(shape.norm, shape.dimension)
    if forms is not None and stated and (forms[0] or _of_all(forms[1], told)):
        return reach.lower, Fraction(1)
    if forms is not None and not stated and at is not None:
        adds, rows = forms
        heights = [abs(dot(row, at)) for row in rows]
        top = max(heights)
        if adds or min(heights) == top:
            return Num(top), Fraction(1)
        if len(rows) == shape.dimension:
            return Num(top), Fraction(heights.count(top), 2 * len(rows))
    cones = _cones_of(shape.norm)
    if cones is None:
        return None
    if stated:
        return reach.lower, max(map(cones.share, cones.corners))
    return None if at is None else (Num(cones.gauge(at)), cones.share(at))


def _of_all(rows: Matrix, told: Mapping[str, Any]) -> bool:
    """Whether some vector has size 1 under all forms: where they are independent, or the one that is told."""
    vector = tuple(to_fraction(x, NAME) for x in told.get("vertex", ()))
    return len(rows) == len(rows[0]) or (len(vector) == len(rows[0]) and all(abs(dot(row, vector)) == 1 for row in rows))


def _cones_of(norm: Norm) -> Cones | None:
    """The cones of a ball that is a polytope by a matrix, None for other norms and where there are too many."""
    both = polar(norm)
    try:
        return None if both is None else Cones(*both)
    except Undecided:
        return None


def _forms(norm: Norm, dimension: int) -> tuple[bool, Matrix] | None:
    """Linear forms whose sizes add up to the norm (True), or whose greatest size is the norm (False); None for other norms."""
    unit = tuple(tuple(Fraction(int(i == j)) for j in range(dimension)) for i in range(dimension))
    if norm.kind == "lp" and (norm.p is None or norm.p == 1):
        return norm.p == 1, unit
    if norm.kind == "facets":
        return False, up_to_sign(norm.matrix)
    if norm.kind == "columns":
        points = up_to_sign(norm.matrix)
        if len(points) == dimension:  # independent, as they span the space
            flat = [fmpq(x.numerator, x.denominator) for row in points for x in row]
            inverse = fmpq_mat(dimension, dimension, flat).transpose().inv().tolist()
            return True, tuple(tuple(Fraction(int(x.p), int(x.q)) for x in row) for row in inverse)
    return None


def _cones(ratio: Expr, weight: Fraction) -> Pair:
    """Three outcomes: P has masses w, w e^-D and the rest, Q has w e^-D, w and the rest."""
    end = known(ratio)

    def at(epsilon: arb) -> arb:
        return accurately(lambda: (-rational(weight) * (epsilon - end()).expm1()).max(arb(0)))

    return symmetric(divergence(at))


def polar(norm: Norm) -> tuple[Matrix, Matrix] | None:
    """The vertices of a ball that is a polytope by a matrix and the normals of its facets, with their opposites."""
    if norm.kind not in ("columns", "facets"):
        return None
    try:
        other = vertices(norm.matrix)
        own = vertices(other)  # without the rows that are no vertices or facets
    except Undecided:
        return None
    return (own, other) if norm.kind == "columns" else (other, own)


def at_vertices(shape: Exponent, slope: Expr, reach: Sensitivity, stated: bool, told: Mapping[str, Any]) -> tuple[Pair, Pair | None] | None:
    """The worst vertices and a vector that occurs, for the noise exp(-slope ||y||); None where the ball has too many facets."""
    both = polar(shape.norm)
    if both is None:
        return None
    corners, normals = both
    at = reach.at if reach.at is not None and len(reach.at) == shape.dimension else None
    try:
        shifts = [Shift(normals, corner) for corner in up_to_sign(corners)]
        moved = None if at is None or stated else Shift(normals, at)
    except Undecided:
        return None
    upper = _greatest(shifts, mul(slope, reach.upper))
    if stated:
        corner = to_whole(told.get("corner", 0), "corner", NAME, 0, len(shifts) - 1)
        return upper, _greatest([shifts[corner]], mul(slope, reach.lower))
    return upper, None if moved is None else _greatest([moved], slope)


def _greatest(shifts: Sequence[Shift], ratio: Expr) -> Pair:
    """The greatest divergence of noise moved by `ratio` times one of some vectors."""
    times = known(ratio)

    def exactly(t: Fraction, epsilon: Fraction) -> arb:
        values = [shift.divergence(t, epsilon) for shift in shifts]
        return reduce(arb.max, values)

    def enclosed(epsilon: arb) -> arb:
        t = times()
        ends = {exact(t.lower()), exact(t.upper())}
        return reduce(arb.union, [exactly(end, exact(epsilon)) for end in ends])

    def at(epsilon: arb) -> arb:
        return accurately(lambda: enclosed(epsilon))

    return Pair(*(divergence(at),) * 2, everywhere=True)
