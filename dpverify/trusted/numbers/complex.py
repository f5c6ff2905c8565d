"""Expressions as functions of complex balls, non-finite where they are not analytic: what enclosed quadrature wants."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, symbols

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
        parts = [compiled(part, name) for part in expr.args]
        return _folded(parts, sums=isinstance(expr, Add))
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
    return _COMPLEX[expr.name](*args)


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
    if len(parts) == 2:
        f, g = parts
        return (lambda z, a: f(z, a) + g(z, a)) if sums else (lambda z, a: f(z, a) * g(z, a))

    def fold(z: acb, a: bool) -> acb:
        total = parts[0](z, a)
        for part in parts[1:]:
            total = total + part(z, a) if sums else total * part(z, a)
        return total

    return fold


def _extreme(parts: tuple[Complex, ...], largest: bool) -> Complex:
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


def _atanh(u: acb, a: bool) -> acb:
    return ((1 + u).log(analytic=a) - (1 - u).log(analytic=a)) / 2


_COMPLEX: Final[dict[str, Callable[..., Complex]]] = {
    "exp": lambda u: lambda z, a: u(z, a).exp(),
    "log": lambda u: lambda z, a: u(z, a).log(analytic=a),
    "abs": lambda u: lambda z, a: u(z, a).real_abs(analytic=a),
    "floor": lambda u: lambda z, a: u(z, a).real_floor(analytic=a),
    "min": lambda *us: _extreme(us, False),
    "max": lambda *us: _extreme(us, True),
    "cosh": lambda u: lambda z, a: u(z, a).cosh(),
    "sinh": lambda u: lambda z, a: u(z, a).sinh(),
    "tanh": lambda u: lambda z, a: u(z, a).tanh(),
    "asinh": lambda u: lambda z, a: _asinh(u(z, a), a),
    "atanh": lambda u: lambda z, a: _atanh(u(z, a), a),
    "erf": lambda u: lambda z, a: u(z, a).erf(),
    "erfc": lambda u: lambda z, a: u(z, a).erfc(),
    "logerfc": lambda u: lambda z, a: u(z, a).erfc().log(analytic=a),
    "logexprel": lambda u: lambda z, a: _logexprel(u(z, a), a),
    "gamma": lambda u: lambda z, a: u(z, a).gamma(),
}
