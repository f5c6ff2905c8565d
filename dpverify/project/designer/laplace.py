"""Strategies for Laplace noise where the queries are not written out: the identity with some sums of records, and tables with shares.

A strategy [1; T] D has columns of absolute sum 1, D the diagonal that makes them so; T >= 0 is found by its slope from halvings and at
random (McKenna et al. 2018). Floats propose; what comes out is rounded to integers, and `laplace_strategies` proves what it costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final

import numpy as np
from flint import arb, fmpz_mat

from dpverify.project.designer.exact import Floats
from dpverify.project.designer.shapes import integers
from dpverify.trusted.theories.utility import laplace_strategies
from dpverify.trusted.theories.utility.noise_shapes import Tables, kinds_of_characters

BITS: Final = 32
"""Of the entries of a strategy."""
MOST_WORK: Final = 1e11
"""Floating point operations of all searches for one strategy."""
MOST_ROUNDS: Final = 500
MOST_SETS: Final = 400
"""Tables that shares are found for, and half as many kinds of characters."""
_STARTS: Final = ((2, 8), (4, 16), (2, 16), (2, 4), (16, 16), (2, 32))
"""Into how many parts intervals are divided, and how often until the sums of shorter ones are left to the identity."""
_MANY, _STARTS_OF_MANY = 400, ((2, 32), (2, 16))
_TIMES: Final = 3


@dataclass(frozen=True)
class Rows:
    """A strategy on the values of one attribute, or on all kinds of records.

    measured: Z, integers; undone: Y with Y Z about `unit` times 1. reach: the greatest sum of absolute entries of a column of Z. errors:
    for the queries of each Gram matrix at most the squares of W (Y Z)^-1 Y, summed.
    """

    measured: fmpz_mat
    undone: fmpz_mat
    unit: int
    reach: int
    errors: tuple[arb, ...]


def rows_for(grams: Sequence[fmpz_mat], shares: Sequence[float]) -> Rows:
    """The strategy for which the errors of the queries of Gram matrices, times shares, have about the least sum. Raises Rejected."""
    gram = np.asarray(sum(share * _floats(one) for share, one in zip(shares, grams, strict=True)))
    z = np.rint(_strategy(gram) * 2.0**BITS)
    y = np.linalg.pinv(z / 2.0**BITS)
    scale = 2.0 ** np.floor(2 * BITS - np.log2(np.abs(y).max()))
    measured, undone, unit = integers(z), integers(y * scale), int(scale) << BITS
    errors = laplace_strategies.of_rows(grams, measured, undone, unit)
    return Rows(measured, undone, unit, laplace_strategies.reach(measured), tuple(errors))


def _floats(matrix: fmpz_mat) -> Floats:
    return np.array([[float(x) for x in row] for row in matrix.tolist()])


def _strategy(gram: Floats) -> Floats:
    """The best of what is found from several starts."""
    from scipy.optimize import minimize

    n = len(gram)
    best, least = np.zeros((0, n)), float(np.trace(gram))
    whole, work = least, 0.0
    for start in _starts(n):
        shape, rounds = start.shape, int(min(MOST_ROUNDS, (MOST_WORK - work) / (4.0 * len(start) * n**2)))
        if rounds < 20:
            break

        def value(x: Floats, shape: tuple[int, ...] = shape) -> tuple[float, Floats]:
            error, slope = _error(x.reshape(shape), gram)
            return error / whole, slope.ravel() / whole

        found = minimize(value, start.ravel(), jac=True, method="L-BFGS-B", bounds=[(0, None)] * start.size, options={"maxiter": rounds})
        work += 4.0 * len(start) * n**2 * found.nfev
        if np.isfinite(found.fun) and found.fun * whole < least:
            best, least = found.x.reshape(shape), found.fun * whole
    return np.asarray(np.concatenate([np.eye(n), best]) / (1 + best.sum(axis=0)), dtype=np.float64)


def _error(sums: Floats, gram: Floats) -> tuple[float, Floats]:
    """tr(G (A'A)^-1) of the strategy with these sums beside the identity, and its slope."""
    sizes = 1 + sums.sum(axis=0)
    turned = np.linalg.solve(np.eye(len(sums)) + sums @ sums.T, sums)
    seen = (turned * sizes) @ gram
    scaled, alone = seen * sizes, np.diag(gram) * sizes
    slope = 2 * (alone - (sums * seen).sum(axis=0)) - 2 * (scaled - (scaled @ sums.T) @ turned)
    return float(alone @ sizes - (scaled * sums).sum()), slope


def _starts(n: int) -> Iterator[Floats]:
    """Sums to begin with: of intervals that are divided again and again, and of records chosen at random."""
    rng = np.random.default_rng(1)
    seen = set[tuple[int, int]]()
    for parts, times in _STARTS if n < _MANY else _STARTS_OF_MANY:
        rows: list[Floats] = []
        level = [(0, n)]
        while level and level[0][1] - level[0][0] >= max(2, n // times):
            rows += [np.array((np.arange(n) >= low) & (np.arange(n) < high), dtype=float) for low, high in level]
            level = [(low + (high - low) * k // parts, low + (high - low) * (k + 1) // parts) for low, high in level for k in range(parts)]
        if rows and (len(rows), parts) not in seen:
            seen.add((len(rows), parts))
            yield np.array(rows) * rng.uniform(0.25, 0.75, (len(rows), n)) + 0.05 * rng.random((len(rows), n))
    for count in sorted({1, max(1, n // 16), max(1, n // 8)}) if n < _MANY else (n // 16,):
        yield rng.random((count, n))


# -- tables of counts ------------------------------------------------------------------------------------


def shares_of_tables(sizes: Sequence[int], asked: Tables) -> dict[tuple[int, ...], Fraction] | None:
    """How precisely which tables are measured, so that those that are asked for have about the least error; None where these are many."""
    from scipy.optimize import minimize

    if sum(2 ** len(table) for table in asked) > MOST_SETS**2:
        return None
    kinds = list(kinds_of_characters(sizes, asked))
    sets = _sets(sizes, asked, [kept for kept, _, _ in kinds])
    if len(sets) > MOST_SETS or len(kinds) > MOST_SETS // 2:
        return None
    worth = np.array([float(count * value) for _, count, value in kinds])
    whole = prod(sizes)
    outside = [float(Fraction(whole, prod(sizes[i] for i in table))) for table in sets]
    seen = np.array([[size * (set(kept) <= set(table)) for table, size in zip(sets, outside, strict=True)] for kept, _, _ in kinds])
    seen = seen / seen.max()
    worth = worth / worth.sum()

    def value(x: Floats) -> tuple[float, Floats]:
        known, total = seen @ x**2 + 1e-300, x.sum()
        each = worth / known
        error = float(each.sum())
        slope = -2 * x * (seen.T @ (each / known))
        return float(np.log(error) + 2 * np.log(total)), slope / error + 2 / total

    best, least = None, np.inf
    for start in _starts_of_tables(sets, asked):
        found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(1e-9, None)] * len(sets), options={"maxiter": 2000})
        if found.fun < least:
            best, least = found.x / found.x.sum(), found.fun
    if best is None:
        return None
    return {table: Fraction(round(x * 2**30), 2**30) for table, x in zip(sets, best, strict=True) if x * 2**30 >= 1 and x > 1e-6}


def _sets(sizes: Sequence[int], asked: Tables, inside: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """All sets of attributes where they are few; else the tables that are asked for, their margins, and the union of two of them."""
    d = len(sizes)
    if 2**d <= MOST_SETS:
        return [kept for order in range(d + 1) for kept in combinations(range(d), order)]
    found = dict.fromkeys([*asked, *inside])
    if len(asked) ** 2 <= 4 * MOST_SETS:
        found |= dict.fromkeys(tuple(sorted(set(a) | set(b))) for a, b in combinations(asked, 2))
    return list(found)


def _starts_of_tables(sets: Sequence[tuple[int, ...]], asked: Mapping[tuple[int, ...], Fraction]) -> Iterator[Floats]:
    rng = np.random.default_rng(1)
    yield np.array([1.0 if table in asked else 0.05 for table in sets])
    yield np.ones(len(sets))
    longest = max(map(len, sets))
    yield np.array([1.0 if len(table) == longest else 0.05 for table in sets])
    for _ in range(_TIMES):
        yield rng.random(len(sets)) ** 3 + 1e-3
