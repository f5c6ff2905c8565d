"""Increasing functions written the other way round, where their variable occurs once."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.language.expr import (
    ONE,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    mul,
    power,
    sub,
    symbols,
)  # fmt: skip

LEVEL: Final = Sym("t")


def written_inverse(h: Expr, name: str) -> Expr | None:
    """The inverse of h on its increasing branch over positive values, an expression in LEVEL; None where h is of no such form."""
    inverse: Expr = LEVEL
    while h != Sym(name):
        inside = [part for part in _operands(h) if name in symbols(part)]
        if len(inside) != 1:
            return None
        undone = _undone(h, inside[0], inverse)
        if undone is None:
            return None
        h, inverse = inside[0], undone
    return inverse


def _operands(expr: Expr) -> tuple[Expr, ...]:
    if isinstance(expr, Add | Mul | Call):
        return expr.args
    return (expr.base, expr.exponent) if isinstance(expr, Pow) else ()


def _undone(expr: Expr, inside: Expr, value: Expr) -> Expr | None:
    """What `inside` is where `expr` is `value`."""
    if isinstance(expr, Add):
        return sub(value, add(*(part for part in expr.args if part is not inside)))
    if isinstance(expr, Mul):
        return div(value, mul(*(part for part in expr.args if part is not inside)))
    if isinstance(expr, Pow):
        return power(value, div(ONE, expr.exponent)) if inside is expr.base else None
    if not isinstance(expr, Call):
        return None
    if expr.name == "cosh":
        return call("log", add(value, power(sub(power(value, Num(Fraction(2))), ONE), Num(Fraction(1, 2)))))
    opposite = {"log": "exp", "exp": "log", "sinh": "asinh", "asinh": "sinh", "tanh": "atanh", "atanh": "tanh"}.get(expr.name)
    return None if opposite is None else call(opposite, value)
