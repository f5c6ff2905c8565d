"""Functions that repeat with a rise, f(x + P) = f(x) + K for all x, read off their form: densities with infinitely many steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, Num, Sym, add, children, mul, symbols
from dpverify.trusted.language.calls import subtrees
from dpverify.trusted.language.linear import linear_part


def quasi_period(expr: Expr, name: str, length: Fraction) -> Expr | None:
    """The constant K with expr(x + length) = expr(x) + K for all x; None where the form does not show one."""
    if name not in symbols(expr):
        return ZERO
    if isinstance(expr, Sym):
        return Num(length)
    parts = [quasi_period(part, name, length) for part in children(expr)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if isinstance(expr, Add):
        return add(*known)
    if isinstance(expr, Mul):
        moving = [i for i, part in enumerate(known) if part != ZERO]
        others = [factor for i, factor in enumerate(expr.args) if i not in moving]
        if len(moving) == 1 and not any(name in symbols(factor) for factor in others):
            return mul(*others, known[moving[0]])
    if isinstance(expr, Call) and expr.name == "floor" and isinstance(known[0], Num) and known[0].value.denominator == 1:
        return known[0]
    return ZERO if all(part == ZERO for part in known) else None


def step_period(expr: Expr, name: str) -> Fraction | None:
    """The least length after which every floor of a linear argument in the tree moves by integers; None without such a floor."""
    lengths = [1 / abs(slope) for slope in _floor_slopes(expr, name)]
    if not lengths:
        return None
    return Fraction(math.lcm(*(x.numerator for x in lengths)), math.gcd(*(x.denominator for x in lengths)))


def _floor_slopes(expr: Expr, name: str) -> Iterator[Fraction]:
    for part in subtrees(expr):
        slope, rest = linear_part(part.args[0], name) if isinstance(part, Call) and part.name == "floor" else (ZERO, ZERO)
        if isinstance(slope, Num) and slope != ZERO and name not in symbols(rest):
            yield slope.value
