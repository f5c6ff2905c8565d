"""Gaussian noise by the form of its density."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.exponents import Exponent, exponent
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Sym, add, call, div, mul, neg, num, power, sqrt, sub
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Mechanism, Norm, Radial, Sum

_HALF: Final = Num(Fraction(1, 2))
_L2: Final = Norm("lp", Fraction(2))


@remembered(256)
def gaussian_form(noise: Mechanism) -> tuple[Exponent, Expr] | None:
    """The exponent and 1/sigma of Gaussian noise, sigma in the units of its reach, or of a sum of such; None for all other.

    Of a sum with dropouts it is that of the least variance. Raises Rejected for a norm, scale or dimension that is none.
    """
    if isinstance(noise, Sum):
        summed = as_gaussian(noise)
        return None if summed is None else gaussian_form(summed)
    shape = exponent(noise)
    if shape is None or not (shape.independent or shape.dimension == 1 or shape.norm.kind == "ellipsoid" or shape.norm == _L2):
        return None
    x = Sym(shape.name)
    try:
        first, second, third = shape.at(num(0)), shape.at(num(1)), shape.at(num(2))
        c = mul(_HALF, add(first, mul(num(-2), second), third))
        b = sub(sub(second, first), c)
        quadratic = shape.equals(add(mul(c, power(x, num(2))), mul(b, x), first))
    except ExprError:
        return None
    if not quadratic or compare.sign(c) != 1 or (shape.name == "r" and compare.sign(b) != 0):
        return None
    return shape, div(sqrt(mul(num(2), c)), shape.scale)


def as_gaussian(noise: Sum) -> Radial | None:
    """Noise with the privacy of a sum of Gaussian noises on the line; None for all other, and where the least variance is not known."""
    from dpverify.trusted.combinators.sums import added, least

    variances = []
    for one in least(noise):
        rates = [(rate_on_line(part), times) for part, times in added(one)]
        if any(rate is None for rate, _ in rates):
            return None
        variances.append(add(*(div(num(times), rate) for rate, times in rates if rate is not None)))
    found = next((each for each in variances if all(compare.certainly_le(each, other) for other in variances)), None)
    return None if found is None else Radial(call("exp", mul(neg(_HALF), power(Sym("r"), num(2)))), _L2, ONE, sqrt(found))


def rate_on_line(noise: Mechanism) -> Expr | None:
    """1/sigma^2 of Gaussian noise on the line; None for all other. Raises Rejected as `gaussian_form`."""
    form = gaussian_form(noise) if getattr(noise, "dimension", ONE) == ONE else None
    return None if form is None else power(form[1], num(2))
