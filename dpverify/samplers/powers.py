"""Densities exp(-c |z|^p): their lengths are powers of gamma variables, and on the integers they have exact samplers of their own."""

from __future__ import annotations

from dpverify.search.numeric import number
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, Add, Expr, Mul, Pow, Sym, mul, neg, substitute, symbols
from dpverify.trusted.shapes.convexity import Shapes


def power_law(exponent: Expr, name: str, *, two_sided: bool) -> tuple[Expr, Expr] | None:
    """c and p where the exponent is c z^p for z > 0, up to a constant; two_sided: and c |z|^p for z < 0. None where that is not seen."""
    try:
        found = _on_half(exponent, name)
        if found is None or (two_sided and _on_half(substitute(exponent, {name: neg(Sym(name))}), name) != found):
            return None
    except (DpverifyError, ArithmeticError):
        return None
    return found if number(found[0]) > 0 and number(found[1]) > 0 else None


def _on_half(exponent: Expr, name: str) -> tuple[Expr, Expr] | None:
    total = Shapes(name, True, {}).tidy(exponent)
    terms = [term for term in (total.args if isinstance(total, Add) else (total,)) if name in symbols(term)]
    if len(terms) != 1 or symbols(total) != {name}:
        return None
    factors = terms[0].args if isinstance(terms[0], Mul) else (terms[0],)
    moving = [factor for factor in factors if name in symbols(factor)]
    base, p = (moving[0].base, moving[0].exponent) if isinstance(moving[0], Pow) else (moving[0], ONE)
    if len(moving) != 1 or base != Sym(name) or symbols(p):
        return None
    return mul(*(factor for factor in factors if factor is not moving[0])), p
