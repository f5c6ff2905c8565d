"""The mass of a density beyond a distance, to a high relative accuracy, many times over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import exact, rational, value
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.numbers.quadrature import rough_mass, start_of_end
from dpverify.trusted.theories.curves.unimodal import Reading

_DEPTH: Final = 4
"""Masses are known to a relative accuracy where they are above the whole times 2^-precision to this power."""


class Outward:
    """The mass of a density, in pieces with a cut at 0, beyond a distance from 0, to the right, to a high relative accuracy.

    Its edges are powers of two and the points half way between them; the masses of the cells are kept. Where the tail beyond the last
    edge starts is told by the size of the density, and then its mass is enclosed; a point beyond, or one beyond which little else is
    left than that tail, is given a tail that starts further out.
    """

    def __init__(self, parts: Sequence[Piece], falling: bool) -> None:
        """falling: the density is proved not to rise away from 0."""
        self._parts, self._falling = parts, falling
        self._programs = [compiled(p.density, "z") for p in parts]
        self._edges: list[Fraction] = [Fraction(0)]
        self._masses: list[arb] = []
        self._sums: list[arb] = []
        self.tail = arb(0)
        self._endless = bool(parts) and parts[-1].upper is None
        if self._endless:
            largest = arb(0)
            for part in parts:
                largest = largest.max(rough_mass(part))
            self._extend(max(self._start(largest), self._after(Fraction(0))))
        elif parts:
            self._add_cells(parts[-1].upper or Fraction(0))

    @property
    def extent(self) -> Fraction:
        """The farthest edge."""
        return self._edges[-1]

    def _start(self, size: arb) -> Fraction:
        """About where a tail starts that is known to the working precision of a size."""
        return start_of_end(self._parts[-1], End("+inf", Fraction(1)), size * arb(2) ** -ctx.prec)

    def _after(self, distance: Fraction) -> Fraction:
        """The power of two beyond a distance, and beyond where the last piece starts."""
        return Fraction(2) ** max(distance, self._parts[-1].lower or Fraction(0)).__floor__().bit_length()

    def _extend(self, start: Fraction) -> None:
        """A tail that starts further out than the last edge."""
        try:
            mass = end_mass(self._parts[-1].density, "z", End("+inf", start))
        except (Undecided, ExprError) as error:
            raise Undecided("whether the density is integrable at infinity is not certain.") from error
        if mass is None:
            raise Undecided("the density is not integrable.")
        self.tail = mass
        self._add_cells(start)

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
        at = exact(distance)
        if self._endless and at > self.extent:
            self._extend(self._after(at))
        mass = self._beyond(at)
        if self._endless and at > 0 and mass.rel_accuracy_bits() < ctx.prec // 2:
            start = self._start(self._size(at))
            if start > self.extent:
                self._extend(start)
                mass = self._beyond(at)
        return mass

    def _size(self, distance: Fraction) -> arb:
        """About the mass beyond a distance: the density there times the distance."""
        return (value(self._parts[-1].density, {"z": rational(distance)}) * rational(distance)).mid()

    def _beyond(self, at: Fraction) -> arb:
        i = next((i for i, edge in enumerate(self._edges) if at <= edge), None)
        if i is None:
            return arb(0)
        return self._sums[i] if at == self._edges[i] else self._sums[i] + self._cell(rational(at), self._edges[i])


def right_half(reading: Reading) -> list[Piece]:
    """The pieces of a density beyond 0."""
    return [p for p in reading.parts if p.lower is not None and p.lower >= 0]
