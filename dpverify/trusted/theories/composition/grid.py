"""Privacy losses on a grid: bounds on one profile by masses at equally spaced losses (theory#loss-distribution).

Masses m_j >= 0 at the losses l_j = (low + j) h and m at +inf have the profile, in alpha = e^epsilon and with a_j = e^(l_j),

    D(alpha) = m + sum over j of m_j (1 - alpha/a_j)+ ,

a convex polygon with its knots at the a_j. With S_j = m + the masses from l_j upwards, D(alpha) is a sum of the S_j with weights
(1 - alpha/a_j)+ - (1 - alpha/a_(j-1))+ that are never negative. So D rises with every S_j, and S_j is the height at alpha = 0 of the
polygon's line between a_(j-1) and a_j: for corner heights F it is S_j = F_j + c (F_(j-1) - F_j), c = 1/(1 - e^-h), whatever j is.

Upward ("connect the dots"). Corners at upper bounds of H(l_j) bound H from above: H is convex in alpha, is 1 at alpha = 0 and never
rises. All S_j are rounded up and made to fall with j by taking the greatest from above: the masses are then not negative.

Downward. For points x < y the line through (x, H(y)) whose slope is that of the chord of H over [x, y] nowhere exceeds H: left of x
and right of y it is below the chord's extension, and between them below H(y). One such line is taken for each cell [a_(j-1), a_j],
and corners that are not above the lines of both their cells bound H from below on every cell. The lines touch in the middle of the
cell, which loses a term of second order in h, or, as where the density of losses begins or breaks off, at an end of it. So that an atom
at the greatest loss can be touched at a corner, corners lie a nudge n below the grid, at l_j - n. All S_j are rounded down and made
to fall with j by taking the least from below. Left of the first corner the polygon is below the first cell's line. Where H has w > 0
left at a far loss, w is kept as a mass at that loss and the corners are measured from w; the last is at height 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from flint import arb, fmpz_poly

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import finite, precision, rational
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.loading import remembered

RULE: Final = "loss-distribution"
MAX_CELLS: Final = 1 << 20
"""The longest list of masses that is worked with."""
MAX_BITS: Final = 4096
MAX_DOUBLINGS: Final = 64
_SHORT: Final = 512
GUARD: Final = 64
"""Working bits beyond those of the masses: the slopes of short chords cancel, the heights at alpha = 0 divide by h."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where losses are placed, and how finely masses are kept. Any values give true bounds; good values give sharp ones.

    spacing: h > 0, in nats. nudge: n, 0 < n < h/4. bits: masses are integers in units of 2^-bits. tail: each product may move masses
    of 2^-tail in all at either end. ranges: for each part the multiples of h between which its losses are placed. far: a loss, in
    nats, so great that what H has left there is taken to be at +inf; None where nothing is left. strides: for each part pairs (from, k):
    from that multiple of h on only every k-th place is used; without any, every place. touching: for each part the numbers of the cells
    whose lines from below touch at the left end, and at the right one; those of others touch in the middle. doublings: for each part
    after which of the squarings that make its power the spacing doubles; a number that is listed twice doubles it twice. apart: for each
    part how often the spacing of rare losses is doubled from the start, and from which place on they are rare; or nothing.
    """

    spacing: Fraction
    nudge: Fraction
    bits: int
    tail: int
    ranges: tuple[tuple[int, int], ...]
    far: Fraction | None = None
    strides: tuple[tuple[tuple[int, int], ...], ...] = ()
    touching: tuple[tuple[frozenset[int], frozenset[int]], ...] = ()
    doublings: tuple[tuple[int, ...], ...] = ()
    apart: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.spacing <= 0 or not 0 < self.nudge < self.spacing / 4:
            raise Rejected(RULE, "grid", "the spacing must be positive and the nudge between 0 and a quarter of it.")
        if not 32 <= self.bits <= MAX_BITS or not 0 < self.tail <= MAX_BITS:
            raise Rejected(RULE, "grid", f"bits must be between 32 and {MAX_BITS}, tail between 1 and {MAX_BITS}.")
        if self.far is not None and self.far <= 0:
            raise Rejected(RULE, "grid", "the far loss must be positive.")
        for number, (low, high) in enumerate(self.ranges):
            require(0 < high - low <= MAX_CELLS, Rejected(RULE, f"range {number}", f"it must hold between 1 and {MAX_CELLS} cells."))
        for number, steps in enumerate(self.strides):
            if any(k < 1 for _, k in steps) or any(here >= after for (here, _), (after, _) in pairwise(steps)):
                raise Rejected(RULE, f"strides {number}", "they must be at least 1, each from a later place on than the one before.")
        require(self.most_doublings <= MAX_DOUBLINGS, Rejected(RULE, "doublings", f"there may be {MAX_DOUBLINGS} at most."))
        if any(len(pair) not in (0, 2) or (pair and pair[0] < 0) for pair in self.apart) or (self.apart and not self.doublings):
            raise Rejected(RULE, "apart", "it is a number of doublings and a place for each part, or nothing, beside doublings.")
        for name in ("strides", "touching", "doublings", "apart"):
            listed = getattr(self, name)
            require(not (listed and len(listed) != len(self.ranges)), Rejected(RULE, name, "each part needs its own, or none."))

    @property
    def most_doublings(self) -> int:
        """How often the spacing is doubled at most."""
        return max((*map(len, self.doublings), *(pair[0] for pair in self.apart if pair)), default=0)

    def places(self, part: int) -> list[int]:
        """The multiples of h at which a part's masses lie, from the lower end of its range to the upper."""
        low, high = self.ranges[part]
        steps = self.strides[part] if self.strides else ()
        places, k, following = [low], 1, 0
        while places[-1] < high:
            while following < len(steps) and steps[following][0] <= places[-1]:
                k, following = steps[following][1], following + 1
            places.append(min(places[-1] + k, high))
        return places

    @property
    def prec(self) -> int:
        """The working precision, in bits."""
        return self.bits + GUARD


@dataclass(frozen=True, slots=True)
class Masses:
    """Masses in units of 2^-bits: the coefficient of x^j at the loss (low + j) h, and `infinite` at +inf (or the far loss).

    doublings: how often h has been doubled.
    """

    low: int
    finite: fmpz_poly
    infinite: int
    doublings: int = 0


def upward(pair: Pair, grid: Grid, places: Sequence[int]) -> Masses:
    """Masses at the losses h times each place, and at +inf, whose profile is nowhere below H of the pair."""
    with precision(grid.prec):
        values = [ceiling(pair.delta(rational(j * grid.spacing)), grid.bits) for j in places]
        return joined(values, 1 << grid.bits, grid, places)


def joined(values: Iterable[int], start: int, grid: Grid, places: Sequence[int], doublings: int = 0) -> Masses:
    """Masses whose profile is the polygon of corners at some places, or above it, from a height at alpha = 0 that none of them exceeds."""
    heights, weights = list(accumulate(values, min, initial=start))[1:], _Weights(grid, ceiling)
    sums = [start]
    sums += [
        after - (weights[right - left << doublings] * (after - before) >> grid.prec)
        for (before, after), (left, right) in zip(pairwise(heights), pairwise(places), strict=True)
    ]
    sums.append(heights[-1])
    falling = list(accumulate(reversed(sums), max))[::-1]
    return Masses(places[0], _spread(places, falling), falling[-1], doublings)


def downward(pair: Pair, grid: Grid, part: int) -> Masses:
    """Masses whose profile is nowhere above H of the pair: at the part's places less a nudge, the infinite mass at grid.far."""
    places = grid.places(part)
    with precision(grid.prec):
        rest = rest_of(pair, grid, places[-1])
        return under(lines_below(pair, grid, part, rest), rest, grid, places)


def under(cells: Sequence[Line], rest: int, grid: Grid, places: Sequence[int], doublings: int = 0) -> Masses:
    """Masses whose profile is on no cell between the places above its line, which is at least `rest` there."""
    widths = [right - left << doublings for left, right in pairwise(places)]
    sums = line_sums(_convex(corners(cells, rest), widths, grid), widths, grid)
    falling = list(accumulate([max(0, cells[0].start - rest), *sums, 0], min))
    return Masses(places[0], _spread(places, falling), rest, doublings)


def floor(ball: arb, bits: int) -> int:
    """The greatest integer, in units of 2^-bits, that is certainly not above the ball's true value."""
    mantissa, exponent = finite(ball).lower().man_exp()
    shift = int(exponent) + bits
    require(shift <= MAX_BITS, Undecided("a profile's value is far from the interval from 0 to 1."))
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> min(-shift, 4 * MAX_BITS)


def ceiling(ball: arb, bits: int) -> int:
    """The least integer, in units of 2^-bits, that is certainly not below the ball's true value."""
    return -floor(-ball, bits)


class _Weights(dict[int, int]):
    """1/(1 - e^-(k h)) for cells of k steps, rounded."""

    def __init__(self, grid: Grid, rounded: Callable[[arb, int], int]) -> None:
        self._grid, self._rounded = grid, rounded

    def __missing__(self, k: int) -> int:
        self[k] = self._rounded(-1 / (-rational(k * self._grid.spacing)).expm1(), self._grid.prec)
        return self[k]


def _spread(places: Sequence[int], falling: Sequence[int]) -> fmpz_poly:
    """The masses between falling sums, each at its place."""
    masses = [0] * (places[-1] - places[0] + 1)
    for place, (here, above) in zip(places, pairwise(falling), strict=True):
        masses[place - places[0]] = here - above
    return fmpz_poly(masses)


# -- the lower polygon -----------------------------------------------------------------------------


def rest_of(pair: Pair, grid: Grid, high: int) -> int:
    """A lower bound on H at the far loss; 0 where none is asked for or to be had."""
    if grid.far is None:
        return 0
    require(grid.far >= high * grid.spacing, Rejected(RULE, "far", "the far loss must be at or beyond the end of every range."))
    try:
        return max(0, floor(pair.delta(rational(grid.far)), grid.bits))
    except Undecided:
        return 0


class Line(NamedTuple):
    """Heights of a line that is nowhere above H: at the left and the right corner of its cell, and at alpha = 0."""

    left: int
    right: int
    start: int


class Lines:
    """The lines of one pair; a cell lies between the corners at two places, both less a nudge."""

    def __init__(self, pair: Pair, spacing: Fraction, nudge: Fraction, bits: int) -> None:
        self._pair, self._spacing, self._nudge, self._bits = pair, spacing, nudge, bits
        self._nudge_back, self._stretch = -(-rational(nudge)).expm1(), 1 / rational(nudge).expm1()
        self._widths: dict[int, tuple[arb, arb, arb, arb]] = {}

    def _factors(self, k: int) -> tuple[arb, arb, arb, arb]:
        """For cells of k steps, falls and rises from the point of touching, as parts of its alpha."""
        if k not in self._widths:
            width, nudge = rational(k * self._spacing), rational(self._nudge)
            self._widths[k] = -(-width / 2).expm1(), (width / 2).expm1(), -(-width).expm1(), (width - nudge).expm1()
        return self._widths[k]

    def middle(self, left: int, right: int) -> Line:
        """The line that touches in the middle of a cell."""
        before, after, _, _ = self._factors(right - left)
        return self._line(Fraction(left + right, 2) * self._spacing, before, after)

    def right(self, left: int, right: int) -> Line:
        """The line that touches at a cell's right corner."""
        return self._line(right * self._spacing, self._factors(right - left)[2], arb(0))

    def left(self, left: int, right: int) -> Line:
        """The line that touches at a cell's left end, just beyond the corner."""
        return self._line(left * self._spacing + self._nudge, self._nudge_back, self._factors(right - left)[3])

    def _line(self, loss: Fraction, before: arb, after: arb) -> Line:
        height = self._pair.delta(rational(loss))
        fall = (self._pair.delta(rational(loss - self._nudge)) - height) * self._stretch
        heights = (height + fall * before, height - fall * after, height + fall)
        return Line(*(floor(at, self._bits) for at in heights))


def _middles(pair: Pair, spacing: Fraction, nudge: Fraction, bits: int, places: tuple[int, ...]) -> tuple[Line, ...]:
    """The lines that touch in the middle of the cells between places."""
    with precision(bits + GUARD):
        lines = Lines(pair, spacing, nudge, bits)
        return tuple(lines.middle(*cell) for cell in pairwise(places))


_short, _long = remembered(1024)(_middles), remembered(16)(_middles)  # many short lists take no more room than a few long ones


def middles(pair: Pair, spacing: Fraction, nudge: Fraction, bits: int, places: tuple[int, ...]) -> tuple[Line, ...]:
    """The same, remembered."""
    return (_short if len(places) <= _SHORT else _long)(pair, spacing, nudge, bits, places)


def lines_below(pair: Pair, grid: Grid, part: int, rest: int) -> list[Line]:
    """The lines of a part's cells. One that ends below `rest` gives way to that which touches at the right end."""
    places = grid.places(part)
    lines, (left, right) = Lines(pair, grid.spacing, grid.nudge, grid.bits), grid.touching[part] if grid.touching else ((), ())
    cells = list(middles(pair, grid.spacing, grid.nudge, grid.bits, tuple(places)))
    for i, cell in enumerate(pairwise(places)):
        if i in left:
            cells[i] = lines.left(*cell)
        if i in right or cells[i].right < rest:
            cells[i] = lines.right(*cell)
    return cells


def corners(cells: Sequence[Line], rest: int) -> list[int]:
    """Heights above `rest`, never rising, 0 at the last. Each line is certainly at least `rest` on its cell, but for rounding."""
    inner = [min(here.right, after.left) for here, after in pairwise(cells)]
    return list(accumulate((max(0, height - rest) for height in (cells[0].left, *inner, rest)), min))


def _convex(corners: Sequence[int], widths: Sequence[int], grid: Grid) -> list[int]:
    """Corners lowered to their convex hull, nearly: corners may be lowered by any amount."""
    shrinks = {k: floor((-rational(k * grid.spacing)).exp(), grid.prec) for k in set(widths)}
    backwards = accumulate(reversed(widths), lambda place, k: place * shrinks[k] >> grid.prec, initial=1 << grid.prec)
    places = list(backwards)[::-1]
    hull: list[int] = []
    for i, height in enumerate(corners):
        while len(hull) > 1 and _above(places, corners, hull[-2], hull[-1], i, height):
            hull.pop()
        hull.append(i)
    lowered = list(corners)
    for first, last in pairwise(hull):
        run, fall = places[last] - places[first], corners[first] - corners[last]
        for i in range(first + 1, last) if run > 0 else ():
            lowered[i] = min(corners[i], corners[last] + fall * (places[last] - places[i]) // run)
    return lowered


def _above(places: Sequence[int], corners: Sequence[int], first: int, middle: int, last: int, height: int) -> bool:
    """Whether the middle corner is not below the line between two others."""
    before, after = places[middle] - places[first], places[last] - places[middle]
    return (corners[first] - corners[middle]) * after <= (corners[middle] - height) * before


def line_sums(corners: Sequence[int], widths: Sequence[int], grid: Grid) -> list[int]:
    """The S_j of corners, each the height at alpha = 0 of a cell's line."""
    weights = _Weights(grid, floor)
    return [after + (weights[k] * (before - after) >> grid.prec) for (before, after), k in zip(pairwise(corners), widths, strict=True)]
