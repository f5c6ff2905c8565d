"""Taylor coefficients of expressions over balls, for quotients N(r)/r^k whose singularity at 0 is only apparent."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, arb_series, ctx

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import Add, Call, Expr, Mul, Num, Pow, Sym, symbols

Constant = Callable[[Expr], arb]
MOST_ORDER = 16


def taylor(expr: Expr, name: str, at: arb, order: int, constant: Constant) -> list[arb]:
    """Balls of f^(j)/j! over the ball `at`, j = 0 .. order. Raises Undecided for functions without series here."""
    before = ctx.cap
    ctx.cap = max(before, order + 1)
    try:
        found = _series(expr, name, at, order + 1, constant).coeffs()
    finally:
        ctx.cap = before
    return [found[j] if j < len(found) else arb(0) for j in range(order + 1)]


def order_at_zero(expr: Expr, name: str, constant: Constant) -> int:
    """The order to which f certainly vanishes at 0: its first coefficients are exactly 0. 0 where none is, or all are."""
    try:
        coefficients = taylor(expr, name, arb(0), MOST_ORDER, constant)
    except Undecided:
        return 0
    order = next((j for j, c in enumerate(coefficients) if not c.is_zero()), 0)
    return order if coefficients[order].is_finite() and not coefficients[order].contains(0) else 0


def quotient(coefficients: list[arb], order: int) -> tuple[arb, arb, arb]:
    """Q = N(r)/r^k and two derivatives over a ball that contains 0, from coefficients of N of orders k, k + 1, k + 2 over it.

    Q(r) = integral over t in [0, 1] of (1 - t)^(k-1) N^(k)(t r) / (k-1)! dt, so Q^(m) lies in N^(k+m) * m!/(k+m)!.
    """
    return coefficients[order], coefficients[order + 1], 2 * coefficients[order + 2]


def _series(expr: Expr, name: str, at: arb, length: int, constant: Constant) -> arb_series:
    if name not in symbols(expr):
        return arb_series([constant(expr)], length)
    if isinstance(expr, Sym):
        return arb_series([at, 1], length)
    if isinstance(expr, Add | Mul):
        total = _series(expr.args[0], name, at, length, constant)
        for part in expr.args[1:]:
            other = _series(part, name, at, length, constant)
            total = total + other if isinstance(expr, Add) else total * other
        return total
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
        base, e = _series(expr.base, name, at, length, constant), expr.exponent.value
        if e.denominator == 1:
            return base ** int(e) if e > 0 else (base ** int(-e)).inv()
        if e.denominator == 2:
            return base.sqrt() ** e.numerator if e > 0 else (base.rsqrt()) ** (-e.numerator)
    if isinstance(expr, Call) and len(expr.args) == 1:
        u = _series(expr.args[0], name, at, length, constant)
        half = arb_series([arb(1) / 2], length)
        if expr.name in ("exp", "log", "erf", "erfc"):
            found: arb_series = getattr(u, expr.name)()
            return found
        if expr.name in ("cosh", "sinh"):
            sign = 1 if expr.name == "cosh" else -1
            return half * (u.exp() + sign * (-u).exp())
        if expr.name == "tanh":
            small = (-2 * u).exp()
            return (1 - small) * (1 + small).inv()
    raise Undecided("no power series for this form.")


def is_small_order(order: Expr) -> int | None:
    """The order of a quotient where it is an integer from 1 to MOST_ORDER, else None."""
    if isinstance(order, Num) and order.value.denominator == 1 and Fraction(1) <= order.value <= MOST_ORDER:
        return int(order.value)
    return None
