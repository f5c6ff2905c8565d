"""Noise with an end whose exponent is linear: uniform and exponential noise, also cut off. Its delta is a mass in closed form.

Let p be 0 before its end a and not rise from there. Past a + s p is at most p(. - s), and before it p(. - s) is 0: the pair (p, p(. - s))
has delta = P([a, a + s)) at every eps >= 0, which is their distance, so that the other order has no more; and it grows with s. So answers D
apart are the worst, and both orders together have the tight delta P([a, a + D)). Noise whose density does not fall up to an end is
reflected.
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, finite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, call, div, format_expr, mul, neg, sub, symbols
from dpverify.trusted.kernel.model import Mechanism, Translation
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.logarithms import neg_log

WHAT: Final = "noise with an end"


def delta_expr(noise: Mechanism, reach: Expr, epsilon: Expr) -> Expr | None:
    """The tight delta of both orders at an epsilon, for answers that are up to `reach` apart; None for other noise.

    Raises Rejected where a sign is not certain, Undecided where the density has no value.
    """
    if not isinstance(noise, Translation) or noise.integers:
        return None
    slope, rest = linear_part(neg_log(noise.density), "z")
    if symbols(slope) or symbols(rest):
        return None
    falls, (lower, upper) = compare.sign(slope), noise.support
    start, end = (upper, lower) if falls == -1 else (lower, upper)
    if falls is None or start is None or (falls == 0 and end is None):
        return None
    finite(constant(rest))  # the density is positive
    if not (certainly_le(ZERO, epsilon) and certainly_le(ZERO, reach)):
        raise Rejected(WHAT, "epsilon", "it or the sensitivity is not certainly at least 0")

    def mass(length: Expr) -> Expr:
        """Of what is so near the end, up to a factor."""
        return length if falls == 0 else sub(ONE, call("exp", neg(mul(call("abs", slope), length))))

    if lower is None or upper is None:
        return mass(reach)
    length = sub(upper, lower)
    if certainly_le(length, reach):
        return ONE
    if not certainly_le(reach, length):
        raise Rejected(WHAT, "the support", f"whether it is shorter than {format_expr(reach)} is not certain")
    return div(mass(reach), mass(length))
