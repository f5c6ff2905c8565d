"""Expressions as elements of the field."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

from dpverify.search.signs.field import UNIT, Atom, Field, Ratio
from dpverify.search.signs.logarithms import exp, log
from dpverify.search.signs.polynomials import ATOMS, ONE, number
from dpverify.search.signs.radicals import root
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, POSITIVE


def ratio(field: Field, expr: Expr) -> Ratio:
    """The quotient that equals `expr` at all parameter values."""
    if expr not in field.seen:
        field.seen[expr] = _ratio(field, expr)
    return field.seen[expr]


def _ratio(field: Field, expr: Expr) -> Ratio:
    if isinstance(expr, Num):
        return Ratio(number(expr.value), ONE)
    if isinstance(expr, Sym):
        return Ratio(field.parameters[expr.name], ONE)
    if isinstance(expr, Add):
        return field.plus(*(ratio(field, arg) for arg in expr.args))
    if isinstance(expr, Mul):
        return reduce(field.multiply, (ratio(field, arg) for arg in expr.args))
    if isinstance(expr, Pow):
        return _pow(field, expr)
    return _call(field, expr)


def _pow(field: Field, expr: Pow) -> Ratio:
    if not isinstance(expr.exponent, Num):
        return exp(field, field.multiply(ratio(field, expr.exponent), log_of(field, expr.base)))
    e, base = expr.exponent.value, ratio(field, expr.base)
    whole, part = divmod(e, 1)
    result = field.to_power(base, int(whole))
    return result if part == 0 else field.multiply(result, field.to_power(root(field, base, part.denominator), part.numerator))


def log_of(field: Field, expr: Expr) -> Ratio:
    """log(expr), taken apart by the tree first, so that high powers are never multiplied out."""
    if isinstance(expr, Mul) and all(_positive(field, arg) for arg in expr.args):
        return field.plus(*(log_of(field, arg) for arg in expr.args))
    if isinstance(expr, Pow) and _positive(field, expr.base):
        return field.multiply(ratio(field, expr.exponent), log_of(field, expr.base))
    if isinstance(expr, Call) and expr.name == "exp":
        return ratio(field, expr.args[0])
    return log(field, ratio(field, expr))


def _positive(field: Field, expr: Expr) -> bool:
    """Whether expr is proved to be positive wherever its parts are defined."""
    if isinstance(expr, Pow) and _positive(field, expr.base):
        return True
    if isinstance(expr, Call) and expr.name == "exp":
        return True
    return field.ratio_sign(ratio(field, expr)) == POSITIVE


def _call(field: Field, expr: Call) -> Ratio:
    name = expr.name
    if name == "log":
        return log_of(field, expr.args[0])
    args = tuple(ratio(field, arg) for arg in expr.args)
    if name == "exp":
        return exp(field, args[0])
    if name in ("cosh", "sinh", "tanh"):
        rising = exp(field, args[0])
        falling = field.inverse(rising)
        even, odd = field.plus(rising, falling), field.subtract(rising, falling)
        return field.multiply(odd, field.inverse(even)) if name == "tanh" else field.scaled(even if name == "cosh" else odd, Fraction(1, 2))
    if name == "asinh":
        return log(field, field.plus(args[0], root(field, field.plus(field.multiply(args[0], args[0]), UNIT), 2)))
    if name == "atanh":
        over, under = field.plus(UNIT, args[0]), field.subtract(UNIT, args[0])
        return field.scaled(log(field, field.multiply(over, field.inverse(under))), Fraction(1, 2))
    if name in ("min", "max", "abs"):
        return kink(field, name, args)
    if name == "erf":
        return field.subtract(UNIT, opaque(field, "erfc", args))
    if name == "logexprel" and 0 not in field.ratio_sign(args[0]):
        return log(field, field.multiply(field.subtract(exp(field, args[0]), UNIT), field.inverse(args[0])))
    if name in ("logerfc", "logbesselk"):
        return log(field, opaque(field, name[3:], args))
    return opaque(field, name, args)


def kink(field: Field, name: str, args: tuple[Ratio, ...]) -> Ratio:
    """min, max or abs: decided where the sign is known over the whole domain, else by abs(x) = sqrt(x**2)."""
    if name == "abs":
        signs = field.ratio_sign(args[0])
        if signs <= AT_LEAST_ZERO:
            return args[0]
        return field.scaled(args[0], Fraction(-1)) if signs <= AT_MOST_ZERO else root(field, field.multiply(args[0], args[0]), 2)
    best = args[0]
    for other in args[1:]:
        gap = kink(field, "abs", (field.subtract(best, other),))
        best = field.scaled(field.plus(best, other, field.scaled(gap, Fraction(1 if name == "max" else -1))), Fraction(1, 2))
    return best


def opaque(field: Field, name: str, args: tuple[Ratio, ...]) -> Ratio:
    """The atom of a function of which only the range is known; equal arguments give the same atom."""
    bounds = Domain()
    if name == "erfc":
        bounds = Domain(Fraction(0), Fraction(2))
    elif name in ("gamma", "besselk"):
        if field.ratio_sign(args[-1]) != POSITIVE:
            raise Undecided(f"the argument of {name} is not proved to be positive.")
        bounds = Domain(Fraction(0))
    elif name == "floor" and field.ratio_sign(field.subtract(args[0], UNIT)) <= AT_LEAST_ZERO:
        bounds = Domain(Fraction(1), None, lower_open=False)
    elif name == "floor" and field.ratio_sign(args[0]) == NEGATIVE:
        bounds = Domain(None, Fraction(-1), upper_open=False)
    for i, atom in enumerate(field.atoms):
        if atom.kind == name and len(atom.args) == len(args) and all(map(field.same, atom.args, args)):
            return Ratio(ATOMS[i], ONE)
    expr = Call(name, tuple(map(field.expr, args)))
    return Ratio(field.new(Atom(name, args, expr, not symbols(expr), bounds)), ONE)
