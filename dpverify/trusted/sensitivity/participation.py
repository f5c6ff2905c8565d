"""How far a user moves C x who contributes at several of its steps: the square of the most, from both sides (theory#correlated-gaussians).

Bounds are in units of the sensitivity, of the square of what C u is long for vectors u of length at most 1 at the steps of a pattern.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, lcm
from typing import Final

from flint import fmpz_mat, fmpz_poly

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import CorrelatedNoise, Vector

WHAT: Final = "the strategy"
MOST_STEPS: Final = 10_000
MOST_PATTERNS: Final = 4096
"""The most patterns of a matrix that are looked at one by one."""

Pattern = Sequence[int]


@lru_cache(maxsize=64)
def squares(noise: CorrelatedNoise) -> tuple[Fraction, Fraction]:
    """At most, and at least, the square of the greatest length. Raises Rejected for what is no number, or too large."""
    steps, separation = count(noise.steps), count(noise.separation, "separation")
    times = min(count(noise.times, "times"), -(-steps // separation))
    alike = noise.order == "fixed"
    starts = max(separation, steps - (times - 1) * separation) if alike else separation  # what begins later is a part of one of these
    fixed = [range(first, steps, separation)[:times] for first in range(min(starts, steps))]
    if noise.strategy == "binary_tree":
        return _of_tree(steps, times, separation, fixed, alike)
    if noise.strategy == "matrix":
        return _of_matrix(noise, times, separation, fixed)
    numbers, unit = _whole(first_column(noise))
    sizes = list(map(abs, numbers))
    apart = separation >= len(sizes) or alike
    falling = sizes if apart else list(accumulate(reversed(sizes), max))[::-1]

    def moved(column: Sequence[int], sign: int) -> int:
        """The square where the first steps that may be are taken, with signs that are all the same, or alternate."""
        taken = [0] * steps
        for number, step in enumerate(fixed[0]):
            taken[step] = sign**number
        return sum(int(x) ** 2 for x in (fmpz_poly(column) * fmpz_poly(taken)).coeffs()[:steps])

    return Fraction(moved(falling, 1), unit**2), Fraction(max(moved(numbers, 1), moved(numbers, -1)), unit**2)


def count(number: Expr, key: str = "steps") -> int:
    """A number of steps. Raises Rejected for one that has no value, or of which there are too many."""
    if not isinstance(number, Num) or number.value.denominator != 1 or not 1 <= number.value <= (MOST_STEPS if key == "steps" else 10**9):
        raise Rejected(WHAT, key, f"it wants an integer, and there are at most {MOST_STEPS} steps")
    return int(number.value)


def first_column(noise: CorrelatedNoise) -> Vector:
    """The numbers of a strategy that is Toeplitz, down to the last."""
    return noise.coefficients if noise.strategy == "toeplitz" else (Fraction(1),) * count(noise.steps)


def _whole(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Rationals as multiples of the inverse of an integer."""
    unit = lcm(*(x.denominator for x in numbers))
    return [int(x * unit) for x in numbers], unit


def _of_tree(steps: int, times: int, separation: int, fixed: Sequence[Pattern], alike: bool) -> tuple[Fraction, Fraction]:
    """By levels: at most so many of a pattern are in one node, and the more of them are in one the worse."""
    levels = range(steps.bit_length())

    def moved(pattern: Pattern) -> int:
        return sum(
            within**2
            for level in levels
            for node, within in Counter(step >> level for step in pattern).items()
            if (node + 1) << level <= steps
        )

    most, least = 0, max(map(moved, fixed))
    for level in levels:
        full = min(times, -(-(1 << level) // separation))
        nodes = min(steps >> level, times // full)
        most += nodes * full**2 + (times % full) ** 2 * (nodes < steps >> level)
    return Fraction(least if alike else most), Fraction(least)


def _of_matrix(noise: CorrelatedNoise, times: int, separation: int, fixed: Sequence[Pattern]) -> tuple[Fraction, Fraction]:
    numbers, unit = _whole([x for row in noise.matrix for x in row])
    steps = len(noise.matrix[0])
    matrix = fmpz_mat(len(noise.matrix), steps, numbers)
    gram = [[int(x) for x in row] for row in (matrix.transpose() * matrix).tolist()]
    patterns: Sequence[Pattern] = fixed
    if noise.order == "any" and sum(comb(steps - (k - 1) * (separation - 1), k) for k in range(1, times + 1)) <= MOST_PATTERNS:
        patterns = list(_patterns(steps, times, separation))
    most = max(sum(abs(gram[i][j]) for i in pattern for j in pattern) for pattern in patterns)
    if noise.order == "any" and patterns is fixed:
        weights = []
        for i, row in enumerate(gram):
            others = [abs(x) if abs(i - j) >= separation else 0 for j, x in enumerate(row)]
            weights.append(row[i] + (_heaviest(others, times - 1, separation)[0] if any(others) else 0))
        most, pattern = _heaviest(weights, times, separation)
        patterns = [*fixed, pattern]
    return Fraction(most, unit**2), Fraction(max(_with_signs(gram, pattern) for pattern in patterns), unit**2)


def _patterns(steps: int, times: int, separation: int, first: int = 0) -> Iterator[tuple[int, ...]]:
    """All patterns from a step on, the one without steps among them."""
    yield ()
    for step in range(first, steps) if times else ():
        for others in _patterns(steps, times - 1, separation, step + separation):
            yield (step, *others)


def _heaviest(weights: Sequence[int], times: int, separation: int) -> tuple[int, tuple[int, ...]]:
    """The pattern whose weights, none below 0, have the greatest sum."""
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (len(weights) + 1)
    for _ in range(times):
        now: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        for step, weight in enumerate(weights):
            before, pattern = best[max(step + 1 - separation, 0)]
            now.append(max(now[-1], (before + weight, (*pattern, step))))
        best = now
    return best[-1]


def _with_signs(gram: Sequence[Sequence[int]], pattern: Pattern) -> int:
    """The square for a vector of signs, each as those before it have it."""
    signs: dict[int, int] = {}
    for step in pattern:
        signs[step] = -1 if sum(gram[step][other] * sign for other, sign in signs.items()) < 0 else 1
    return sum(gram[i][j] * x * y for i, x in signs.items() for j, y in signs.items())
