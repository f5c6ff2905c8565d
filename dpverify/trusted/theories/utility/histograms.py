"""Histograms that a linear program names, and which of them so many steps between neighbours join (theory#lp)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.geometry.linear import square
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.model import Matrix, Vector
from dpverify.trusted.language.rationals import to_fraction

RULE: Final = "lp"


def databases_of(parameters: Mapping[str, Any]) -> Matrix:
    """The histograms that are named, whose entries are at least 0."""
    found = tuple(rationals(database) for database in parameters["databases"])
    require(bool(found) and min(map(min, found)) >= 0, Rejected(RULE, "databases", "they must be histograms, with entries of at least 0"))
    return found


def within(near: Vector, far: Vector, adjacency: str, steps: int) -> bool:
    """Whether so many steps between neighbours certainly lead from one histogram to another, by histograms."""
    moves = tuple(a - b for a, b in zip(near, far, strict=True))
    length = sum(map(abs, moves), Fraction(0))
    if adjacency in ("l1", "l2"):
        return square(moves) <= steps**2 if adjacency == "l2" else length <= steps
    if not (of_counts(near) and of_counts(far)):
        return False
    return (adjacency == "add-remove" and length <= steps) or (adjacency == "replace" and sum(moves) == 0 and length <= 2 * steps)


def of_counts(database: Vector) -> bool:
    """Whether all entries are whole numbers."""
    return all(count.denominator == 1 for count in database)


def rationals(row: Any) -> Vector:
    """The numbers of a list. Raises CertificateError."""
    return tuple(to_fraction(entry, RULE) for entry in row)
