"""Logarithms of x^v K_v(c x), whose terms are not monotone or finite at 0 one by one (theory#shape-calculus)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Num, Sym, add, call, mul, neg, num, sub, symbols
from dpverify.trusted.kernel.signs import ANY, NEGATIVE, times
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.shapes.convexity import Shapes, outside
from dpverify.trusted.shapes.shape import Shape

HALF: Final = Num(Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Bessel:
    """factor * log(x^order K_order(scale x)) + rest, for x > 0.

    (x^v K_v)' = -x^v K_(v-1) < 0, and y = K_(v-1)/K_v obeys y' = y^2 + (2v - 1) y/x - 1 and tends to 1: its nullcline rises for
    v > 1/2 and falls for v < 1/2, and a y on the wrong side of it would never come back, so y rises or falls as its nullcline does.
    """

    factor: Expr
    order: Expr
    scale: Expr
    rest: Expr

    def shape(self, shapes: Shapes) -> Shape:
        """Of the part without the rest."""
        k = shapes.sign(self.factor)
        return Shape(ANY, times(k, NEGATIVE), times(k, shapes.sign(sub(HALF, self.order))))

    def at_zero(self) -> Expr:
        """The limit of the part without the rest, for a positive order: x^v K_v(x) tends to 2^(v-1) Gamma(v)."""
        v = self.order
        logs = (mul(sub(v, ONE), call("log", num(2))), call("log", call("gamma", v)), neg(mul(v, call("log", self.scale))))
        return mul(self.factor, add(*logs))


def bessel_part(shapes: Shapes, total: Add) -> Bessel | None:
    """The part k*log(x^v K_v(c x)) of a sum, whose terms are not monotone or finite at 0 one by one; None where there is none."""
    if not shapes.half:
        return None
    for term in total.args:
        inner, k = outside(term, shapes.name)
        if not (isinstance(inner, Call) and inner.name == "logbesselk") or shapes.name in symbols(inner.args[0]):
            continue
        c, offset = linear_part(inner.args[1], shapes.name)
        power_of = mul(k, inner.args[0], call("log", Sym(shapes.name)))
        if offset == ZERO and shapes.positive(c) and power_of in total.args:
            return Bessel(k, inner.args[0], c, sub(total, add(term, power_of)))
    return None
