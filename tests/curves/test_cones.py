"""Shares of the volume over the facets of a polytope, against known bodies and Qhull."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from dpverify.trusted.geometry.cones import Cones, vertices
from dpverify.trusted.kernel.errors import Undecided


def rows(*numbers):
    return tuple(tuple(map(F, row)) for row in numbers)


def hull(points):
    normals = vertices(points)
    return Cones(vertices(normals), normals)


def test_a_cube_has_six_equal_cones_and_three_of_them_meet_in_a_vertex():
    normals = rows((1, 0, 0), (0, 1, 0), (0, 0, 1))
    corners = vertices(normals)
    cube = Cones(corners, vertices(corners))
    assert len(corners) == 8
    assert cube.shares == (F(1, 6),) * 6
    assert [cube.share(p) for p in rows((1, 1, 1), (1, 1, 0), (2, 1, -1))] == [F(1, 2), F(1, 3), F(1, 6)]
    assert cube.gauge((F(2), F(-3), F(1))) == 3


def test_an_octahedron_has_eight_equal_cones_and_four_of_them_meet_in_a_vertex():
    octahedron = hull(rows((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    assert octahedron.shares == (F(1, 8),) * 8
    assert octahedron.share((F(0), F(-5), F(0))) == F(1, 2)


def test_points_inside_and_opposites_do_not_count():
    assert set(hull(rows((1, 0), (0, 1), (-1, 0), (F(1, 2), 0), (F(1, 2), F(1, 2)))).corners) == set(rows((1, 0), (0, 1), (-1, 0), (0, -1)))


def test_a_prism_over_a_hexagon_has_facets_that_are_no_simplices():
    """Height 2 about a hexagon of area 3: the two hexagons bear a cone of volume 1 each, the six sides share the rest of 6."""
    prism = rows((1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1))
    corners = vertices(prism)
    cones = Cones(corners, vertices(corners))
    assert len(corners) == 12
    assert sorted(cones.shares) == [F(1, 9)] * 6 + [F(1, 6)] * 2


@pytest.mark.parametrize(("dimension", "count", "seed"), [(2, 5, 0), (3, 5, 1), (3, 6, 2), (4, 5, 3)])
def test_random_polytopes_agree_with_qhull(dimension, count, seed):
    points = np.random.default_rng(seed).integers(-4, 5, (count, dimension))
    found = hull(rows(*points.tolist()))
    both = np.vstack([points, -points])
    qhull = ConvexHull(both)
    volumes: dict[tuple[float, ...], float] = {}
    for simplex, equation in zip(qhull.simplices, qhull.equations, strict=True):
        normal = tuple(np.round(-equation[:-1] / equation[-1], 6) + 0.0)
        volumes[normal] = volumes.get(normal, 0) + abs(np.linalg.det(both[simplex]))
    mine = {tuple(np.round(np.array(a, float), 6) + 0.0): float(s) for a, s in zip(found.normals, found.shares, strict=True)}
    assert mine == pytest.approx({a: volume / sum(volumes.values()) for a, volume in volumes.items()})


def test_too_many_facets_are_undecided():
    with pytest.raises(Undecided):
        vertices(tuple(tuple(F(i**k % 31) for k in range(8)) for i in range(1, 30)))
