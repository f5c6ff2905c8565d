"""Mixtures whose integral has a closed form, read as the radial noise that they are.

With w = v^k, k = 1 or 2, and A, B, C, s free of v, the integral over v in (0, inf) of exp(-A) v^(-1 - k s) exp(-B/w - C w) is, up to a
constant factor,

    exp(-A) B^-s              where C = 0, s > 0, B > 0     (Gamma integral),
    exp(-A) C^s               where B = 0, s < 0, C > 0     (Gamma integral),
    exp(-A) (C/B)^(s/2) K_s(2 sqrt(B C))   where B, C > 0   (Bessel's integral),

and over (0, u), with B = 0, C > 0 and m = -s a positive integer, by parts m times,

    exp(-A) D^-m (1 - exp(-D) sum over j < m of D^j/j!),   D = C u^k   (the incomplete Gamma integral).

So Gaussians of inverse-gamma variance are t noise, those divided by a uniform are slash noise, and those of exponential or generalised
inverse Gaussian variance are Laplace and hyperbolic noise (Reimherr & Awan, Theorem 1). The normaliser of the profile is free of v, so that
this is the noise of a v drawn from the mixing law (see `curves.scale_family`). The radial noise has its own rules; this one
passes the claim on to them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
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
    neg,
    num,
    power,
    sqrt,
    sub,
    symbols,
)
from dpverify.trusted.language.loading import load, remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Domain, Mixture, Radial, Source
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.signs import NEGATIVE, NULL, POSITIVE
from dpverify.trusted.rules.additive.mixture_concave import read_scale
from dpverify.trusted.rules.curves import scale_family

NAME: Final = "mixture-closed-form"
STATEMENT: Final = (
    "A scale mixture whose profile times mixing density is exp(-A) v^(-1 - k s) exp(-B/v^k - C v^k) in v is radial noise of profile "
    "exp(-A) B^-s, exp(-A) C^s or exp(-A) (C/B)^(s/2) K_s(2 sqrt(B C)), by the integrals of Gamma and Bessel; over (0, u) by the "
    "incomplete Gamma integral."
)
CHECKED: Final = (
    "the conditional is a scale family in s(v) whose normaliser does not depend on v",
    "the mixture has that form, for all r > 0 and all parameters",
    "v ranges over (0, inf), or (0, u) for the incomplete Gamma integral",
    "the signs of B, C and s make the integral finite",
    "the named rule accepts the radial noise",
)
ASSUMED: Final = ()
SOURCE: Final = Source("docs/theory/additive.md#mixture-closed-form", "Reimherr & Awan 2019, Theorem 1")

MOST_PARTS: Final = 8

RULES: Final = {
    "concave-exponent": "rules.additive.concave_exponent",
    "convex-exponent": "rules.additive.convex_exponent",
    "divergence": "rules.additive.divergence",
    "modulus": "rules.additive.modulus",
    "point-witness": "rules.additive.point_witness",
    "power-identity": "rules.additive.power_identity",
}
"""The rules that the radial noise may be passed on to, and where they are."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound that the rule named by "rule" proves of the radial noise from the evidence under "evidence". Raises as it does.

    evidence: "scale" is the text of s(v).
    """
    place = RULES.get(str(evidence.get("rule")))
    if place is None or not isinstance(evidence.get("evidence"), Mapping):
        raise CertificateError(f"{NAME}: it names no rule of {', '.join(sorted(RULES))} with its evidence.")
    noise = radial(claim)
    assert isinstance(claim.mechanism, Mixture)
    scale_family.require_free_of_v(claim.mechanism, read_scale(evidence, NAME), dict(claim.domains), NAME)
    inner = load(place)
    bound: Bound = inner.check(noise, evidence["evidence"])
    return replace(bound, assumed=(*inner.ASSUMED, *bound.assumed))


@remembered(32)
def radial(claim: Claim) -> Claim:
    """The claim about the radial noise that the mixture is. Raises Rejected where it has no closed form here."""
    noise = claim.mechanism
    if not isinstance(noise, Mixture):
        raise Rejected(NAME, "the mechanism", "only mixtures are covered")
    lower, upper = noise.support
    if lower != ZERO or not (upper is None or (isinstance(upper, Num) and upper.value > 0)):
        raise Rejected(NAME, "the support", "v must range over (0, inf) or (0, u) for a number u > 0")
    positive = Domain(Fraction(0))
    domains = dict(claim.domains)
    in_v = Shapes("v", True, {**domains, "r": positive})
    in_r = Shapes("r", True, domains)
    total = in_v.tidy(add(neg_log(noise.profile), neg_log(noise.mixing)))
    exponent, parts, rest = _read(total, in_v)
    step = next((k for k in (1, 2) if parts.keys() <= {k, -k}), None)
    if step is None:
        raise Rejected(NAME, "the form", "its exponent is not linear in one power v^k and its inverse, k = 1 or 2")
    s = div(sub(exponent, ONE), num(step))
    if "r" in symbols(s):
        raise Rejected(NAME, "the form", "the power of v depends on r")
    below, above = parts.get(-step, ZERO), parts.get(step, ZERO)
    signs = [NULL if part == ZERO else in_r.shape(in_r.tidy(part)).value for part in (below, above)]
    factor = call("exp", neg(rest))
    if upper is not None:
        m = neg(s)
        if signs != [NULL, POSITIVE] or not (isinstance(m, Num) and m.value.denominator == 1 and 0 < m.value <= MOST_PARTS):
            raise Rejected(NAME, "the form", f"over (0, u) it wants exp(-C v^k) times v^(k m - 1), m an integer from 1 to {MOST_PARTS}")
        d = mul(above, power(upper, num(step)))
        series = add(*(mul(Num(Fraction(1, math.factorial(j))), power(d, num(j))) for j in range(int(m.value))))
        profile = mul(factor, power(d, s), sub(ONE, mul(call("exp", neg(d)), series)))
    elif signs == [POSITIVE, NULL] and in_r.positive(s):
        profile = mul(factor, power(below, neg(s)))
    elif signs == [NULL, POSITIVE] and in_r.sign(s) == NEGATIVE:
        profile = mul(factor, power(above, s))
    elif signs == [POSITIVE, POSITIVE]:
        argument = in_r.tidy(mul(num(2), sqrt(mul(below, above))))
        order = neg(s) if in_r.sign(s) == NEGATIVE else s  # K is even in its order
        profile = mul(factor, in_r.tidy(power(div(above, below), div(s, num(2)))), call("besselk", order, argument))
    else:
        raise Rejected(NAME, "the form", "the integral over v is not certainly finite for all r > 0")
    return replace(claim, mechanism=Radial(profile, noise.norm, noise.dimension, noise.scale))


def _read(total: Expr, shapes: Shapes) -> tuple[Expr, dict[int, Expr], Expr]:
    """(a, {k: c}, rest) with total = a log v + sum of c v^k + rest. Raises Rejected for another form."""
    logs: list[Expr] = []
    parts: dict[int, Expr] = {}
    rest: list[Expr] = []
    for term in total.args if isinstance(total, Add) else (total,):
        factors = term.args if isinstance(term, Mul) else (term,)
        moving = mul(*(factor for factor in factors if "v" in symbols(factor)))
        outer = mul(*(factor for factor in factors if "v" not in symbols(factor)))
        k = _power_of_v(moving)
        if moving == ONE:
            rest.append(term)
        elif moving == Call("log", (Sym("v"),)):
            logs.append(outer)
        elif k is not None:
            parts[k] = add(parts.get(k, ZERO), outer)
        else:
            raise Rejected(NAME, "the form", "a term of its exponent is neither log v nor a power of v")
    return add(*logs), {k: c for k, c in parts.items() if c != ZERO}, add(*rest)


def _power_of_v(moving: Expr) -> int | None:
    if moving == Sym("v"):
        return 1
    if isinstance(moving, Pow) and moving.base == Sym("v") and isinstance(moving.exponent, Num) and moving.exponent.value.denominator == 1:
        return int(moving.exponent.value)
    return None
