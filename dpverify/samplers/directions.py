"""Points of the unit sphere of a norm, by the volume of the cone over them: directions of noise (theory#directions-and-lengths)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import NoSampler
from dpverify.samplers import polytope
from dpverify.trusted.kernel.model import Norm

Array = NDArray[np.float64]
Directions = Callable[[int, np.random.Generator], Array]
"""So many directions, as rows."""


def directions(norm: Norm, dimension: int) -> tuple[Directions, str]:
    """The directions of a norm, and how they are drawn, in words. Raises NoSampler for a polytope that is out of reach."""
    if norm.kind == "lp":
        p = np.inf if norm.p is None else float(norm.p)
        return lambda size, rng: _of_lp(p, dimension, size, rng), _lp_in_words(p)
    if norm.kind == "ellipsoid":
        factor = _root(np.array([[float(entry) for entry in row] for row in norm.matrix]))
        told = "directions of normal vectors, mapped by a root of the matrix"
        return lambda size, rng: _of_lp(2.0, dimension, size, rng) @ factor.T, told
    body = polytope.hull(norm.matrix) if norm.kind == "columns" else polytope.by_facets(norm.matrix)
    checked = "checked exactly" if body.checked else "in floats"
    told = f"directions of uniform points of the unit ball, whose boundary is cut into {2 * len(body.simplices)} simplices ({checked})"
    return body.boundary, told


def _lp_in_words(p: float) -> str:
    if p == np.inf:
        return "directions of uniform points of a cube"
    return "directions of normal vectors" if p == 2 else f"directions of vectors of independent coordinates of density exp(-|t|^{p:g})"


def _of_lp(p: float, dimension: int, size: int, rng: np.random.Generator) -> Array:
    """Independent coordinates of density exp(-|t|^p), divided by their norm."""
    if p == 2:
        points = rng.standard_normal((size, dimension))
        return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))
    points = rng.uniform(-1, 1, (size, dimension))
    if p < np.inf:  # |t|^p has the law Gamma(1/p), and is Gamma(1 + 1/p) times U^p: so it does not vanish where p is large
        points *= rng.standard_gamma(1 + 1 / p, (size, dimension)) ** (1 / p)
    sizes = np.abs(points)
    top = sizes.max(axis=1, keepdims=True)
    if p < np.inf:
        top = top * ((sizes / top) ** p).sum(axis=1, keepdims=True) ** (1 / p)
    return np.asarray(points / top)


def _root(matrix: Array) -> Array:
    """A matrix L with L L' the given one. Raises NoSampler where floats do not see that it is positive definite."""
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError as error:
        raise NoSampler("in floats the ellipsoid's matrix is not positive definite: it is too long and thin.") from error
