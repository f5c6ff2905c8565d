"""Mechanisms that add no noise: rows of probabilities, and densities that depend on a number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpverify.errors import DataError, NoSampler
from dpverify.samplers import integers, inversion
from dpverify.samplers.densities import line
from dpverify.samplers.enclosed import Enclosed, finite
from dpverify.samplers.grids import Grid
from dpverify.samplers.law import EXACT, IN_FLOATS, Array, Generator, Law, ends, floats, inverted
from dpverify.search.numeric import number
from dpverify.trusted.kernel.expr import ONE, Num, call, format_expr, mul, num, sub, substitute
from dpverify.trusted.kernel.model import Exponential, KaryResponse, Kernel, Table

BY_ROWS: Final = "inversion with enclosed probabilities, of as many bits as it takes"


def of_rows(mechanism: Table | Exponential) -> Law:
    """The law of the number of an output, on the input of a row."""
    if isinstance(mechanism, Table):
        rows = mechanism.rows
    else:
        base = mechanism.weights or (ONE,) * len(mechanism.scores[0])
        rows = tuple(
            tuple(mul(weight, call("exp", mul(mechanism.beta, score))) for weight, score in zip(base, row, strict=True))
            for row in mechanism.scores
        )

    @lru_cache(maxsize=256)
    def law_of(row: int) -> Enclosed:
        return finite(rows[row])

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        return np.asarray(law_of(_place(answers[0], len(rows))).draw(size, rng))[:, None]

    return Law(1, 1, draw, (BY_ROWS, EXACT), (0,))


def of_kary_response(mechanism: KaryResponse) -> Law:
    """The truth, or one of the others with the same chance each."""
    if not isinstance(mechanism.k, Num):
        raise NoSampler("how many values there are is not known.")
    values, truth = int(mechanism.k.value), finite((mechanism.p, sub(ONE, mechanism.p)))

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        told = _place(answers[0], values)
        others = integers.below(values - 1, size, rng) if values > 1 else np.zeros(size, dtype=np.int64)
        others = others + (others >= told).astype(np.int64)
        return np.asarray(np.where(truth.draw(size, rng) == 0, told, others))[:, None]

    return Law(1, 1, draw, ("the truth, or a uniform one of the others", EXACT), (0,))


def _place(answer: Any, count: int) -> int:
    if answer != int(answer) or not 0 <= answer < count:
        raise DataError(f"data = {answer} is not the number of an input: 0 to {count - 1}.")
    return int(answer)


def of_kernel(mechanism: Kernel, grid: Grid | None) -> Law:
    """The law of one output of a density in y, at theta."""
    low, high = (number(end) for end in mechanism.input)

    @lru_cache(maxsize=256)
    def law_at(theta: float) -> inversion.Line:
        return line(substitute(mechanism.density, {"theta": num(Fraction(theta))}), "y", *ends(mechanism.output))

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        theta = float(floats(answers)[0])
        if not low <= theta <= high:
            shown = ", ".join(format_expr(end) for end in mechanism.input)
            raise DataError(f"data = {answers[0]} is not in [{shown}], where the input theta lives.")
        drawn = law_at(theta).draw(size, rng)
        return (drawn if grid is None else grid.rounded(np.zeros(1), drawn))[:, None]

    first = float(min(max(0.0, low), high))
    last_bits = IN_FLOATS if grid is None else f"snapped: rounded to a multiple of {grid}"
    return Law(1, 1, draw, (inverted(law_at(first).error), last_bits), (first,))
