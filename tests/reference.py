"""A second method for values: trees evaluated by mpmath, which shares nothing with the balls under test."""

from fractions import Fraction

import mpmath
from flint import arb

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym

MP = mpmath.mp.clone()
MP.dps = 60

_FUNCTIONS = {
    "abs": abs,
    "min": min,
    "max": max,
    "pi": lambda: +MP.pi,
    "logerfc": lambda x: MP.log(MP.erfc(x)),
    "logbesselk": lambda v, x: MP.log(MP.besselk(v, x)),
    "logexprel": lambda x: MP.log(MP.expm1(x) / x) if x else MP.mpf(0),
}


def by_mpmath(expr: Expr, **values):
    """The real value of a tree; ValueError where it has none."""
    if isinstance(expr, Num):
        return MP.mpf(expr.value.numerator) / expr.value.denominator
    if isinstance(expr, Sym):
        return values[expr.name]
    if isinstance(expr, Add):
        return MP.fsum(by_mpmath(arg, **values) for arg in expr.args)
    if isinstance(expr, Mul):
        return MP.fprod(by_mpmath(arg, **values) for arg in expr.args)
    if isinstance(expr, Pow):
        result = MP.power(by_mpmath(expr.base, **values), by_mpmath(expr.exponent, **values))
    else:
        assert isinstance(expr, Call)
        args = [by_mpmath(arg, **values) for arg in expr.args]
        result = (_FUNCTIONS.get(expr.name) or getattr(MP, expr.name))(*args)
    if isinstance(result, MP.mpc) and result.imag == 0:
        result = result.real
    if not isinstance(result, MP.mpf) or not MP.isfinite(result):
        raise ValueError("not real")
    return result


def to_mpf(x: Fraction):
    """An exact rational at 60 digits."""
    return MP.mpf(x.numerator) / x.denominator


def holds(ball: arb, number, slack: Fraction = Fraction(1, 10**25)) -> bool:
    """Whether a ball contains a number of mpmath's, known to a relative `slack`."""
    seen = arb(MP.nstr(number, 55))
    return bool(ball.overlaps(seen + rational(slack) * (abs(seen) + rational(slack)) * arb(0, 1)))
