"""Uniform points of polytopes and the noise of their norms: the law, by tests with a fixed seed whose answers theorems give."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpverify.errors import NoSampler
from dpverify.samplers import polytope
from dpverify.search.utility import polytopes

SIZE = 40_000
HEXAGON = ((1, 0), (0, 1), (1, -1))
CUBOCTAHEDRON = ((1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1))
SIGNS = tuple(product((1, -1), repeat=4))[:8]
LAME = ((1, 1, 0), (1, -1, 0), (0, 0, 0), (2, 0, 0), (3, 1, 0))


def exact(points):
    return tuple(tuple(map(F, point)) for point in points)


def drawn(points, law, seed=5):
    found = polytope.hull(exact(points))
    return found, getattr(found, law)(SIZE, np.random.default_rng(seed))


BODIES = {"interval": ((3,), (-4,)), "hexagon": HEXAGON, "cuboctahedron": CUBOCTAHEDRON, "cube": SIGNS, "in a plane": LAME}


@pytest.mark.parametrize("points", BODIES.values(), ids=BODIES)
def test_the_power_of_the_gauge_of_uniform_points_is_uniform(points):
    found, drawn_points = drawn(points, "uniform")
    assert found.checked
    gauges = found.gauge(drawn_points)
    assert gauges.max() <= 1 + 1e-9
    assert stats.kstest(gauges**found.rank, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("points", BODIES.values(), ids=BODIES)
def test_noise_has_a_gauge_of_the_gamma_law_and_points_of_the_boundary_the_gauge_1(points):
    found, noise = drawn(points, "noise")
    assert stats.kstest(found.gauge(noise), stats.gamma(found.rank).cdf).pvalue > 1e-4
    assert np.allclose(found.gauge(found.boundary(100, np.random.default_rng(1))), 1)
    tripled = found.noise(SIZE, np.random.default_rng(5), 3.0)
    assert np.allclose(tripled, 3 * noise)


def test_every_coordinate_of_a_cube_is_uniform_by_itself():
    _, points = drawn(SIGNS, "uniform")
    for coordinate in points.T:
        assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).pvalue > 1e-4
    assert np.abs(np.corrcoef(points.T) - np.eye(4)).max() < 5 / SIZE**0.5


@pytest.mark.parametrize(
    ("points", "second"), [(HEXAGON, [[5 / 18, -5 / 36], [-5 / 36, 5 / 18]]), (((1, 0), (0, 1)), [[1 / 6, 0], [0, 1 / 6]])]
)
def test_the_moments_are_the_exact_ones(points, second):
    _, found = drawn(points, "uniform")
    squares = found[:, :, None] * found[:, None]
    assert (np.abs(squares.mean(0) - second) < 5 * squares.std(0) / SIZE**0.5).all()


def test_rejection_from_a_box_gives_the_same_law():
    found, points = drawn(CUBOCTAHEDRON, "uniform")
    box = np.random.default_rng(3).uniform(-1, 1, (3 * SIZE, 3))
    kept = box[found.gauge(box) <= 1]
    for direction in ((1, 0, 0), (1, 1, 1), (1, -2, 0.5)):
        assert stats.ks_2samp(points @ direction, kept @ direction).pvalue > 1e-4


def test_a_polytope_by_facets_is_the_hull_of_its_vertices():
    found = polytope.by_facets(exact(((1, 0, 0), (0, 1, 0), (0, 0, 1))))
    points = found.uniform(SIZE, np.random.default_rng(2))
    assert stats.kstest(points.ravel(), stats.uniform(-1, 2).cdf).pvalue > 1e-4


def test_points_stay_in_the_span_of_the_columns():
    found, points = drawn(LAME, "uniform")
    assert found.rank == 2 and not points[:, 2].any()


def test_one_seed_gives_the_same_points():
    assert np.array_equal(drawn(HEXAGON, "uniform")[1], drawn(HEXAGON, "uniform")[1])
    assert not np.array_equal(drawn(HEXAGON, "uniform")[1], drawn(HEXAGON, "uniform", 6)[1])


def test_huge_and_tiny_columns_are_drawn_from_alike():
    found, points = drawn(((10**30, 0), (0, F(1, 10**30))), "uniform")
    _, plain = drawn(((1, 0), (0, 1)), "uniform")
    assert np.allclose(points * [1e-30, 1e30], plain)
    assert found.checked


@pytest.mark.parametrize(
    ("points", "why"),
    [(((0, 0), (0, 0)), "all points are 0"), (tuple(tuple(int(i == j) for j in range(20)) for i in range(20)) * 4, "are out of reach")],
    ids=["a point", "many dimensions"],
)
def test_what_cannot_be_drawn_from_is_told_so(points, why):
    with pytest.raises(NoSampler, match=why):
        polytope.hull(exact(points))


def test_vertices_that_are_out_of_reach_are_told_so(monkeypatch):
    monkeypatch.setattr(polytopes, "vertices", lambda rows: None)
    with pytest.raises(NoSampler, match="the vertices of a polytope with 1 pairs of facets are out of reach"):
        polytope.by_facets(exact(((1,),)))


def test_simplices_are_drawn_by_their_shares_however_small_these_are():
    found, _ = drawn(CUBOCTAHEDRON, "uniform")
    shares = np.cumsum(np.concatenate([np.full(30, 1e-12), [0.25], np.full(30, 1e-9), [0.5, 0.25]]))
    shares /= shares[-1]
    many = replace(found, shares=shares, guide=np.searchsorted(shares, np.arange(64) / 64, side="right"))
    uniform = np.concatenate([np.random.default_rng(1).random(1_000), shares[:-1], np.nextafter(shares[:-1], 0), [0.0, 1 - 2.0**-53]])
    assert np.array_equal(many._chosen(uniform), np.searchsorted(shares, uniform, side="right"))
