"""The loss of a kernel far out: in a coordinate s that goes to 0 where the output goes to infinity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.geometry.polytopes import Polytope
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, add, call, mul, power, scaled, symbols
from dpverify.trusted.kernel.model import Vector
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.theories.finite.densities import Losses, resolve

RULE: Final = "kernel-box"
S: Final = Sym("y")
"""The coordinate, which stands where the output stood."""


def far(space: Losses, ray: Vector, rate: Fraction) -> tuple[Expr, Polytope]:
    """The loss beyond the region along a ray, in s, and where it is: 0 < s <= 1 and all pairs of inputs, closed.

    rate 0: y = start/s, start the end of the region; a > 0: exp(-a |y - start|) = s. Raises Rejected where it is not seen to be bounded.
    """
    vertices, planes = space.region.vertices, space.region.planes
    low, high = space.region.box[0]
    start = low if ray[0] < 0 else high
    if rate < 0 or (rate == 0 and not start * ray[0] > 0):
        raise Rejected(RULE, f"y beyond {start}", "the coordinate has no such rate there")
    edge = Polytope(tuple(v for v in vertices if v[0] == start), planes)
    corners = tuple((Fraction(v[0] != low), *v[1:]) for v in vertices)
    region = Polytope(corners, tuple((n, c if n[0] == 0 else max(n[0], Fraction(0))) for n, c in planes))
    return _Coordinate(start, ray[0], rate).loss(resolve(space.loss, edge, (ray,))), region


@dataclass(frozen=True, slots=True)
class _Coordinate:
    start: Fraction
    side: Fraction
    rate: Fraction

    def loss(self, loss: Expr) -> Expr:
        """c log f + ... in s: where f = s^(-k) e, it is c log e, for the sum of all c k log s must vanish."""
        weight, logs, rest = Fraction(0), list[Expr](), list[Expr]()
        for term in loss.args if isinstance(loss, Add) else (loss,):
            c, inner = scaled(term)
            if isinstance(inner, Call) and inner.name == "log":
                k, e = self.seen(inner.args[0])
                weight += c * k
                logs.append(mul(Num(c), call("log", e)))
            else:
                rest.append(term)
        return add(*logs, self.bounded(add(*rest), weight))

    def bounded(self, expr: Expr, weight: Fraction = Fraction(0)) -> Expr:
        """An expression in s, which has powers of s of exponents at least 0 alone, where no multiple of log s is left beside it."""
        k, e = self.seen(expr)
        if k > 0 or weight:
            raise self._refused()
        return mul(power(S, Num(-k)), e)

    def seen(self, expr: Expr) -> tuple[Fraction, Expr]:
        """(k, e) with expr = s^(-k) e for s > 0."""
        if "y" not in symbols(expr):
            return Fraction(0), expr
        if isinstance(expr, Sym) and self.rate == 0:
            return Fraction(1), Num(self.start)
        if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
            k, base = self.seen(expr.base)
            return k * expr.exponent.value, power(base, expr.exponent)
        if isinstance(expr, Add | Mul):
            parts = [self.seen(part) for part in expr.args]
            if isinstance(expr, Mul):
                return sum((k for k, _ in parts), Fraction(0)), mul(*(e for _, e in parts))
            most = max(k for k, _ in parts)
            return most, add(*(mul(power(S, Num(most - k)), e) for k, e in parts))
        if not isinstance(expr, Call):
            raise self._refused()
        slope, rest = linear_part(expr.args[0], "y")
        if self.rate and expr.name == "exp" and isinstance(slope, Num) and "y" not in symbols(rest):
            return self.side * slope.value / self.rate, call("exp", add(mul(slope, Num(self.start)), rest))
        return Fraction(0), call(expr.name, *map(self.bounded, expr.args))

    def _refused(self) -> Rejected:
        why = "the loss depends on y there, and is not seen to be bounded; give the output finite ends, or declare noise added to theta"
        return Rejected(RULE, f"y beyond {self.start}", f"{why} as kind = translation")
