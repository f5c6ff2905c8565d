"""How independent coordinates of noise add up (theory#product-noise).

w(s) is the tight epsilon of one coordinate under a shift of at most s. The loss of all is a sum; for a concave w and a budget in l_p,
p >= 1, it is greatest when all coordinates move alike: with t = s^p, w(t^(1/p)) is concave and non-decreasing in t, and the t sum to at
most Delta^p (Jensen).
"""

from __future__ import annotations

from collections.abc import Callable

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, Expr, Num, mul, power
from dpverify.trusted.language.loading import load
from dpverify.trusted.rules.additive.additive import Additive


def concave_total(noise: Additive, w: Callable[[Expr], Expr]) -> Expr:
    """The tight epsilon of all coordinates from a w that is concave, non-decreasing and 0 at 0."""
    if noise.copies == ONE:
        return w(mul(longest(noise), noise.shift))
    if noise.norm.kind != "lp":
        raise Rejected(noise.rule, "the norm", "independent coordinates want an lp norm here")
    if noise.queried and noise.side == "lower":
        raise Rejected(noise.rule, "the query", "its answers need not move alike in all coordinates; this bounds from above only")
    if noise.norm.p is None:
        return mul(noise.copies, w(noise.shift))
    return mul(noise.copies, w(mul(noise.shift, power(noise.copies, Num(-1 / noise.norm.p)))))


def longest(noise: Additive) -> Expr:
    """The greatest l1-length of a shift of norm 1."""
    if noise.norm.kind == "lp":
        return noise.copies if noise.norm.p is None else power(noise.copies, Num(1 - 1 / noise.norm.p))
    assert isinstance(noise.copies, Num)  # a norm by a matrix has a dimension
    radius: Expr = load("order.matrix_norms").l1_radius(noise.norm, int(noise.copies.value), noise.radius)
    return radius
