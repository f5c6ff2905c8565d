"""Sums of floats rounded to a grid, as if they were sums of real numbers: what is published tells nothing of the floats that made it.

A float sum has the last bits of its summands: one output, seen to the last bit, can rule out a true answer (Mironov 2012). The exact sum,
rounded to a grid, is a function of the noisy answer alone, so it keeps its guarantee by post-processing
(theory#rounded-sums).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import DataError

Array = NDArray[np.float64]

_REACH: Final = 2.0**52


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of a power of two. step: that power."""

    step: float

    def __str__(self) -> str:
        return f"2^{int(np.log2(self.step))}"

    def rounded(self, answer: Array, noise: Array) -> Array:
        """answer + noise, rounded to the nearest multiple of the step (halves to even), and kept within 2^52 steps of 0."""
        with np.errstate(all="ignore"):
            total = answer + noise
            part = total - answer
            rest = (answer - (total - part)) + (noise - part)  # what the float sum has lost, exactly (Knuth)
            steps = total / self.step
            floor = np.floor(steps)
            halfway = steps - floor == 0.5  # else the exact sum is on the same side of all halves as the float
            nearest = np.where(halfway & (rest > 0), floor + 1, np.where(halfway & (rest < 0), floor, np.rint(steps)))
        return np.asarray(np.clip(nearest, -_REACH, _REACH) * self.step)


def grid(step: Fraction | int | str) -> Grid:
    """The grid of a step. Raises DataError where that is no power of two that floats reach."""
    try:
        exact = Fraction(step)
    except (ValueError, ZeroDivisionError) as error:
        raise DataError(f"snap = {step!r} is not a number. Write a power of two: 1/1024, 1 or 4.") from error
    if exact <= 0 or exact.numerator & (exact.numerator - 1) or exact.denominator & (exact.denominator - 1):
        raise DataError(f"snap = {step} is not a power of two. Write 1/1024, 1 or 4.")
    if not Fraction(1, 2**1000) <= exact <= 2**900:
        raise DataError(f"snap = {step} is out of the range of floats. Write a power of two from 2**-1000 to 2**900.")
    return Grid(float(exact))
