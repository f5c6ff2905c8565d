"""Polynomials with fractions in them that are integers at all integers, such as k*(k + 1)/2.

Let N be a polynomial in n symbols with integer coefficients, and m >= 1. N is divisible by m at all integers where it is at all of
0, ..., m - 1 in each symbol, for adding m to a symbol changes N by a multiple of m.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Final

from dpverify.trusted.kernel.expr import Add, Expr, Mul, Num, Pow, Sym, symbols
from dpverify.trusted.kernel.model import Domain

MOST_POINTS: Final = 4096
"""The most residues that are looked at."""
MOST_POWER: Final = 64


def is_whole(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression is a polynomial in integer parameters that is an integer at all of them. False where that is not decided."""
    names, common = sorted(symbols(expr)), _denominator(expr, domains)
    if common is None or common ** len(names) > MOST_POINTS:
        return False
    return all(_value(expr, dict(zip(names, point, strict=True))).denominator == 1 for point in product(range(common), repeat=len(names)))


def _denominator(expr: Expr, domains: Mapping[str, Domain]) -> int | None:
    """A common denominator of the coefficients of a polynomial in integer parameters; None for what is not certainly one."""
    if isinstance(expr, Num):
        return expr.value.denominator
    if isinstance(expr, Sym):
        return 1 if expr.name in domains and domains[expr.name].integer else None
    if isinstance(expr, Add | Mul):
        inside = [_denominator(part, domains) for part in expr.args]
        known = [one for one in inside if one is not None]
        return None if len(known) < len(inside) else lcm(*known) if isinstance(expr, Add) else prod(known)
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value in range(1, MOST_POWER + 1):
        base = _denominator(expr.base, domains)
        return None if base is None else base ** int(expr.exponent.value)
    return None


def _value(expr: Expr, at: Mapping[str, int]) -> Fraction:
    """The value of what `_denominator` takes for a polynomial."""
    if isinstance(expr, Num):
        return expr.value
    if isinstance(expr, Sym):
        return Fraction(at[expr.name])
    if isinstance(expr, Pow):
        assert isinstance(expr.exponent, Num)
        return _value(expr.base, at) ** int(expr.exponent.value)
    assert isinstance(expr, Add | Mul)
    inside = [_value(part, at) for part in expr.args]
    return sum(inside, Fraction(0)) if isinstance(expr, Add) else prod(inside, start=Fraction(1))
