"""The radial noise that a mixture is where its integral over the hidden variable has a closed form.

With w = v^k, k = 1 or 2, and A, B, C, s free of v, the integral over v in (0, inf) of exp(-A) v^(-1 - k s) exp(-B/w - C w) is, up to a
constant factor,

    exp(-A) B^-s              where C = 0, s > 0, B > 0     (Gamma integral),
    exp(-A) C^s               where B = 0, s < 0, C > 0     (Gamma integral),
    exp(-A) (C/B)^(s/2) K_s(2 sqrt(B C))   where B, C > 0   (Bessel's integral),

and over (0, u), with B = 0, C > 0 and m = -s a positive integer, by parts m times,

    exp(-A) D^-m (1 - exp(-D) sum over j < m of D^j/j!),   D = C u^k   (the incomplete Gamma integral).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Num, Sym, add, call, div, mul, neg, num, power, sqrt, sub, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Domain, Mixture, Radial
from dpverify.trusted.kernel.signs import NEGATIVE, NULL, POSITIVE
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.expansion import monomial
from dpverify.trusted.shapes.convexity import Shapes, outside

NAME: Final = "mixture-closed-form"

MOST_PARTS: Final = 8


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
    require("r" not in symbols(s), Rejected(NAME, "the form", "the power of v depends on r"))
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
    for term in total.args if isinstance(total, Add) else (total,):
        moving, outer = outside(term, "v")
        _, k = monomial(moving, "v") or (moving, None)
        if moving == Call("log", (Sym("v"),)):
            logs.append(outer)
        elif k is not None and k.denominator == 1:
            parts[int(k)] = add(parts.get(int(k), ZERO), outer)
        else:
            raise Rejected(NAME, "the form", "a term of its exponent is neither log v nor a power of v")
    rest = parts.pop(0, ZERO)
    return add(*logs), {k: c for k, c in parts.items() if c != ZERO}, rest
