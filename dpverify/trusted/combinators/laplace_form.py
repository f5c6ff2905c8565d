"""Laplace noise by the form of its density."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.combinators.exponents import Exponent, exponent
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Sym, add, call, children, div, mul, neg, sub, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Mechanism
from dpverify.trusted.language.linear import linear_part

_KINKS: Final = ("abs", "max", "min")


@remembered(256)
def laplace_form(noise: Mechanism) -> tuple[Exponent, Expr] | None:
    """The exponent and 1/b of Laplace noise on a line or in independent coordinates, b in the units of its reach; None for all other.

    Raises Rejected for a norm, scale or dimension that is none.
    """
    shape = exponent(noise)
    if shape is None or not (shape.independent or shape.dimension == 1):
        return None
    x = Sym(shape.name)
    for centre in (ZERO,) if shape.name == "r" else dict.fromkeys((ZERO, *_kinks(shape.h))):
        try:
            least = shape.at(centre)
            c = sub(shape.at(add(centre, ONE)), least)
            if compare.sign(c) == 1 and shape.equals(add(mul(c, call("abs", sub(x, centre))), least)):
                return shape, div(c, shape.scale)
        except ExprError:
            continue
    return None


def _kinks(expr: Expr) -> Iterator[Expr]:
    """Where linear arguments of abs vanish, and where those of min and max meet."""
    if isinstance(expr, Call) and expr.name in _KINKS:
        for other in expr.args[1:] or (ZERO,):
            slope, rest = linear_part(sub(expr.args[0], other), "z")
            if not symbols(slope) and not symbols(rest) and compare.sign(slope) not in (None, 0):
                yield neg(div(rest, slope))
    for part in children(expr):
        yield from _kinks(part)
