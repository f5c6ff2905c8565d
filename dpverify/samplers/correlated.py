"""Samplers of noise that is correlated over steps: the strategy times the steps' numbers, with normal noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpverify.errors import NoSampler
from dpverify.samplers.grids import Grid
from dpverify.samplers.law import MOST, Array, Floats, Generator, Law, ending, floats, whole
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import CorrelatedNoise


def correlated(mechanism: CorrelatedNoise, grid: Grid | None) -> Law:
    """The law of C x with noise, of one number for each step. Raises NoSampler with sampling, and for too many steps."""
    if mechanism.rate is not None:
        raise NoSampler("which steps take a record is drawn, record by record: sample what your loader and C x with noise do together.")
    steps, sigma = whole(mechanism.steps, "the number of steps"), number(mechanism.sigma)
    moved, rows = _strategy(mechanism, steps)
    if rows > MOST:
        raise NoSampler(f"C x has {rows} numbers; a sampler tells at most {MOST}.")

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        there, added = moved(floats(answers)), rng.normal(0, sigma, (size, rows))
        return there + added if grid is None else grid.rounded(there, added)

    return Law(steps, rows, draw, ("normal noise on every number of C x", ending(grid)), (0,) * steps)


def _strategy(mechanism: CorrelatedNoise, steps: int) -> tuple[Callable[[Floats], Floats], int]:
    """What C does to a vector, and how many numbers come out."""
    if mechanism.strategy == "matrix":
        matrix = np.array([[float(x) for x in row] for row in mechanism.matrix])
        return lambda x: np.asarray(matrix @ x, dtype=float), len(matrix)
    if mechanism.strategy == "toeplitz":
        column = np.array([float(x) for x in mechanism.coefficients])
        return lambda x: np.convolve(x, column)[:steps], steps
    if mechanism.strategy == "prefix_sums":
        return lambda x: np.cumsum(x), steps
    levels = range(steps.bit_length())

    def nodes(x: Floats) -> Floats:
        return np.concatenate([x[: steps >> level << level].reshape(-1, 1 << level).sum(axis=1) for level in levels])

    return nodes, sum(steps >> level for level in levels)
