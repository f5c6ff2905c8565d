"""Constants in balls that are finite."""

from __future__ import annotations

from flint import arb

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr


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
