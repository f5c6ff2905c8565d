"""Densities with infinitely many steps, summed over their periods: the integral over a half-line as that over the first period."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from typing import Final

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Expr, Mul, Num, Pow, Sym, add, call, mul, neg, num, power, sub, symbols
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.expansion import expanded
from dpverify.trusted.numbers.periods import quasi_period, step_period

_MOST_DEGREE: Final = 100
"""The greatest degree of a polynomial that is summed over infinitely many periods: the sums grow with its square."""


def first_period(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> tuple[Expr, str, Fraction, Fraction] | None:
    """A density with infinitely many steps towards infinity, summed over its periods on the first of them: the integral is the same."""
    length = step_period(density, name)
    if length is None or (lower is None) == (upper is None):
        return None
    start, step = (lower, length) if lower is not None else (upper, -length)
    assert start is not None
    total = _over_periods(density, name, step) or _over_periods(expanded(density), name, step)
    return None if total is None else (total, name, min(start, start + step), max(start, start + step))


def _over_periods(density: Expr, name: str, step: Fraction) -> Expr | None:
    """The sum over j >= 0 of density(x + j P), P the step, as an expression in x; None where the form is not covered.

    With density = p g, p a polynomial and g(x + P) = exp(-K) g(x), K > 0, it is g(x) times the sum over i of
    (p^(i)(x) P^i / i!) S_i(exp(-K)), S_i(q) the sum over j of j^i q^j.
    """
    if isinstance(density, Add):
        sums = [_over_periods(term, name, step) for term in density.args]
        known = [each for each in sums if each is not None]
        return add(*known) if len(known) == len(sums) else None
    repeating: list[Expr] = []
    others: list[Expr] = []
    rises: list[Expr] = []
    for factor in density.args if isinstance(density, Mul) else (density,):
        rise = quasi_period(neg_log(factor), name, step) if name in symbols(factor) else ZERO
        (others if rise is None else repeating).append(factor)
        rises.append(ZERO if rise is None else rise)
    rise, polynomial = add(*rises), expanded(mul(*others))
    if symbols(rise) or not constant(rise) > 0 or not _is_polynomial(polynomial, name) or _degree(polynomial, name) > _MOST_DEGREE:
        return None
    terms: list[Expr] = []
    factorial = 1
    for i, power_sum in enumerate(_power_sums(call("exp", neg(rise)))):
        terms.append(mul(polynomial, Num(step**i / factorial), power_sum))
        polynomial, factorial = expanded(derivative(polynomial, name)), factorial * (i + 1)
        if polynomial == ZERO:
            break
    return mul(*repeating, add(*terms))


def _degree(polynomial: Expr, name: str) -> Fraction:
    """The degree in a symbol that a polynomial, multiplied out, is written with."""
    if isinstance(polynomial, Add):
        return max(_degree(part, name) for part in polynomial.args)
    if isinstance(polynomial, Mul):
        return sum((_degree(part, name) for part in polynomial.args), Fraction(0))
    if isinstance(polynomial, Pow) and isinstance(polynomial.exponent, Num):
        return polynomial.exponent.value * _degree(polynomial.base, name)
    return Fraction(polynomial == Sym(name))


def _power_sums(q: Expr) -> Iterator[Expr]:
    """S_i(q), the sum over j >= 0 of j^i q^j, for i = 0, 1, ...: N_i(q) / (1 - q)^(i + 1), and S_(i+1) = q dS_i/dq."""
    numerator = [1]
    for i in count():
        yield mul(add(*(mul(num(c), power(q, num(k))) for k, c in enumerate(numerator))), power(sub(ONE, q), num(-i - 1)))
        slopes = [k * c for k, c in enumerate(numerator)] + [0]
        numerator = [slopes[k] - (slopes[k - 1] if k else 0) + ((i + 1) * numerator[k - 1] if k else 0) for k in range(len(slopes))]


def _is_polynomial(expr: Expr, name: str) -> bool:
    """Whether a tree is a polynomial by its form."""
    if isinstance(expr, Add | Mul):
        return all(_is_polynomial(part, name) for part in expr.args)
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1 and expr.exponent.value > 0:
        return _is_polynomial(expr.base, name)
    return expr == Sym(name) or name not in symbols(expr)
