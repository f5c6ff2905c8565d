"""How independent coordinates of noise add up (theory#product-noise).

w(s) is the tight epsilon of one coordinate under a shift of at most s. The loss of all is a sum; for a concave w and a budget in l_p,
p >= 1, it is greatest when all coordinates move alike: with t = s^p, w(t^(1/p)) is concave and non-decreasing in t, and the t sum to at
most Delta^p (Jensen).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, mul, power
from dpverify.trusted.kernel.model import Norm


def moving_alike(rule: str, w: Callable[[Expr], Expr], shift: Expr, copies: Expr, norm: Norm) -> Expr:
    """The tight epsilon of all coordinates from a w that is concave, non-decreasing and 0 at 0: they all move alike."""
    require(norm.kind == "lp", Rejected(rule, "the norm", "independent coordinates want an lp norm here"))
    return mul(copies, w(shift if norm.p is None else mul(shift, power(copies, Num(-1 / norm.p)))))


def longest(norm: Norm, copies: Expr, radius: Any) -> Expr:
    """The greatest l1-length of a shift of norm 1. radius: the evidence of that for a norm by a matrix."""
    if norm.kind == "lp":
        return copies if norm.p is None else power(copies, Num(1 - 1 / norm.p))
    assert isinstance(copies, Num)  # a norm by a matrix has a dimension
    from dpverify.trusted.geometry.matrix_norms import l1_radius

    return l1_radius(norm, int(copies.value), radius)
