"""Means over a hidden variance, by quadrature between two cuts and bounds beyond them."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Final

from flint import acb, arb, ctx, fmpz

from dpverify.trusted.facts.evaluate import accurately
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import Expr, Sym, call, sub, substitute
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.balls import constant, finite, precision, rational, value
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.gaussian import gaussian_delta
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.rules.curves.mixing import Law

_LADDER: Final = range(-60, 61)
"""Powers of 4 among which the range of v is cut."""


_TINY: Final = -16_384
"""Integrals below 2 to this power are enclosed absolutely, not relatively."""


_MOST_KNOWN: Final = 4096


_ROUGH: Final = 64
"""Bits for guesses."""


@remembered(4096)
def mass(law: Law, lower: Fraction, upper: Fraction | None, bits: int) -> arb:
    """The integral of the density from lower to upper, at about `bits` bits."""
    with precision(bits + 40):
        total = integral(law.density, "v", lower, upper, bits)
    return finite(total)


@remembered(64)
def mean_over(law: Law, shift: Expr) -> Mean:
    """The mean of the Gaussian profiles at a shift; kept, with what it has evaluated."""
    return Mean(law, shift)


class Mean:
    """E[H_Gauss(epsilon; mu)] with mu = shift v^(-exponent/2), by quadrature in u = log v between two cuts; the latest are remembered."""

    def __init__(self, law: Law, shift: Expr) -> None:
        self.law, self.shift = law, shift
        in_u = Shapes("u", False, {})
        self.weight = call("exp", sub(Sym("u"), in_u.tidy(substitute(neg_log(law.density), {"v": call("exp", Sym("u"))}))))
        self.grid = [p for k in _LADDER if (p := Fraction(4) ** k) > law.lower and (law.upper is None or p < law.upper)]
        if not self.grid:
            assert law.upper is not None
            self.grid = [(law.lower + law.upper) / 2]
        with precision(_ROUGH):
            self.heights = [(rational(p) * value(law.density, {"v": rational(p)})).mid() for p in self.grid]
            self.masses = list(accumulate(self.heights)), list(accumulate(reversed(self.heights)))[::-1]
        self._function = per_precision(lambda: compiled(self.weight, "u"))  # its constants are rounded to the working precision
        self._known: dict[tuple[fmpz, fmpz, int], arb] = {}

    def __call__(self, epsilon: arb) -> arb:
        """The mean at an exact epsilon."""
        key = *epsilon.man_exp(), ctx.prec
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            wanted = ctx.prec
            self._known[key] = accurately(lambda: self._at(epsilon, wanted))  # small shifts cancel in H_Gauss
        return self._known[key]

    def _at(self, epsilon: arb, bits: int) -> arb:
        law = self.law
        size, low, high = self._cuts(epsilon, bits)
        total = self._inside(epsilon, low, high, size, bits)
        if low > law.lower:
            total += self._end(epsilon, low, law.lower, low, bits)
        if high != law.upper:
            total += self._end(epsilon, high, high, law.upper, bits)
        return (total / mass(law, law.lower, law.upper, bits)).max(arb(0)).min(arb(1))

    def _value(self, epsilon: arb, v: Fraction) -> arb:
        """H_Gauss at mu(v)."""
        mu = constant(self.shift) * rational(v) ** rational(-self.law.exponent / 2)
        return gaussian_delta(mu, epsilon)

    def _beyond(self, epsilon: arb, cut: Fraction, rising: bool) -> arb:
        """H_Gauss beyond a cut, where v rises to infinity or falls to 0: mu falls to 0 there or rises to infinity, and H_Gauss with it."""
        limit = arb(0) if rising == (self.law.exponent > 0) else arb(1)
        return self._value(epsilon, cut).union(limit)

    def _end(self, epsilon: arb, cut: Fraction, low: Fraction, high: Fraction | None, bits: int) -> arb:
        """The integral beyond a cut."""
        between = self._beyond(epsilon, cut, rising=high is None)
        try:
            beyond = mass(self.law, low, high, bits)
        except Undecided:  # too far out: at most the whole mass, and at least nothing
            beyond = arb(0).union(mass(self.law, self.law.lower, self.law.upper, bits))
        return between * beyond

    def _cuts(self, epsilon: arb, bits: int) -> tuple[arb, Fraction, Fraction]:
        """About the size of the integral, and where to cut its ends off: a guess, as what is beyond the cuts is enclosed."""
        law = self.law
        values = [self._value(epsilon, p) for p in self.grid]
        size = arb(2) ** _TINY
        for height, at in zip(self.heights, values, strict=True):
            size = size.max((height * at).mid())
        least = size * arb(2) ** -bits
        low, high = 0, len(self.grid) - 1
        below, above = ([2 * self._beyond(epsilon, p, rising).rad() for p in self.grid] for rising in (False, True))
        while low < high and below[low + 1] * self.masses[0][low + 1] < least:
            low += 1
        while high > low + 1 and above[high - 1] * self.masses[1][high - 1] < least:
            high -= 1
        start = law.lower if law.lower > 0 else self.grid[low]
        return size, start, self.grid[high] if law.upper is None else law.upper

    def _inside(self, epsilon: arb, low: Fraction, high: Fraction, size: arb, bits: int) -> arb:
        weight, shift, at = self._function(), acb(constant(self.shift)), acb(epsilon)
        slope = acb(rational(-self.law.exponent / 2))

        def integrand(u: acb, analytic: bool) -> acb:
            return weight(u, analytic) * gaussian_delta(shift * (slope * u).exp(), at)

        tolerance = arb(2) ** -bits
        ends = (acb(rational(low).log()), acb(rational(high).log()))
        mean = acb.integral(integrand, *ends, rel_tol=tolerance, abs_tol=size * tolerance, eval_limit=20_000)
        if not (mean.real.is_finite() and 0 in mean.imag):
            raise Undecided(f"the mean over v from {low} to {high} has no finite enclosure.")
        return mean.real
