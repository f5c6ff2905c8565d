"""Staircase noise: the tight epsilon counts the steps that the sensitivity can cross.

Theorem: Staircase noise has density f(z) = a exp(-epsilon N(|z|)), N(t) = floor(t + 1 - gamma), a = (1 - exp(-epsilon)) / (2 (gamma +
exp(-epsilon) (1 - gamma))). For every gamma in [0, 1] its tight epsilon at sensitivity Delta > 0 is epsilon ceil(Delta): ||z| - |z + s|| <=
Delta, and floor(w + Delta) - floor(w) <= ceil(Delta), reached on an interval of w in every unit.

Checked:
- epsilon > 0, so that the density integrates to 1
- 0 <= gamma <= 1
- the sensitivity is positive

Source: docs/theory/additive.md#staircase, Geng & Viswanath 2016, section III
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.bounds import Bound, sided
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, format_expr, mul, neg, num, sub, symbols
from dpverify.trusted.kernel.model import Claim, Staircase
from dpverify.trusted.order.enclosed import enclose

NAME: Final = "staircase"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """epsilon * ceil(Delta) as the bound named by "side"; the lower one may fix parameters under "at". Raises Rejected."""
    side, claim, at = sided(claim, evidence, NAME)
    mechanism, domains = claim.mechanism, dict(claim.domains)
    if not isinstance(mechanism, Staircase):
        raise Rejected(NAME, "mechanism", "only staircase noise has these steps")
    epsilon, gamma = mechanism.epsilon, mechanism.gamma
    moved = ONE if claim.sensitivity is None else claim.sensitivity
    require(compare.certainly_lt(ZERO, moved, domains), Rejected(NAME, "sensitivity", f"{format_expr(moved)} is not certainly positive"))
    steps = ONE if compare.certainly_le(moved, ONE, domains) else _ceiling(moved)
    witness = _witness(epsilon, gamma, moved, steps) if side == "lower" else None
    return Bound(side, mul(steps, epsilon), witness=witness, at=at)


def _ceiling(moved: Expr) -> Expr:
    """ceil(Delta), a number where Delta is a constant that is told from its neighbouring integers."""
    if not symbols(moved):
        up = Num(exact(enclose(moved).ceil().upper()))
        if compare.certainly_le(moved, up) and compare.certainly_lt(sub(up, ONE), moved):
            return up
    return neg(call("floor", neg(moved)))


def _witness(epsilon: Expr, gamma: Expr, moved: Expr, steps: Expr) -> dict[str, Any]:
    """Answers 0 and -Delta, and the interval of outputs y with floor(w) = 1 and floor(w + Delta) = 1 + steps, w = y + 1 - gamma."""
    reach = add(moved, ONE, neg(steps))  # in (0, 1]: how far Delta goes into its last step
    decay = call("exp", neg(epsilon))
    height = div(sub(ONE, decay), mul(num(2), add(gamma, mul(decay, sub(ONE, gamma)))))
    low, high = add(ONE, gamma, neg(reach)), add(ONE, gamma)
    masses = [mul(reach, height, call("exp", neg(mul(count, epsilon)))) for count in (ONE, add(ONE, steps))]
    return {
        "pair": [{"says": "answer", "at": "0"}, {"says": "answer", "at": format_expr(neg(moved))}],
        "event": f"[{format_expr(low)}, {format_expr(high)})",
        "P": format_expr(masses[0]),
        "Q": format_expr(masses[1]),
    }
