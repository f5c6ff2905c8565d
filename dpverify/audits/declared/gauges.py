"""Norms in floats, and the moves of a claim's answers that are as long as its sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dpverify.audits.declared.base import Array
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import Claim, Norm
from dpverify.trusted.sensitivity.queries import differences

_GREAT: Final = 16.0
"""Of greater p a number of the law Gamma(1/p) may be too small for a float."""


@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """A norm in floats, on arrays of points (..., d).

    p: of an l_p norm, inf for the maximum; else rows: the norm is the largest |<row, point>| (polytope) or, where `round`, the
    Euclidean length of all <row, point> (ellipsoid). corners: for a polytope, those of its unit ball, one of each pair v, -v.
    """

    p: float = 2.0
    rows: Array | None = None
    round: bool = False
    corners: Array | None = None

    def __call__(self, points: Array) -> Array:
        """The norm of each point."""
        if self.rows is None:
            if self.p == 2:
                return np.asarray(np.sqrt(np.einsum("...i,...i->...", points, points)))
            sizes = np.abs(points)
            if self.p == 1:
                return np.asarray(sizes.sum(axis=-1))
            top = np.asarray(sizes.max(axis=-1))
            if self.p == np.inf:
                return top
            with np.errstate(all="ignore"):  # scaled, so that powers do not overflow
                shape = np.where(top[..., None] > 0, sizes / top[..., None], 0.0)
            return np.asarray(top * (shape**self.p).sum(axis=-1) ** (1 / self.p))
        heights = points @ self.rows.T
        return np.sqrt((heights**2).sum(axis=-1)) if self.round else np.asarray(np.abs(heights).max(axis=-1))

    def extreme(self, dimension: int) -> Array:
        """At most two points of the unit sphere in whose direction much noise has the greatest loss: corners, or the longest axis."""
        axis, diagonal = np.eye(dimension)[0], np.ones(dimension)
        if self.corners is not None:
            lengths = np.linalg.norm(self.corners, axis=1)
            return self.corners[np.argsort(-lengths, kind="stable")[:2]]
        if self.rows is not None:
            _, _, axes = np.linalg.svd(self.rows)
            chosen = axes[-1:]
        elif self.p in (1.0, 2.0) or dimension == 1:
            chosen = axis[None]
        elif self.p == np.inf:
            chosen = diagonal[None]
        else:
            chosen = np.stack([axis, diagonal])
        return np.asarray(chosen / self(chosen)[:, None])

    def sphere(self, size: int, dimension: int, rng: np.random.Generator) -> Array:
        """Points of the unit sphere by the cone measure: the direction of a uniform point of the unit ball."""
        if self.corners is not None:  # a facet by the volume of the cone over it, then a uniform point of the facet
            from scipy.spatial import ConvexHull

            both = np.concatenate((self.corners, -self.corners))
            facets = both[ConvexHull(both).simplices]
            volumes = np.abs(np.linalg.det(facets))
            weights = rng.standard_exponential((size, dimension))
            chosen = facets[rng.choice(len(facets), size, p=volumes / volumes.sum())]
            return np.asarray(np.einsum("ij,ijk->ik", weights / weights.sum(axis=1, keepdims=True), chosen))
        if self.rows is not None:
            return Gauge(2.0).sphere(size, dimension, rng) @ np.linalg.inv(self.rows).T
        if self.p == np.inf:
            points = rng.uniform(-1, 1, (size, dimension))
        elif self.p > _GREAT:  # Gamma(1/p) is Gamma(1 + 1/p) times U^p
            points = rng.standard_gamma(1 + 1 / self.p, (size, dimension)) ** (1 / self.p) * rng.uniform(-1, 1, (size, dimension))
        else:  # independent coordinates of density exp(-|t|^p)
            points = rng.standard_gamma(1 / self.p, (size, dimension)) ** (1 / self.p) * rng.choice([-1.0, 1.0], (size, dimension))
        return np.asarray(points / self(points)[:, None])


def gauge(norm: Norm, dimension: int) -> Gauge:
    """A norm in floats. Raises AuditError for a polytope whose facets are out of reach."""
    if norm.kind == "lp":
        return Gauge(p=np.inf if norm.p is None else float(norm.p))
    matrix = np.array([[float(entry) for entry in row] for row in norm.matrix])
    if norm.kind == "ellipsoid":  # x' Sigma^-1 x = |L^-1 x|^2
        return Gauge(rows=np.linalg.inv(np.linalg.cholesky(matrix)), round=True)
    if dimension == 1:
        size = np.abs(matrix).max()
        return Gauge(
            rows=np.array([[size if norm.kind == "facets" else 1 / size]]),
            corners=np.array([[1 / size if norm.kind == "facets" else size]]),
        )
    if norm.kind == "columns":
        return Gauge(rows=_one_of_each(_polar(matrix)), corners=_one_of_each(matrix))
    return Gauge(rows=_one_of_each(matrix), corners=_one_of_each(_polar(matrix)))


def _polar(points: Array) -> Array:
    """The corners of the polar of the hull of + and - the points: one row a for each facet <a, x> = 1."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        equations = ConvexHull(np.concatenate((points, -points))).equations
    except QhullError as error:
        raise AuditError(f"the facets of the norm's unit ball cannot be found in floats: {str(error).splitlines()[0]}") from error
    return np.asarray(-equations[:, :-1] / equations[:, -1:])


def _one_of_each(rows: Array) -> Array:
    """One of each pair v, -v, without repetition."""
    lead = rows[np.arange(len(rows)), np.argmax(np.abs(rows) > 1e-12 * np.abs(rows).max(), axis=1)]
    signed = rows * np.sign(lead)[:, None]
    _, first = np.unique(np.round(signed, 9), axis=0, return_index=True)
    return np.asarray(signed[np.sort(first)])


def shifts_of(claim: Claim, norm: Norm, dimension: int) -> tuple[Array, float]:
    """At most two differences of answers of neighbours, at exactly the sensitivity, as rows; and the sensitivity."""
    size = gauge(norm, dimension)
    if claim.query is None:
        assert claim.sensitivity is not None
        reach = number(claim.sensitivity)
        return reach * size.extreme(dimension), reach
    if claim.query.adjacency == "l2":  # F x for the unit x that a dual vector points at
        matrix = np.array([[float(entry) for entry in row] for row in claim.query.rows])
        duals = np.concatenate([np.eye(dimension), np.linalg.svd(matrix)[0].T, *([] if size.rows is None else [size.rows])])
        images = duals @ matrix
        lengths = np.linalg.norm(images, axis=1, keepdims=True)
        vectors = (images / np.where(lengths > 0, lengths, 1.0)) @ matrix.T
    else:
        vectors = np.array([[float(entry) for entry in vector] for vector in differences(claim.query)])
    if not len(vectors):
        raise AuditError("the claim's query has the same answers on all neighbours: there is nothing to audit.")
    norms = size(vectors)
    return vectors[np.flatnonzero(norms >= norms.max() * (1 - 1e-12))[:2]], float(norms.max())
