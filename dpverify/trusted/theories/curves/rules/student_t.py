"""Multivariate t noise, recognised by its profile: a power of a + b r^2. Its pairs have the closed form of `student`.

Theorem: In units in which multivariate t noise has the density c (1 + |y|^2)^-k, with answers D apart and E = e^(2 asinh(D/2)), the privacy
loss is k log((E + y)/(1 + E y)) for a y in (0, 1) of density C y^(d/2 - 1) F(y) (1 + E y)^-k under one answer and C y^(d/2 - 1) F(y) (E +
y)^-k under the other, F = 2F1((d - nu)/2, 1 - nu/2; d/2; y), for positive losses; negative ones by symmetry. It grows with the distance, so
the greatest dominates.

Checked:
- the profile is a power of a + b r^2, certainly integrable
- the norm is l2 or an ellipsoid's
- the series' remainders

Source: docs/theory/curves.md#student-t
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import ctx

from dpverify.trusted.facts.evaluate import SetUp, refined
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Sym, div, format_expr, mul, num, power, sub, substitute, symbols
from dpverify.trusted.shapes.convexity import Shapes

NAME: Final = "student-t"
ASSUMED: Final = ("the sampler is ideal",)

_R: Final = Sym("r")
_MOST_POWER: Final = num(600)
"""The largest power of 1/(a + b r^2) whose Taylor polynomials are not too long."""
_LOW: Final = 300
"""The least dimension in which greater powers have no useful enclosure by caps either."""


@dataclass(frozen=True, slots=True)
class Law:
    """A density proportional to (1 + (r/unit)^2)^-power in `dimension` dimensions, nu = 2 power - dimension > 0."""

    power: Expr
    unit: Expr
    dimension: int

    @property
    def nu(self) -> Expr:
        return sub(mul(num(2), self.power), num(self.dimension))


def law_of(h: Expr, dimension: int, shapes: Shapes) -> Law | None:
    """Reads power log(a + b r^2) + a constant, h = -log(profile); None where h has no such form, or it is not certainly integrable.

    Of powers too great for the closed form it is None in low dimensions; raises Undecided in high ones.
    """
    varying = [term for term in (h.args if isinstance(h, Add) else (h,)) if "r" in symbols(term)]
    if len(varying) != 1:
        return None
    factors = varying[0].args if isinstance(varying[0], Mul) else (varying[0],)
    inner = [part for part in factors if "r" in symbols(part)]
    if len(inner) != 1 or not (isinstance(inner[0], Call) and inner[0].name == "log"):
        return None
    exponent = mul(*(part for part in factors if part is not inner[0]))
    start = substitute(inner[0].args[0], {"r": num(0)})
    growth = div(sub(inner[0].args[0], start), power(_R, num(2)))
    if symbols(growth) or not (shapes.positive(start) and shapes.positive(growth)):
        return None
    if not shapes.positive(sub(_MOST_POWER, exponent)):
        if dimension >= _LOW and shapes.positive(sub(exponent, _MOST_POWER)):
            raise Undecided(f"{NAME}: the power {format_expr(exponent)} of t noise is too great for its closed form.")
        return None
    law = Law(exponent, power(div(start, growth), Num(Fraction(1, 2))), dimension)
    return law if shapes.positive(law.nu) else None


def pair(law: Law, shift: Expr) -> Pair:
    """The pair at a distance `shift` > 0, in units of the scale."""
    # the Taylor terms of a k-th power are up to about 2^k times its values
    guard = exact(constant(law.power).upper()).__ceil__()

    def made() -> SetUp:
        from dpverify.trusted.theories.curves.student import Student

        with precision(ctx.prec + guard):
            return Student(constant(law.nu), law.dimension, constant(shift) / constant(law.unit))

    return refined(made)
