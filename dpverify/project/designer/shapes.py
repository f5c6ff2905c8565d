"""The best shape of Gaussian noise for a workload, by multiplicative updates in floats, and proved bounds on its error.

Weights p on the differences f_j of neighbours make the sum of the singular values of the matrix of the sqrt(p_j) f_j greatest; each is
multiplied by a power of its slope. What comes out is rounded to integers, and `noise_shapes` proves both ends with these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from flint import arb, fmpz_mat

from dpverify.project.designer.exact import Floats
from dpverify.trusted.theories.utility import noise_shapes

MOST_COLUMNS: Final = 1024
"""Kinds of records of a factor that is worked with as a matrix."""
MOST_PAIRS: Final = 1300
"""Pairs of kinds of records with a weight."""
ROUNDS: Final = 120
CLOSE: Final = 1e-6
"""The share by which the greatest slope may be above the mean slope, which is a bound on what better weights would give."""
BITS: Final = 40
_POWER: Final = 1.9
_ROOTS: Final = 24
_NOTHING, _ROUND = 1e-12, 1e-9
_TURNS_OF_PAIRS: Final = 15
_LEAST_SHARE: Final = 1e-7


@dataclass(frozen=True)
class Dense:
    """Queries by their Gram matrix. measured: Z, integers, the rows that noise is added to; undone: Y with Z Y about unit times 1.

    reach: the greatest square by which neighbours move the rows of Z. ends: bounds on the number S.
    """

    counted: fmpz_mat
    measured: fmpz_mat
    undone: fmpz_mat
    unit: int
    ends: tuple[arb, arb]
    reach: int


def dense(counted: fmpz_mat, adjacency: str) -> Dense:
    """The best shape for queries with a Gram matrix of integers. Raises Rejected where floats do not come close enough."""
    n, replaced = counted.nrows(), adjacency == "replace"
    gram = np.array([[float(x) for x in row] for row in counted.tolist()])
    if adjacency == "l2":
        whole = arb(sum((int(counted[i, i]) for i in range(n)), 0))
        one = fmpz_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        return Dense(counted, one, one, 1, (whole, whole), 1)
    weights, shaped = _pairs(gram) if replaced else _alone(gram)
    low = _below(counted, gram, weights, replaced=replaced)
    z, y, unit = _rounded(shaped)
    high = noise_shapes.from_above(counted, z, y, unit, replaced=replaced)
    return Dense(counted, z, y, unit, (low, high), noise_shapes.reach(z, replaced=replaced))


def greatest(queries: fmpz_mat, adjacency: str) -> Dense:
    """The shape that makes the greatest variance of one answer small; its ends are bounds on that. queries: W, integers.

    Its dual has weights on the queries too, of sum 1. Raises Rejected.
    """
    rows, replaced = np.array([[float(x) for x in row] for row in queries.tolist()]), adjacency == "replace"
    shares = np.full(len(rows), 1 / len(rows))
    weights = np.ones(rows.shape[1])
    best, most, below, above = shares, weights, 0.0, np.inf  # shares of nearly 0 swing: what was best is kept
    shape = np.eye(rows.shape[1])
    for turn in range(ROUNDS):
        gram = rows.T @ (shares[:, None] * rows)
        if replaced:
            weights, shaped = _pairs(gram)
        else:
            weights, shaped = _alone(gram, rounds=1 if turn else ROUNDS, start=weights if turn else None)
        each = np.maximum(np.einsum("ij,ij->i", rows @ np.linalg.inv(shaped), rows), 0)
        mean = float(shares @ each)
        if (value := _nuclear(gram, weights, replaced)) > below:
            best, most, below = shares, weights, value
        if each.max() < above:
            shape, above = shaped, each.max()
        if each.max() < mean * (1 + CLOSE) or above < below * (1 + CLOSE) or (replaced and turn == _TURNS_OF_PAIRS):
            break
        shares = np.maximum(shares * (each / mean) ** 0.9, _LEAST_SHARE)
        shares = shares / shares.sum()
    whole = np.maximum(np.rint(best * 2.0**_ROOTS), 0)
    weighted = fmpz_mat(queries.nrows(), queries.ncols(), [int(k) * x for k, row in zip(whole, queries.tolist(), strict=True) for x in row])
    counted, unit = queries.transpose() * weighted, int(whole.sum())
    gram = np.array([[float(x) for x in row] for row in counted.tolist()])
    low = _below(counted, gram, most, replaced=replaced) / unit
    shaped = min((shape, *_evened(rows, best, replaced)), key=lambda shape: _most(rows, shape))
    z, y, one = _rounded(shaped)
    high = noise_shapes.greatest_from_above(queries, z, y, one, replaced=replaced)
    return Dense(counted, z, y, one, (low, high), noise_shapes.reach(z, replaced=replaced))


def _nuclear(gram: Floats, weights: Floats, replaced: bool) -> float:
    """The square of the sum of singular values of weighted differences."""
    factor = _factor(gram)
    spread = 2 * (np.diag(weights.sum(axis=1)) - weights) if replaced else np.diag(weights / weights.sum())
    return float(np.sqrt(np.maximum(np.linalg.eigvalsh(factor @ spread @ factor.T), 0)).sum() ** 2)


def _evened(rows: Floats, shares: Floats, replaced: bool) -> Iterator[Floats]:
    """Shapes where no query is left without a share, as those are whose variance is below the greatest: it would grow without bound."""
    for part in (1e-4, 1e-3, 1e-2, 5e-2, 0.2):
        mixed = (1 - part) * shares + part / len(rows)
        gram = rows.T @ (mixed[:, None] * rows)
        yield (_pairs(gram) if replaced else _alone(gram))[1]


def _most(rows: Floats, shaped: Floats) -> float:
    """The greatest variance of an answer."""
    return float(np.einsum("ij,ij->i", rows @ np.linalg.inv(shaped), rows).max())


def _factor(gram: Floats) -> Floats:
    """F with F'F the Gram matrix, a row for each of its dimensions: its columns lie as the answers do."""
    values, axes = np.linalg.eigh(gram)
    kept = values > values.max() * _NOTHING
    return np.asarray((axes[:, kept] * np.sqrt(values[kept])).T)


def _halved(factor: Floats, spread: Floats) -> Floats:
    """H with H'H = F' S^(-1/2) F, S = F L F' the spread of weighted differences."""
    values, axes = np.linalg.eigh(spread)
    kept = values > values.max() * _NOTHING
    return np.asarray((axes[:, kept] / values[kept] ** 0.25).T @ factor)


def _alone(gram: Floats, rounds: int = ROUNDS, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Weights on single records, and the shape B whose diagonal is at most 1. start: weights to begin with."""
    factor = _factor(gram)
    p = np.maximum(np.diag(gram), np.diag(gram).max() * 1e-9)
    p = np.sqrt(p) / np.sqrt(p).sum() if start is None else start
    for turn in range(rounds + 1):
        half = _halved(factor, (factor * p) @ factor.T)
        slopes = (half**2).sum(axis=0)
        mean = float(p @ slopes)
        if slopes.max() < mean * (1 + CLOSE) or turn == rounds:
            break
        p = np.maximum(p * (slopes / mean) ** _POWER, 1e-15)
        p = p / p.sum()
    shaped = half.T @ half / slopes.max()
    return p, np.asarray(shaped * (1 - _ROUND) + _ROUND * np.eye(len(gram)))


def _pairs(gram: Floats, rounds: int = ROUNDS) -> tuple[Floats, Floats]:
    """Weights on pairs, as the entries of a matrix with the halves of them on both sides, and the shape."""
    n, factor = len(gram), _factor(gram)
    w = np.maximum(np.add.outer(np.diag(gram), np.diag(gram)) - 2 * gram, 0)
    w = np.sqrt(w) / np.sqrt(w).sum()
    for turn in range(rounds + 1):
        laplacian = 2 * (np.diag(w.sum(axis=1)) - w)
        half = _halved(factor, factor @ laplacian @ factor.T)
        inner = half.T @ half
        slopes = np.maximum(np.add.outer(np.diag(inner), np.diag(inner)) - 2 * inner, 0)
        mean = float((w * slopes).sum())
        if slopes.max() < mean * (1 + CLOSE) or turn == rounds:
            break
        w = w * (slopes / mean) ** _POWER
        w = w / w.sum()
    shaped = inner / slopes.max()
    size = np.abs(shaped).max()
    return w, np.asarray(shaped + _ROUND * size * np.eye(n) + np.full((n, n), 1e4 * size))  # the total is public


def _below(counted: fmpz_mat, gram: Floats, weights: Floats, *, replaced: bool) -> arb:
    n = len(gram)
    if replaced:
        i, j = np.triu_indices(n, 1)
        most = np.argsort(-weights[i, j])[:MOST_PAIRS]
        most = most[weights[i, j][most] > 1e-9 * weights.max()]
        columns = [(round(2**_ROOTS * float(x)), a, b) for x, a, b in zip(np.sqrt(2 * weights[i, j][most]), i[most], j[most], strict=True)]
        columns = [one for one in columns if one[0]]
        moves = np.zeros((n, len(columns)))
        for k, (r, a, b) in enumerate(columns):
            moves[a, k], moves[b, k] = r, -r
    else:
        moves = np.diag(np.maximum(np.rint(2.0**_ROOTS * np.sqrt(weights)), 1))
    seen = moves.T @ gram @ moves
    values, axes = np.linalg.eigh(seen)
    kept = values > values.max() * 1e-11
    turned = (axes[:, kept] / np.sqrt(values[kept])) @ axes[:, kept].T
    turned = (turned + turned.T) / 2
    scale = 2.0 ** np.floor(BITS - np.log2(np.abs(turned).max()))
    return noise_shapes.from_below(counted, integers(moves), integers(turned * scale), int(scale) ** 2, replaced=replaced)


def _rounded(shaped: Floats) -> tuple[fmpz_mat, fmpz_mat, int]:
    """Z with Z'Z about a multiple of B, and its inverse, as integers over a unit."""
    z = np.rint(np.linalg.cholesky(shaped).T * 2.0**BITS)
    y = np.linalg.inv(z / 2.0**BITS)
    scale = 2.0 ** np.floor(BITS - np.log2(np.abs(y).max()) + 10)
    return integers(z), integers(y * scale), int(scale) << BITS


def integers(values: Any) -> fmpz_mat:
    """Floats rounded to integers."""
    rounded = np.rint(values)
    return fmpz_mat(rounded.shape[0], rounded.shape[1], [int(x) for x in rounded.ravel().tolist()])
