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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from types import MappingProxyType
from typing import Any, Final

from flint import arb, fmpq, fmpq_mat

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import Known, accurately, decimals, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.errors import ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import ZERO, Expr, Num, div, format_expr, linear_part, mul, sub, substitute, symbols
from dpverify.trusted.language.model import Matrix, Mechanism, Norm, Product, Radial, Source, Vector
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.balls import constant, exact, hull, precision, rational
from dpverify.trusted.numbers.jets import jet
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.order.cones import Cones, vertices
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.order.linear import dot, matrix, up_to_sign
from dpverify.trusted.order.polyhedra import Shift
from dpverify.trusted.order.signs import AT_LEAST_ZERO
from dpverify.trusted.parts.exponents import Exponent, exponent
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.additive.additive import require_integrable
from dpverify.trusted.rules.curves import laplace, optimal_composition

NAME: Final = "lipschitz-exponent"
STATEMENT: Final = (
    "Noise of density exp(-h(||y||)) in any norm, h with slopes of at most L, at distance D is dominated by Laplace noise on the line "
    "moved by L D scales: delta(epsilon) <= (1 - exp((epsilon - L D)/2))_+. For h = L r this is met along a vector that lies in every "
    "facet of the ball of radius D up to sign, such as the vertices of l1 and linf. For other polytopes of few facets the greatest "
    "divergence is at a vertex, and the pair of each vertex is integrated exactly. Where h is concave, the pure epsilon h(D) - h(0) "
    "gives the pair of randomized response, and the smaller of the two is taken."
)
CHECKED: Final = (
    "h is continuous, and its slope is within L everywhere, or h is concave and finite at 0",
    "the density is integrable",
    "the scale is positive and the sensitivity at least 0",
    "for the lower bound, that the shift lies in every facet up to sign, or by which part of the noise it is seen",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#lipschitz-exponent")

_ROUGH: Final = 64
_MOST_CELLS: Final = 4_000
_ENDS: Final = range(1, 12)
_SHARP: Final = 20
"""Bits to which the greatest slope is found, where it is not known exactly."""
_SHOWN: Final = 256
_STEP: Final = 60
"""Bits of the numbers of an event that is shown, and of the step by which slopes are found for it."""
MAX_TRIED: Final = 10
"""Greatest dimension whose sign vectors are tried for a vertex in every facet."""


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. Raises Rejected, Undecided.

    parameters: "sensitivity", if given, the certificate of a gauge; "normaliser", as in `additive.require_integrable`; "prec".
    """
    reached = reach(run, parameters.get("sensitivity"))
    found = curve(settled.additive(run, NAME), reached, stated=run.part.query is None, parameters=parameters)
    return settled.noise(run, found, parameters)


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def curve(noise: Mechanism, reach: Sensitivity, stated: bool = False, parameters: Mapping[str, Any] = _NOTHING) -> Curve:
    """The curve of radial noise in any norm. stated: shifts of this length occur in every direction.

    parameters: "normaliser" as in `additive.require_integrable`.

    Raises Rejected where the noise is not radial or makes no sense, Undecided where its exponent has neither a bounded slope nor a
    finite pure epsilon.
    """
    shape = exponent(noise)
    if shape is None or not isinstance(noise, Radial):
        raise Rejected(NAME, "the noise", "it is not radial noise with a positive density and values for all parameters")
    require_sensible(noise, reach, parameters)
    shapes = Shapes("r", True, {})
    h, distance = shapes.tidy(shape.h), div(reach.upper, shape.scale)
    slope, rest = linear_part(h, "r")
    if "r" in symbols(rest) or not shapes.positive(slope):
        return Curve(_dominating(h, shapes, distance), None, (NAME,), ASSUMED)
    upper, found = laplacian(mul(slope, distance)), _witness(shape, reach, stated)
    length, weight = (None, Fraction(0)) if found is None else found
    ratio = ZERO if length is None else div(mul(slope, length), shape.scale)
    if weight == 1 and certainly_equal(ratio, mul(slope, distance)):
        return Curve(upper, upper, (NAME,), ASSUMED)
    at_vertices = _polytope(shape, div(slope, shape.scale), reach, stated)
    if at_vertices is not None:
        return Curve(*at_vertices, (NAME,), ASSUMED)
    if length is None:
        return Curve(upper, None, (NAME,), ASSUMED)
    return Curve(upper, laplacian(ratio) if weight == 1 else _cones(ratio, weight), (NAME,), ASSUMED)


def require_sensible(noise: Radial | Product, reach: Sensitivity, parameters: Mapping[str, Any]) -> None:
    """Raises Rejected unless the noise is certainly integrable, and the sensitivity certainly at least 0."""
    if not (certainly_le(ZERO, reach.lower) and certainly_le(reach.lower, reach.upper)):
        raise Rejected(NAME, "the sensitivity", "it is not certainly at least 0")
    require_integrable(noise, parameters, NAME)


# -- upper bounds ---------------------------------------------------------------------------------


def laplacian(ratio: Expr) -> Pair:
    """The pair of Laplace noise moved by `ratio` scales. Raises Rejected unless that is certainly at least 0."""
    end = Known(ratio)

    def describe(epsilon: arb) -> Mapping[str, str]:
        t, pair = end(), f"two answers {format_expr(ratio)} scales of Laplace noise apart"
        if not epsilon < t:
            return {"pair": pair, "event": "none", "P": "0", "Q": "0"}
        return {
            "pair": pair,
            "event": f"on each line along the shift, at most {decimals((t - epsilon) / 2)} scales from the mode towards the other answer",
            "P": decimals(1 - ((epsilon - t) / 2).exp() / 2),
            "Q": decimals((-(epsilon + t) / 2).exp() / 2),
        }

    return symmetric(laplace.profile(ratio), describe)


def _dominating(h: Expr, shapes: Shapes, distance: Expr) -> Pair:
    """The pair of a bounded slope, or of the pure epsilon of a concave exponent: the one with the smaller total variation."""
    found = []
    steepest = greatest_slope(h, shapes)
    if steepest is not None:
        found.append(laplacian(mul(steepest, distance)))
    start = shapes.at_zero(h) if shapes.shape(h).concave else None
    if start is not None:  # concave and integrable, so that it rises: subadditive after its value at 0
        found.append(optimal_composition.pair(ZERO if distance == ZERO else sub(substitute(h, {"r": distance}), start)))
    if not found:
        raise Undecided(f"{NAME}: the exponent has neither a slope that is certainly bounded nor a finite pure epsilon.")
    if len(found) == 1:
        return found[0]
    with precision(_ROUGH):
        sizes = [pair.forward(arb(0)) for pair in found]
    return found[1] if sizes[1] < sizes[0] else found[0]


def greatest_slope(h: Expr, shapes: Shapes) -> Expr | None:
    """An upper bound on |h'|, exact for convex and concave h where h does not fall; None where none is found.

    Raises Undecided where h is not certainly continuous.
    """
    shape = shapes.shape(h)
    if shape.convex:
        ends = [h] if shapes.half else [h, shapes.tidy(shapes.mirrored(h))]
        limits = [limit for end in ends if (limit := shapes.slope_limit(end)) is not None]
        if len(limits) == len(ends) and (shape.slope <= AT_LEAST_ZERO or not shapes.half):
            return shapes.extreme("max", limits)
    if shape.concave and shape.slope <= AT_LEAST_ZERO and shapes.half:
        try:
            return shapes.at_zero(shapes.tidy(derivative(h, shapes.name)))
        except (ExprError, Undecided):
            return None
    try:
        with precision(_ROUGH):
            return _slope_on_cells(h, shapes)
    except (ExprError, Undecided):
        return None


def _slope_on_cells(h: Expr, shapes: Shapes) -> Expr | None:
    """An upper bound on |h'| for a continuous h, cell by cell, within 2^-_SHARP of the greatest where the ends allow."""
    outward = [h] if shapes.half else [h, shapes.tidy(shapes.mirrored(h))]
    at_ends, far = arb("inf"), Fraction(0)
    for k in _ENDS:
        end = End("+inf", Fraction(2) ** k)
        bound = max(_end_slope(side, end, shapes.name) for side in outward)
        if bound < at_ends:
            at_ends, far = bound, end.start
    if not at_ends.is_finite():
        return None
    cells = [(Fraction(0), far)] if shapes.half else [(-far, Fraction(0)), (Fraction(0), far)]
    reached, least, count = at_ends, arb(0), 0
    while cells:
        low, high = cells.pop()
        count += 1
        if count > _MOST_CELLS:
            return None
        middle = (low + high) / 2
        over, at = jet(h, shapes.name, hull(low, high)), jet(h, shapes.name, rational(middle))
        least = least.max(at.d1.abs_lower()) if at.d1.is_finite() else least
        bound = over.d1.abs_upper()
        if over.d2.is_finite():
            bound = bound.min((at.d1 + over.d2 * (hull(low, high) - rational(middle))).abs_upper())
        if bound <= least * (1 + arb(2) ** -_SHARP) or bound <= at_ends:
            reached = reached.max(bound)
        else:
            cells += [(low, middle), (middle, high)]
    return Num(exact(reached.upper()))


def _end_slope(h: Expr, end: End, name: str) -> arb:
    try:
        bounds = end_jet(h, name, end).d1.bounds()
    except (ExprError, Undecided):
        return arb("inf")
    largest = bounds.lo.abs_upper().max(bounds.hi.abs_upper())
    return largest if largest.is_finite() else arb("inf")


# -- lower bounds ---------------------------------------------------------------------------------


def _witness(shape: Exponent, reach: Sensitivity, stated: bool) -> tuple[Expr, Fraction] | None:
    """(D, w) such that some two neighbours look, through part of the noise exp(-||y||), D apart with weight w; None where none is known.

    w = 1: they have the Laplace pair. Otherwise the loss is D and -D on two opposite cones, each of mass w about its own answer.
    """
    at = reach.at if reach.at is not None and len(reach.at) == shape.dimension else None
    read = _forms(shape.norm, shape.dimension)
    if read is not None and stated and (read[0] or _vertex_of_all(read[1])):
        return reach.lower, Fraction(1)
    if read is not None and not stated and at is not None:
        adds, rows = read
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


def _cones_of(norm: Norm) -> Cones | None:
    """The cones of a ball that is a polytope by a matrix, None for other norms and where there are too many."""
    found = _polar(norm)
    try:
        return None if found is None else Cones(*found)
    except Undecided:
        return None


def _polar(norm: Norm) -> tuple[Matrix, Matrix] | None:
    """The vertices of a ball that is a polytope by a matrix and the normals of its facets, with their opposites."""
    if norm.kind not in ("columns", "facets"):
        return None
    try:
        other = vertices(norm.matrix)
        own = vertices(other)  # without the rows that are no vertices or facets
    except Undecided:
        return None
    return (own, other) if norm.kind == "columns" else (other, own)


def _polytope(shape: Exponent, slope: Expr, reach: Sensitivity, stated: bool) -> tuple[Pair, Pair | None] | None:
    """The worst vertices and a vector that occurs, for the noise exp(-slope ||y||); None where the ball has too many facets."""
    found = _polar(shape.norm)
    if found is None:
        return None
    corners, normals = found
    at = reach.at if reach.at is not None and len(reach.at) == shape.dimension else None
    try:
        shifts = [Shift(normals, corner) for corner in up_to_sign(corners)]
        moved = None if at is None or stated else Shift(normals, at)
    except Undecided:
        return None
    upper = _greatest(shifts, mul(slope, reach.upper))
    if stated:
        length = mul(slope, reach.lower)
        rough = exact(constant(length).mid())
        return upper, _greatest([max(shifts, key=lambda shift: shift.divergence(rough, Fraction(0)).mid())], length)
    return upper, None if moved is None else _greatest([moved], slope)


def _greatest(shifts: Sequence[Shift], ratio: Expr) -> Pair:
    """The greatest divergence of noise moved by `ratio` times one of some vectors."""
    times = Known(ratio)

    def exactly(t: Fraction, epsilon: Fraction) -> arb:
        values = [shift.divergence(t, epsilon) for shift in shifts]
        return reduce(arb.max, values)

    def enclosed(epsilon: arb) -> arb:
        t = times()
        ends = {exact(t.lower()), exact(t.upper())}
        return reduce(arb.union, [exactly(end, exact(epsilon)) for end in ends])

    def at(epsilon: arb) -> arb:
        return accurately(lambda: enclosed(epsilon))

    def describe(epsilon: arb) -> Mapping[str, str]:
        with precision(_SHOWN):
            here, step = epsilon.mid(), arb(2) ** -_STEP
            delta, before, after = (at((here + k * step).mid()) for k in (0, -1, 1))
            q = ((delta - after) / step.expm1()).union((before - delta) / -(-step).expm1()) / here.exp()
            return {
                "pair": f"two answers of which one is the other moved by {format_expr(ratio)} times a vertex of the ball of the noise",
                "event": f"the outputs y whose distance from the other answer exceeds that from their own by {decimals(here)} and more",
                "P": decimals(delta + here.exp() * q),
                "Q": decimals(q),
            }

    return Pair(*(divergence(at),) * 2, describe, everywhere=True)


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


def _vertex_of_all(rows: Matrix) -> bool:
    """Whether some vector has the same size under all forms, of which the first independent ones decide it up to signs."""
    dimension = len(rows[0])
    if len(rows) == dimension:
        return True
    if dimension > MAX_TRIED:
        return False
    basis: list[Vector] = []
    for row in rows:
        if matrix([*basis, row]).rank() > len(basis):
            basis.append(row)
    every, inverse = matrix(rows), matrix(basis).inv()
    for signs in product((1, -1), repeat=dimension - 1):
        heights = every * inverse * fmpq_mat(dimension, 1, [1, *signs])
        if all(abs(height) == 1 for height in heights.entries()):
            return True
    return False


def _cones(ratio: Expr, weight: Fraction) -> Pair:
    """Three outcomes: P has masses w, w e^-D and the rest, Q has w e^-D, w and the rest."""
    end = Known(ratio)

    def at(epsilon: arb) -> arb:
        return accurately(lambda: (-rational(weight) * (epsilon - end()).expm1()).max(arb(0)))

    def describe(epsilon: arb) -> Mapping[str, str]:
        w, t = rational(weight), end()
        some = bool(epsilon < t)
        return {
            "pair": f"two answers {format_expr(ratio)} scales apart",
            "event": "the cone on which the other answer is farther by the whole distance" if some else "none",
            "P": decimals(w) if some else "0",
            "Q": decimals(w * (-t).exp()) if some else "0",
        }

    return symmetric(divergence(at), describe)
