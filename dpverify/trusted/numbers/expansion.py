"""Products and small powers of sums, multiplied out, and terms as multiples of a power."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import ONE, Add, Expr, Mul, Num, Pow, Sym, add, mul, num, power, rebuild, sub, symbols

_SMALL_POWERS: Final = tuple(num(n) for n in range(2, 9))


def expanded(expr: Expr) -> Expr:
    """The tree with products and small powers of sums multiplied out, at every depth."""
    return add(*expanded_terms(rebuild(expr, expanded)))


def expanded_terms(expr: Expr) -> Iterator[Expr]:
    """The terms of a sum, with products of sums and small powers of sums multiplied out."""
    total = add(expr)
    for term in total.args if isinstance(total, Add) else (total,):
        yield from _of_product(mul(*term.args) if isinstance(term, Mul) else term)


def _of_product(term: Expr) -> Iterator[Expr]:
    factors = term.args if isinstance(term, Mul) else (term,)
    for i, factor in enumerate(factors):
        others = factors[:i] + factors[i + 1 :]
        if isinstance(factor, Add):
            for inner in factor.args:
                yield from _of_product(mul(inner, *others))
            return
        if isinstance(factor, Pow) and isinstance(factor.base, Add) and factor.exponent in _SMALL_POWERS:
            lower = power(factor.base, sub(factor.exponent, ONE))
            for inner in factor.base.args:
                yield from _of_product(Mul((inner, lower, *others)))
            return
    yield mul(*factors)


def monomial(term: Expr, name: str) -> tuple[Expr, Fraction] | None:
    """(c, p) where a term is c * name^p with c free of `name`, None for another form."""
    constants, p = list[Expr](), Fraction(0)
    for factor in term.args if isinstance(term, Mul) else (term,):
        base, exponent = (factor.base, factor.exponent) if isinstance(factor, Pow) else (factor, ONE)
        if name not in symbols(factor):
            constants.append(factor)
        elif base == Sym(name) and isinstance(exponent, Num):
            p += exponent.value
        else:
            return None
    return mul(*constants), p
