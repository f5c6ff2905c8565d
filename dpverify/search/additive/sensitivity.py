"""Gauge certificates: linear programs solved in exact rational arithmetic (theory#gauges).

The gauge of z in the hull of + and - points k_j is min sum |w_j| subject to sum w_j k_j = z. Floats only choose where to start:
any d independent points are a feasible basis once their signs make the weights non-negative, and exact simplex steps from there
end at an optimal primal and dual pair. No rounding of a float ever has to come out right.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from flint import fmpq, fmpq_mat

from dpverify.trusted.geometry.vertices import sign_vectors
from dpverify.trusted.kernel.model import Claim, Matrix, Norm, Vector
from dpverify.trusted.sensitivity.queries import differences

LARGE: Final = 500
"""Coordinates of all points together from which a float solution saves more time than it takes."""
MAX_RADIUS: Final = 10
"""Greatest dimension whose 2^(d - 1) sign vectors get a certificate."""


def propose(claim: Claim) -> dict[str, Any]:
    """Evidence for `queries.sensitivity` of the claim's query; empty where none is needed."""
    norm = getattr(claim.mechanism, "norm", None)
    if claim.query is None or norm is None or norm.kind != "columns" or claim.query.adjacency == "l2":
        return {}
    vectors = differences(claim.query)
    return gauges(norm.matrix, vectors) if vectors else {}


def propose_radius(norm: Norm, dimension: int) -> dict[str, Any]:
    """Evidence for `lengths.l1_radius`; empty where none is needed or there would be too much of it."""
    return gauges(norm.matrix, sign_vectors(dimension)) if norm.kind == "facets" and dimension <= MAX_RADIUS else {}


def gauges(points: Matrix, vectors: Sequence[Vector]) -> dict[str, Any]:
    """The certificate of the largest gauge of `vectors` in the hull of + and - `points`, which must span the space.

    Its form is that of `dpverify.trusted.geometry.sensitivity`; every number is exact.
    """
    simplex = _Simplex(points)
    primal: list[dict[str, str]] = []
    best: tuple[fmpq, int, fmpq_mat] | None = None
    for i, vector in enumerate(vectors):
        weights, dual = simplex.solve(vector)
        value = sum(map(abs, weights.values()), fmpq(0))
        primal.append({str(j): str(w) for j, w in sorted(weights.items()) if w != 0})
        if best is None or value > best[0]:
            best = value, i, dual
    assert best is not None, "no vectors"
    return {"value": str(best[0]), "primal": primal, "worst": best[1], "dual": [str(entry) for entry in best[2].entries()]}


class _Simplex:
    """The exact revised simplex method; it starts each vector from the last one's optimal basis."""

    def __init__(self, points: Matrix) -> None:
        self.points = [[fmpq(x.numerator, x.denominator) for x in point] for point in points]
        self.all = fmpq_mat(self.points)
        self.size = self.all.ncols()
        self.basis = self._independent(range(len(self.points)))

    def solve(self, vector: Vector) -> tuple[dict[int, fmpq], fmpq_mat]:
        """Optimal weights by point, and the optimal dual vector as a column."""
        z = fmpq_mat(self.size, 1, [fmpq(x.numerator, x.denominator) for x in vector])
        if len(self.points) * self.size > LARGE:
            self.basis = self._independent(_float_order(self.points, vector))
        weights = self._columns([1] * self.size).solve(z).entries()
        signs = [1 if w >= 0 else -1 for w in weights]
        steps = 0
        while True:
            inverse = self._columns(signs).inv()
            dual = inverse.transpose() * fmpq_mat(self.size, 1, [1] * self.size)
            heights = (self.all * dual).entries()
            # The steepest column first; after many steps the first one (Bland's rule), which cannot cycle.
            outside = (j for j, height in enumerate(heights) if abs(height) > 1)
            entering = next(outside, None) if steps > 20 * self.size else max(outside, key=lambda j: abs(heights[j]), default=None)
            if entering is None:
                break
            sign = 1 if heights[entering] > 0 else -1
            level = (inverse * z).entries()
            change = (inverse * fmpq_mat(self.size, 1, [sign * x for x in self.points[entering]])).entries()
            # Costs are positive, so the program is bounded and some weight must fall.
            leaving = min(
                (i for i in range(self.size) if change[i] > 0),
                key=lambda i: (level[i] / change[i], self.basis[i], signs[i]),
            )
            self.basis[leaving], signs[leaving] = entering, sign
            steps += 1
        level = (inverse * z).entries()
        return {j: sign * w for j, sign, w in zip(self.basis, signs, level, strict=True)}, dual

    def _columns(self, signs: Sequence[int]) -> fmpq_mat:
        rows = [[sign * x for x in self.points[j]] for j, sign in zip(self.basis, signs, strict=True)]
        return fmpq_mat(rows).transpose()

    def _independent(self, order: Sequence[int]) -> list[int]:
        """The first d independent points in this order."""
        echelon, rank = fmpq_mat([self.points[j] for j in order]).transpose().rref()
        return [order[next(k for k in range(len(order)) if echelon[i, k] != 0)] for i in range(rank)]


def _float_order(points: Sequence[Sequence[fmpq]], vector: Vector) -> list[int]:
    """The points by how much of the optimum a float solver gives them: the likely basis first."""
    import numpy as np
    from scipy.optimize import linprog

    try:
        matrix = np.array([[float(Fraction(int(x.p), int(x.q))) for x in point] for point in points])
        answer = linprog(
            -np.array([float(x) for x in vector]),
            A_ub=np.vstack((matrix, -matrix)),
            b_ub=np.ones(2 * len(points)),
            bounds=(None, None),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
    except OverflowError:  # numbers beyond floats: any start is as good
        return list(range(len(points)))
    if answer.x is None:
        return list(range(len(points)))
    heights = np.abs(matrix @ answer.x)
    weights = np.abs(answer.ineqlin.marginals).reshape(2, -1).sum(axis=0)
    return [int(j) for j in np.lexsort((-heights, -weights))]
