"""Composition by privacy loss distributions, rounded in both directions (theory#loss-distribution).

A pair's losses log(p/q) under P have the profile D(alpha) of `grid.py`. Composing pairs convolves their losses, and

    D[m1 * m2](alpha) = the integral over m2 of D[m1](alpha e^-loss), at loss +inf of D[m1](0),

so replacing one part's masses by others whose profile is greater (less) everywhere makes the composed profile greater (less). Masses
are integers: products of integer polynomials are exact, and each is rounded up (down) once. Losses beyond the range kept are moved to
+inf and up to its lower end for the upper bound, down to its upper end and left out for the lower bound. Sums of many losses need fewer
places than single ones: where the grid says so, every second place is given up, from above by splitting masses, from below by lines.

Masses below a profile need not be those of two distributions: a loss that is rounded down has more of Q. The greater of their profile
and (1 - e^epsilon)+, which no pair is below, is one again: convex in e^epsilon, non-increasing, 1 at e^epsilon = 0. That is what is
handed on, where tangents and samples of it want a pair (theory#loss-distribution).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cache, reduce
from itertools import accumulate, count, pairwise, product
from math import comb, prod
from typing import Any, Final

from flint import arb, arb_poly, fmpz_poly

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.theories.composition.choices import above, below
from dpverify.trusted.theories.composition.grid import GUARD, MAX_CELLS, RULE, Grid, Masses, downward, floor, upward

MAX_TIMES: Final = 10**9
"""How often a part may occur."""
MAX_CHOICES: Final = 1 << 8
"""How many ways to choose are looked at, or numbers of copies that are left to choose from."""
Part = tuple[Sequence[Pair], int]
"""Pairs, of which each copy of a part has the one that is chosen after what the copies before it told; and how many copies."""
Rounded = Callable[[Sequence[Part], Grid], "Sums"]
"""The profile of masses that bound H of a product of parts on one side."""

_BLOCK: Final = 1024
"""What lies beyond a multiple of so many cells is summed once."""


def read_grid(evidence: Mapping[str, Any]) -> Grid:
    """The grid that evidence writes: "spacing", "nudge" and "far" rationals as text, "bits" and "tail" integers, "ranges" pairs of
    them, and "strides", if given, for each part a list of pairs; "touching", if given, for each part two lists of numbers of cells;
    "doublings", if given, for each part a list of numbers; "apart", if given, for each part two numbers or none.

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
        tuple(tuple(map(_integer, turns)) for turns in evidence.get("doublings", ())),
        tuple(tuple(map(_integer, pair)) for pair in evidence.get("apart", ())),
    )


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not an integer")
    return value


def upper_sums(parts: Sequence[Part], grid: Grid, seen: bool = True) -> Sums:
    """The profile of masses that bound H of the product from above. seen: by who chooses, what the copies before told."""
    _check(parts, grid)
    product = _Products(grid, Side.UPPER, seen)
    masses = product.all(([(number, upward(one, grid, grid.places(number))) for number, one in pairs], n) for pairs, n in _numbered(parts))
    return Sums.of(masses, grid, Fraction(0), None)


def lower_sums(parts: Sequence[Part], grid: Grid, seen: bool = True) -> Sums:
    """The profile of masses that bound H of the product from below. seen: as of `upper_sums`."""
    _check(parts, grid)
    product = _Products(grid, Side.LOWER, seen)
    masses = product.all(([(number, downward(one, grid, number)) for number, one in pairs], n) for pairs, n in _numbered(parts))
    nudges = grid.nudge * sum(times for _, times in parts)
    if grid.far is None:
        return Sums.of(masses, grid, nudges, None)
    unit = 2**grid.most_doublings  # places that are left are multiples of it, so that no mass moves further down
    lowest = (times * min(0, *(grid.ranges[number][0] // unit * unit for number, _ in pairs)) for pairs, times in _numbered(parts))
    return Sums.of(masses, grid, nudges, grid.far + sum(lowest) * grid.spacing - nudges)


def _numbered(parts: Sequence[Part]) -> Iterator[tuple[list[tuple[int, Pair]], int]]:
    """Every part's pairs, each with the number of its first range."""
    number = count()
    for pairs, times in parts:
        first = dict[Pair, int]()
        for pair, here in zip(pairs, number, strict=False):
            first.setdefault(pair, here)
        yield [(here, pair) for pair, here in first.items()], times


def _check(parts: Sequence[Part], grid: Grid) -> None:
    pairs = sum(len(pairs) for pairs, _ in parts)
    if not pairs or pairs != len(grid.ranges):
        raise Rejected(RULE, "ranges", f"{len(grid.ranges)} ranges for {pairs} parts; each part needs one.")
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
    seen: bool = True

    def all(self, parts: Iterable[tuple[Sequence[tuple[int, Masses]], int]]) -> Masses:
        """The product of every part to the power of its times: of neighbours in the list first, so that short lists meet short ones.

        Parts of which one of several masses is chosen come after all others: what these tell can only inform.
        """
        waiting, chosen = list[tuple[int, Masses]](), list[tuple[Sequence[Masses], int]]()
        for several, times in parts:  # waiting: products of 2^height parts, of falling heights
            if len(several) > 1:
                chosen.append(([masses for _, masses in several], times))
                continue
            ((number, masses),) = several
            height, power = 0, self.halving_power(masses, times, number) if self.grid.doublings else self.power(masses, times)
            while waiting and waiting[-1][0] == height:
                height, power = height + 1, self.times(waiting.pop()[1], power)
            waiting.append((height, power))
        known = [one for _, one in reversed(waiting)]
        if chosen and self.seen:
            known.append(self.in_turn(chosen))
        product = reduce(lambda after, before: self.times(before, after), known or [self.nothing])
        return self.beforehand(product, chosen) if chosen and not self.seen else product

    @property
    def nothing(self) -> Masses:
        """The loss that is 0 for certain."""
        return Masses(0, fmpz_poly([1 << self.grid.bits]), 0)

    def in_turn(self, parts: Sequence[tuple[Sequence[Masses], int]]) -> Masses:
        """The greatest over all ways to choose the next part and its masses after those before, from the last one back."""
        values = {(0,) * len(parts): self.nothing}
        _look_at(prod(times + 1 for _, times in parts))
        for left in list(product(*(range(times + 1) for _, times in parts)))[1:]:
            after = [(several, values[*left[:i], left[i] - 1, *left[i + 1 :]]) for i, (several, _) in enumerate(parts) if left[i]]
            values[left] = self.greatest([self.times(one, value) for several, value in after for one in several])
        return values[left]

    def beforehand(self, known: Masses, parts: Sequence[tuple[Sequence[Masses], int]]) -> Masses:
        """The greatest over all ways to choose how many copies of each part have which of its masses, beside those that are known."""
        _look_at(prod(comb(times + len(several) - 1, times) for several, times in parts))
        powers = cache(lambda part, one, times: self.power(parts[part][0][one], times))
        each = [
            [reduce(self.times, (powers(part, one, n) for one, n in enumerate(share) if n)) for share in shares(times, len(several))]
            for part, (several, times) in enumerate(parts)
        ]
        return self.greatest([reduce(self.times, way, known) for way in product(*each)])

    def greatest(self, several: Sequence[Masses]) -> Masses:
        """Masses on this side of the greatest of profiles."""
        return (above if self.side is Side.UPPER else below)(several, self.grid)

    def power(self, base: Masses, times: int) -> Masses:
        """By repeated squaring, from the leading bit down."""
        result = base
        for bit in bin(times)[3:]:
            result = self.times(result, result)
            if bit == "1":
                result = self.times(result, base)
        return result

    def halving_power(self, base: Masses, times: int, part: int) -> Masses:
        """By repeated squaring, from the last bit up: what has fewer places is as much of the whole as can be."""
        doublings, square, result = self.grid.doublings[part], [base], list[Masses]()
        for turn, bit in enumerate(reversed(bin(times)[2:])):
            square = self.product(square, square) if turn else square
            for _ in range(doublings.count(turn)):
                square = [self.halved(square[0]), *square[1:]]
            square = self.parted(square, *self.grid.apart[part]) if self.grid.apart and self.grid.apart[part] else square
            if bit == "1":
                result = self.product(result, square) if result else square
        return reduce(self.plus, result)

    def product(self, left: list[Masses], right: list[Masses]) -> list[Masses]:
        """Of sums of masses at one spacing and, where there are two, at a wider one."""
        if left is right and len(left) == 2:
            near, far = left
            return [self.times(near, near), self.times(far, self.plus(far, self.plus(near, near)))]
        beyond = [self.times(one, other) for i, one in enumerate(left) for j, other in enumerate(right) if i or j]
        return [self.times(left[0], right[0]), *([reduce(self.plus, beyond)] if beyond else [])]

    def parted(self, masses: list[Masses], doublings: int, place: int) -> list[Masses]:
        """With what lies from a place on among masses whose spacing has been doubled so often; with all there, once the others' has."""
        near = masses[0]
        if near.doublings >= doublings:
            return [reduce(self.plus, masses)]
        kept = min(max(place - near.low, 1), near.finite.length())
        far = Masses(near.low + kept, near.finite.right_shift(kept), near.infinite, near.doublings)
        while far.doublings < doublings:
            far = self.halved(far)
        return [replace(near, finite=near.finite.truncate(kept), infinite=0), reduce(self.plus, masses[1:], far)]

    def aligned(self, left: Masses, right: Masses) -> tuple[Masses, Masses]:
        """Both at the places of the one that has fewer."""
        while left.doublings < right.doublings:
            left = self.halved(left)
        while right.doublings < left.doublings:
            right = self.halved(right)
        return left, right

    def plus(self, left: Masses, right: Masses) -> Masses:
        """The sum of two lists of masses."""
        left, right = self.aligned(left, right)
        low = min(left.low, right.low)
        finite = left.finite.left_shift(left.low - low) + right.finite.left_shift(right.low - low)
        return Masses(low, finite, left.infinite + right.infinite, left.doublings)

    def times(self, left: Masses, right: Masses) -> Masses:
        """The convolution of two lists of masses."""
        left, right = self.aligned(left, right)
        if left.finite.length() + right.finite.length() > 2 * MAX_CELLS:
            raise Rejected(RULE, "grid", f"more than {2 * MAX_CELLS} masses; a wider spacing or narrower ranges are needed.")
        infinite = left.infinite * (right.infinite + _total(right.finite)) + _total(left.finite) * right.infinite
        rounded = int(self._rounded(fmpz_poly([infinite]))[0])
        return self._trimmed(Masses(left.low + right.low, self._rounded(left.finite * right.finite), rounded, left.doublings))

    def halved(self, masses: Masses) -> Masses:
        """At every second place: masses between are split, from above, or the lines above them prolonged, from below."""
        listed = masses.finite.left_shift(masses.low % 2).coeffs()
        even, between, unit = fmpz_poly(listed[::2]), fmpz_poly(listed[1::2]), 1 << self.grid.bits
        with precision(self.grid.prec):
            step = rational(self.grid.spacing * 2**masses.doublings).exp()
            down, back = (floor(share, self.grid.bits) for share in (1 / (1 + step), 1 / (step * (1 + step))))
        low, following = masses.low // 2, between.left_shift(1)
        if self.side is Side.UPPER:
            split = (even * unit) + between * down + following * (unit - down)
            return Masses(low, self._rounded(split), masses.infinite, masses.doublings + 1)
        moved = (even + between).left_shift(1) * unit + (following - between) * back
        return Masses(low - 1, _fallen(self._rounded(moved)), masses.infinite, masses.doublings + 1)

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
        high = bisect_left(range(last), True, key=lambda place: _total(poly.right_shift(place + 1)) <= allowance)
        low = bisect_left(range(high), True, key=lambda place: _total(poly.truncate(place + 1)) > allowance)
        above, below, kept = _total(poly.right_shift(high + 1)), _total(poly.truncate(low)), poly.truncate(high + 1).right_shift(low)
        if self.side is Side.UPPER:
            return replace(masses, low=masses.low + low, finite=kept + fmpz_poly([below]), infinite=masses.infinite + above)
        return replace(masses, low=masses.low + low, finite=kept + fmpz_poly([above]).left_shift(high - low))


def shares(times: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to part so many copies."""
    if parts == 1:
        yield (times,)
    else:
        yield from ((first, *others) for first in range(times + 1) for others in shares(times - first, parts - 1))


def _look_at(ways: int) -> None:
    """Raises Undecided for more than are looked at."""
    require(ways <= MAX_CHOICES, Undecided(f"{RULE}: more than {MAX_CHOICES} ways to choose."))


def _total(poly: fmpz_poly) -> int:
    return int(poly(1))


def _fallen(masses: fmpz_poly) -> fmpz_poly:
    """Masses that are not negative: the sums from each place upwards are made to fall by the least from below."""
    listed = masses.coeffs()
    if min(listed, default=0) >= 0:
        return masses
    sums = [max(0, above) for above in accumulate(map(int, reversed(listed)), initial=0)][::-1]
    return fmpz_poly([here - above for here, above in pairwise(accumulate(sums, min))])


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
        spacing = grid.spacing * 2**masses.doublings
        return cls(grid.bits, masses.low * spacing - nudges, spacing, masses.finite, int(masses.infinite), far)

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

    def mirrored(self, epsilon: arb) -> arb:
        """The same of the two distributions in the other order, by (1) of dominating pairs."""
        mantissa, exponent = epsilon.man_exp()
        with precision(self.bits + GUARD):
            return 1 - epsilon.exp() + epsilon.exp() * self.at(arb((-mantissa, exponent)))

    def mirrored_above(self, epsilon: arb) -> arb:
        """A bound on what `mirrored` bounds from above, which does not rise: no more than at the mirrored first loss from there on."""
        last = rational(max(-self.start, Fraction(0))).lower()
        return self.mirrored(last if epsilon > last else epsilon)

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
