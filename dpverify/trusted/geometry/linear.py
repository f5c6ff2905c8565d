"""Vectors and matrices of exact rationals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from dpverify.trusted.kernel.model import Vector


def to_fmpq(value: Fraction) -> fmpq:
    """A rational as flint has it."""
    return fmpq(value.numerator, value.denominator)


def to_fraction(value: fmpq) -> Fraction:
    """A rational of flint as one of Python."""
    return Fraction(int(value.p), int(value.q))


def matrix(rows: Sequence[Vector]) -> fmpq_mat:
    """Rows of rationals as flint has them."""
    return fmpq_mat(len(rows), len(rows[0]), [to_fmpq(entry) for row in rows for entry in row])


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """The inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def square(v: Vector) -> Fraction:
    """The square of the Euclidean length."""
    return dot(v, v)


def form(gram: fmpq_mat, v: Vector) -> Fraction:
    """v' G v."""
    column = matrix([v])
    return to_fraction((column * gram * column.transpose())[0, 0])


def up_to_sign(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """The vectors without 0 and without repetition, each with its first non-zero coordinate positive."""
    found: dict[Vector, None] = {}
    for v in vectors:
        lead = next((x for x in v if x != 0), Fraction(0))
        if lead != 0:
            found[v if lead > 0 else tuple(-x for x in v)] = None
    return tuple(found)
