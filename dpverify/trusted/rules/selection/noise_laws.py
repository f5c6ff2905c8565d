"""Gaussian and Laplace noise about 0, with values for all parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flint import acb, arb

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, Expr, Sym, substitute
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.language.model import L1, OnLine, Radial, Translation
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.parts.gaussian_form import gaussian_form
from dpverify.trusted.parts.laplace_form import laplace_form

RULE: Final = "worst-output"


@dataclass(frozen=True, slots=True)
class Law:
    """Gaussian or Laplace noise about 0. rate: one over its deviation, or its scale."""

    gaussian: bool
    rate: arb

    def density(self, z: acb, above: bool) -> acb:
        """At z, which is above 0 or not."""
        if self.gaussian:
            return (-((self.rate * z) ** 2) / 2).exp() * self.rate / (2 * arb.pi()).sqrt()
        return (-self.rate * z if above else self.rate * z).exp() * self.rate / 2

    def below(self, z: acb, above: bool) -> acb:
        """The probability of less than z, which is above 0 or not."""
        if self.gaussian:
            return (-self.rate * z / arb(2).sqrt()).erfc() / 2
        return 1 - (-self.rate * z).exp() / 2 if above else (self.rate * z).exp() / 2

    def outside(self, distance: arb) -> arb:
        """The probability of more than a distance from 0 on one side."""
        return self.below(acb(-distance), False).real


def law(noise: OnLine) -> Law:
    """Gaussian or Laplace noise about 0. Raises Rejected for all other."""
    if isinstance(noise, Translation) and not noise.integers and noise.support == (None, None):
        half, h = Shapes("z", True, {}), neg_log_profile(noise)
        if half.tidy(h) == half.tidy(half.mirrored(h)):
            noise = Radial(_in_distance(noise.density), L1, ONE)
    if isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp":
        for gaussian, form in ((True, gaussian_form), (False, laplace_form)):
            found = form(noise)
            if found is not None:
                return Law(gaussian, constant(found[1]))
    raise Rejected(RULE, "the noise", "it is not certainly Gaussian or Laplace noise about 0, with a value for every parameter")


def _in_distance(density: Expr) -> Expr:
    return substitute(density, {"z": Sym("r")})
