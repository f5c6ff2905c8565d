"""Laws of a random variance that its moment generating function shows: which it determines, so that nothing is granted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    call,
    div,
    mul,
    neg,
    num,
    power,
    sub,
    symbols,
)
from dpverify.trusted.language.linear import linear_part

V: Final = Sym("v")
HALF: Final = Num(Fraction(1, 2))


def recognised(transform: Expr, name: str = "u") -> dict[str, Any] | None:
    """The mixing density, or the atoms, of the V of which E exp(u V) is given; None where that is of no form that is known here.

    (1 - b u)^-a is of the gamma law of shape a and mean a b, exp(-c sqrt(-u)) of Levy's, and the sum of p exp(c u) of values c that have
    the probabilities p.
    """
    return _of_values(transform, name) or _of_gamma(transform, name) or _of_levy(transform, name)


def _of_values(transform: Expr, name: str) -> dict[str, Any] | None:
    atoms = []
    for term in transform.args if isinstance(transform, Add) else (transform,):
        factors = term.args if isinstance(term, Mul) else (term,)
        exponentials = [factor for factor in factors if isinstance(factor, Call) and factor.name == "exp" and name in symbols(factor)]
        others = [factor for factor in factors if factor not in exponentials]
        if len(exponentials) != 1 or any(symbols(factor) for factor in others):
            return None
        slope, rest = linear_part(exponentials[0].args[0], name)
        if rest != ZERO or symbols(slope):
            return None
        atoms.append((slope, mul(*others)))
    return {"atoms": tuple(atoms)}


def _of_gamma(transform: Expr, name: str) -> dict[str, Any] | None:
    if not isinstance(transform, Pow):
        return None
    (slope, rest), exponent = linear_part(transform.base, name), transform.exponent
    if rest != ONE or not (isinstance(slope, Num) and slope.value < 0 and isinstance(exponent, Num) and exponent.value < 0):
        return None
    return {"mixing": mul(power(V, sub(neg(exponent), ONE)), call("exp", div(V, slope)))}


def _of_levy(transform: Expr, name: str) -> dict[str, Any] | None:
    """Its density is in proportion to v^(-3/2) exp(-c^2/(4 v))."""
    if not (isinstance(transform, Call) and transform.name == "exp"):
        return None
    exponent = transform.args[0]
    factors = exponent.args if isinstance(exponent, Mul) else (exponent,)
    roots = [factor for factor in factors if isinstance(factor, Pow) and factor.exponent == HALF and name in symbols(factor)]
    others = mul(*(factor for factor in factors if factor not in roots))
    if len(roots) != 1 or not (isinstance(others, Num) and others.value < 0):
        return None
    slope, rest = linear_part(roots[0].base, name)
    if rest != ZERO or not (isinstance(slope, Num) and slope.value < 0):
        return None
    square = neg(mul(others, others, slope))
    return {"mixing": mul(power(V, Num(Fraction(-3, 2))), call("exp", div(neg(square), mul(num(4), V))))}
