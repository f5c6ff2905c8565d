"""Tails of the length of noise in closed form, in parameters too: of densities exp(-c r^a), and on the integers of exp(-c |z|)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Add,
    Expr,
    Num,
    Sym,
    add,
    call,
    div,
    format_expr,
    mul,
    neg,
    num,
    power,
    sqrt,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import LINF, Claim, Domain, Norm, Product, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import variable
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.utility.closed_moments import Exponential, exponential
from dpverify.trusted.theories.utility.directions import length_on_the_line
from dpverify.trusted.theories.utility.laws import POSITIVE

MOST_TERMS: Final = 64
Domains = Mapping[str, Domain]


@dataclass(frozen=True, slots=True)
class _Noise:
    """Noise whose length, or each of whose coordinates where it has no norm, has the density r^(d - 1) exp(-c r^a), or exp(-c r^a)."""

    found: Exponential
    dimension: int
    norm: Norm | None
    unit: Expr


def closed(claim: Claim, near: Expr, distance: Norm | None, rule: str) -> Expr:
    """The probability that the noise is longer than `near`, for all parameters. Raises Rejected where there is no closed form here."""
    noise = _read(claim, rule)
    if isinstance(claim.mechanism, Translation) and claim.mechanism.integers:
        return _on_integers(noise, near, rule)
    at = div(near, noise.unit)
    if noise.norm is not None and distance in (None, noise.norm):
        return _above(noise.found, noise.dimension, at, rule)
    if noise.dimension == 1:
        return _above(noise.found, 1, at if noise.norm is None else div(at, length_on_the_line(noise.norm)), rule)
    own = noise.norm or (claim.mechanism.norm if isinstance(claim.mechanism, Product) else None)
    wanted = distance or own
    if noise.norm is None or (noise.norm.kind == "lp" and noise.norm.p == noise.found.a):  # coordinates are independent
        if wanted == LINF:
            return sub(ONE, power(sub(ONE, _above(noise.found, 1, at, rule)), num(noise.dimension)))
        if wanted is not None and wanted.kind == "lp" and wanted.p == noise.found.a:
            return _above(noise.found, noise.dimension, at, rule)
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


def _on_integers(noise: _Noise, near: Expr, rule: str) -> Expr:
    """P(|Z| > near) = 2 u^(m + 1)/(1 + u), m the whole part of `near`, u = exp(-c)."""
    if noise.found.a != 1 or not isinstance(near, Num):
        raise Rejected(rule, "the noise", "on the integers its tail has a closed form for exp(-c |z|), beyond a number")
    u = call("exp", neg(noise.found.c))
    return div(mul(num(2), power(u, num(near.value.__floor__() + 1))), add(ONE, u))


def _read(claim: Claim, rule: str) -> _Noise:
    """The noise, with all that makes it a density checked. Raises Rejected."""
    noise, domains = claim.mechanism, dict(claim.domains)
    if not isinstance(noise, Radial | Product | Translation):
        raise Rejected(rule, "the noise", "its tail has no closed form here; integrals enclose it")
    dimension = noise.dimension if not isinstance(noise, Translation) else ONE
    if not isinstance(dimension, Num) or dimension.value.denominator != 1 or dimension.value < 1:
        raise Rejected(rule, "the dimension", f"{format_expr(dimension)} is not an integer of at least 1")
    count = int(dimension.value)
    density = _right(noise, domains, rule) if not isinstance(noise, Radial) else noise.profile
    if not certainly_le(ZERO, density, {**domains, "r": POSITIVE}):
        raise Rejected(rule, "the density", f"{format_expr(density)} is not certainly at least 0")
    exponent = Shapes("r", True, domains).tidy(neg_log(density))
    moving = [term for term in (exponent.args if isinstance(exponent, Add) else (exponent,)) if "r" in symbols(term)]
    found = exponential(moving[0], domains) if len(moving) == 1 else None
    if found is None:
        raise Rejected(rule, "the noise", "it is not certainly exp(-c r^a), whose tail has a closed form")
    if not isinstance(noise, Radial):
        return _Noise(found, count, None, ONE)
    return _Noise(found, count, noise.norm, noise.scale)


def _right(noise: Product | Translation, domains: Domains, rule: str) -> Expr:
    """The density at r > 0 of noise on the line, where it is even, and continuous at 0 on the integers."""
    name, bounds = variable(noise), {**domains, "r": POSITIVE}
    right, left = (
        substitute(resolve(substitute(noise.density, {name: z}), name, Fraction(0), None), {name: Sym("r")})
        for z in (Sym(name), neg(Sym(name)))
    )
    even = right == left or certainly_equal(right, left, bounds)
    here = substitute(noise.density, {name: ZERO}), substitute(right, {"r": ZERO})
    on_integers = isinstance(noise, Translation) and noise.integers
    if not even or (isinstance(noise, Translation) and noise.support != (None, None)):
        raise Rejected(rule, "the noise", "it is not certainly even, on the whole line")
    if on_integers and not certainly_equal(*here, domains):
        raise Rejected(rule, "the noise", "its probability of 0 is not that of its form elsewhere")
    return right
