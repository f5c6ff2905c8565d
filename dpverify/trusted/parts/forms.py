"""Mechanisms of a known form: Gaussian noise, Laplace noise, randomized response."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Num,
    Sym,
    add,
    call,
    children,
    div,
    mul,
    neg,
    num,
    power,
    sqrt,
    sub,
    symbols,
)
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.model import Mechanism, Norm, Table
from dpverify.trusted.order import compare
from dpverify.trusted.parts.exponents import Exponent, exponent

_HALF: Final = Num(Fraction(1, 2))
_L2: Final = Norm("lp", Fraction(2))
_KINKS: Final = ("abs", "max", "min")


@remembered(256)
def gaussian_form(noise: Mechanism) -> tuple[Exponent, Expr] | None:
    """The exponent and 1/sigma of Gaussian noise, sigma in the units of its reach; None for all other.

    Raises Rejected for a norm, scale or dimension that is none.
    """
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


def randomized_response(table: Mechanism) -> Expr | None:
    """The epsilon of binary randomized response: log(p/(1 - p)) with p >= 1/2; None for another mechanism."""
    if not isinstance(table, Table) or len(table.rows) != 2 or len(table.rows[0]) != 2:
        return None
    if table.adjacent is not None and not {(0, 1), (1, 0)} & set(table.adjacent):
        return None
    (a, b), (c, d) = table.rows
    if not (compare.certainly_equal(a, d) and compare.certainly_equal(b, c)):
        return None
    if compare.certainly_equal(a, b):
        return num(0)
    return call("abs", call("log", div(a, b)))
