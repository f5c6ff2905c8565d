"""Additive noise on subsets of R^d and on the integers: how private answers near the truth can be (theory#noise-near).

Theorem: Noise of density proportional to exp(-a ||z||) on R^d is further than r with the probability Q(d, a r) that a gamma law of shape d
is above a r. Brought back to the nearest answer, what it gives is within gamma of the truth but with probability beta where Q(d, a gamma/c)
<= beta; c = 1 for R^d, for boxes in lp norms and for convex answers in l2, else 2. It is a C-private per unit of distance between
databases. On the integers two-sided geometric noise of ratio t is further than m with the probability 2 t^(m + 1)/(1 + t), and C
log(1/t)-private.

Checked:
- the answers are in R^d with a norm, or the integers
- gamma > 0 and 0 < beta < 1, for all parameters
- the tail of the noise

Source: docs/theory/spaces.md#noise-near, Hardt & Talwar 2010; Ghosh, Roughgarden & Sundararajan 2012
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, call, div, mul, num, sub, symbols
from dpverify.trusted.kernel.model import Claim, Shape
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.order.enclosed import integer
from dpverify.trusted.theories.spaces.shapes import asked, dimension

NAME: Final = "noise-near"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound.

    evidence, for a claim with numbers: "tail", where a gamma law of the dimension is further out with probability beta at most; on the
    integers "ratio", that of the noise. Without them closed forms are used. Raises Rejected.
    """
    space, near, beta = asked(claim, NAME)
    if space.shape.kind == "integers":
        return Bound("upper", mul(space.lipschitz, _geometric(near, beta, evidence)))
    tail = mul(_factor(space.shape), _gamma(dimension(space.shape), beta, evidence))
    return Bound("upper", div(mul(space.lipschitz, tail), near))


def _factor(shape: Shape) -> Expr:
    """How much further than the noise the answer may be that is nearest to what it gives."""
    if shape.kind == "real":
        return ONE
    if shape.kind not in ("box", "ball", "sphere", "hull"):
        raise Rejected(NAME, "the space", f"the kind {shape.kind} is no set of R^d with a norm")
    clamped = shape.kind == "box" and shape.norm.kind == "lp"
    cube = shape.kind == "ball" and shape.norm.kind == "lp" and shape.norm.p is None
    projected = shape.kind in ("ball", "hull") and shape.norm.kind == "lp" and shape.norm.p == 2
    return ONE if clamped or cube or projected else num(2)


def _gamma(count: int, beta: Expr, evidence: Mapping[str, Any]) -> Expr:
    """A number that a gamma law of a whole shape is above with probability beta at most."""
    if "tail" in evidence:
        tail = read_fraction(evidence, "tail", NAME)
        above = rational(tail).gamma_upper(count, regularized=1)
        if tail < 0 or symbols(beta) or not above <= constant(beta):
            raise Rejected(NAME, "tail", f"a gamma law of shape {count} is not certainly above {tail} with probability beta at most")
        return Num(tail)
    outer = call("log", div(ONE, beta))
    # e^(t/2) has the mean 2^d
    return outer if count == 1 else add(mul(num(2), outer), mul(num(2 * count), call("log", num(2))))


def _geometric(near: Expr, beta: Expr, evidence: Mapping[str, Any]) -> Expr:
    """log(1/t) for a ratio t with 2 t^(m + 1)/(1 + t) <= beta, m the whole part of gamma."""
    if "ratio" in evidence:
        ratio = Num(read_fraction(evidence, "ratio", NAME))
        if not 0 < ratio.value < 1 or symbols(near) or symbols(beta):
            raise Rejected(NAME, "ratio", "it is between 0 and 1, for gamma and beta that are numbers")
        steps = whole(near)
        if not 2 * rational(ratio.value) ** (steps + 1) <= constant(beta) * (1 + rational(ratio.value)):
            raise Rejected(NAME, "ratio", f"noise of it is not certainly further than {steps} with probability beta at most")
        return call("log", div(ONE, ratio))
    half = Num(Fraction(1, 2))
    # 1 + t >= 2 sqrt(t); the whole part of gamma is at least 0, and above gamma - 1
    least = num(whole(near)) if not symbols(near) else call("max", num(0), sub(near, ONE))
    return div(call("log", div(ONE, beta)), add(least, half))


def whole(near: Expr) -> int:
    """The whole part of a constant. Raises Undecided where it is not certain."""
    if isinstance(near, Num):
        return near.value.numerator // near.value.denominator
    return integer(constant(near).floor())
