"""Matrices of rationals: independent rows, products, solutions, floats, and rationals of few digits near floats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor, log10

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.model import Matrix

Floats = NDArray[np.float64]


def rows_of(values: fmpq_mat) -> Matrix:
    """The rows of a matrix of flint."""
    return tuple(tuple(to_fraction(x) for x in row) for row in values.tolist())


def times(left: Matrix, right: Matrix) -> Matrix:
    """The product."""
    return rows_of(matrix(left) * matrix(right))


def transposed(rows: Matrix) -> Matrix:
    """Columns as rows."""
    return tuple(zip(*rows, strict=True))


def inverse(rows: Matrix) -> Matrix:
    """The inverse of a square matrix. Raises ZeroDivisionError where it has none."""
    return rows_of(matrix(rows).inv())


def floats(rows: Sequence[Sequence[Fraction]]) -> Floats:
    """The nearest floats."""
    return np.array([[float(x) for x in row] for row in rows])


def unit(size: int) -> Matrix:
    """The unit vectors."""
    return tuple(tuple(Fraction(int(i == j)) for j in range(size)) for i in range(size))


def basis(rows: Matrix) -> list[int]:
    """The numbers of the first rows that are independent of those before."""
    reduced, rank = matrix(transposed(rows)).rref()
    entries = reduced.tolist()
    return [next(j for j, x in enumerate(entries[i]) if x != 0) for i in range(rank)]


def coordinates(rows: Matrix, independent: Matrix) -> Matrix | None:
    """N with N * independent = rows; None where there is none. The second are independent rows."""
    pivots = basis(transposed(independent))
    found = times(
        tuple(tuple(row[j] for j in pivots) for row in rows), inverse(tuple(tuple(row[j] for j in pivots) for row in independent))
    )
    return found if times(found, independent) == rows else None


def near(x: float, digits: int = 4) -> Fraction:
    """A decimal of few digits near a float."""
    return Fraction(f"{x:.{digits - 1}e}")


def above(x: float, digits: int = 7) -> Fraction:
    """A decimal of few digits just above a positive float."""
    step = Fraction(10) ** (floor(log10(x)) + 1 - digits)
    return (floor(Fraction(x) * (1 + Fraction(1, 10**12)) / step) + 1) * step


def binary(values: Floats, bits: int) -> Matrix:
    """Floats rounded to multiples of 2^-bits."""
    return tuple(tuple(Fraction(round(float(x) * 2**bits), 2**bits) for x in row) for row in values)


def text(rows: Iterable[Iterable[Fraction]]) -> str:
    """A matrix as TOML writes it."""
    return "[" + ", ".join("[" + ", ".join(number(x) for x in row) + "]" for row in rows) + "]"


def number(x: Fraction) -> str:
    """A rational as TOML writes it."""
    return str(x.numerator) if x.denominator == 1 else f'"{x}"'
