"""What a density has up to a point and beyond it, on complex balls: power series on discs round the cells between cuts.

On the disc of four times half a cell's width round its middle the density is analytic and at most M, as it is on a box round the disc. Its
coefficients in units of half that radius are at most M 2^-k, and the discrete Fourier transform of n values on the circle of that radius
gives each with an error of at most M 2^(1-k-n). So the integral from the middle, cut off after n terms, is known to M 2^(3-n) radii.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Final

from flint import acb, acb_poly, arb, ctx, fmpq

from dpverify.trusted.kernel.balls import NAN, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.numbers.complex import Complex, compiled
from dpverify.trusted.numbers.pieces import Piece, pieces

_SPARE: Final = 8
"""Terms of a series beyond the bits that are wanted."""
_PARTS: Final = 2
"""Parts of half a side of the box round a disc, on each of which the density is bounded by itself."""


class Series:
    """The integral of a function from the middle of a cell, on a disc twice as wide as the cell."""

    def __init__(self, function: Complex, low: Fraction, high: Fraction) -> None:
        self._middle, self._radius = rational((low + high) / 2), rational(high - low)
        most = arb(0)
        for i, j in product(range(-_PARTS, _PARTS), range(_PARTS)):  # the lower half is conjugate
            across, up = ((2 * self._radius * arb(k).union(arb(k + 1)) / _PARTS) for k in (i, j))
            bound = abs(function(acb(self._middle + across, up), True)).upper()
            if not bound.is_finite():
                raise Undecided(f"the density is not certainly analytic and bounded round [{low}, {high}]; split the cell.")
            most = most.max(bound)
        count = 2 * ((ctx.prec + _SPARE) // 2)
        points = (self._middle + self._radius * acb(fmpq(2 * j, count)).exp_pi_i() for j in range(count // 2 + 1))
        half = [function(point, False) for point in points]
        found = acb.dft([*half, *(value.conjugate() for value in half[-2:0:-1])])
        self._sum = acb_poly([acb(0), *(self._radius * value.real / (count * k) for k, value in enumerate(found, 1))])
        self._error = arb(0, most * self._radius * arb(2) ** (3 - count))
        self.ends = tuple((self._sum(acb(arb(side) / 2)) + self._error).real for side in (-1, 1))
        """Up to the two ends of the cell."""
        self.most = most
        """The function is at most this round the cell."""

    def to(self, z: acb) -> acb:
        """Up to a ball, non-finite where it is not certainly inside the disc."""
        u = (z - self._middle) / self._radius
        return self._sum(u) + acb(self._error, self._error) if abs(u) <= 1 else acb(NAN)


@dataclass(frozen=True, slots=True)
class Local:
    """A density, its mass up to a point and its mass beyond it, as functions of complex balls, next to an interval without kinks."""

    density: Complex
    below: Complex
    above: Complex


class Mass:
    """The mass of a density up to points and beyond them, between cuts; not normalised. Raises Undecided.

    cuts: rising, no kink or end of the density strictly between two.
    """

    def __init__(self, density: Expr, support: tuple[Fraction | None, Fraction | None], cuts: Sequence[Fraction]) -> None:
        from dpverify.trusted.numbers.quadrature import integral

        low, high = support
        self._cuts, self._places = cuts, [rational(cut).mid() for cut in cuts]
        parts = pieces(density, "z", low, high)
        self._pieces = [_piece_of(parts, left, right) for left, right in pairwise(cuts)]
        functions = [compiled(part.density, "z") for part in parts]
        self._functions = [None if part is None else functions[part] for part in self._pieces]
        self._series = [
            None if function is None else Series(function, left, right)
            for function, (left, right) in zip(self._functions, pairwise(cuts), strict=True)
        ]
        masses = [arb(0) if series is None else series.ends[1] - series.ends[0] for series in self._series]
        first = arb(0) if low is not None and cuts[0] <= low else integral(density, "z", low, cuts[0], ctx.prec)
        last = arb(0) if high is not None and cuts[-1] >= high else integral(density, "z", cuts[-1], high, ctx.prec)
        self._below, self._above = [first], [last]
        for mass in masses:
            self._below.append(self._below[-1] + mass)
        for mass in reversed(masses):
            self._above.append(self._above[-1] + mass)
        self._above.reverse()
        self.total = self._below[-1] + last

    def at(self, point: Fraction) -> tuple[arb, arb]:
        """Up to a point between the cuts and beyond it, the whole being 1; non-finite elsewhere."""
        cell = min(bisect_right(self._cuts, point), len(self._cuts) - 1) - 1
        if not self._cuts[0] <= point <= self._cuts[-1]:
            return NAN, NAN
        below, above = (self._to(cell, acb(rational(point)), side).real for side in (False, True))
        return below, above

    def next_to(self, low: Fraction, high: Fraction) -> Local | None:
        """The functions next to an interval, normalised; None where it has a kink inside or is not between the cuts."""
        if not self._cuts[0] <= low < high <= self._cuts[-1]:
            return None
        first, last = bisect_right(self._cuts, low) - 1, bisect_left(self._cuts, high) - 1
        if len(set(self._pieces[first : last + 1])) > 1:
            return None
        alike, function = self._pieces[first], self._functions[first]
        while first > 0 and self._pieces[first - 1] == alike:
            first -= 1
        while last < len(self._pieces) - 1 and self._pieces[last + 1] == alike:
            last += 1

        def cell(z: acb) -> int:
            return min(max(bisect_right(self._places, z.real.mid()) - 1, first), last)

        return Local(
            lambda z, a: acb(0) if function is None else function(z, a) / self.total,
            lambda z, a: self._to(cell(z), z, False),
            lambda z, a: self._to(cell(z), z, True),
        )

    def _to(self, cell: int, z: acb, beyond: bool) -> acb:
        series = self._series[cell]
        known = self._above[cell + 1] if beyond else self._below[cell]
        if series is None:
            return acb(known / self.total)
        inside = series.ends[1] - series.to(z) if beyond else series.to(z) - series.ends[0]
        return (known + inside) / self.total


def _piece_of(parts: Sequence[Piece], left: Fraction, right: Fraction) -> int | None:
    """The number of the piece that a cell is in, None where the density is 0. Raises Undecided where the cell is in several."""
    for number, part in enumerate(parts):
        begins = part.lower is None or part.lower <= left
        ends = part.upper is None or right <= part.upper
        if begins and ends:
            return number
        if not (part.upper is not None and part.upper <= left) and not (part.lower is not None and right <= part.lower):
            raise Undecided(f"the density has a kink or an end between {left} and {right}, which are next to each other; cut there.")
    return None
