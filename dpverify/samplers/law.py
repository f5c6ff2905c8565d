"""What a sampler draws by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import DataError, NoSampler
from dpverify.samplers.grids import Grid
from dpverify.search.numeric import number
from dpverify.trusted.kernel.expr import Expr, Num

Array = NDArray[Any]
Floats = NDArray[np.float64]
Generator = np.random.Generator
Noise = Callable[[int, Generator], Floats]
"""So many draws."""
Draw = Callable[[Sequence[Any], int, Generator], Array]
"""From the numbers of a true answer to so many rows of outputs."""

EXACT: Final = "exact: nothing is rounded"
IN_FLOATS: Final = "in floats: the last bits of an output may tell the true answer; snap rounds them away"
MOST: Final = 4096
"""Numbers that an output may have."""
ANY: Final = 0
"""As many numbers of a true answer as come, and of an output as these make."""


@dataclass(frozen=True, slots=True)
class Law:
    """What a mechanism's outputs are drawn by.

    answers, outputs: how many numbers a true answer, and an output, has; ANY where the length of the data decides. draw: raises
    DataError for numbers that are no true answer.
    told: how it is drawn, and how exactly. first: a true answer to begin with.
    """

    answers: int
    outputs: int
    draw: Draw
    told: tuple[str, ...]
    first: tuple[Any, ...]


def ending(grid: Grid | None) -> str:
    """What is said of the last bits."""
    return IN_FLOATS if grid is None else f"snapped: the exact sum of true answer and noise, rounded to a multiple of {grid}"


def floats(answers: Sequence[Any]) -> Floats:
    """The numbers of a true answer as floats. Raises DataError for one that is beyond them."""
    try:
        return np.array([float(answer) for answer in answers])
    except OverflowError as error:
        raise DataError("data holds an integer beyond the range of floats, and this noise is made of floats.") from error


def whole(expr: Expr, what: str) -> int:
    """A number of things. Raises NoSampler where it is not known, or too many."""
    if not isinstance(expr, Num) or expr.value.denominator != 1 or not 1 <= expr.value <= MOST:
        raise NoSampler(f"{what} is no integer from 1 to {MOST}.")
    return int(expr.value)


def ends(support: tuple[Expr | None, Expr | None]) -> tuple[float, float]:
    """The ends of an interval as floats."""
    low, high = support
    return -inf if low is None else number(low), inf if high is None else number(high)


def inverted(error: float) -> str:
    """What is said of an inversion."""
    return f"inversion, distribution and tail functions to within a factor of 1 + {error:.0e} (measured, not proved)"
