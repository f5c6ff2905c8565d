"""Noise of any norm with a Lipschitz exponent: the Laplace pair dominates, and some directions have it."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from flint import arb

from dpverify.search.additive import asymptotics, hints
from dpverify.trusted.geometry.cones import vertices
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Norm, Product, Radial
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.lipschitz import greatest_slope
from tests.told import gauge as curve

UNIT = Sensitivity(ONE, ONE)
HEXAGON = Norm("facets", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1))))
OCTAHEDRON = Norm("facets", None, tuple((F(1), F(a), F(b)) for a in (1, -1) for b in (1, -1)))
SKEW_L1 = Norm("columns", None, ((F(2), F(1)), (F(1), F(3))))
SKEW_LINF = Norm("facets", None, ((F(2), F(1)), (F(1), F(3))))
CUBIC = Norm("lp", F(3))


def radial(profile, norm, d=2, scale="1"):
    return Radial(parse(profile), norm, num(d), parse(scale))


def moved(*v):
    return Sensitivity(ONE, ONE, tuple(map(F, v)))


def size(norm, y):
    """The norm of the rows of y, by its definition."""
    if norm.kind == "facets":
        return np.abs(y @ np.array(norm.matrix, float).T).max(-1)
    if norm.kind == "columns":
        return np.abs(y @ np.linalg.inv(np.array(norm.matrix, float))).sum(-1)
    return np.linalg.norm(y, float(norm.p) if norm.p else np.inf, axis=-1)


def divergence(norm, exponent, v, epsilon, reach=24, cells=1000):
    """The hockey stick in the plane by the midpoint rule."""
    t = (np.arange(cells) + 0.5) * 2 * reach / cells - reach
    y = np.stack(np.meshgrid(t, t), -1)
    p, q = (np.exp(-exponent(size(norm, y - c))) for c in (np.zeros(2), np.array(v, float)))
    return np.maximum(p - np.exp(epsilon) * q, 0).sum() / p.sum()


def midpoint(ball):
    return float(ball.mid())


# -- the theorem -----------------------------------------------------------------------------------


@pytest.mark.sampled(9)
@pytest.mark.parametrize("norm", [L1, LINF, L2, CUBIC, HEXAGON, SKEW_L1, SKEW_LINF])
@pytest.mark.parametrize("direction", [(1, 0), (1, 1), (1, -1), (2, 1)])
def test_the_laplace_pair_dominates_in_every_norm_and_direction(norm, direction):
    v = np.array(direction) * 2 / size(norm, np.array([direction], float))
    bound = curve(radial("exp(-r)", norm), Sensitivity(num(2), num(2))).upper
    for epsilon in (0.0, 0.75, 1.5):
        assert divergence(norm, lambda r: r, v, epsilon, cells=400) < midpoint(bound.forward(arb(epsilon))) + 2e-3


@pytest.mark.parametrize(("profile", "exponent"), [("(1 + r**2/5)**(-4)", lambda r: 4 * np.log1p(r * r / 5)), ("1/cosh(r)", None)])
def test_the_laplace_pair_dominates_other_exponents(profile, exponent):
    exponent = exponent or (lambda r: np.log(np.cosh(r)))
    bound = curve(radial(profile, LINF), UNIT).upper
    for v in ((1, 0), (1, 1)):
        assert divergence(LINF, exponent, v, 0.25, cells=400) < midpoint(bound.forward(arb("0.25")))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("norm", "v"), [(L1, (0, 1)), (LINF, (1, -1)), (SKEW_L1, (1, 3)), (SKEW_LINF, (F(2, 5), F(1, 5)))])
def test_at_a_vertex_of_l1_or_linf_the_pair_is_the_laplace_pair(norm, v):
    assert abs(size(norm, np.array([v], float))[0] - 1) < 1e-12
    found = curve(radial("exp(-r)", norm), moved(*v))
    assert found.exact
    for epsilon in (0.0, 0.5):
        assert abs(divergence(norm, lambda r: r, v, epsilon) - midpoint(found.lower.forward(arb(epsilon)))) < 1e-3


@pytest.mark.parametrize(("norm", "d"), [(L1, 7), (LINF, 5), (OCTAHEDRON, 3), (SKEW_L1, 2), (SKEW_LINF, 2)])
def test_stated_sensitivities_reach_a_vertex(norm, d):
    found = curve(radial("exp(-2*r)", norm, d, "3"), UNIT, stated=True)
    assert found.exact
    with precision(100):
        assert found.upper.forward(rational(F(1, 2))).overlaps(1 - (rational(F(1, 2) - F(2, 3)) / 2).exp())
        assert found.upper.forward(rational(F(1, 2))).rel_accuracy_bits() > 76
        assert found.upper.forward(rational(F(2, 3))) < arb(2) ** -90


# -- lower bounds along other directions --------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("norm", "v"),
    [(L1, (F(3, 4), F(1, 4))), (LINF, (1, F(1, 2))), (SKEW_L1, (F(3, 2), 2)), (SKEW_LINF, (F(1, 2), 0)), (L1, (F(1, 2), F(1, 2)))],
)
def test_lower_bounds_are_below_the_divergence_of_their_direction(norm, v):
    assert abs(size(norm, np.array([v], float))[0] - 1) < 1e-12
    found = curve(radial("exp(-r)", norm), moved(*v))
    assert not found.exact
    assert found.lower.forward(arb(0)) > 0
    for epsilon in (0.0, 0.25):
        below = midpoint(found.lower.forward(arb(epsilon)))
        assert below < divergence(norm, lambda r: r, v, epsilon) + 1e-3
        assert below <= midpoint(found.upper.forward(arb(epsilon)))


def test_two_of_four_coordinates_at_the_maximum_are_a_quarter_of_the_cones():
    lower = curve(radial("exp(-r)", LINF, 4), moved(1, F(1, 2), -1, 0)).lower
    assert lower.forward(arb(0)).overlaps((1 - arb(-1).exp()) / 4)
    assert lower.forward(arb(2)) == 0


OCTAGON = Norm("facets", None, ((F(1), F(0)), (F(0), F(1)), (F(2, 3), F(2, 3)), (F(2, 3), F(-2, 3))))
SKEW_HEXAGON = Norm("columns", None, ((F(1), F(0)), (F(0), F(2)), (F(1), F(1, 2))))


def by_facets(norm):
    """A norm by columns in the plane as one by facets: of the hull, by all edges."""
    points = [np.array(p, float) * s for p in norm.matrix for s in (1, -1)]
    normals = [np.linalg.solve(np.array([p, q]), np.ones(2)) for p in points for q in points if abs(np.linalg.det([p, q])) > 1e-9]
    kept = [n for n in normals if max(n @ p for p in points) < 1 + 1e-9]
    return Norm("facets", None, tuple(tuple(n) for n in kept))


def corners(norm):
    """One of each vertex and its opposite."""
    return norm.matrix if norm.kind == "columns" else [c for c in vertices(norm.matrix) if c > (0, 0)]


@pytest.mark.parametrize("norm", [HEXAGON, OCTAGON, SKEW_HEXAGON])
def test_for_a_polygon_the_worst_vertex_is_the_bound_and_is_met(norm):
    shape = norm if norm.kind == "facets" else by_facets(norm)
    found = curve(radial("exp(-2*r)", norm, scale="4"), Sensitivity(num(2), num(2)), stated=True)
    for epsilon in (0.0, 0.25, 0.75):
        worst = max(divergence(shape, lambda r: r, np.array(c, float), epsilon, 16, 400) for c in corners(norm))
        assert midpoint(found.upper.forward(arb(epsilon))) == pytest.approx(worst, abs=2e-3)
    assert found.lower.forward(arb(0)).overlaps(found.upper.forward(arb(0)))
    assert found.upper.forward(arb(1)) == 0


@pytest.mark.parametrize("norm", [HEXAGON, OCTAGON])
def test_inside_a_side_of_a_polygon_the_divergence_is_smaller_and_exact(norm):
    rng = np.random.default_rng(3)
    top = curve(radial("exp(-r)", norm), UNIT).upper
    for _ in range(3):
        v = tuple(F(int(x), 8) for x in rng.integers(-8, 9, 2))
        at = F(float(size(norm, np.array([v], float))[0])).limit_denominator(1000)
        if not any(v):
            continue
        v = tuple(x / at for x in v)
        found = curve(radial("exp(-r)", norm), moved(*v))
        for epsilon in (0.0, 0.375):
            below = midpoint(found.lower.forward(arb(epsilon)))
            assert below == pytest.approx(divergence(norm, lambda r: r, v, epsilon, 16, 400), abs=2e-3)
            assert below <= midpoint(top.forward(arb(epsilon))) + 1e-12


def test_below_zero_the_profile_is_that_of_the_pair_in_the_other_order():
    """H(epsilon) = 1 - e^epsilon + e^epsilon H(-epsilon) where the two orders have the same profile."""
    pair = curve(radial("exp(-r)", HEXAGON), UNIT).upper
    for epsilon in (F(1, 4), F(1), F(5, 4)):
        at = rational(epsilon)
        assert pair.forward(-at).overlaps(1 - (-at).exp() + (-at).exp() * pair.forward(at))


def test_where_a_ball_has_too_many_facets_the_cones_are_a_lower_bound():
    """The hull of 7 points of a moment curve and their opposites has at least 24 facets; 24^3 chains are too many."""
    norm = Norm("columns", None, tuple((F(1), F(k), F(k * k)) for k in range(-3, 4)))
    found = curve(radial("exp(-r)", norm, 3), UNIT, stated=True)
    assert midpoint(found.upper.forward(arb(0))) == pytest.approx(1 - np.exp(-0.5), abs=1e-12)
    assert 0 < found.lower.forward(arb(0)) < found.upper.forward(arb(0))


@pytest.mark.parametrize("norm", [CUBIC, Norm("ellipsoid", None, ((F(2), F(1)), (F(1), F(2))))])
def test_for_a_round_ball_no_lower_bound_is_claimed(norm):
    found = curve(radial("exp(-r)", norm), UNIT, stated=True)
    assert found.upper is not None and found.lower is None


def test_another_exponent_has_an_upper_bound_alone():
    assert curve(radial("(1 + r)**(-5)", LINF), UNIT, stated=True).lower is None


def test_a_query_that_does_not_say_how_answers_move_gives_no_lower_bound():
    assert curve(radial("exp(-r)", LINF), UNIT).lower is None


# -- slopes ----------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("h", "least"),
    [
        ("4*log(1 + r**2/5)", 4 / mpmath.sqrt(5)),
        ("sqrt(1 + r**2)", 1),
        ("5*log(1 + r)", 5),
        ("2*r", 2),
        ("abs(r - 1) + r", 2),
        ("max(r, 3*r - 2)", 3),
        ("log(1 + r**4)", mpmath.mpf(27) ** mpmath.mpf("0.25")),
    ],
)
def test_the_greatest_slope_is_found_from_above(h, least):
    shapes = Shapes("r", True, {})
    with precision(64):
        found = curve_slope(h, shapes)
    assert least <= found < least * (1 + mpmath.mpf(10) ** -5)


def curve_slope(h, shapes):
    told = hints.steep(shapes.tidy(parse(h)), shapes, ONE)
    return mpmath.mpf(constant(greatest_slope(shapes.tidy(parse(h)), shapes, told)).upper().str(20, radius=False)) + mpmath.mpf(10) ** -17


@pytest.mark.wide
def test_a_concave_exponent_has_the_smaller_of_two_pairs():
    """exp(-sqrt(r)): randomized response with epsilon 1; (1 + r)^-5 far out: its pure epsilon 5 log(1 + D) beats the slope 5 D."""
    steep = curve(radial("exp(-sqrt(r))", LINF), UNIT).upper
    e = arb(1).exp()
    assert steep.forward(arb(0)).overlaps((e - 1) / (e + 1))
    far = curve(radial("(1 + r)**(-5)", LINF), Sensitivity(num(9), num(9))).upper
    assert far.forward(arb(0)).overlaps((arb(10) ** 5 - 1) / (arb(10) ** 5 + 1))
    near = curve(radial("(1 + r)**(-5)", LINF), Sensitivity(parse("1/100"), parse("1/100"))).upper
    assert near.forward(arb(0)).overlaps(1 - (rational(F(-1, 40))).exp())


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["exp(-r**2)", "exp(-r)/r", "exp(-r - floor(r))"])
def test_an_exponent_without_a_bounded_slope_is_undecided(profile):
    with pytest.raises(Undecided):
        curve(radial(profile, LINF, 3), UNIT, parameters=asymptotics.evidence(radial(profile, LINF, 3)))


@pytest.mark.parametrize(
    ("noise", "reach"),
    [
        (radial("exp(-r)", LINF), Sensitivity(num(-1), num(-1))),
        (radial("exp(-r)", LINF), Sensitivity(ONE, num(2))),
        (radial("exp(-r)", LINF, 2, "-1"), UNIT),
        (radial("(1 + r)**(-2)", LINF, 2), UNIT),
        (radial("exp(r)", LINF), UNIT),
        (radial("exp(-a*r)", LINF), UNIT),
        (Product(parse("exp(-abs(z))"), num(2)), UNIT),
    ],
)
def test_what_is_no_such_noise_is_rejected(noise, reach):
    with pytest.raises(Rejected):
        curve(noise, reach)


def test_a_wide_epsilon_gives_a_ball_that_holds_all_of_its_values():
    pair = curve(radial("exp(-r)", LINF), moved(1, 0)).lower
    wide = pair.forward(arb(0).union(arb(2)))
    assert all(wide.contains(pair.forward(arb(x))) for x in (0, 0.5, 2))


@pytest.mark.parametrize("norm", [HEXAGON, SKEW_L1, CUBIC])
def test_a_shift_that_is_not_known_has_no_lower_bound(norm):
    found = curve(radial("exp(-r)", norm), UNIT)
    assert found.lower is None and 0 < found.upper.forward(arb("0.5")) < found.upper.forward(arb(0)) < 1
