"""How independent coordinates move between neighbours: by the differences of a query, or within a norm of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, add, call, neg, num, power
from dpverify.trusted.kernel.model import Norm, Product, Query

RULE: Final = "point-witness"


def within(shifts: Sequence[Expr], noise: Product, reach: Expr) -> bool:
    """Whether the norm of the shift, whose further coordinates are 0, is certainly at most the sensitivity."""
    norm = noise.norm
    if norm.kind == "lp" and norm.p is None:
        return all(certainly_within(shift, reach) for shift in shifts)
    if norm.kind == "lp" and len(shifts) == 1:
        return certainly_within(shifts[0], reach)
    if norm == Norm("lp", Fraction(1)):
        return certainly_le(add(*(call("abs", shift) for shift in shifts)), reach)
    if norm == Norm("lp", Fraction(2)):
        return certainly_le(add(*(power(shift, num(2)) for shift in shifts)), power(reach, num(2)))
    exact = [shift.value for shift in shifts if isinstance(shift, Num)]
    if len(exact) < len(shifts) or not isinstance(noise.dimension, Num):
        raise Rejected(RULE, "b", "in this norm the shifts must be rational")
    from dpverify.trusted.geometry.lengths import norm_value

    length: Expr = norm_value(norm, (*exact, *[Fraction(0)] * (int(noise.dimension.value) - len(exact))))
    return certainly_le(length, reach)


def require_difference(query: Query, shifts: Sequence[Expr]) -> None:
    """Raises Rejected unless the shift of all coordinates, or its negative, is one of the query's extreme differences."""
    wanted = tuple(shift.value for shift in shifts if isinstance(shift, Num))
    mirrored = tuple(-x for x in wanted)
    why = "the shift is not one of the query's extreme differences, all coordinates listed"
    require(query.adjacency != "l2", Rejected(RULE, "b", why))
    from dpverify.trusted.sensitivity.queries import differences

    extreme = set(differences(query))
    require(bool({wanted, mirrored} & extreme), Rejected(RULE, "b", why))


def certainly_within(a: Expr, b: Expr) -> bool:
    """True only if |a| <= b is proved of two constants."""
    return certainly_le(a, b) and certainly_le(neg(a), b)
