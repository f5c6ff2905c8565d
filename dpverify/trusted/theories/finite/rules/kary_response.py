"""k-ary randomized response, for every number of answers and every probability of the truth at once.

Theorem: k-ary randomized response tells the truth with probability p and each of the k - 1 other answers with (1 - p)/(k - 1). Its tight
epsilon is |log r| with r = p (k - 1)/(1 - p), for every k >= 2 and 0 < p < 1: the ratios of two inputs are r, 1/r and 1.

Checked:
- k is an integer, at least 2
- 0 < p < 1, or p is 0 or 1 for an infinite lower bound
- the sign of log r, or the named closed form of it

Source: docs/theory/finite.md#kary-response
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Parameters, sided
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, call, div, format_expr, mul, neg, num, parse, sub, symbols
from dpverify.trusted.kernel.model import Claim, KaryResponse

NAME: Final = "kary-response"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Parameters) -> Bound:
    """|log r| as the bound named by "side", "upper" or "lower".

    "value" may name a closed form v >= 0, accepted where r = exp(v) exactly. A lower bound may fix parameters under "at".
    Raises Rejected.
    """
    side, claim, at = sided(claim, evidence, NAME)
    mechanism, domains = claim.mechanism, dict(claim.domains)
    if not isinstance(mechanism, KaryResponse):
        raise Rejected(NAME, "mechanism", "this rule is about k-ary randomized response")
    k, p = mechanism.k, mechanism.p
    others = sub(k, ONE)
    other = div(sub(ONE, p), others)
    witness = {"pair": [0, 1], "event": "{0}", "P": format_expr(p), "Q": format_expr(other)}
    if side == "lower" and any(compare.certainly_equal(p, end, domains) for end in (num(0), ONE)):
        return Bound("lower", INFINITE, witness=witness | ({} if p == ONE else {"pair": [1, 0], "P": format_expr(other), "Q": "0"}), at=at)
    for low, high, end in ((num(0), p, "above 0"), (p, ONE, "below 1")):
        if not compare.certainly_lt(low, high, domains):
            raise Rejected(NAME, "p", f"{format_expr(p)} is not certainly {end}")
    if "value" in evidence:
        value = parse(str(evidence["value"]))
        if not symbols(value) <= domains.keys() or not compare.certainly_le(num(0), value, domains):
            raise Rejected(NAME, "value", f"{format_expr(value)} is not certainly at least 0")
        if not compare.certainly_equal(mul(p, others), mul(call("exp", value), sub(ONE, p)), domains):
            raise Rejected(NAME, "value", f"p (k - 1) is not certainly exp({format_expr(value)}) (1 - p)")
        return Bound(side, value, witness=witness if side == "lower" else None, at=at)
    logarithm = call("log", div(mul(p, others), sub(ONE, p)))
    truth_is_likelier = compare.certainly_le(ONE, mul(p, k), domains)
    lie_is_likelier = compare.certainly_le(mul(p, k), ONE, domains)
    if truth_is_likelier:
        value = logarithm
    elif lie_is_likelier:
        value = neg(logarithm)
        witness = {"pair": [1, 0], "event": "{0}", "P": format_expr(other), "Q": format_expr(p)}
    else:
        value = call("max", logarithm, neg(logarithm))
    return Bound(side, value, witness=witness if side == "lower" else None, at=at)
