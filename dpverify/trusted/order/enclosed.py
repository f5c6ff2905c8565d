"""Constants in balls that are finite, and integers in these."""

from __future__ import annotations

from flint import arb

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr, num


def enclose(expr: Expr, prec: int = 128) -> arb:
    """A ball that contains the constant `expr`, computed with `prec` bits. Raises Undecided where it is not finite."""
    with precision(prec):
        ball = constant(expr)
    require(ball.is_finite(), Undecided(f"no finite enclosure at {prec} bits: the constant is undefined, or needs more precision."))
    return ball


def integer(whole_number: arb) -> int:
    """The one integer in a ball. Raises Undecided."""
    n = whole_number.unique_fmpz()
    if n is None:
        raise Undecided("a whole number that is not enclosed.")
    return int(n)


def whole(bound: Expr, up: bool) -> int:
    """The floor of a constant; where it is not certain whether a whole number is reached, the greater or the lesser answer."""
    ball = enclose(bound)
    low, high = (integer(end.floor()) for end in (ball.lower(), ball.upper()))
    if low == high or certainly_le(num(high), bound):
        return high
    if high == low + 1 and certainly_lt(bound, num(high)):
        return low
    return high if up else low
