"""Polynomial parts taken out of quotients: r**2/(1 + r) = r - 1 + 1/(1 + r). An identity, wherever both sides are defined."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_poly

from dpverify.trusted.kernel.expr import Add, Expr, Mul, Num, Pow, Sym, add, mul, num, power, rebuild, symbols

MAX_DEGREE = 40


def divided(expr: Expr, name: str) -> Expr:
    """The tree with every quotient of polynomials in `name` (rational coefficients) written as polynomial plus proper fraction."""
    if name not in symbols(expr):
        return expr
    if isinstance(expr, Mul | Pow):
        found = _quotient(expr, name)
        if found is not None:
            return found
    return rebuild(expr, lambda part: divided(part, name))


def _quotient(expr: Mul | Pow, name: str) -> Expr | None:
    """The polynomial plus the fraction, or None where the form is another or nothing comes out."""
    above, below = fmpq_poly([1]), fmpq_poly([1])
    bottom: list[Expr] = []
    for factor in expr.args if isinstance(expr, Mul) else (expr,):
        if isinstance(factor, Pow) and isinstance(factor.exponent, Num) and factor.exponent.value < 0:
            inverse = polynomial(power(factor.base, Num(-factor.exponent.value)), name)
            if inverse is None or factor.exponent.value.denominator != 1:
                return None
            below *= inverse
            bottom.append(factor)
            continue
        top = polynomial(factor, name)
        if top is None:
            return None
        above *= top
    if not bottom or above.degree() < below.degree() or below.degree() < 1:
        return None
    whole, rest = divmod(above, below)
    return add(_tree(whole, name), mul(_tree(rest, name), *bottom))


def polynomial(expr: Expr, name: str) -> fmpq_poly | None:
    """The expression as a polynomial in `name` with rational coefficients; None where it is none, or of a high degree."""
    if isinstance(expr, Num):
        return fmpq_poly([fmpq(expr.value.numerator, expr.value.denominator)])
    if expr == Sym(name):
        return fmpq_poly([0, 1])
    if isinstance(expr, Add | Mul):
        parts = [polynomial(part, name) for part in expr.args]
        total = fmpq_poly([0 if isinstance(expr, Add) else 1])
        for part in parts:
            if part is None:
                return None
            total = total + part if isinstance(expr, Add) else total * part
        return total if total.degree() <= MAX_DEGREE else None
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1:
        n = int(expr.exponent.value)
        base = polynomial(expr.base, name)
        # a constant to a power that was not multiplied out is a number too long to write
        return base**n if base is not None and 0 < n <= MAX_DEGREE and base.degree() * n <= MAX_DEGREE else None
    return None


def _tree(polynomial: fmpq_poly, name: str) -> Expr:
    terms = []
    for i, c in enumerate(polynomial.coeffs()):
        terms.append(mul(Num(Fraction(int(c.p), int(c.q))), power(Sym(name), num(i))))
    return add(*terms)
