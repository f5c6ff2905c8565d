"""Which expressions are integers."""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym
from dpverify.trusted.kernel.model import Domain


def is_whole(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression is an integer by its form: built from integers and integer parameters by +, *, powers and floor.

    So is a polynomial with fractions in it that is one at all integers, as k*(k + 1)/2 is.
    """
    if isinstance(expr, Num):
        return expr.value.denominator == 1
    if isinstance(expr, Sym):
        return expr.name in domains and domains[expr.name].integer
    if isinstance(expr, Add | Mul):
        if all(is_whole(part, domains) for part in expr.args):
            return True
        from dpverify.trusted.order import whole_polynomials

        return whole_polynomials.is_whole(expr, domains)
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
        return expr.exponent.value > 0 and is_whole(expr.exponent, domains) and is_whole(expr.base, domains)
    return isinstance(expr, Call) and expr.name == "floor"
