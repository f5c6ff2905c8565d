"""Vertices of polytopes that are symmetric about 0, and of the cube: all of them, one of each pair."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Final

from dpverify.trusted.geometry.linear import matrix, to_fraction, up_to_sign
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import Matrix, Vector

MAX_SIGNS: Final = 16
"""Greatest dimension whose 2^(d - 1) sign vectors are tried one by one."""
MAX_VERTICES: Final = 20_000
"""Greatest number of candidate vertices that are tried one by one."""


def sign_vectors(dimension: int) -> tuple[Vector, ...]:
    """One of each pair s, -s of vectors of signs, in the order of the gauge evidence. Raises Undecided beyond MAX_SIGNS."""
    if dimension > MAX_SIGNS:
        raise Undecided(f"{dimension} dimensions have 2^{dimension - 1} sign patterns; at most {MAX_SIGNS} dimensions are tried.")
    signs = (Fraction(1), Fraction(-1))
    return tuple((signs[0], *rest) for rest in product(signs, repeat=dimension - 1))


def half_of_vertices(rows: Matrix, most: int = MAX_VERTICES) -> Iterator[Vector]:
    """Vertices of {v : |<a, v>| <= 1 for every row a}, one of each pair v, -v, some more than once.

    Raises Undecided beyond `most` candidates.
    Every vertex makes d independent rows tight, so trying all choices of d rows and signs finds all of them.
    """
    rows = up_to_sign(rows)
    size = len(rows[0])
    if comb(len(rows), size) << (size - 1) > most:
        raise Undecided(
            f"{len(rows)} rows in {size} dimensions have too many candidate vertices to try. State the sensitivity itself, "
            "or give the same ball in its other form (facets for columns, columns for facets)."
        )
    signs = matrix(sign_vectors(size)).transpose()
    every = matrix(rows)
    for chosen in combinations(rows, size):
        basis = matrix(chosen)
        if basis.rank() < size:
            continue
        candidates = basis.solve(signs)
        heights = (every * candidates).transpose().tolist()
        for candidate, height in zip(candidates.transpose().tolist(), heights, strict=True):
            if all(abs(entry) <= 1 for entry in height):
                yield tuple(map(to_fraction, candidate))
