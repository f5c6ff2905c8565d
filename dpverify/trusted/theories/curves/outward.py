"""The mass of a density beyond a distance, to a high relative accuracy, many times over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import exact, rational, value
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.numbers.quadrature import integral, start_of_end
from dpverify.trusted.theories.curves.unimodal import Reading

_SPARE: Final = 8
"""Bits beyond the working precision to which what is between edges is integrated."""


class Outward:
    """The mass of a density, in pieces with a cut at 0, beyond a distance from 0, to the right, to a high relative accuracy.

    What is beyond its edges is kept; these are powers of two, the points half way between them, and the ends of pieces.
    """

    def __init__(self, parts: Sequence[Piece], falling: bool) -> None:
        """falling: the density is proved not to rise away from 0."""
        self._parts, self._falling = parts, falling
        self._programs = [compiled(p.density, "z") for p in parts]
        self._known = dict[Fraction, arb]()
        self._end = parts[-1].upper if parts else Fraction(0)

    @property
    def extent(self) -> Fraction:
        """About where nothing counts beyond."""
        if self._end is not None:
            return self._end
        return start_of_end(self._parts[-1], End("+inf", self._parts[-1].lower or Fraction(1)), arb(2) ** -ctx.prec)

    def beyond(self, distance: arb) -> arb:
        """The mass beyond an exact distance of at least 0. Raises Undecided where the density is not proved integrable."""
        at = exact(distance)
        if self._end is not None and at >= self._end:
            return arb(0)
        step = Fraction(1, 4)
        while 2 * step <= at:
            step *= 2
        ends = (step, step * Fraction(3, 2), 2 * step, *(p.upper for p in self._parts if p.upper is not None))
        edge = min(end for end in ends if end > at)
        if edge not in self._known:
            left = [(p, max(edge, p.lower or edge)) for p in self._parts if p.upper is None or edge < p.upper]
            self._known[edge] = sum((integral(p.density, "z", low, p.upper, ctx.prec) for p, low in left), arb(0))
        return self._known[edge] + self._cell(rational(at), edge)

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
        ends, tolerance = (acb(start), acb(rational(end))), arb(2) ** -(ctx.prec + _SPARE)
        least = (self._known[end] * tolerance).mid()
        mass = acb.integral(function, *ends, rel_tol=tolerance, abs_tol=least, eval_limit=20_000, depth_limit=4_000)
        return mass.real if mass.real.is_finite() and 0 in mass.imag else None


def right_half(reading: Reading) -> list[Piece]:
    """The pieces of a density beyond 0."""
    return [p for p in reading.parts if p.lower is not None and p.lower >= 0]
