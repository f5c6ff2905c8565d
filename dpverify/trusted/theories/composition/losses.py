"""Composition by privacy loss distributions, rounded in both directions (theory#loss-distribution).

A pair's losses log(p/q) under P have the profile D(alpha) of `grid.py`. Composing pairs convolves their losses, and

    D[m1 * m2](alpha) = the integral over m2 of D[m1](alpha e^-loss), at loss +inf of D[m1](0),

so replacing one part's masses by others whose profile is greater (less) everywhere makes the composed profile greater (less). Masses
are integers: products of integer polynomials are exact, and each is rounded up (down) once. Losses beyond the range kept are moved to
+inf and up to its lower end for the upper bound, down to its upper end and left out for the lower bound.

Masses below a profile need not be those of two distributions: a loss that is rounded down has more of Q. The greater of their profile
and (1 - e^epsilon)+, which no pair is below, is one again: convex in e^epsilon, non-increasing, 1 at e^epsilon = 0. That is what is
handed on, where tangents and samples of it want a pair (theory#loss-distribution).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from flint import arb, arb_poly, fmpz_poly

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.theories.composition.grid import GUARD, MAX_CELLS, RULE, Grid, Masses, downward, upward

MAX_TIMES: Final = 10**9
"""How often a part may occur."""
Rounded = Callable[[Sequence[tuple[Pair, int]], Grid], "Sums"]
"""The profile of masses that bound H of a product of pairs, each as often as it says, on one side."""

_BLOCK: Final = 1024
"""What lies beyond a multiple of so many cells is summed once."""


def read_grid(evidence: Mapping[str, Any]) -> Grid:
    """The grid that evidence writes: "spacing", "nudge" and "far" rationals as text, "bits" and "tail" integers, "ranges" pairs of
    them, and "strides", if given, for each part a list of pairs; "touching", if given, for each part two lists of numbers of cells.

    Raises KeyError, TypeError, ValueError or ZeroDivisionError where something is missing or of another kind, which the kernel refuses.
    """
    far = evidence.get("far")
    ranges = tuple((_integer(low), _integer(high)) for low, high in evidence["ranges"])
    return Grid(
        exact_fraction(str(evidence["spacing"])),
        exact_fraction(str(evidence["nudge"])),
        _integer(evidence["bits"]),
        _integer(evidence["tail"]),
        ranges,
        None if far is None else exact_fraction(str(far)),
        tuple(tuple((_integer(start), _integer(k)) for start, k in steps) for steps in evidence.get("strides", ())),
        tuple((frozenset(map(_integer, left)), frozenset(map(_integer, right))) for left, right in evidence.get("touching", ())),
    )


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not an integer")
    return value


def upper_sums(parts: Sequence[tuple[Pair, int]], grid: Grid) -> Sums:
    """The profile of masses that bound H of the product from above."""
    _check(parts, grid)
    product = _Products(grid, Side.UPPER)
    masses = product.all((upward(pair, grid, grid.places(part)), times) for part, (pair, times) in enumerate(parts))
    return Sums.of(masses, grid, Fraction(0), None)


def lower_sums(parts: Sequence[tuple[Pair, int]], grid: Grid) -> Sums:
    """The profile of masses that bound H of the product from below."""
    _check(parts, grid)
    product = _Products(grid, Side.LOWER)
    masses = product.all((downward(pair, grid, part), times) for part, (pair, times) in enumerate(parts))
    nudges = grid.nudge * sum(times for _, times in parts)
    if grid.far is None:
        return Sums.of(masses, grid, nudges, None)
    others = sum((times * min(0, low) for (_, times), (low, _) in zip(parts, grid.ranges, strict=True)), 0) * grid.spacing
    return Sums.of(masses, grid, nudges, grid.far + others - nudges)


def _check(parts: Sequence[tuple[Pair, int]], grid: Grid) -> None:
    if not parts or len(parts) != len(grid.ranges):
        raise Rejected(RULE, "ranges", f"{len(grid.ranges)} ranges for {len(parts)} parts; each part needs one.")
    for number, (_, times) in enumerate(parts):
        if not 1 <= times <= MAX_TIMES:
            raise Rejected(RULE, f"part {number}", f"it occurs {times} times; between 1 and {MAX_TIMES} is allowed.")


# -- products --------------------------------------------------------------------------------------


class Side(Enum):
    """Which bound is kept true by every rounding."""

    UPPER = 1
    LOWER = 2


@dataclass(frozen=True, slots=True)
class _Products:
    """Products of masses on one grid, rounded to one side."""

    grid: Grid
    side: Side

    def all(self, parts: Iterable[tuple[Masses, int]]) -> Masses:
        """The product of every part to the power of its times."""
        result: Masses | None = None
        for masses, times in parts:
            power = self.power(masses, times)
            result = power if result is None else self.times(result, power)
        assert result is not None
        return result

    def power(self, base: Masses, times: int) -> Masses:
        """By repeated squaring, from the leading bit down."""
        result = base
        for bit in bin(times)[3:]:
            result = self.times(result, result)
            if bit == "1":
                result = self.times(result, base)
        return result

    def times(self, left: Masses, right: Masses) -> Masses:
        """The convolution of two lists of masses."""
        if left.finite.length() + right.finite.length() > 2 * MAX_CELLS:
            raise Rejected(RULE, "grid", f"more than {2 * MAX_CELLS} masses; a wider spacing or narrower ranges are needed.")
        infinite = left.infinite * (right.infinite + _total(right.finite)) + _total(left.finite) * right.infinite
        masses = Masses(left.low + right.low, self._rounded(left.finite * right.finite), int(self._rounded(fmpz_poly([infinite]))[0]))
        return self._trimmed(masses)

    def _rounded(self, doubled: fmpz_poly) -> fmpz_poly:
        """Coefficients in units of 4^-bits in units of 2^-bits."""
        unit = 1 << self.grid.bits
        return -((-doubled) // unit) if self.side is Side.UPPER else doubled // unit

    def _trimmed(self, masses: Masses) -> Masses:
        """Without the losses at either end that hold 2^-tail together."""
        poly, last = masses.finite, masses.finite.degree()
        if last < 1:
            return masses
        allowance = 1 << max(0, self.grid.bits - self.grid.tail)
        above, high = 0, last
        while high > 0 and above + int(poly[high]) <= allowance:
            above += int(poly[high])
            high -= 1
        below, low = 0, 0
        while low < high and below + int(poly[low]) <= allowance:
            below += int(poly[low])
            low += 1
        kept = poly.truncate(high + 1).right_shift(low)
        if self.side is Side.UPPER:
            return Masses(masses.low + low, kept + fmpz_poly([below]), masses.infinite + above)
        return Masses(masses.low + low, kept + fmpz_poly([above]).left_shift(high - low), masses.infinite)


def _total(poly: fmpz_poly) -> int:
    return int(poly(1))


# -- the composed profile --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """The profile of masses at every real epsilon. Masses are in units of 2^-bits.

    start: the first loss; spacing: between losses. masses: the coefficient of x^j lies at the j-th loss. far: the infinite mass is at
    least at this loss; None where it is at +inf or there is none.
    """

    bits: int
    start: Fraction
    spacing: Fraction
    masses: fmpz_poly
    infinite: int
    far: Fraction | None
    _beyond: dict[int, tuple[arb, arb]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, masses: Masses, grid: Grid, nudges: Fraction, far: Fraction | None) -> Sums:
        """The profile of masses that lie `nudges` below the grid."""
        return cls(grid.bits, masses.low * grid.spacing - nudges, grid.spacing, masses.finite, int(masses.infinite), far)

    def at(self, epsilon: arb) -> arb:
        """A ball that contains the masses' profile at an exact epsilon."""
        total = arb(self.infinite)
        if self.far is not None:
            total *= -(epsilon - rational(self.far)).expm1().min(arb(0))
        cell = max(0, -((self.start - exact(epsilon)) // self.spacing))
        if cell < self.masses.length():
            whole, faded = self._from(cell)
            total += whole - (epsilon - rational(self.start + cell * self.spacing)).exp() * faded
        return total * arb(2) ** -self.bits

    def _from(self, cell: int) -> tuple[arb, arb]:
        """The masses from a cell upwards; and each of them times e^(its cell's loss less its own)."""
        stop = -(-cell // _BLOCK) * _BLOCK
        with precision(self.bits + GUARD):
            if stop not in self._beyond:
                self._beyond[stop] = self._moments(self.masses.right_shift(stop))
            whole, faded = self._moments(self.masses.truncate(stop).right_shift(cell))
            return whole + self._beyond[stop][0], faded + self._beyond[stop][1] * (rational((cell - stop) * self.spacing)).exp()

    def _moments(self, masses: fmpz_poly) -> tuple[arb, arb]:
        return arb(masses(1)), arb_poly(masses)((-rational(self.spacing)).exp())


def completed(epsilon: arb, below: arb) -> arb:
    """The profile of two distributions, from that of masses which nowhere exceeds that of some two, at an epsilon."""
    return below.max(-epsilon.expm1()).max(arb(0))
