"""Noise in the plane: the unit ball of a norm, and draws of the noise from its declared density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import spatial

from dpverify.pictures.exponent import dimension_of, exponent
from dpverify.pictures.law import size_law
from dpverify.pictures.noise_error import size_law_of
from dpverify.pictures.polyline import Point
from dpverify.search.numeric import Array
from dpverify.trusted.geometry.lengths import norm_faults
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Mechanism, Mixture, Norm, Product, Radial

PLANE: Final = 2
SMOOTH_POINTS: Final = 128
LEVELS: Final = (0.5, 0.9)


@dataclass(frozen=True, slots=True)
class Outline:
    """The boundary of a convex set about 0, counterclockwise, without repeating the first point.

    exact: whether the points are the vertices of a polygon; else they lie on a smooth curve, close enough to be joined.
    """

    points: tuple[Point, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class LevelSet:
    """The ball of the noise's norm that holds the noise with this probability. radius: in that norm."""

    probability: float
    radius: float
    outline: Outline


def unit_ball(norm: Norm, radius: float = 1.0) -> Outline:
    """The ball of a norm on R^2 of some radius. Raises ValueError for what is no norm there."""
    faults = norm_faults(norm, PLANE)
    if faults:
        raise ValueError(f"no norm on the plane: {'; '.join(faults)}")
    corners = _corners(norm)
    points = _smooth(norm) if corners is None else corners
    return Outline(tuple((float(x) * radius, float(y) * radius) for x, y in points), corners is not None)


def norm_values(norm: Norm, points: Array) -> Array:
    """The norms of points in the plane, an array (count, 2), as floats. Raises ValueError as `unit_ball` does."""
    faults = norm_faults(norm, PLANE)
    if faults:
        raise ValueError(f"no norm on the plane: {'; '.join(faults)}")
    if norm.kind == "lp":
        order = np.inf if norm.p is None else float(norm.p)
        return np.asarray(np.linalg.norm(points, ord=order, axis=1))
    if norm.kind == "ellipsoid":
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", points, np.linalg.solve(_matrix(norm), points.T).T)))
    return np.asarray(np.abs(points @ _facets(norm).T).max(axis=1))


def noise_samples(mechanism: Mechanism, count: int, seed: int) -> Array | None:
    """Draws of additive noise in the plane, an array (count, 2), the same for the same seed; None for other mechanisms.

    Radial noise: its norm by inverse transform, its direction by the cone measure, which is that of a uniform point of the ball
    over its norm. Independent noise: each coordinate by inverse transform.
    """
    h = exponent(mechanism)
    if h is None or dimension_of(mechanism) != PLANE:
        return None
    law = size_law(h, 1 if isinstance(mechanism, Product) else PLANE)
    if law is None:
        return None
    rng = np.random.default_rng(seed)
    if isinstance(mechanism, Product):
        sizes = law.inverse(rng.random(PLANE * count))
        with np.errstate(invalid="ignore"):
            gap = h(sizes) - h(-sizes)  # how much less likely the positive one of the two signs is
            share = np.where(np.isnan(gap), 0.5, 1 / (1 + np.exp(np.clip(gap, -700, 700))))
        return np.asarray(np.where(rng.random(sizes.size) < share, sizes, -sizes).reshape(count, PLANE))
    assert isinstance(mechanism, Radial | Mixture)
    return np.asarray(law.inverse(rng.random(count))[:, None] * _directions(mechanism.norm, count, rng))


def level_sets(mechanism: Mechanism) -> tuple[LevelSet, ...]:
    """The balls of the noise's norm that hold half and 90 % of additive noise in the plane; none where their radii are not computed."""
    if dimension_of(mechanism) != PLANE or not isinstance(mechanism, Radial | Product | Mixture):
        return ()
    try:
        law = size_law_of(mechanism)
    except (DpverifyError, ArithmeticError, ValueError):
        return ()
    if law is None:
        return ()
    radii = [law.quantile(probability) for probability in LEVELS]
    return tuple(LevelSet(p, radius, unit_ball(mechanism.norm, radius)) for p, radius in zip(LEVELS, radii, strict=True))


# -- outlines --------------------------------------------------------------------------------------------


def _matrix(norm: Norm) -> Array:
    return np.array([[float(entry) for entry in row] for row in norm.matrix])


def _corners(norm: Norm) -> Array | None:
    """The vertices of a polygonal ball, counterclockwise; None for a smooth one."""
    if norm.kind == "lp" and norm.p == 1:
        return np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    if norm.kind == "lp" and norm.p is None:
        return np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    if norm.kind == "columns":
        return _hull(np.concatenate([_matrix(norm), -_matrix(norm)]))
    if norm.kind == "facets":
        return _around(_polar(_facets(norm)))
    return None


def _hull(points: Array) -> Array:
    return np.asarray(points[spatial.ConvexHull(points).vertices])


def _polar(normals: Array) -> Array:
    """The vertices of {x : <a, x> <= 1}, rows a in the order around 0 of a polygon's vertices: where neighbouring lines meet."""
    following = np.roll(normals, -1, axis=0)
    return np.stack([np.linalg.solve(np.stack(pair), np.ones(2)) for pair in zip(normals, following, strict=True)])


def _around(points: Array) -> Array:
    return np.asarray(points[np.argsort(np.arctan2(points[:, 1], points[:, 0]))])


def _facets(norm: Norm) -> Array:
    """Rows a with ||x|| = max <a, x>, each with its negative: the vertices of the polar ball."""
    if norm.kind == "facets":
        return _hull(np.concatenate([_matrix(norm), -_matrix(norm)]))
    return _polar(_hull(np.concatenate([_matrix(norm), -_matrix(norm)])))


def _smooth(norm: Norm) -> Array:
    """Points around a ball without corners, closer together where it bends."""
    angles = np.linspace(0, 2 * np.pi, SMOOTH_POINTS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if norm.kind == "ellipsoid":
        return np.asarray(circle @ np.linalg.cholesky(_matrix(norm)).T)
    assert norm.p is not None
    return np.asarray(np.sign(circle) * np.abs(np.where(np.abs(circle) < 1e-15, 0.0, circle)) ** (2 / float(norm.p)))


def _directions(norm: Norm, count: int, rng: np.random.Generator) -> Array:
    """Draws of the cone measure on the unit sphere of a norm."""
    corners = _corners(norm)
    if corners is not None:
        following = np.roll(corners, -1, axis=0)
        areas = np.abs(np.cross(np.c_[corners, np.zeros(len(corners))], np.c_[following, np.zeros(len(corners))])[:, 2])
        edge = rng.choice(len(corners), size=count, p=areas / areas.sum())
        along = rng.random((count, 1))  # uniform in a triangle with a corner at 0 is uniform along its far edge
        return np.asarray(corners[edge] * (1 - along) + following[edge] * along)
    if norm.kind == "ellipsoid":
        angles = 2 * np.pi * rng.random(count)
        return np.asarray(np.stack([np.cos(angles), np.sin(angles)], axis=1) @ np.linalg.cholesky(_matrix(norm)).T)
    assert norm.p is not None
    # powers 1/p of gamma draws of shape 1/p have density exp(-|x|^p), which is radial in lp: its direction is the cone measure
    sizes = rng.gamma(1 / float(norm.p), size=(count, PLANE)) ** (1 / float(norm.p))
    drawn = sizes * rng.choice([-1.0, 1.0], size=(count, PLANE))
    return np.asarray(drawn / norm_values(norm, drawn)[:, None])
