"""Noise with a concave exponent: the worst output is a true answer.

h concave on [0, inf) with h(0) finite, exp(-h) integrable: h tends to infinity, so it never falls, and h(b + s) - h(b) <= h(s) - h(0)
for all b, s >= 0. The loss at distance D is therefore at most h(D) - h(0), and tends to it near y = q(x), which has positive
probability under every norm. Covers exp(-alpha r), exp(-r^a) with a <= 1, (1 + r/c)^-alpha, and mixtures of exponentials.

Theorem: Noise of density exp(-h(||y - q||)), h concave on [0, inf) and finite at 0, has tight epsilon exactly h(D) - h(0) in every norm and
dimension, D the sensitivity over the scale; independent coordinates under a budget in l_p all move alike.

Checked:
- h is concave on [0, inf), for all parameters
- h is finite at 0
- exp(-h) is integrable in the dimension (summable on the integers)
- the scale is positive and the sensitivity at least 0

Source: docs/theory/additive.md#concave-exponent, Hardt & Talwar 2010, Theorem 4.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, sub, substitute
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.additive.additive import additive

NAME: Final = "concave-exponent"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """h(D) - h(0), as the upper or the lower bound that "side" asks for; a lower one may fix parameters under "at"."""
    noise = additive(claim, evidence, NAME)
    require(noise.shapes.half, Rejected(NAME, "the density", "it is not written as a function of |z|"))
    require(noise.shape.concave, Rejected(NAME, "h", "it is not certainly concave on [0, inf)"))
    start = noise.shapes.at_zero(noise.h)
    if start is None:
        raise Rejected(NAME, "0", "h is not certainly finite at 0")
    noise.integrable(noise.h)

    def loss(moved: Expr) -> Expr:
        return ZERO if moved == ZERO else sub(substitute(noise.h, {noise.shapes.name: moved}), start)

    return noise.bound(noise.concave_total(loss), "near-the-first-answer")
