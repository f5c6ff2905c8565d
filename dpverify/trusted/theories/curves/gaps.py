"""The gap s - r with h(s) = h(r) + epsilon, h increasing, on complex balls r: the analytic function that it is for real r.

It is enclosed by Newton's operator. Round a real gap g0, let B be a box symmetric about the real line, such that h is analytic on
r + B and 0 is not in h'(r + B). If g0 - (h(r + g0) - h(r) - epsilon)/h'(r + B) lies in B, then every r in its ball has exactly one gap
in B (existence by Brouwer; between two of them the mean of h' would vanish). It is analytic in r, and for a real r it is its own
conjugate, hence real, hence the gap on the line.
"""

from __future__ import annotations

from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, add, mul, symbols
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.numbers.complex import Complex, compiled
from dpverify.trusted.numbers.complex_bessel import LogBesselK

_STEPS: Final = 60
_NARROW: Final = arb(2) ** -20
_NAN: Final = acb("nan")


class Gap:
    """The gap of an increasing h of r > 0, with h and its slope, at the working precision of the making.

    Raises ExprError where h has no derivative in the language, Undecided for Bessel functions that stand inside other functions.
    Values are non-finite where nothing is proved.
    """

    def __init__(self, h: Expr) -> None:
        rest, self._bessels = _split(h)
        slope = derivative(rest, "r")
        self._plain = compiled(rest, "r"), compiled(slope, "r")
        self.h = _plus(self._plain[0], [bessel.value for bessel in self._bessels])
        self.slope = _plus(self._plain[1], [bessel.slope for bessel in self._bessels])
        self._bend = _plus(compiled(derivative(slope, "r"), "r"), [bessel.bend for bessel in self._bessels])
        self._last: tuple[arb, arb, arb, arb] | None = None

    def __call__(self, r: acb, epsilon: arb) -> acb:
        """s - r, epsilon an exact number of at least 0."""
        middle = r.real.mid()
        if not (0 in r.imag and middle > 0):
            return _NAN
        centre = self._near(middle, epsilon)
        error = self.h(acb(middle + centre), True) - self.h(acb(middle), True) - epsilon
        if not r.is_exact():
            narrow = r.rad() < middle * _NARROW
            steeper = self.slope(r + centre, True) - self.slope(r, True) if narrow else self._steeper(r, acb(centre))
            error += steeper * (r - middle)
        radius = 2 * (error / self.slope(acb(middle + centre), True)).abs_upper()  # for slopes of at least half of that on the box
        sides = (-radius).union(radius)
        box = acb(centre + sides, sides)
        gap = centre - error / self.slope(r + box, True)
        return gap if gap.is_finite() and box.contains(gap) else _NAN

    def turning(self, r: acb, gap: acb, analytic: bool) -> acb:
        """The derivative of the gap: (h'(r) - h'(s))/h'(s)."""
        return -self._steeper(r, gap) / self.slope(r + gap, analytic)

    def _steeper(self, r: acb, gap: acb) -> acb:
        """h'(r + gap) - h'(r), by the mean of h'' between them where that is narrower."""
        s = r + gap
        return _narrower(self.slope(s, True) - self.slope(r, True), self._bend(r.union(s), True) * gap)

    def _near(self, r: arb, epsilon: arb) -> arb:
        """About the gap at an exact r > 0, by Newton's iteration on midpoints; proves nothing.

        No step leaves r > 0, and there are at most _STEPS: where they do not converge, the box round the last gap does not contain what
        Newton's operator makes of it.
        """
        start, rise = self._about(r)
        gap = self._guess(r, epsilon, rise)
        for _ in range(_STEPS):
            height, slope = self._about((r + gap).mid())
            step = ((height - start - epsilon) / slope).mid()
            gap = (gap - step).mid() if step < gap else (gap / 2).mid()
            if not abs(step) >= (r + gap) * arb(2) ** (-ctx.prec // 3):
                break
        self._last = r, epsilon, gap, (rise / slope).mid()
        return gap

    def _about(self, r: arb) -> tuple[arb, arb]:
        """About h and its slope at an exact r > 0."""
        height, slope = self._plain[0](acb(r), False).real, self._plain[1](acb(r), False).real
        for bessel in self._bessels:
            more, steeper = bessel.about(r)
            height, slope = height + more, slope + steeper
        return height.mid(), slope.mid()

    def _guess(self, r: arb, epsilon: arb, rise: arb) -> arb:
        """Where to begin: on the tangent at the last gap that was found, if that was at the same epsilon and not too far."""
        if self._last is not None and self._last[1] == epsilon:
            before, _, gap, turn = self._last
            moved = (gap + (turn - 1) * (r - before)).mid()
            if 2 * moved > gap and moved < 2 * gap:
                return moved
        return (epsilon / rise).mid()


def _split(h: Expr) -> tuple[Expr, list[_BesselTerm]]:
    """h as a function without Bessel functions and terms with them."""
    terms = h.args if isinstance(h, Add) else (h,)
    bessels = [_bessel_term(term) for term in terms]
    rest = add(*(term for term, bessel in zip(terms, bessels, strict=True) if bessel is None))
    if calls(rest, "besselk", "logbesselk"):
        raise Undecided("lunes of noise whose log-density has a logarithm of a Bessel function inside another function are not covered.")
    return rest, [bessel for bessel in bessels if bessel is not None]


def _plus(first: Complex, others: list[Complex]) -> Complex:
    if not others:
        return first

    def total(r: acb, a: bool) -> acb:
        total = first(r, a)
        for other in others:
            total += other(r, a)
        return total

    return total


def _bessel_term(term: Expr) -> _BesselTerm | None:
    """A term that is a constant times log K_v(a r), a > 0; None for any other."""
    factors = term.args if isinstance(term, Mul) else (term,)
    bessels = [part for part in factors if isinstance(part, Call) and part.name == "logbesselk"]
    others = mul(*(part for part in factors if part not in bessels))
    if len(bessels) != 1 or symbols(others):
        return None
    order, x = bessels[0].args
    scale, rest = linear_part(x, "r")
    known = not symbols(order) and rest == ZERO and constant(scale) > 0
    return _BesselTerm(constant(others), constant(scale), order) if known else None


class _BesselTerm:
    """factor * log K_v(scale r), with two derivatives."""

    def __init__(self, factor: arb, scale: arb, order: Expr) -> None:
        self._factor, self._scale, self._log = factor, scale, LogBesselK(order)

    def value(self, r: acb, a: bool) -> acb:
        return self._factor * self._log.value(self._scale * r)

    def about(self, r: arb) -> tuple[arb, arb]:
        """About the value and the slope at an exact r > 0."""
        height, slope = self._log.about((self._scale * r).mid())
        return self._factor * height, self._factor * self._scale * slope

    def slope(self, r: acb, a: bool) -> acb:
        return self._factor * self._scale * self._log.slope(self._scale * r)

    def bend(self, r: acb, a: bool) -> acb:
        return self._factor * self._scale**2 * self._log.bend(self._scale * r)


def _narrower(known: acb, other: acb) -> acb:
    """The narrower of two enclosures; the finite one where only one is."""
    return other if other.is_finite() and not other.rad() >= known.rad() else known
