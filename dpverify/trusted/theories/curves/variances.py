"""Means over a hidden variance, by quadrature between two cuts and bounds beyond them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final, Literal

from flint import acb, arb, ctx

from dpverify.trusted.facts.evaluate import accurately, kept
from dpverify.trusted.kernel.balls import constant, finite, precision, rational
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr, Sym, call, sub, substitute
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.gaussian import gaussian_delta
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.mixing import Law

_FAR: Final = Fraction(2) ** 120
"""The mean is integrated from the inverse of this v up to it where no end of the law is before; beyond it is bounded."""


_TINY: Final = -16_384
"""Integrals below 2 to this power are enclosed absolutely, not relatively."""

_ABOUT: Final = 800
"""Evaluations that tell about how large a mean is."""


@remembered(4096)
def mass(law: Law, lower: Fraction, upper: Fraction | None, bits: int) -> arb:
    """The integral of the density from lower to upper, at about `bits` bits."""
    with precision(bits + 40):
        total = integral(law.density, "v", lower, upper, bits)
    return finite(total)


@remembered(64)
def mean_over(law: Law, shift: Expr) -> Callable[[arb], arb]:
    """The mean of the Gaussian profiles at a shift; kept, with what it has evaluated."""
    return kept(Mean(law, shift))


class Mean:
    """E[H_Gauss(epsilon; mu)] with mu = shift v^(-exponent/2), by quadrature in u = log v and bounds far out."""

    def __init__(self, law: Law, shift: Expr) -> None:
        self.law, self.shift = law, shift
        in_u = Shapes("u", False, {})
        self.weight = call("exp", sub(Sym("u"), in_u.tidy(substitute(neg_log(law.density), {"v": call("exp", Sym("u"))}))))
        self._far = max(_FAR, 2 * law.lower, _FAR if law.upper is None else 2 / law.upper)
        self._function = per_precision(lambda: compiled(self.weight, "u"))  # its constants are rounded to the working precision

    def __call__(self, epsilon: arb) -> arb:
        """The mean at an exact epsilon."""
        wanted = ctx.prec
        return accurately(lambda: self._at(epsilon, wanted))  # small shifts cancel in H_Gauss

    def _at(self, epsilon: arb, bits: int) -> arb:
        law = self.law
        total = self._inside(epsilon, law.lower or 1 / self._far, law.upper or self._far, bits)
        if law.lower == 0:
            total += self._end(epsilon, 1 / self._far, "right")
        if law.upper is None:
            total += self._end(epsilon, self._far, "+inf")
        return (total / mass(law, law.lower, law.upper, bits)).max(arb(0)).min(arb(1))

    def _value(self, epsilon: arb, v: Fraction) -> arb:
        """H_Gauss at mu(v)."""
        mu = constant(self.shift) * rational(v) ** rational(-self.law.exponent / 2)
        return gaussian_delta(mu, epsilon)

    def _beyond(self, epsilon: arb, cut: Fraction, rising: bool) -> arb:
        """H_Gauss beyond a cut, where v rises to infinity or falls to 0: mu falls to 0 there or rises to infinity, and H_Gauss with it."""
        limit = arb(0) if rising == (self.law.exponent > 0) else arb(1)
        return self._value(epsilon, cut).union(limit)

    def _end(self, epsilon: arb, cut: Fraction, side: Literal["+inf", "right"]) -> arb:
        """The integral beyond a cut of the range."""
        beyond = end_mass(self.law.density, "v", End(side, self._far))
        if beyond is None:
            raise Undecided(f"the law of v has no finite mass beyond {cut}.")
        return self._beyond(epsilon, cut, rising=side == "+inf") * beyond

    def _inside(self, epsilon: arb, low: Fraction, high: Fraction, bits: int) -> arb:
        weight, shift, at = self._function(), acb(constant(self.shift)), acb(epsilon)
        slope = acb(rational(-self.law.exponent / 2))

        def integrand(u: acb, analytic: bool) -> acb:
            return weight(u, analytic) * gaussian_delta(shift * (slope * u).exp(), at)

        ends = acb(rational(low).log()), acb(rational(high).log())
        least, tolerance = arb(2) ** _TINY, arb(2) ** -bits
        about = abs(acb.integral(integrand, *ends, rel_tol=tolerance, abs_tol=least, eval_limit=_ABOUT, use_heap=True).real)
        least = least.max(about.lower() * tolerance)
        mean = acb.integral(integrand, *ends, rel_tol=tolerance, abs_tol=least.mid(), eval_limit=20_000)
        require(mean.real.is_finite() and 0 in mean.imag, Undecided(f"the mean over v from {low} to {high} has no finite enclosure."))
        return mean.real
