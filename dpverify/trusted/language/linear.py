"""An expression as a multiple of a symbol, or of a power of it, and a rest."""

from __future__ import annotations

from fractions import Fraction

from dpverify.trusted.language.expr import ONE, Add, Expr, Mul, Num, Pow, Sym, add, mul, symbols


def linear_part(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """(slope, rest) with expr = slope * name + rest and slope free of `name`; slope is ZERO where none shows."""
    slope: list[Expr] = []
    rest: list[Expr] = []
    for term in expr.args if isinstance(expr, Add) else (expr,):
        if term == Sym(name):
            slope.append(ONE)
        elif isinstance(term, Mul) and term.args.count(Sym(name)) == 1:
            others = tuple(factor for factor in term.args if factor != Sym(name))
            if any(name in symbols(factor) for factor in others):
                rest.append(term)
            else:
                slope.append(mul(*others))
        else:
            rest.append(term)
    return add(*slope), add(*rest)


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
