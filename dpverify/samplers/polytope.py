"""Uniform points of polytopes that are symmetric about 0, and the noise of their norms, drawn directly: no walk, no rejection.

The boundary is cut into simplices. A uniform point is in the pyramid of 0 and one of them with its share of the volume, and there its
weights are of the law of Dirichlet, exponential ones over their sum with one more for 0. Noise of density proportional to exp(-||y||) is a
uniform point times a number of the law Gamma(d + 1), which comes to one exponential weight for each corner of the simplex
(theory#points-of-polytopes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import NoSampler
from dpverify.search.utility import polytopes
from dpverify.search.utility.polytopes import Simplices
from dpverify.trusted.geometry.linear import to_fraction
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Matrix
from dpverify.trusted.theories.utility.triangulations import Boundary

Array = NDArray[np.float64]

MOST_FACETS: Final = 8_000_000
"""The greatest number of facets that a polytope of so many points can have, for which a sampler is made."""
MOST_EXACTLY: Final = 100_000
"""The greatest number of simplices that are checked exactly."""
_AT_ONCE: Final = 4_096
_MOST_GUIDES: Final = 1 << 20
_FEW: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class Polytope:
    """The hull of points and their opposites with its boundary cut into simplices; where the points do not span R^d, in their span.

    points: as rows. simplices: numbers of points, one of each pair of opposites. shares: of the volume over the simplices up to each, the
    last 1. guide: for each of as many equal parts of [0, 1] the first simplex whose share reaches beyond its start. normals: of their
    hyperplanes <a, x> = 1 for points given in `basis`, vectors that span. checked: whether it is checked exactly that the simplices cut the
    boundary; else in floats.
    """

    points: Array
    simplices: Simplices
    shares: Array
    guide: NDArray[np.intp]
    normals: Array
    basis: Array
    checked: bool

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return len(self.basis)

    def boundary(self, size: int, rng: np.random.Generator) -> Array:
        """Points of the boundary, by the volume between them and 0."""
        return self._mixed(size, rng, lambda weights: np.divide(weights, weights.sum(axis=1, keepdims=True), out=weights))

    def uniform(self, size: int, rng: np.random.Generator) -> Array:
        """Uniform points of the polytope."""
        return self._mixed(size, rng, lambda weights: weights[:, :-1] / (weights @ np.ones((self.rank + 1, 1))), self.rank + 1)

    def noise(self, size: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
        """Noise of density proportional to exp(-||y|| / scale) in the norm whose unit ball the polytope is."""
        return self._mixed(size, rng, lambda weights: np.multiply(scale, weights, out=weights))

    def gauge(self, points: Array) -> Array:
        """The norm of points of the span."""
        placed = points @ np.linalg.pinv(self.basis)
        return np.concatenate([np.abs(part @ self.normals.T).max(axis=1) for part in np.array_split(placed, 1 + len(points) // 1_000)])

    def _mixed(self, size: int, rng: np.random.Generator, weigh: Callable[[Array], Array], drawn: int | None = None) -> Array:
        """Sums of the corners of simplices, drawn by their volume, with weights that are made of `drawn` exponential numbers each."""
        found = np.empty((size, self.points.shape[1]))
        corners = np.concatenate((np.zeros_like(self.points[:1]), self.points, -self.points[::-1]))  # by their numbers, those below 0 too
        for start in range(0, size, _AT_ONCE):
            part = found[start : start + _AT_ONCE]
            weights = weigh(rng.standard_exponential((len(part), drawn or self.rank)))
            chosen = self.simplices.take(self._chosen(rng.random(len(part))), axis=0)
            np.matmul(weights[:, None], corners.take(chosen, axis=0), out=part[:, None])
            part *= 2.0 * rng.integers(2, size=(len(part), 1), dtype=np.int8) - 1
        return found

    def _chosen(self, uniform: Array) -> NDArray[np.intp]:
        """The simplex in whose share each number from 0 to 1 is: the guide is near, and few steps are left."""
        found = self.guide[(uniform * len(self.guide)).astype(np.intp)]
        late = np.flatnonzero(self.shares[found] <= uniform)
        for _ in range(_FEW):
            found[late] += 1
            late = late[self.shares[found[late]] <= uniform[late]]
            if not late.size:
                return found
        found[late] = np.searchsorted(self.shares, uniform[late], side="right")
        return found


def hull(points: Matrix) -> Polytope:
    """The hull of the points and their opposites. Raises NoSampler where it is a point, or its facets are out of reach."""
    chosen = polytopes.independent(points)
    if not chosen:
        raise NoSampler("all points are 0: there is no direction to draw from.")
    placed = _placed(points, chosen)
    for simplices in polytopes.boundary(placed, MOST_FACETS):
        checked = len(simplices) <= MOST_EXACTLY and _holds(placed, simplices)
        if checked or len(simplices) > MOST_EXACTLY:
            return _made(points, placed, chosen, simplices, checked)
    raise NoSampler(
        f"the facets of {len(points)} points in {len(chosen)} dimensions are out of reach; use fewer points, or a walk, which is not "
        "certified: --walk hit-and-run."
    )


def by_facets(rows: Matrix) -> Polytope:
    """The polytope of all x with |<a, x>| <= 1 for all rows a. Raises NoSampler as `hull` does."""
    corners = polytopes.vertices(rows)
    if corners is None:
        raise NoSampler(
            f"the vertices of a polytope with {len(rows)} pairs of facets are out of reach; use a walk, which is not certified: "
            "--walk hit-and-run."
        )
    return hull(corners)


def _placed(points: Matrix, chosen: list[int]) -> Matrix:
    """The points as combinations of the chosen ones, whose span they are in."""
    base = polytopes.combinations(points, chosen)
    return tuple(tuple(map(to_fraction, row)) for row in base.tolist())


def _holds(points: Matrix, simplices: Simplices) -> bool:
    """Whether the simplices certainly cut the boundary."""
    try:
        Boundary(points, polytopes.told(simplices), "sampler").require_supporting(points)
    except DpverifyError:
        return False
    return True


def _made(points: Matrix, placed: Matrix, chosen: list[int], simplices: Simplices, checked: bool) -> Polytope:
    near, own = (np.array([[float(x) for x in point] for point in rows]) for rows in (placed, points))
    corners = polytopes.corners(near, simplices)
    shares = np.cumsum(np.abs(np.linalg.det(corners)), dtype=np.float64)
    normals = np.linalg.solve(corners, np.ones((*simplices.shape, 1)))[..., 0]
    _, first = np.unique(np.round(normals, 9), axis=0, return_index=True)
    shares /= shares[-1]
    shares[-1] = 1.0
    parts = min(_MOST_GUIDES, 1 << (4 * len(shares)).bit_length())
    guide = np.searchsorted(shares, np.arange(parts) / parts, side="right")
    return Polytope(own, simplices, shares, guide, np.asarray(normals[first]), own[chosen], checked)
