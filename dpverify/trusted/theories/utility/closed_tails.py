"""Tails of the length of noise in closed form, in parameters too: of densities exp(-c r^a), and on the integers of exp(-c |z|)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, neg, num, power, sqrt, sub
from dpverify.trusted.kernel.model import LINF, Claim, Norm, Product, Radial, Translation
from dpverify.trusted.theories.utility.closed_moments import Exponential, continued, form
from dpverify.trusted.theories.utility.directions import length_on_the_line
from dpverify.trusted.theories.utility.laws import Law, read

MOST_TERMS: Final = 64


def closed(claim: Claim, near: Expr, distance: Norm | None, rule: str) -> Expr:
    """The probability that the noise is longer than `near`, for all parameters. Raises Rejected where there is no closed form here."""
    noise = claim.mechanism
    if not isinstance(noise, Radial | Product | Translation):
        raise Rejected(rule, "the noise", "its tail has no closed form here; integrals enclose it")
    law = read(claim, {}, rule, anywhere=True)
    d, found = law.dimension, form(law)
    if not isinstance(found, Exponential) or found.w != ZERO:
        raise Rejected(rule, "the noise", "it is not certainly exp(-c r^a), even on the line, whose tail has a closed form")
    if law.sizes[0].whole:
        return _on_integers(law, found, near, rule)
    at, norm = div(near, law.unit), law.norm
    if norm is not None and distance in (None, norm):
        return _above(found, d, at, rule)
    if d == 1:
        return _above(found, 1, at if norm is None else div(at, length_on_the_line(norm)), rule)
    wanted = distance or (noise.norm if isinstance(noise, Product) else norm)
    if norm is None or (norm.kind == "lp" and norm.p == found.a):  # coordinates are independent
        if wanted == LINF:
            return sub(ONE, power(sub(ONE, _above(found, 1, at, rule)), num(d)))
        if wanted is not None and wanted.kind == "lp" and wanted.p == found.a:
            return _above(found, d, at, rule)
    raise Rejected(rule, "the distance", "the length of this noise in it has no closed form here")


def _above(found: Exponential, weight: int, at: Expr, rule: str) -> Expr:
    """P(R > at) for R of the density r^(weight - 1) exp(-c r^a): Q(weight/a, c at^a), in finitely many terms for a half of an integer."""
    shape, x = weight / found.a, mul(found.c, power(at, Num(found.a)))
    if shape > MOST_TERMS or (2 * shape).denominator != 1:
        raise Rejected(rule, "the noise", "its tail is a finite sum only where twice the dimension over the power of r is whole and small")
    start = Fraction(1) if shape.denominator == 1 else Fraction(1, 2)
    terms: list[Expr] = [ONE] if start == 1 else []
    factor: Expr = ONE if start == 1 else power(call("pi"), Num(Fraction(-1, 2)))
    for k in range(1, int(shape - start) + 1):
        factor = mul(factor, Num(1 / (k - 1 + start)))
        terms.append(mul(factor, power(x, Num(k - 1 + start))))
    sums = mul(call("exp", neg(x)), add(*terms))
    return sums if start == 1 else add(call("erfc", sqrt(x)), sums)


def _on_integers(law: Law, found: Exponential, near: Expr, rule: str) -> Expr:
    """P(|Z| > near) = 2 u^(m + 1)/(1 + u), m the whole part of `near`, u = exp(-c)."""
    if found.a != 1 or not isinstance(near, Num):
        raise Rejected(rule, "the noise", "on the integers its tail has a closed form for exp(-c |z|), beyond a number")
    require(continued(law), Rejected(rule, "the noise", "its probability of 0 is not that of its form elsewhere"))
    u = call("exp", neg(found.c))
    return div(mul(num(2), power(u, num(near.value.__floor__() + 1))), add(ONE, u))
