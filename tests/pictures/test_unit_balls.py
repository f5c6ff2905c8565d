"""Noise in the plane: outlines of unit balls, draws of the noise, and the balls that hold half and 90 % of it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.pictures import level_sets, noise_samples, norm_values, unit_ball
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Norm, Product, Radial, Translation

F = Fraction
HEXAGON = Norm("columns", None, ((F(1), F(0)), (F(1), F(1)), (F(0), F(1)), (F(1, 4), F(1, 4))))
SLAB = Norm("facets", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1)), (F(1, 9), F(0))))
ELLIPSE = Norm("ellipsoid", None, ((F(2), F(1)), (F(1), F(3))))
LP = Norm("lp", F(3, 2))
NORMS = [L1, L2, LINF, LP, HEXAGON, SLAB, ELLIPSE]


def vertices(norm: Norm) -> set[tuple[float, float]]:
    return {(round(x, 12), round(y, 12)) for x, y in unit_ball(norm).points}


def test_polygons_have_their_vertices_and_nothing_else():
    assert vertices(L1) == {(1, 0), (0, 1), (-1, 0), (0, -1)}
    assert vertices(LINF) == {(1, 1), (-1, 1), (-1, -1), (1, -1)}
    assert vertices(HEXAGON) == {(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)}
    assert vertices(SLAB) == {(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)}
    assert all(unit_ball(norm).exact for norm in (L1, LINF, HEXAGON, SLAB))
    assert not any(unit_ball(norm).exact for norm in (L2, LP, ELLIPSE))


@pytest.mark.parametrize("norm", NORMS)
def test_outlines_go_once_around_counterclockwise_and_are_convex(norm):
    points = np.array(unit_ball(norm).points)
    edges = np.roll(points, -1, axis=0) - points
    following = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
    assert (turns > -1e-12).all()
    angles = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    assert math.pi < angles[-1] - angles[0] < 2 * math.pi


@pytest.mark.parametrize("norm", NORMS)
def test_outlines_are_symmetric_and_scale_with_their_radius(norm):
    points = np.array(unit_ball(norm, 2.5).points)
    assert {(round(x, 9), round(y, 9)) for x, y in points} == {(round(-x, 9), round(-y, 9)) for x, y in points}
    assert np.allclose(points, 2.5 * np.array(unit_ball(norm).points))
    assert np.allclose(norm_values(norm, points), 2.5)


def test_norms_of_points_are_those_of_the_definition():
    points = np.array([[3.0, -4.0], [0.5, 0.25]])
    assert norm_values(L1, points) == pytest.approx([7, 0.75])
    assert norm_values(L2, points) == pytest.approx([5, math.sqrt(0.3125)])
    assert norm_values(SLAB, points) == pytest.approx([4, 0.75])
    assert norm_values(HEXAGON, points) == pytest.approx([7, 0.5])
    assert norm_values(ELLIPSE, points) == pytest.approx([math.sqrt((3 * 9 + 24 + 2 * 16) / 5), math.sqrt((3 * 0.25 - 0.25 + 0.125) / 5)])


def test_what_is_no_norm_on_the_plane_says_why():
    flat = Norm("columns", None, ((F(1), F(1)),))
    for refused in (unit_ball, lambda norm: norm_values(norm, np.zeros((1, 2)))):
        with pytest.raises(ValueError, match="no norm on the plane: columns: they do not span"):
            refused(flat)


@pytest.mark.parametrize("norm", NORMS)
def test_draws_have_the_declared_norm_and_the_directions_of_a_uniform_point(norm):
    drawn = noise_samples(Radial(parse("exp(-r)"), norm, num(2), parse("3")), 4000, seed=7)
    assert drawn is not None
    assert drawn.shape == (4000, 2)
    sizes = norm_values(norm, drawn)
    assert stats.kstest(sizes, stats.gamma(2, scale=3).cdf).pvalue > 1e-4
    rng = np.random.default_rng(11)
    box = np.abs(np.array(unit_ball(norm).points)).max(axis=0)
    uniform = rng.uniform(-box, box, size=(20_000, 2))
    uniform = uniform[norm_values(norm, uniform) <= 1]
    angle = lambda points: np.arctan2(points[:, 1], points[:, 0])  # noqa: E731
    assert stats.ks_2samp(angle(drawn), angle(uniform)).pvalue > 1e-4
    assert abs(stats.spearmanr(sizes, angle(drawn)).statistic) < 0.06


def test_draws_are_the_same_for_the_same_seed():
    mechanism = Radial(parse("exp(-r**2/2)"), ELLIPSE, num(2))
    first, again, other = (noise_samples(mechanism, 50, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_independent_coordinates_are_drawn_independently_with_their_signs():
    lopsided = Product(parse("exp(-max(z, -3*z))"), num(2), L1)
    drawn = noise_samples(lopsided, 4000, seed=3)
    assert drawn is not None
    known = lambda z: np.where(z < 0, 0.25 * np.exp(3 * np.minimum(z, 0)), 1 - 0.75 * np.exp(-np.maximum(z, 0)))  # noqa: E731
    for column in drawn.T:
        assert stats.kstest(column, known).pvalue > 1e-4
    assert abs(stats.spearmanr(*drawn.T).statistic) < 0.06


def test_the_level_sets_hold_what_they_say():
    half, most = level_sets(Radial(parse("exp(-r**2/2)"), L2, num(2), parse("2")))
    assert (half.probability, most.probability) == (0.5, 0.9)
    assert half.radius == pytest.approx(2 * math.sqrt(2 * math.log(2)))
    assert most.radius == pytest.approx(2 * math.sqrt(2 * math.log(10)))
    assert np.allclose(np.linalg.norm(half.outline.points, axis=1), half.radius)
    half, most = level_sets(Product(parse("exp(-abs(z))"), num(2), L1))
    assert [half.radius, most.radius] == pytest.approx([stats.gamma(2).ppf(0.5), stats.gamma(2).ppf(0.9)], rel=2e-3)


def test_noise_that_is_not_in_the_plane_has_neither_draws_nor_level_sets():
    for mechanism in (Translation(parse("exp(-abs(z))")), Radial(parse("exp(-r)"), L2, num(3)), Radial(parse("exp(-a*r)"), L2, num(2))):
        assert noise_samples(mechanism, 10, seed=0) is None
        assert level_sets(mechanism) == ()
