"""The tight delta of a composition of equal randomized responses in closed form (theory#closed-profile)."""

from __future__ import annotations

from math import comb
from typing import Final

from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, call, div, mul, neg, num, power, sub
from dpverify.trusted.theories.curves.rules.optimal_composition import Part, check_parts

MAX_TERMS: Final = 40
"""The most copies whose composition is written out as one expression."""


def delta_expr(eps0: Expr, k: int, epsilon: Expr) -> Expr | None:
    """delta(epsilon) of the composition of k eps0-DP mechanisms as a closed form (theory#closed-profile).

    None where the sign of a term is uncertain, or there are too many terms. Raises Undecided where eps0 is not certainly at least 0.
    """
    check_parts([Part(eps0, ZERO, k)])
    if k > MAX_TERMS or not certainly_le(ZERO, epsilon):
        return None
    terms: list[Expr] = []
    for i in range(k + 1):
        loss = mul(num(k - 2 * i), eps0)
        if not certainly_lt(epsilon, loss):
            if not certainly_le(loss, epsilon):
                return None
            break  # the losses fall with i
        # in units of exp(k eps0), so that no exponential is large
        left, right = call("exp", mul(num(-i), eps0)), call("exp", sub(epsilon, mul(num(k - i), eps0)))
        terms.append(mul(num(comb(k, i)), sub(left, right)))
    return div(add(*terms), power(add(ONE, call("exp", neg(eps0))), num(k))) if terms else ZERO
