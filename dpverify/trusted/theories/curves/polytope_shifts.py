"""Noise of a polytope moved along its vertices: divergences that are exact integrals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.exponents import Exponent
from dpverify.trusted.facts.evaluate import accurately, divergence, known
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.geometry.cones import vertices
from dpverify.trusted.geometry.linear import up_to_sign
from dpverify.trusted.geometry.polyhedra import Shift
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, mul
from dpverify.trusted.kernel.model import Matrix, Norm
from dpverify.trusted.language.rationals import to_whole

RULE: Final = "lipschitz-exponent"


def polar(norm: Norm) -> tuple[Matrix, Matrix] | None:
    """The vertices of a ball that is a polytope by a matrix and the normals of its facets, with their opposites."""
    if norm.kind not in ("columns", "facets"):
        return None
    try:
        other = vertices(norm.matrix)
        own = vertices(other)  # without the rows that are no vertices or facets
    except Undecided:
        return None
    return (own, other) if norm.kind == "columns" else (other, own)


def at_vertices(shape: Exponent, slope: Expr, reach: Sensitivity, stated: bool, told: Mapping[str, Any]) -> tuple[Pair, Pair | None] | None:
    """The worst vertices and a vector that occurs, for the noise exp(-slope ||y||); None where the ball has too many facets."""
    both = polar(shape.norm)
    if both is None:
        return None
    corners, normals = both
    at = reach.at if reach.at is not None and len(reach.at) == shape.dimension else None
    try:
        shifts = [Shift(normals, corner) for corner in up_to_sign(corners)]
        moved = None if at is None or stated else Shift(normals, at)
    except Undecided:
        return None
    upper = _greatest(shifts, mul(slope, reach.upper))
    if stated:
        corner = to_whole(told.get("corner", 0), "corner", RULE, 0, len(shifts) - 1)
        return upper, _greatest([shifts[corner]], mul(slope, reach.lower))
    return upper, None if moved is None else _greatest([moved], slope)


def _greatest(shifts: Sequence[Shift], ratio: Expr) -> Pair:
    """The greatest divergence of noise moved by `ratio` times one of some vectors."""
    times = known(ratio)

    def exactly(t: Fraction, epsilon: Fraction) -> arb:
        values = [shift.divergence(t, epsilon) for shift in shifts]
        return reduce(arb.max, values)

    def enclosed(epsilon: arb) -> arb:
        t = times()
        ends = {exact(t.lower()), exact(t.upper())}
        return reduce(arb.union, [exactly(end, exact(epsilon)) for end in ends])

    def at(epsilon: arb) -> arb:
        return accurately(lambda: enclosed(epsilon))

    return Pair(*(divergence(at),) * 2, everywhere=True)
