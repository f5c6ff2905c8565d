"""Integrals of exp(-t) over polyhedra and volumes of polytopes, against known bodies, Qhull and sampling."""

from fractions import Fraction as F
from itertools import product
from math import exp, factorial

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.spatial import ConvexHull, HalfspaceIntersection

from dpverify.trusted.geometry.polyhedra import Polyhedra, Shift
from dpverify.trusted.kernel.errors import Undecided


def rows(*numbers):
    return tuple(tuple(map(F, row)) for row in numbers)


def both(*numbers):
    return rows(*numbers, *(tuple(-x for x in row) for row in numbers))


def rational(*numbers):
    return tuple(fmpq(F(x).numerator, F(x).denominator) for x in numbers)


CUBE = both((1, 0, 0), (0, 1, 0), (0, 0, 1))
OCTAHEDRON = rows(*product((1, -1), repeat=3))
PRISM = both((1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1))


def number(x):
    return float(F(int(x.p), int(x.q)))


def value(terms):
    """At epsilon 0."""
    return sum(number(k(fmpq(0))) * exp(-number(t[0])) for t, k in terms.items())


def volume(sides, d):
    return Polyhedra(fmpq(0)).volume([(rational(*a), (fmpq(c), fmpq(0))) for a, c in sides], d)(fmpq(0))


def integral(sides):
    return Polyhedra(fmpq(0)).integral([(rational(*a), fmpq(b), (fmpq(c), fmpq(0))) for a, b, c in sides])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("d", [2, 3])
def test_volumes_are_those_of_qhull(d, seed):
    rng = np.random.default_rng(seed)
    sides = [(tuple(map(int, a)), int(rng.integers(1, 5))) for a in rng.integers(-3, 4, (4, d)) if any(a)]
    sides += [(tuple(int(s * (i == j)) for j in range(d)), 2) for i in range(d) for s in (1, -1)]
    points = HalfspaceIntersection(np.array([[*a, -c] for a, c in sides], float), np.zeros(d)).intersections
    assert number(volume(sides, d)) == pytest.approx(ConvexHull(points).volume, rel=1e-9)


def test_sides_that_repeat_touch_or_leave_nothing_add_nothing():
    square = [((1, 0), 1), ((-1, 0), 0), ((0, 1), 1), ((0, -1), 0)]
    for more, expected in (([((2, 0), 2)], 1), ([((1, 1), 2)], 1), ([((1, 1), 0)], 0), ([((1, 1), -1)], 0), ([((0, 0), -1)], 0)):
        assert volume(square + more, 2) == expected


@pytest.mark.parametrize(("facets", "size"), [(CUBE, 8), (OCTAHEDRON, F(4, 3)), (PRISM, 6)])
def test_the_integral_of_a_cone_is_the_volume_times_the_factorial(facets, size):
    """The integral of exp(-||y||) is d! times the volume of the ball."""
    found = integral([(a, 1, 0) for a in facets])
    assert {number(t[0]) for t, k in found.items() if k(fmpq(0))} == {0}
    assert value(found) == pytest.approx(float(size) * factorial(3))


def test_integrals_between_two_bounds_of_t():
    """|y| <= t and 1 <= t <= 2: the integral of 2 t exp(-t) is 4 exp(-1) - 6 exp(-2)."""
    assert value(integral([((1,), 1, 0), ((-1,), 1, 0), ((0,), 1, -1), ((0,), -1, 2)])) == pytest.approx(4 * exp(-1) - 6 * exp(-2))
    with pytest.raises(Undecided, match="nothing bounds from below"):
        integral([((), -1, 2)])


@pytest.mark.parametrize(("facets", "v", "laplace"), [(CUBE, (1, -1, 1), 1), (OCTAHEDRON, (0, 1, 0), 1), (OCTAHEDRON, (0, 0, -3), 3)])
def test_vertices_of_cube_and_octahedron_have_the_laplace_pair(facets, v, laplace):
    shift = Shift(facets, tuple(map(F, v)))
    for epsilon in (F(0), F(1, 2), F(3, 4)):
        assert float(shift.divergence(F(1), epsilon).mid()) == pytest.approx(1 - exp((float(epsilon) - laplace) / 2), abs=1e-14)


@pytest.mark.parametrize("v", [(1, 0, 0), (1, -1, 1), (F(1, 2), F(1, 2), -1)])
def test_the_divergence_in_three_dimensions_is_that_of_samples(v):
    """A point of the ball by rejection, times a number of Gamma(4) law; each sample gives (1 - exp(epsilon - loss))_+."""
    rng, normals = np.random.default_rng(5), np.array(PRISM, float)
    cube = rng.uniform(-1.5, 1.5, (200_000, 3))
    y = cube[(cube @ normals.T).max(1) <= 1]
    y *= rng.gamma(4, size=(len(y), 1))
    size = lambda x: (x @ normals.T).max(1)  # noqa: E731
    for epsilon in (0.0, 0.5):
        seen = np.maximum(1 - np.exp(epsilon - size(y - np.array(v, float)) + size(y)), 0)
        found = float(Shift(PRISM, tuple(map(F, v))).divergence(F(1), F(epsilon)).mid())
        assert abs(found - seen.mean()) < 5 * seen.std() / len(seen) ** 0.5


def test_a_longer_shift_is_worse_and_beyond_the_distance_there_is_nothing():
    shift = Shift(PRISM, (F(1), F(0), F(0)))
    found = [float(shift.divergence(F(k, 4), F(1, 4)).mid()) for k in range(2, 9)]
    assert found == sorted(found)
    assert shift.divergence(F(1), F(1)) == 0
    assert shift.divergence(F(0), F(0)) == 0


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("v", [(1, 0, 0), (F(1, 3), F(1, 2), -1)])
def test_formulas_that_are_kept_hold_where_they_are_used_again(v):
    """In any order of the epsilons, at those where comparisons tie too, each comes out as it does alone."""
    v = tuple(map(F, v))
    shift, points = Shift(PRISM, v), [F(k, 12) for k in (3, -7, 0, 11, 4, -12, 6, 2, -4, 8, 12, 5, 3)]
    for epsilon in points:
        alone = Shift(PRISM, v).divergence(F(1), epsilon)
        assert shift.divergence(F(1), epsilon).overlaps(alone)
        assert abs(float(alone.mid()) - float(Shift(PRISM, v).divergence(F(1), epsilon + F(1, 10**12)).mid())) < 1e-11


def test_too_many_facets_are_not_tried():
    with pytest.raises(Undecided, match="too many to integrate"):
        Shift(rows(*product((1, -1), repeat=5)), (F(1),) * 5)


@pytest.mark.parametrize("v", [(1, 0, 0), (F(1, 3), F(1, 2), -1)])
def test_below_the_least_loss_every_output_counts_and_above_the_greatest_none(v):
    """All losses lie within the length of the shift: H is 1 - e^epsilon left of them, and 0 right of them."""
    shift = Shift(PRISM, tuple(map(F, v)))
    for k in (-3, -5, -4, -9):
        assert shift.divergence(F(1), F(k)).overlaps(-arb(k).expm1())
    for k in (4, 3, 9):
        assert shift.divergence(F(1), F(k)) == 0
