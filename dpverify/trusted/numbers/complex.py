"""Expressions as functions of complex balls, non-finite where they are not analytic: what enclosed quadrature wants."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, add, mul, symbols

Complex = Callable[[acb, bool], acb]
"""A function on complex balls: the argument, and whether the value has to be non-finite where the function is not analytic."""


def compiled(expr: Expr, name: str) -> Complex:
    """The tree as a function of a complex ball, non-finite where `analytic` is asked and a branch cut is met."""
    if not symbols(expr):
        fixed = acb(constant(expr))
        return lambda z, a: fixed
    if isinstance(expr, Sym):
        return lambda z, a: z
    if isinstance(expr, Add | Mul):
        sums, still = isinstance(expr, Add), [part for part in expr.args if not symbols(part)]
        f = _folded([compiled(part, name) for part in expr.args if symbols(part)], sums)
        if not still:
            return f
        k = constant(add(*still) if sums else mul(*still))
        return (lambda z, a: f(z, a) + k) if sums else (lambda z, a: f(z, a) * k)
    if isinstance(expr, Pow):
        base = compiled(expr.base, name)
        if isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1:
            n = int(expr.exponent.value)
            return lambda z, a: base(z, a) ** n
        if isinstance(expr.exponent, Num) and abs(expr.exponent.value) == Fraction(1, 2):
            return (lambda z, a: square_root(base(z, a), a)) if expr.exponent.value > 0 else (lambda z, a: 1 / square_root(base(z, a), a))
        exponent = compiled(expr.exponent, name)
        return lambda z, a: base(z, a).pow(exponent(z, a), analytic=a)
    assert isinstance(expr, Call)
    if expr.name in ("besselk", "logbesselk"):
        order, x = expr.args
        require(not symbols(order), Undecided("the order of besselk must be a constant."))
        return _bessel(expr.name, order, compiled(x, name))
    args = [compiled(arg, name) for arg in expr.args]
    if expr.name in ("min", "max"):
        return _extreme(args, expr.name == "max")
    inner = args[0]
    if expr.name in _WHOLE:
        plain = getattr(acb, expr.name)
        return lambda z, a: plain(inner(z, a))
    cut = _CUT[expr.name]
    return lambda z, a: cut(inner(z, a), a)


def square_root(u: acb, a: bool) -> acb:
    """The square root; on wide boxes by the logarithm too, which keeps them narrow across the real line."""
    found = u.sqrt(analytic=a)
    if u.rad() * 1024 > abs(u):
        other = (u.log(analytic=a) / 2).exp()
        if other.is_finite() and not other.rad() > found.rad():
            return other
    return found


def _bessel(name: str, order: Expr, x: Complex) -> Complex:
    from dpverify.trusted.numbers import complex_bessel as functions

    found: Complex = functions.besselk(order, x) if name == "besselk" else functions.logbesselk(order, x)
    return found


def _folded(parts: list[Complex], sums: bool) -> Complex:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        f, g = parts
        return (lambda z, a: f(z, a) + g(z, a)) if sums else (lambda z, a: f(z, a) * g(z, a))

    def fold(z: acb, a: bool) -> acb:
        total = parts[0](z, a)
        for part in parts[1:]:
            total = total + part(z, a) if sums else total * part(z, a)
        return total

    return fold


def _extreme(parts: list[Complex], largest: bool) -> Complex:
    def f(z: acb, a: bool) -> acb:
        best = parts[0](z, a)
        for part in parts[1:]:
            other = part(z, a)
            best = best.real_max(other, analytic=a) if largest else best.real_min(other, analytic=a)
        return best

    return f


def _asinh(u: acb, a: bool) -> acb:
    """log(u + sqrt(1 + u^2)), an odd function; left of 0 the sum would cancel."""
    sign = -1 if u.real < 0 else 1
    return sign * (sign * u + (1 + u * u).sqrt(analytic=a)).log(analytic=a)


def _logexprel(u: acb, a: bool) -> acb:
    """log((exp(u) - 1) / u); round 0 the quotient is a mean of exp(t u) over t in [0, 1]."""
    mean = (acb(arb(0).union(arb(1))) * u).exp() if 0 in u else (u.exp() - 1) / u
    return mean.log(analytic=a)


_WHOLE: Final = ("exp", "cosh", "sinh", "tanh", "erf", "erfc", "gamma")
_CUT: Final[dict[str, Callable[[acb, bool], acb]]] = {
    "log": lambda u, a: u.log(analytic=a),
    "abs": lambda u, a: u.real_abs(analytic=a),
    "floor": lambda u, a: u.real_floor(analytic=a),
    "asinh": _asinh,
    "atanh": lambda u, a: ((1 + u).log(analytic=a) - (1 - u).log(analytic=a)) / 2,
    "logerfc": lambda u, a: u.erfc().log(analytic=a),
    "logexprel": _logexprel,
}
