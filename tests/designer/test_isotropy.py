"""Isotropy of the body of differences, against bodies whose covariance is known."""

from math import factorial, gamma, pi, sqrt

import pytest

from dpverify.project.designer import question_of
from dpverify.project.designer.candidates import NotTried
from dpverify.project.designer.isotropy import isotropy
from dpverify.trusted.kernel.balls import constant


def of(rows, adjacency="l1"):
    return isotropy(question_of("query.toml", {"design": {"query": rows, "adjacency": adjacency, "epsilon": 1}}))


def values(pair):
    return [float(constant(end)) for end in pair]


@pytest.mark.parametrize("rows", [[[1, 0], [0, 1]], [[2, 1], [0, 5]]], ids=["square", "parallelogram"])
def test_a_parallelogram_has_the_isotropic_constant_of_a_square(rows):
    assert values(of(rows).constant) == pytest.approx([1 / sqrt(12)] * 2)


def test_a_ball_is_isotropic_and_an_ellipsoid_is_not():
    ball, long = of([[1, 0], [0, 1]], "l2"), of([[1, 0], [0, 7]], "l2")
    assert values(ball.anisotropy) == pytest.approx([1, 1])
    assert values(ball.constant) == values(long.constant) == pytest.approx([1 / sqrt(4 * pi)] * 2)  # second moment 1/4, area pi
    assert values(long.anisotropy) == pytest.approx([sqrt((1 + 49) / 2 / 7)] * 2)


def test_a_cross_polytope_has_the_covariance_of_the_law_of_dirichlet():
    d = 3
    found = of([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    second, volume = 2 / ((d + 1) * (d + 2)), 2**d / factorial(d)
    length = sqrt(second) / volume ** (1 / d)
    assert values(found.constant) == pytest.approx([length] * 2) and values(found.anisotropy) == pytest.approx([1, 1])
    ball = pi ** (d / 2) / gamma(d / 2 + 1)
    assert values(found.most) == pytest.approx([length * (d + 1) ** 2 / sqrt(d) * (ball / factorial(d)) ** (1 / d)] * 2)


def test_the_map_takes_the_body_near_isotropic_position_as_far_as_is_said():
    found = of([[1, 1, 0], [0, 10, 10]])
    assert float(constant(found.off)) < 1e-4
    (a, b), (c, d) = [[float(x) for x in row] for row in found.map]
    corners = [(1, 0), (1, 10), (0, 10)]
    area = sum(abs(x[0] * y[1] - x[1] * y[0]) for x, y in zip(corners, [*corners[1:], (-1, 0)], strict=True))
    assert (a * d - b * c) * area == pytest.approx(1, rel=1e-4)


def test_the_map_is_as_near_where_one_coordinate_is_a_billion_times_as_long():
    found = of([[1, 1, 0], [0, 10**10, 10**10]])
    assert float(constant(found.off)) < 1e-4


def test_a_body_of_too_many_facets_is_not_looked_at():
    rows = [[(-1) ** (j >> i & 1) for j in range(64)] for i in range(9)]
    assert isinstance(of([[*row[:i], row[i] + i, *row[i + 1 :]] for i, row in enumerate(rows)]), NotTried)
