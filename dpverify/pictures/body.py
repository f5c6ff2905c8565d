"""The body of differences of a claim in the plane or in space: its outline or its edges, uniform points, and its principal directions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from dpverify.pictures.polyline import Point
from dpverify.search.numeric import Array
from dpverify.search.utility import polytopes
from dpverify.trusted.combinators.released import answered
from dpverify.trusted.geometry.lengths import norm_faults
from dpverify.trusted.geometry.linear import matrix
from dpverify.trusted.kernel.model import Claim, Matrix, Mixture, Norm, Product, Query, Radial
from dpverify.trusted.sensitivity.queries import differences

DIMENSIONS: Final = (2, 3)
DRAWS: Final = 200
SEED: Final = 0
ACROSS: Final = (-0.5, 0.75**0.5, 0.0)
"""The direction in space that a picture shows to the right."""
UPWARDS: Final = (-0.36, -0.36 / 3**0.5, 0.8272**0.5)
"""The one that it shows upwards: at a right angle to the other, and of length 1."""
POINTS: Final = 96
MOST: Final = 100_000
"""Differences of neighbours of which the hull is looked for."""
_FLAT: Final = 1e-7
_ALIKE: Final = 1e-9
_DECIMALS: Final = 9
"""Digits of places, from the first of the greatest of them on, to which they are rounded before anything is decided by them."""
_SAME: Final = 1e-9
"""How much two variances may differ, as a share of the greatest, that are taken for one."""

Segment = tuple[Point, Point]


@dataclass(frozen=True, slots=True)
class BodyPicture:
    """A body K about 0 and what belongs to it, as seen: in the plane as it is, in space along a line of sight.

    of: whether K is what neighbouring answers differ by ("query"), or the unit ball of the noise's norm ("norm"). dimension: of K.
    outline: round the picture of K, counterclockwise. front, back: edges that are seen, and those behind K; of a polytope in space.
    ball: the outline of the smallest ball of the noise's norm that holds K; empty where that is K itself, None where the noise has no norm.
    axes: the principal directions, from minus to plus the deviation; deviations: of a uniform point of K along these, the greatest first.
    draws: uniform points of K.
    """

    of: str
    dimension: int
    outline: tuple[Point, ...]
    front: tuple[Segment, ...]
    back: tuple[Segment, ...]
    ball: tuple[Point, ...] | None
    axes: tuple[Segment, ...]
    deviations: tuple[float, ...]
    draws: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class _Solid:
    """A body in floats: its support function's points, the covariance of its uniform law, uniform points. vertices: of a polytope."""

    touched: Array
    covariance: Array
    uniform: Array
    vertices: Array | None


def body(claim: Claim) -> BodyPicture | None:
    """K of a claim in two or three dimensions, with errors asked for or noise in the norm of a polytope.

    None for other claims, and for a body that is flat, or so thin or so large that floats see nothing of it.
    """
    try:
        return _body(claim)
    except (QhullError, np.linalg.LinAlgError, ArithmeticError):
        return None


def _body(claim: Claim) -> BodyPicture | None:
    norm, query = getattr(claim.mechanism, "norm", None), answered(claim)
    if isinstance(norm, Norm) and norm.kind not in ("columns", "facets") and not claim.utility:
        return None
    if query is not None and len(query.rows) in DIMENSIONS:
        of, dimension = "query", len(query.rows)
        if query.adjacency == "l2":
            rows = matrix(query.rows)
            solid = _ellipsoid(_floats(query.rows) @ _floats(query.rows).T) if rows.rank() == dimension else None
        else:
            solid = _polytope(differences(query), dimension) if _pairs(query) <= MOST else None
    elif isinstance(norm, Norm) and norm.kind in ("columns", "facets") and norm.matrix and len(norm.matrix[0]) in DIMENSIONS:
        of, dimension = "norm", len(norm.matrix[0])
        solid = _polytope(norm.matrix, dimension, by_facets=norm.kind == "facets")
    else:
        return None
    return None if solid is None else _seen(of, dimension, solid, _ball(claim, dimension, solid))


def _pairs(query: Query) -> int:
    """As many differences of neighbours as there can be."""
    kinds = len(query.rows[0])
    return kinds * (kinds - 1) // 2 if query.adjacency == "replace" else kinds


# -- bodies ----------------------------------------------------------------------------------------------


def _polytope(points: Matrix, dimension: int, *, by_facets: bool = False) -> _Solid | None:
    """The hull of points and their opposites, or what their facets bound; None where it is flat, or cannot be cut into simplices."""
    if not points or matrix(points).rank() < dimension:
        return None
    own = polytopes.vertices(points) if by_facets else points
    simplices = None if own is None else next(polytopes.boundary(own), None)
    if own is None or simplices is None:
        return None
    cut = polytopes.corners(_floats(own), simplices)  # of the sides of pyramids with their tips in 0
    sizes = np.abs(np.linalg.det(cut))
    sums, shares = cut.sum(axis=1), sizes / sizes.sum()
    second = np.einsum("s,sij,sik->jk", shares, cut, cut) + np.einsum("s,sj,sk->jk", shares, sums, sums)
    rng = np.random.default_rng(SEED)
    weights = rng.standard_exponential((DRAWS, dimension))
    weights *= rng.choice((-1.0, 1.0), (DRAWS, 1)) * rng.random((DRAWS, 1)) ** (1 / dimension) / weights.sum(axis=1, keepdims=True)
    uniform = np.einsum("ki,kij->kj", weights, cut[rng.choice(len(cut), DRAWS, p=shares)])
    corners = cut.reshape(-1, dimension)
    vertices = np.unique(np.concatenate((corners, -corners)), axis=0)
    return _Solid(vertices, second / ((dimension + 1) * (dimension + 2)), uniform, vertices)


def _ellipsoid(shape: Array) -> _Solid:
    """All x with x' shape^-1 x <= 1."""
    dimension, rng = len(shape), np.random.default_rng(SEED)
    root = np.linalg.cholesky(shape)
    drawn = rng.standard_normal((DRAWS, dimension))
    inside = drawn / np.linalg.norm(drawn, axis=1)[:, None] * rng.random((DRAWS, 1)) ** (1 / dimension)
    directions = _round(dimension)
    touched = directions @ shape / np.sqrt(np.einsum("ij,jk,ik->i", directions, shape, directions))[:, None]
    return _Solid(touched, shape / (dimension + 2), inside @ root.T, None)


def _ball(claim: Claim, dimension: int, solid: _Solid) -> Array | None:
    """Points round the smallest ball of the noise's norm that holds a body; none where that is the body, None without such a norm."""
    mechanism = claim.mechanism
    if not isinstance(mechanism, Radial | Mixture | Product) or norm_faults(mechanism.norm, dimension):
        return None
    found = _unit(mechanism.norm, dimension)
    if found is None:
        return None
    normals = _round(dimension)
    ball, held = (normals @ found.T).max(axis=1), _support(solid, normals)
    exact = np.concatenate((normals, _normals(found))) if len(found) > dimension else normals
    reach = float((_support(solid, exact) / (exact @ found.T).max(axis=1)).max())
    return np.zeros((0, dimension)) if np.abs(held - reach * ball).max() < _ALIKE * held.max() else reach * found


def _unit(norm: Norm, dimension: int) -> Array | None:
    """Points whose hull is the unit ball of a norm, or near it for one without corners."""
    if norm.kind in ("columns", "facets"):
        solid = _polytope(norm.matrix, dimension, by_facets=norm.kind == "facets")
        return None if solid is None else solid.touched
    if norm.kind == "ellipsoid":
        return _ellipsoid(_floats(norm.matrix)).touched
    if norm.p is None:
        return np.stack([axis.ravel() for axis in np.meshgrid(*[(-1.0, 1.0)] * dimension)], axis=1)
    if norm.p == 1:
        return np.concatenate((np.eye(dimension), -np.eye(dimension)))
    normals = _round(dimension)
    points = np.sign(normals) * np.abs(normals) ** (1 / (float(norm.p) - 1))
    return np.asarray(points / (np.abs(points) ** float(norm.p)).sum(axis=1)[:, None] ** (1 / float(norm.p)))


def _support(solid: _Solid, normals: Array) -> Array:
    """How far a body reaches in directions."""
    return np.asarray((normals @ solid.touched.T).max(axis=1))


def _normals(points: Array) -> Array:
    """Of the facets of the hull of points."""
    return np.asarray(ConvexHull(points, qhull_options="QJ").equations[:, :-1])


def _round(dimension: int) -> Array:
    """Unit vectors that are spread evenly; in space, those at a right angle to the line of sight among them."""
    turned = 2 * np.pi * np.arange(POINTS) / POINTS
    circle = np.stack((np.cos(turned), np.sin(turned)), axis=1)
    if dimension == 2:
        return circle
    k = np.arange(8 * POINTS) + 0.5
    height, golden = 1 - 2 * k / (8 * POINTS), np.pi * (1 + 5**0.5) * k
    across = np.sqrt(1 - height**2)
    sphere = np.stack((across * np.cos(golden), across * np.sin(golden), height), axis=1)
    return np.concatenate((circle @ np.array((ACROSS, UPWARDS)), sphere, -sphere))


# -- what is seen ----------------------------------------------------------------------------------------


def _seen(of: str, dimension: int, solid: _Solid, ball: Array | None) -> BodyPicture:
    values, vectors = _axes(solid.covariance)
    deviations = np.sqrt(values)
    ends = _signed(vectors) * deviations[:, None]
    view = np.eye(2) if dimension == 2 else np.array((ACROSS, UPWARDS))
    front, back = ((), ()) if dimension == 2 or solid.vertices is None else _edges(solid.vertices)
    seen = _points(np.concatenate((-ends, ends)) @ view.T)
    axes = tuple(zip(seen[: len(ends)], seen[len(ends) :], strict=True))
    round_ball = None if ball is None else _outline(ball @ view.T) if len(ball) else ()
    draws = _points(solid.uniform @ view.T)
    return BodyPicture(
        of, dimension, _outline(solid.touched @ view.T), front, back, round_ball, axes, tuple(float(x) for x in deviations), draws
    )


def _signed(vectors: Array) -> Array:
    """The same lines, each with its greatest entry positive."""
    at = np.abs(vectors).argmax(axis=1)
    return np.asarray(vectors * np.sign(vectors[np.arange(len(vectors)), at])[:, None])


def _grain(points: Array) -> Fraction:
    """What places are multiples of, once they are rounded."""
    greatest = float(np.abs(points).max(initial=0.0))
    return Fraction(10) ** (math.floor(math.log10(greatest)) - _DECIMALS) if greatest > 0 else Fraction(1)


def _points(places: Array) -> tuple[Point, ...]:
    """To as many digits as no plot shows, so that how a machine adds up is not seen."""
    unit = _grain(places)
    return tuple((float(round(Fraction(x) / unit) * unit), float(round(Fraction(y) / unit) * unit)) for x, y in places.tolist())


def _axes(covariance: Array) -> tuple[Array, Array]:
    """Variances along the axes, the greatest first, and the axes.

    Of axes of one variance any may be taken: those nearest to the coordinates are, whatever a library of linear algebra takes.
    """
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors.T[::-1]
    axes: list[Array] = []
    first = 0
    while first < len(values):
        last = first + int((np.abs(values[first:] - values[first]) <= _SAME * values[0]).sum())
        projected = (vectors[first:last].T @ vectors[first:last]).round(_DECIMALS)  # of each coordinate, into their space
        mine: list[Array] = []
        while len(mine) < last - first:
            rest = projected - sum((np.outer(axis, axis @ projected) for axis in mine), np.zeros_like(projected))
            lengths = np.linalg.norm(rest, axis=0).round(_DECIMALS)
            mine.append(rest[:, lengths.argmax()] / np.linalg.norm(rest[:, lengths.argmax()]))
        axes += mine
        first = last
    return values, np.array(axes)


def _outline(points: Array) -> tuple[Point, ...]:
    """The corners of the hull of points in the plane, counterclockwise from the lowest of the leftmost; those on its sides are none.

    Exact on rounded points: neither their order nor their last digits decide which are corners.
    """
    unit = _grain(points)
    places = sorted({(round(x / unit), round(y / unit)) for x, y in ((Fraction(a), Fraction(b)) for a, b in points.tolist())})

    def half(ordered: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for x, y in ordered:
            while len(found) > 1:
                (a, b), (c, d) = found[-2:]
                if (c - a) * (y - b) - (d - b) * (x - a) > 0:
                    break
                found.pop()
            found.append((x, y))
        return found[:-1]

    corners = (*half(places), *half(reversed(places)))
    if len(corners) < 3:
        raise ArithmeticError("too thin to be seen")
    return tuple((float(x * unit), float(y * unit)) for x, y in corners)


def _edges(vertices: Array) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """The edges of a polytope in space, those that face the eye and those behind."""
    hull = ConvexHull(vertices)
    view, sight = np.array((ACROSS, UPWARDS)), np.cross(ACROSS, UPWARDS)
    sides: dict[tuple[int, int], list[Array]] = defaultdict(list)
    for simplex, equation in zip(hull.simplices, hull.equations, strict=True):
        for i, j in combinations(sorted(int(k) for k in simplex), 2):
            sides[i, j].append(equation[:3])
    front: list[Segment] = []
    back: list[Segment] = []
    places = _points(vertices @ view.T)
    for (i, j), normals in sorted(sides.items()):
        if np.abs(normals[0] - normals[-1]).max() < _FLAT:
            continue  # inside a facet that is cut into triangles
        seen = max(float(normal @ sight) for normal in normals) > _FLAT
        (front if seen else back).append((places[i], places[j]))
    return tuple(sorted(front)), tuple(sorted(back))


def _floats(rows: Matrix) -> Array:
    return np.array([[float(x) for x in row] for row in rows])
