"""An expression as a multiple of a symbol and a rest."""

from __future__ import annotations

from dpverify.trusted.kernel.expr import ONE, Add, Expr, Mul, Sym, add, mul, symbols


def terms(expr: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; of another expression that alone."""
    return expr.args if isinstance(expr, Add) else (expr,)


def linear_part(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """(slope, rest) with expr = slope * name + rest and slope free of `name`; slope is ZERO where none shows."""
    slope: list[Expr] = []
    rest: list[Expr] = []
    for term in terms(expr):
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
