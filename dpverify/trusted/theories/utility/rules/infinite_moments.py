"""Noise so heavy that its error has no mean, or no mean square: a density that is of order 1/r or more, times a power of r, at infinity.

Theorem: Where x f(x) |x|^p does not fall beyond some point, f the density of the noise or the probabilities of integers, the mean of the
p-th power of its size is infinite, and so is that of its Euclidean length and of each of its coordinates.

Checked:
- the density is integrable, and positive beyond the point
- r times the derivative of minus the logarithm of the density times r^p is at most 1 beyond the point

Source: docs/theory/utility.md#infinite-moments
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.errors import COORDINATE, EUCLIDEAN, ErrorBound, known
from dpverify.trusted.kernel.balls import finite
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, mul, num, power, sub, substitute
from dpverify.trusted.kernel.model import Claim, Domain
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.theories.utility.laws import Size, read
from dpverify.trusted.theories.utility.rules.noise_moments import MOST_COORDINATES, power_of

NAME: Final = "infinite-moments"
ASSUMED: Final = ("the sampler is ideal",)

_ENOUGH: Final = 8
"""Bits at which a mass is enclosed, to see that it is finite."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[ErrorBound, ...]:
    """That the errors of one power are infinite.

    evidence: "power", 1 or 2; "coordinates", of how many of them; "size", which of the independent sizes that R is the product of;
    "side", 1 for the right end of its density and -1 for the left one; "beyond", an integer, the point, or 1 over its distance from a
    finite end; those of `laws.read`. Raises Rejected.
    """
    p, law = power_of(evidence), read(claim, evidence, NAME)
    wanted, beyond = read_whole(evidence, "coordinates", NAME, 0, MOST_COORDINATES), read_whole(evidence, "beyond", NAME, 1)
    number = read_whole(evidence, "size", NAME, 0, len(law.sizes) - 1)
    side = 1 if read_whole(evidence, "side", NAME, -1, 1) > 0 else -1
    for size in law.sizes:
        finite(size.total(ONE, _ENOUGH))
    _heavy(law.sizes[number], p, side, beyond)
    found = known(EUCLIDEAN[p - 1], INFINITE)
    return found + tuple(bound for i in range(min(wanted, law.dimension)) for bound in known(COORDINATE[p - 1], INFINITE, i))


def _heavy(size: Size, p: int, side: int, beyond: int) -> None:
    """Raises Rejected unless the integral, or sum, of the density times size^p is certainly infinite towards an end."""
    limit, other = (size.upper, size.lower) if side > 0 else (size.lower, size.upper)
    r, point = Sym("r"), Fraction(beyond)
    at: Expr
    stretched: Expr
    if limit is None:
        at, stretched, inside = mul(num(side), r), ONE, other is None or point > side * other
    else:  # by its distance 1/r from the end
        at, stretched, inside = sub(Num(limit), mul(num(side), power(r, num(-1)))), power(r, num(-2)), not size.whole
        inside = inside and (other is None or 1 / point < abs(limit - other))
    require(inside, Rejected(NAME, "the point", "the density does not live on all that is beyond"))
    whole = mul(substitute(mul(size.density, power(size.size, num(p))), {size.name: at}), stretched)
    tail, far = resolve(whole, "r", point, None), {"r": Domain(point)}
    require(certainly_lt(ZERO, tail, far), Rejected(NAME, "the density", "it is not certainly positive beyond the point"))
    if not certainly_le(mul(r, derivative(resolve(neg_log(tail), "r", point, None), "r")), ONE, far):
        raise Rejected(NAME, "the density", "it may fall faster than 1/r, times the power")
