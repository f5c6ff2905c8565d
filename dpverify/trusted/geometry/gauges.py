"""Gauges of hulls of points: linear programs, whose optimum comes as evidence, a primal and a dual solution, and is re-checked here.

Evidence of gauges, for a list of vectors z_0, z_1, ...:
  value   the largest gauge t, an exact rational as text ("3/2");
  primal  one mapping per vector, index of a point to its weight: sum of w_k point_k = z, sum of |w_k| <= t;
  worst   the index of a vector whose gauge is t;
  dual    the coordinates of v with |<v, point>| <= 1 for every point and <v, z_worst> = t.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from flint import fmpq, fmpq_mat

from dpverify.trusted.geometry.linear import matrix, to_fmpq, to_fraction
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.model import Matrix, Vector

_RATIONAL: Final = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?", re.ASCII)


def largest_gauge(points: Matrix, vectors: Sequence[Vector], evidence: object) -> tuple[Fraction, int]:
    """The largest gauge of the vectors in the hull of + and - the points, and the index of a vector that has it.

    Weak duality of linear programs (theory#gauges): weights w bound the gauge by the sum of |w|, and v bounds it from below by <v, z>.
    """
    require(bool(evidence), Undecided("the norm by columns needs a gauge certificate: the optimum of a linear program, primal and dual."))
    if not isinstance(evidence, Mapping):
        raise Rejected("gauge", "evidence", "not a mapping with value, primal, worst and dual")
    value = _rational(evidence.get("value"), "value")
    weights = _weights(evidence.get("primal"), len(points), len(vectors))
    k, z = matrix(points), matrix(vectors)
    reached = weights * k
    if reached != z:
        wrong = next(i for i, v in enumerate(vectors) if any(reached[i, j] != to_fmpq(x) for j, x in enumerate(v)))
        raise Rejected("gauge", f"primal {wrong}", "the weighted points do not add up to the vector")
    for i, row in enumerate(weights.tolist()):
        total = sum(map(abs, row), fmpq(0))
        if total > value:
            raise Rejected("gauge", f"primal {i}", f"the weights add up to {total}, above the value {value}")
    worst = evidence.get("worst")
    if type(worst) is not int or not 0 <= worst < len(vectors):
        raise Rejected("gauge", "worst", f"{worst!r} is not the index of one of {len(vectors)} vectors")
    dual = evidence.get("dual")
    if not isinstance(dual, list) or len(dual) != k.ncols():
        raise Rejected("gauge", "dual", f"not a list of {k.ncols()} rationals")
    v = fmpq_mat(k.ncols(), 1, [_rational(entry, f"dual {i}") for i, entry in enumerate(dual)])
    for i, height in enumerate((k * v).entries()):
        if abs(height) > 1:
            raise Rejected("gauge", f"dual at point {i}", f"<v, point> = {height} is outside [-1, 1]")
    height = sum((z[worst, j] * v[j, 0] for j in range(k.ncols())), fmpq(0))
    require(height == value, Rejected("gauge", "value", f"<v, z> = {height} is not the value {value}"))
    return to_fraction(value), worst


def _weights(primal: object, points: int, vectors: int) -> fmpq_mat:
    """The weights as a matrix, a row per vector, from their sparse form in evidence."""
    if not isinstance(primal, list) or len(primal) != vectors:
        raise Rejected("gauge", "primal", f"not a list of {vectors} mappings, one per vector")
    weights = fmpq_mat(vectors, points)
    for i, row in enumerate(primal):
        if not isinstance(row, Mapping):
            raise Rejected("gauge", f"primal {i}", "not a mapping of point indices to weights")
        for key, weight in row.items():
            if not (isinstance(key, str) and re.fullmatch("[0-9]{1,9}", key) and int(key) < points):
                raise Rejected("gauge", f"primal {i}", f"{key!r} is not the index of one of {points} points")
            weights[i, int(key)] = _rational(weight, f"primal {i}")
    return weights


def _rational(text: object, where: str) -> fmpq:
    """An exact rational of evidence, an integer or "a/b"."""
    if type(text) is int:
        return fmpq(text)
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise Rejected("gauge", where, f"{str(text)[:40]!r} is not an exact rational; write an integer or 'a/b'")
    top, _, bottom = text.partition("/")
    require(int(bottom or "1") != 0, Rejected("gauge", where, f"{text!r} divides by zero"))
    return fmpq(int(top), int(bottom or "1"))
