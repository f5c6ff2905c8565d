"""The inverse of an increasing function h on complex balls: s with h(s) = t, as the analytic function that it is.

Where h is an elementary function of one occurrence of its variable, its inverse is written out. Elsewhere s is enclosed by Newton's
operator: with s0 real and S a box round s0, symmetric about the real line, on which h is analytic, s0 - (h(s0) - t)/h'(S) inside S
and 0 not in h'(S) give exactly one root in S for every t at hand (existence by Brouwer; two roots would have the mean of h' between
them 0). It depends analytically on t; for a real t it is its own conjugate, hence real, hence the inverse on the line.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpverify.expr import ONE, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, div, mul, power, sub, symbols
from dpverify.integral import Complex

LEVEL: Final = Sym("t")
"""The variable of `written_inverse`."""
_STEPS: Final = 60
_GROWTH: Final = 6
_NAN: Final = acb("nan")


def written_inverse(h: Expr, name: str) -> Expr | None:
    """The inverse of h on its increasing branch over positive values, an expression in LEVEL; None where h is of no such form."""
    inverse: Expr = LEVEL
    while h != Sym(name):
        inside = [part for part in _operands(h) if name in symbols(part)]
        if len(inside) != 1:
            return None
        found = _undone(h, inside[0], inverse)
        if found is None:
            return None
        h, inverse = inside[0], found
    return inverse


def _operands(expr: Expr) -> tuple[Expr, ...]:
    if isinstance(expr, Add | Mul | Call):
        return expr.args
    return (expr.base, expr.exponent) if isinstance(expr, Pow) else ()


def _undone(expr: Expr, inside: Expr, value: Expr) -> Expr | None:
    """What `inside` is where `expr` is `value`."""
    if isinstance(expr, Add):
        return sub(value, add(*(part for part in expr.args if part is not inside)))
    if isinstance(expr, Mul):
        return div(value, mul(*(part for part in expr.args if part is not inside)))
    if isinstance(expr, Pow):
        return power(value, div(ONE, expr.exponent)) if inside is expr.base else None
    if not isinstance(expr, Call):
        return None
    if expr.name == "cosh":
        return call("log", add(value, power(sub(power(value, Num(Fraction(2))), ONE), Num(Fraction(1, 2)))))
    opposite = {"log": "exp", "exp": "log", "sinh": "asinh", "asinh": "sinh", "tanh": "atanh", "atanh": "tanh"}.get(expr.name)
    return None if opposite is None else call(opposite, value)


def newton_inverse(h: Complex, slope: Complex) -> Callable[[acb, arb], acb]:
    """The inverse of h by Newton's operator, as a function of t and of a positive guess; nan where none is proved.

    h has to be increasing on the positive reals, slope its derivative, both non-finite where they are not analytic.
    """

    def inverse(t: acb, guess: arb) -> acb:
        if not 0 in t.imag:
            return _NAN
        centre = _approximate(h, slope, t.real.mid(), guess.mid())
        error = h(acb(centre), True) - t
        radius = 2 * (error / slope(acb(centre), True)).abs_upper()
        for _ in range(_GROWTH):
            if not radius.is_finite():
                return _NAN
            sides = (-radius).union(radius)
            box = acb(centre + sides, sides)
            found = centre - error / slope(box, True)
            if found.is_finite() and box.contains(found):
                return found
            radius = 3 * radius
        return _NAN

    return inverse


def _approximate(h: Complex, slope: Complex, t: arb, guess: arb) -> arb:
    """Newton's iteration on midpoints, kept positive."""
    point, least = guess, None
    for _ in range(_STEPS):
        step = ((h(acb(point), False).real - t) / slope(acb(point), False).real).mid()
        if not step.is_finite():
            break
        size = abs(step)
        if least is not None and not size < least / 2 and size < point * arb(2) ** -20:
            break
        least = size
        point = (point - step).mid() if step < point else (point / 2).mid()
    return point
