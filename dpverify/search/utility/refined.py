"""Linear programs to more digits than floats have: a solver's answer, and what is still wrong with it as the next program.

Source: Gleixner, Steffy & Wolter 2016, "Iterative refinement for linear programming". Nothing here is believed: what the numbers are
used for is checked in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from flint import fmpq

from dpverify.trusted.kernel.errors import Undecided

SOLVER: Final = "HiGHS"
TOLERANCE: Final = 1e-10
"""Of one answer of the solver: the least that it takes."""
MOST_ROUNDS: Final = 8
_STEP: Final = 26
"""By so many bits at most the scale grows in a round: less than what one answer is right to."""
_MOST_BITS: Final = 60


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Least costs' x over x >= 0 with A x = right. entries: (row, column, number) of A."""

    costs: Sequence[fmpq]
    entries: Sequence[tuple[int, int, fmpq]]
    right: Sequence[fmpq]


@dataclass(frozen=True, slots=True)
class Solution:
    """x, the multipliers y of the rows, and by how much they are wrong: the largest violation of a constraint of either program."""

    x: list[fmpq]
    y: list[fmpq]
    wrong: float


def solve(program: LinearProgram, wanted: float) -> Solution:
    """A solution whose constraints hold up to `wanted`, or as nearly as the rounds allow. Raises Undecided where there is none."""
    from scipy.sparse import coo_matrix

    rows, columns, numbers = zip(*program.entries, strict=True)
    shape = (len(program.right), len(program.costs))
    matrix = coo_matrix(([float(number) for number in numbers], (rows, columns)), shape=shape).tocsr()
    x, y = [fmpq(0)] * shape[1], [fmpq(0)] * shape[0]
    best: Solution | None = None
    bits = 0
    for _ in range(MOST_ROUNDS):
        left, reduced = _residuals(program, x, y)
        answers = (_answer(matrix, left, reduced, x, fmpq(2) ** bits, presolve) for presolve in (True, False))
        answer = next((one for one in answers if one is not None), None)
        if answer is None:
            break
        scale = fmpq(1, 2**bits)
        x = [one + _exact(more) * scale for one, more in zip(x, answer[0], strict=True)]
        y = [one + _exact(more) * scale for one, more in zip(y, answer[1], strict=True)]
        found = Solution(x, y, _wrong(*_residuals(program, x, y), x))
        if best is not None and found.wrong >= best.wrong:
            break
        best = found
        if best.wrong <= wanted or bits >= _MOST_BITS:
            break
        bits = min(bits + _STEP, _MOST_BITS, max(bits + 1, int(-np.log2(max(best.wrong, 1e-300)))))
    if best is None:
        raise Undecided(f"the linear program was not solved by {SOLVER}: its numbers may be too far apart in size.")
    return best


def _residuals(program: LinearProgram, x: Sequence[fmpq], y: Sequence[fmpq]) -> tuple[list[fmpq], list[fmpq]]:
    """right - A x and costs - A' y, exactly."""
    left, reduced = list(program.right), list(program.costs)
    for row, column, number in program.entries:
        left[row] -= number * x[column]
        reduced[column] -= number * y[row]
    return left, reduced


def _wrong(left: Iterable[fmpq], reduced: Iterable[fmpq], x: Iterable[fmpq]) -> float:
    return float(max([fmpq(0), *(abs(one) for one in left), *(-one for one in reduced), *(-one for one in x)]))


def _answer(
    matrix: Any, left: Sequence[fmpq], reduced: Sequence[fmpq], x: Sequence[fmpq], scale: fmpq, presolve: bool
) -> tuple[Any, Any] | None:
    """What is to be added to x and to the multipliers, times the scale; None where the solver has no answer."""
    from scipy.optimize import linprog

    found = linprog(
        [float(one * scale) for one in reduced],
        A_eq=matrix,
        b_eq=[float(one * scale) for one in left],
        bounds=[(float(-one * scale), None) for one in x],
        method="highs",
        options={"presolve": presolve, "primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    return (found.x, found.eqlin.marginals) if found.x is not None and found.status == 0 else None


def _exact(number: float) -> fmpq:
    return fmpq(*float(number).as_integer_ratio())
