"""The mass of a density beyond a distance, to a high relative accuracy, many times over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.balls import exact, rational, value
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.rules.curves.unimodal import Reading

_DEPTH: Final = 4
"""Masses are known to a relative accuracy where they are above the whole times 2^-precision to this power."""
_FAR: Final = 22
_NEAREST: Final = 3
_FARTHEST: Final = 1000
"""Powers of two: before the nearest end, and how far out a mass is looked for that has no enclosure yet, and a tail that is narrow."""


class Outward:
    """The mass of a density, in pieces with a cut at 0, beyond a distance from 0, to the right, to a high relative accuracy.

    Its edges are powers of two and the points half way between them; the masses of the cells are kept.
    """

    def __init__(self, parts: Sequence[Piece], falling: bool) -> None:
        """falling: the density is proved not to rise away from 0."""
        self._parts, self._falling = parts, falling
        self._programs = [compiled(p.density, "z") for p in parts]
        self._edges: list[Fraction] = [Fraction(0)]
        self._masses: list[arb] = []
        self._sums: list[arb] = []
        self._power = _NEAREST
        self.tail = arb(0)
        if parts and parts[-1].upper is None:
            self._extend()
            while self.tail.rad() > self._sums[0] * arb(2) ** -ctx.prec and self._power < _FARTHEST:
                self._extend()
        elif parts:
            self._add_cells(parts[-1].upper or Fraction(0))

    @property
    def extent(self) -> Fraction:
        """The farthest edge."""
        return self._edges[-1]

    def _extend(self) -> None:
        """The next end that has an enclosed mass."""
        last = self._parts[-1]
        while self._power < _FARTHEST:
            self._power += max(1, self._power // 4)
            end = End("+inf", Fraction(2) ** self._power)
            if last.lower is not None and end.start <= last.lower:
                continue
            try:
                mass = end_mass(last.density, "z", end)
            except (Undecided, ExprError):
                continue
            if mass is None:
                raise Undecided("the density is not integrable.")
            self.tail = mass
            self._add_cells(end.start)
            return
        raise Undecided("whether the density is integrable at infinity is not certain.")

    def _add_cells(self, to: Fraction) -> None:
        edges = {to, *(p.lower for p in self._parts if p.lower is not None)}
        step = Fraction(1, 4)
        while step < to:
            edges |= {step, step * Fraction(3, 2)}
            step *= 2
        fresh = sorted(e for e in edges if self._edges[-1] < e <= to)
        for edge in fresh:
            self._masses.append(self._cell(rational(self._edges[-1]), edge))
            self._edges.append(edge)
        total, self._sums = self.tail, [self.tail]
        for mass in reversed(self._masses):
            total = total + mass
            self._sums.append(total)
        self._sums.reverse()

    def _cell(self, start: arb, end: Fraction) -> arb:
        """The integral from a point to the next edge."""
        mass = self._integral(start, end)
        if mass is None and self._falling and start < rational(end) * arb(2) ** -ctx.prec:
            # a cusp at 0, where complex balls see no finite value: next to it by the density's fall
            sliver = rational(end) * arb(2) ** -ctx.prec
            mass = self._integral(sliver.mid(), end)
            top = value(next(p.density for p in self._parts if p.lower == 0), {"z": arb(0)})
            mass = None if mass is None or not top.is_finite() else mass + arb(0).union((sliver * top).upper())
        if mass is None:
            raise Undecided(f"the integral of the density up to {end} shifts from its centre has no finite enclosure.")
        return mass.max(arb(0))

    def _integral(self, start: arb, end: Fraction) -> arb | None:
        function = next(f for f, p in zip(self._programs, self._parts, strict=True) if p.upper is None or end <= p.upper)
        tolerance, least = arb(2) ** -ctx.prec, self._masses[0] * arb(2) ** (-_DEPTH * ctx.prec) if self._masses else arb(0)
        mass = acb.integral(
            function, acb(start), acb(rational(end)), rel_tol=tolerance, abs_tol=least.mid(), eval_limit=20_000, depth_limit=4_000
        )
        return mass.real if mass.real.is_finite() and 0 in mass.imag else None

    def beyond(self, distance: arb) -> arb:
        """The mass beyond an exact distance of at least 0."""
        if not self._parts:
            return arb(0)
        mass = self._beyond(distance)
        while mass.rel_accuracy_bits() < ctx.prec // 2 and self._parts[-1].upper is None and self._power < _FAR:
            self._extend()
            mass = self._beyond(distance)
        return mass

    def _beyond(self, distance: arb) -> arb:
        while self._parts[-1].upper is None and not distance <= rational(self.extent):
            self._extend()
        at = exact(distance)
        i = next((i for i, edge in enumerate(self._edges) if at <= edge), None)
        if i is None:
            return arb(0)
        return self._sums[i] if at == self._edges[i] else self._sums[i] + self._cell(distance, self._edges[i])


class BothSides:
    """The masses of a density on both sides of 0."""

    def __init__(self, reading: Reading, falling: bool) -> None:
        """falling: as of `Outward`."""
        self.right = Outward(_right_half(reading), falling)
        self.left = self.right if reading.even else Outward(_right_half(reading.mirrored()), falling)
        self.total = self.left.beyond(arb(0)) + self.right.beyond(arb(0))

    def below(self, x: arb, height: Callable[[arb], arb]) -> arb:
        """The mass below x. height: bounds the density over a ball."""
        at = x.mid()
        mass = self.left.beyond(-at) if at <= 0 else self.total - self.right.beyond(at)
        return mass if x.is_exact() else mass + arb(0, 1) * x.rad() * height(x)


def _right_half(reading: Reading) -> list[Piece]:
    return [p for p in reading.parts if p.lower is not None and p.lower >= 0]
