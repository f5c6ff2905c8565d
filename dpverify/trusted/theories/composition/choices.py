"""The greatest of several profiles of masses, bounded by masses again (theory#loss-distribution).

Where who chooses the next part, or which of several pairs it is to have, has seen what was told before, the most that can still be won is
a maximum of profiles. They are polygons with corners at the same places. From above, a polygon through the greatest corners is nowhere
below any of them. From below each cell has the line of one of them, and the polygon is above none of these lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, repeat

from flint import arb, fmpz_poly

from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.theories.composition.grid import GUARD, Grid, Line, Masses, ceiling, floor, joined, under


def above(several: Sequence[Masses], grid: Grid) -> Masses:
    """Masses whose profile is nowhere below that of any of some, all with one spacing."""
    low, heights = _heights(several, grid, ceiling)
    start = max(_total(masses) for masses in several)
    with precision(grid.prec):
        return joined(map(max, zip(*heights, strict=True)), start, grid, range(low, low + len(heights[0])), several[0].doublings)


def below(several: Sequence[Masses], grid: Grid) -> Masses:
    """Masses whose profile is nowhere above the greatest of that of some, all with one spacing."""
    low, heights = _heights(several, grid, floor)
    rest = max(masses.infinite for masses in several)
    lines = [list(map(Line, those, those[1:], repeat(_total(masses)))) for masses, those in zip(several, heights, strict=True)]
    cells = [max(line for line in those if line.right >= rest) for those in zip(*lines, strict=True)]
    with precision(grid.prec):
        return under(cells, rest, grid, range(low, low + len(heights[0])), several[0].doublings)


def _heights(several: Sequence[Masses], grid: Grid, rounded: Callable[[arb, int], int]) -> tuple[int, list[list[int]]]:
    """Of each its profile at all places, from one before the first; and that place."""
    low = min(masses.low for masses in several) - 1
    places = max(masses.low + masses.finite.length() for masses in several) - low
    fallen = _fallen(grid.spacing * 2 ** several[0].doublings, grid.prec, places, rounded)
    return low, [_heights_of(replace(masses, low=masses.low - low), places, fallen, rounded is ceiling) for masses in several]


def _heights_of(masses: Masses, places: int, fallen: fmpz_poly, up: bool) -> list[int]:
    """At a place j the sum of the m_i (1 - e^((j - i) h)) of the places i beyond, and the mass at +inf."""
    backwards = masses.finite.left_shift(masses.low).coeffs()
    listed = (fmpz_poly((backwards + [0] * (places - len(backwards)))[::-1]) * fallen).truncate(places)
    unit = 1 << GUARD
    whole = (-((-listed) // unit) if up else listed // unit).coeffs()
    return [masses.infinite + int(height) for height in reversed(whole + [0] * (places - len(whole)))]


@remembered(64)
def _fallen(spacing: Fraction, prec: int, places: int, rounded: Callable[[arb, int], int]) -> fmpz_poly:
    """1 - e^(-k h) for k places, in units of 2^-GUARD."""
    with precision(prec):
        powers = accumulate(repeat((-rational(spacing)).exp(), places - 1), arb.__mul__, initial=arb(1))
        return fmpz_poly([rounded(1 - power, GUARD) for power in powers])


def _total(masses: Masses) -> int:
    return int(masses.finite(1)) + masses.infinite
