"""Privacy losses on a grid: bounds on one profile by masses at equally spaced losses (THEORY T19).

Masses m_j >= 0 at the losses l_j = (low + j) h and m at +inf have the profile, in alpha = e^epsilon and with a_j = e^(l_j),

    D(alpha) = m + sum over j of m_j (1 - alpha/a_j)+ ,

a convex polygon with its knots at the a_j. With S_j = m + the masses from l_j upwards, D(alpha) is a sum of the S_j with weights
(1 - alpha/a_j)+ - (1 - alpha/a_(j-1))+ that are never negative. So D rises with every S_j, and S_j is the height at alpha = 0 of the
polygon's line between a_(j-1) and a_j: for corner heights F it is S_j = F_j + c (F_(j-1) - F_j), c = 1/(1 - e^-h), whatever j is.

Upward ("connect the dots"). Corners at upper bounds of H(l_j) bound H from above: H is convex in alpha, is 1 at alpha = 0 and never
rises. All S_j are rounded up and made to fall with j by taking the greatest from above: the masses are then not negative.

Downward. For points x < y the line through (x, H(y)) whose slope is that of the chord of H over [x, y] nowhere exceeds H: left of x
and right of y it is below the chord's extension, and between them below H(y). One such line is taken for each cell [a_(j-1), a_j],
and corners that are not above the lines of both their cells bound H from below on every cell. The lines touch at the middle of the
cell, which loses a term of second order in h; where the density of losses breaks off at the cell's right end (an atom at the greatest
loss) the line that touches there is taken. So that it touches at a corner, corners lie a nudge n below the grid, at l_j - n. Left of
the first corner the polygon is below the chord of the first cell. Whether all corners are worth more than w, a lower bound on H at a
far loss, is read from H itself: w is kept as a mass at that loss, the rest has its last corner at height 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Final

from flint import arb, fmpz_poly

from dpverify.balls import finite, precision, rational
from dpverify.curves.base import Pair
from dpverify.errors import Rejected, Undecided

RULE: Final = "loss-distribution"
MAX_CELLS: Final = 1 << 20
"""The longest list of masses that is worked with."""
MAX_BITS: Final = 4096
GUARD: Final = 64
"""Working bits beyond those of the masses: the slopes of short chords cancel, the heights at alpha = 0 divide by h."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where losses are placed, and how finely masses are kept. Any values give true bounds; good values give sharp ones.

    spacing: h > 0, in nats. nudge: n, 0 < n < h/4. bits: masses are integers in units of 2^-bits. tail: each product may move masses
    of 2^-tail in all at either end. ranges: for each part the multiples of h between which its losses are placed. far: a loss, in
    nats, so great that what H has left there is taken to be at +inf; None where nothing is left.
    """

    spacing: Fraction
    nudge: Fraction
    bits: int
    tail: int
    ranges: tuple[tuple[int, int], ...]
    far: Fraction | None = None

    def __post_init__(self) -> None:
        if self.spacing <= 0 or not 0 < self.nudge < self.spacing / 4:
            raise Rejected(RULE, "grid", "the spacing must be positive and the nudge between 0 and a quarter of it.")
        if not 32 <= self.bits <= MAX_BITS or not 0 < self.tail <= MAX_BITS:
            raise Rejected(RULE, "grid", f"bits must be between 32 and {MAX_BITS}, tail between 1 and {MAX_BITS}.")
        if self.far is not None and self.far <= 0:
            raise Rejected(RULE, "grid", "the far loss must be positive.")
        for number, (low, high) in enumerate(self.ranges):
            if not 0 < high - low <= MAX_CELLS:
                raise Rejected(RULE, f"range {number}", f"it must hold between 1 and {MAX_CELLS} cells.")

    @property
    def prec(self) -> int:
        """The working precision, in bits."""
        return self.bits + GUARD


@dataclass(frozen=True, slots=True)
class Masses:
    """Masses in units of 2^-bits: the coefficient of x^j at the loss (low + j) h, and `infinite` at +inf (or the far loss)."""

    low: int
    finite: fmpz_poly
    infinite: int


def knots(pair: Pair, grid: Grid, low: int, high: int) -> list[arb]:
    """H of the pair at the losses low h, ..., high h."""
    with precision(grid.prec):
        return [pair.delta(rational(j * grid.spacing)) for j in range(low, high + 1)]


def upward(grid: Grid, low: int, values: Sequence[arb]) -> Masses:
    """Masses whose profile is nowhere below H, from H at the losses low h, (low + 1) h, ..."""
    with precision(grid.prec):
        weight = ceiling(_inverse_step(grid.spacing), grid.prec)
        heights = list(accumulate((ceiling(value, grid.bits) for value in values), min, initial=1 << grid.bits))[1:]
    sums = [1 << grid.bits]
    sums += [after - (weight * (after - before) >> grid.prec) for before, after in pairwise(heights)]
    sums.append(heights[-1])
    falling = list(accumulate(reversed(sums), max))[::-1]
    return Masses(low, _differences(falling), falling[-1])


def downward(pair: Pair, grid: Grid, low: int, values: Sequence[arb]) -> Masses:
    """Masses, at losses a nudge below the grid, whose profile is nowhere above H of the pair; the infinite mass is at grid.far.

    values: H at the losses low h, (low + 1) h, ... They only choose between lines.
    """
    with precision(grid.prec):
        rest = _rest(pair, grid, low + len(values) - 1)
        corners, first = _corners(pair, grid, low, values, rest)
        weight = floor(_inverse_step(grid.spacing), grid.prec)
    sums = [after + (weight * (before - after) >> grid.prec) for before, after in pairwise(corners)]
    falling = list(accumulate([max(0, first - rest), *sums, 0], min))
    return Masses(low, _differences(falling), rest)


def floor(ball: arb, bits: int) -> int:
    """The greatest integer, in units of 2^-bits, that is certainly not above the ball's true value."""
    mantissa, exponent = finite(ball).lower().man_exp()
    shift = int(exponent) + bits
    if shift > MAX_BITS:
        raise Undecided("a profile's value is far from the interval from 0 to 1.")
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> min(-shift, 4 * MAX_BITS)


def ceiling(ball: arb, bits: int) -> int:
    """The least integer, in units of 2^-bits, that is certainly not below the ball's true value."""
    return -floor(-ball, bits)


def _inverse_step(spacing: Fraction) -> arb:
    """1/(1 - e^-h)."""
    return -1 / (-rational(spacing)).expm1()


def _differences(falling: Sequence[int]) -> fmpz_poly:
    return fmpz_poly([here - above for here, above in pairwise(falling)])


# -- the lower polygon -----------------------------------------------------------------------------


def _rest(pair: Pair, grid: Grid, high: int) -> int:
    """A lower bound on H at the far loss; 0 where none is asked for or to be had."""
    if grid.far is None:
        return 0
    if grid.far < high * grid.spacing:
        raise Rejected(RULE, "far", "the far loss must be at or beyond the end of every range.")
    try:
        return max(0, floor(pair.delta(rational(grid.far)), grid.bits))
    except Undecided:
        return 0


@dataclass(frozen=True, slots=True)
class _Ends:
    """The heights of a line, nowhere above H, at the left and the right corner of a cell, and at alpha = 0."""

    left: int
    right: int
    start: int


class _Lines:
    """The lines of one pair on one grid."""

    def __init__(self, pair: Pair, grid: Grid) -> None:
        self.pair, self.grid = pair, grid
        h = rational(grid.spacing)
        self.step, self.half, self.half_back, self.back = grid.spacing, (h / 2).expm1(), -(-h / 2).expm1(), -(-h).expm1()
        self.stretch = 1 / rational(grid.nudge).expm1()

    def middle(self, j: int) -> _Ends:
        """The line that touches at the middle of the cell below l_j."""
        height, fall = self._support((j - Fraction(1, 2)) * self.step)
        return self._ends(height + fall * self.half_back, height - fall * self.half, height + fall)

    def right(self, j: int) -> _Ends:
        """The line that touches at the right corner of the cell below l_j; it is not below H(l_j) there."""
        height, fall = self._support(j * self.step)
        return self._ends(height + fall * self.back, height, height + fall)

    def _support(self, loss: Fraction) -> tuple[arb, arb]:
        """Height at a nudge below the loss of the line by the chord of H from there to the loss, and its rise from there to alpha = 0."""
        height = self.pair.delta(rational(loss))
        return height, (self.pair.delta(rational(loss - self.grid.nudge)) - height) * self.stretch

    def _ends(self, left: arb, right: arb, start: arb) -> _Ends:
        bits = self.grid.bits
        return _Ends(floor(left, bits), floor(right, bits), floor(start, bits))


def _corners(pair: Pair, grid: Grid, low: int, values: Sequence[arb], rest: int) -> tuple[list[int], int]:
    """Heights above `rest` of the corners, never rising, 0 at the last; and the height of the first cell's line at alpha = 0."""
    lines = _Lines(pair, grid)
    corners = [0]
    next_left = rest
    for i in range(len(values) - 1, 0, -1):
        at_corner = floor(values[i], grid.bits)
        ends = lines.middle(low + i)
        if ends.right < rest or 4 * (next_left - ends.right) > at_corner - next_left:
            ends = lines.right(low + i)
        # on the cell either line is certainly at least `rest`: only its rounded heights may be less
        corners[-1] = min(corners[-1], max(0, ends.right - rest))
        corners.append(max(0, ends.left - rest))
        next_left = ends.left
    return list(accumulate(reversed(corners), min)), ends.start
