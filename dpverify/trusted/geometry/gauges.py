"""Gauges of hulls of points: linear programs, whose optimum comes as evidence, a primal and a dual solution, and is re-checked here.

Evidence of gauges, for a list of vectors z_0, z_1, ...:
  value   the largest gauge t, an exact rational as text ("3/2");
  primal  one mapping per vector, index of a point to its weight: sum of w_k point_k = z, sum of |w_k| <= t;
  worst   the index of a vector whose gauge is t;
  dual    the coordinates of v with |<v, point>| <= 1 for every point and <v, z_worst> = t.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat

from dpverify.trusted.geometry.linear import matrix, to_fmpq
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.model import Matrix, Vector
from dpverify.trusted.language.rationals import read_whole, to_fraction


def largest_gauge(points: Matrix, vectors: Sequence[Vector], evidence: Any) -> tuple[Fraction, int]:
    """The largest gauge of the vectors in the hull of + and - the points, and the index of a vector that has it.

    Weak duality of linear programs (theory#gauges): weights w bound the gauge by the sum of |w|, and v bounds it from below by <v, z>.
    """
    require(bool(evidence), Undecided("the norm by columns needs a gauge certificate: the optimum of a linear program, primal and dual."))
    value = to_fmpq(to_fraction(evidence["value"], "gauge"))
    weights = fmpq_mat(len(vectors), len(points))
    for i, row in enumerate(evidence["primal"]):
        for key, weight in row.items():
            weights[i, int(key)] = to_fmpq(to_fraction(weight, "gauge"))
    k, z = matrix(points), matrix(vectors)
    reached = weights * k
    if reached != z:
        wrong = next(i for i, v in enumerate(vectors) if any(reached[i, j] != to_fmpq(x) for j, x in enumerate(v)))
        raise Rejected("gauge", f"primal {wrong}", "the weighted points do not add up to the vector")
    for i, row in enumerate(weights.tolist()):
        total = sum(map(abs, row), fmpq(0))
        require(total <= value, Rejected("gauge", f"primal {i}", f"the weights add up to {total}, above the value {value}"))
    worst = read_whole(evidence, "worst", "gauge", 0, len(vectors) - 1)
    v = fmpq_mat(k.ncols(), 1, [to_fmpq(to_fraction(entry, "gauge")) for entry in evidence["dual"]])
    for i, height in enumerate((k * v).entries()):
        require(abs(height) <= 1, Rejected("gauge", f"dual at point {i}", f"<v, point> = {height} is outside [-1, 1]"))
    height = sum((z[worst, j] * v[j, 0] for j in range(k.ncols())), fmpq(0))
    require(height == value, Rejected("gauge", "value", f"<v, z> = {height} is not the value {value}"))
    return Fraction(int(value.p), int(value.q)), worst
