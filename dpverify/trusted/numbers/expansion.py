"""Products and small powers of sums, multiplied out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.language.expr import ONE, Add, Expr, Mul, Pow, add, mul, num, power, rebuild, sub

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
