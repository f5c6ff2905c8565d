"""The body K in the plane and in space: its outline, its edges, its spread, and the ball of the noise round it."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from dpverify.pictures.body import ACROSS, UPWARDS, _axes, _outline, body
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Norm, Product, Query, Radial, Translation

HEXAGON = ((F(1), F(0), F(1)), (F(0), F(1), F(1)))
CUBE = tuple(zip(*[tuple(map(F, signs)) for signs in product((-1, 1), repeat=3)], strict=True))
UNIT = tuple(tuple(F(int(i == j)) for j in range(3)) for i in range(3))


def noise(norm, dimension):
    return Radial(parse("exp(-r)"), norm, num(dimension))


def asked(rows, norm=L1, adjacency="l1"):
    return body(Claim(noise(norm, len(rows)), ONE, query=Query(rows, adjacency), utility=True))


def placed(points):
    return {(round(x, 9) + 0.0, round(y, 9) + 0.0) for x, y in points}


def inside(outline, points):
    """Whether points are within a polygon that goes counterclockwise."""
    corners = np.array(outline)
    edges = np.roll(corners, -1, axis=0) - corners
    away = np.array(points)[:, None, :] - corners[None]
    return bool((edges[None, :, 0] * away[..., 1] - edges[None, :, 1] * away[..., 0] > -1e-9).all())


def test_the_body_in_the_plane_is_the_hull_of_the_columns_and_their_opposites():
    found = asked(HEXAGON)
    assert (found.of, found.dimension, found.front, found.back) == ("query", 2, (), ())
    assert placed(found.outline) == {(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)}
    assert inside(found.outline, found.draws)


def test_replacing_a_record_makes_the_body_of_the_differences_of_two_columns():
    found = asked(((F(1), F(0), F(0)), (F(0), F(1), F(0))), adjacency="replace")
    assert placed(found.outline) == {(1, 0), (0, 1), (1, -1), (-1, 0), (0, -1), (-1, 1)}


def test_the_spread_is_that_of_a_uniform_point():
    """The hexagon is two unit squares and two right triangles: E x^2 = E y^2 = 5/18 and E xy = 5/36."""
    found = asked(HEXAGON)
    assert found.deviations == pytest.approx([math.sqrt(15 / 36), math.sqrt(5 / 36)])
    ends = np.array(found.axes[0])
    assert np.allclose(ends, math.sqrt(15 / 36) * math.sqrt(0.5) * np.array([[-1, -1], [1, 1]]))
    assert asked(CUBE).deviations == pytest.approx([3**-0.5] * 3)
    assert asked(UNIT).deviations == pytest.approx([0.1**0.5] * 3)  # 2/((d + 1)(d + 2)) for the ball of l1
    stretched = asked(((F(3), F(0)), (F(0), F(1))), L2, "l2")
    assert stretched.deviations == pytest.approx([3 / 2, 1 / 2])  # semi-axes 3 and 1, over the root of d + 2
    assert inside(stretched.outline, stretched.draws)


@pytest.mark.parametrize(("rows", "edges", "facing"), [(CUBE, 12, 9), (UNIT, 12, 9)])
def test_in_space_the_edges_are_those_of_the_polytope_and_some_are_behind_it(rows, edges, facing):
    """Three sides of the cube are seen; of the octahedron one, and the three that share an edge with it: nine edges of each."""
    found = asked(rows)
    assert (len(found.front), len(found.back)) == (facing, edges - facing)
    ends = {point for segment in (*found.front, *found.back) for point in placed(segment)}
    assert ends == placed((float(np.dot(ACROSS, x)), float(np.dot(UPWARDS, x))) for x in _vertices(rows))
    assert inside(found.outline, found.draws)


def _vertices(rows):
    columns = {tuple(map(float, column)) for column in zip(*rows, strict=True)}
    return columns | {tuple(-x for x in column) for column in columns}


def test_the_line_of_sight_is_at_right_angles_to_the_picture():
    assert np.allclose(np.array((ACROSS, UPWARDS)) @ np.array((ACROSS, UPWARDS)).T, np.eye(2), atol=1e-9)


def test_the_ball_round_it_is_the_smallest_of_the_norm_of_the_noise():
    assert placed(asked(HEXAGON).ball) == {(2, 0), (0, 2), (-2, 0), (0, -2)}
    assert placed(asked(HEXAGON, LINF).ball) == {(1, 1), (-1, 1), (-1, -1), (1, -1)}
    assert np.allclose(np.linalg.norm(asked(HEXAGON, L2).ball, axis=1), 2**0.5, rtol=3e-3)
    cubic = np.array(asked(HEXAGON, Norm("lp", F(3))).ball)
    assert np.allclose((np.abs(cubic) ** 3).sum(axis=1), 2, rtol=1e-2)
    wide = Norm("facets", None, ((F(1, 2), F(0)), (F(0), F(1))))
    assert placed(asked(HEXAGON, wide).ball) == {(2, 1), (-2, 1), (-2, -1), (2, -1)}
    independent = body(Claim(Product(parse("exp(-abs(z))"), num(3), L1), ONE, query=Query(CUBE, "l1"), utility=True))
    assert len(independent.ball) == 6 and max(math.dist(point, (0, 0)) for point in independent.ball) < 3


def test_a_ball_that_is_the_body_itself_is_not_drawn():
    own = Norm("columns", None, tuple(zip(*HEXAGON, strict=True)))
    assert asked(HEXAGON, own).ball == () == asked(UNIT, L1).ball
    assert body(Claim(Translation(parse("exp(-abs(z))")), ONE, query=Query(HEXAGON, "l1"), utility=True)).ball is None


def test_noise_in_the_norm_of_a_polytope_shows_its_ball_where_no_query_is_stated():
    columns, facets = (Norm(kind, None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1)))) for kind in ("columns", "facets"))
    found = body(Claim(noise(columns, 2), ONE, sensitivity=ONE))
    assert found.of == "norm" and placed(found.outline) == {(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)}
    assert placed(body(Claim(noise(facets, 2), ONE, sensitivity=ONE)).outline) == {(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)}


def test_the_same_claim_has_the_same_picture():
    assert asked(CUBE, L2) == asked(CUBE, L2)


@pytest.mark.parametrize(
    "claim",
    [
        Claim(noise(L2, 2), ONE, query=Query(HEXAGON, "l1")),  # no errors asked for, and no polytope
        Claim(noise(L2, 2), ONE, sensitivity=ONE, utility=True),  # no query
        Claim(noise(L1, 4), ONE, query=Query(((F(1),),) * 4, "l1"), utility=True),  # four dimensions
        Claim(noise(L1, 2), ONE, query=Query(((F(1), F(2)), (F(1), F(2))), "l1"), utility=True),  # flat
        Claim(noise(L1, 2), ONE, query=Query(((F(1), F(2)), (F(1), F(2))), "l2"), utility=True),
        Claim(Translation(parse("exp(-abs(z))")), ONE, sensitivity=ONE, utility=True),
        *(Claim(noise(L1, 2), ONE, query=Query(((F(10) ** size, F(0)), (F(0), F(1))), "l1"), utility=True) for size in (30, 400, -200)),
        Claim(noise(L1, 2), ONE, query=Query((tuple(map(F, range(500))), tuple(F(k * k) for k in range(500))), "replace"), utility=True),
        Claim(noise(L1, 2), ONE, query=Query(((F(10) ** -200, F(0)), (F(0), F(1))), "l2"), utility=True),
    ],
    ids=[
        "not asked for",
        "no query",
        "four dimensions",
        "flat",
        "flat in l2",
        "on the line",
        "needle",
        "beyond floats",
        "thin",
        "many",
        "thin in l2",
    ],
)
def test_what_has_no_body_that_can_be_seen_has_no_picture(claim):
    assert body(claim) is None


# -- the same on every machine --------------------------------------------------------------------------------------


def test_an_outline_depends_neither_on_the_order_of_points_nor_on_their_last_digits():
    rng = np.random.default_rng(0)
    corners = np.array([(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)], float)
    points = np.concatenate([corners, (corners + np.roll(corners, 1, axis=0)) / 2, corners / 3])  # the middle of a side is no corner
    outlines = {_outline(rng.permutation(points) * (1 + 1e-13 * rng.standard_normal(points.shape))) for _ in range(20)}
    assert outlines == {((-1.0, -1.0), (0.0, -1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (-1.0, 0.0))}


def test_axes_of_one_variance_are_those_nearest_to_the_coordinates():
    rng = np.random.default_rng(1)
    for _ in range(5):
        noise = 1e-14 * rng.standard_normal((3, 3))
        values, axes = _axes(np.diag([1.0, 1.0, 1.0]) + noise + noise.T)
        assert np.allclose(axes, np.eye(3), atol=1e-6) and np.allclose(values, 1)
        values, axes = _axes(np.array([[2.0, 1, 1], [1, 2, 1], [1, 1, 2]]) / 3 + noise + noise.T)
        assert np.allclose(np.abs(axes[0]), 3**-0.5) and np.allclose(axes @ axes.T, np.eye(3), atol=1e-7)
        assert np.allclose(np.abs(axes[1]), np.array([2, 1, 1]) / 6**0.5, atol=1e-6)
