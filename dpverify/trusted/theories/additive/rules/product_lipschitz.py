"""Independent coordinates with a log-Lipschitz density: at most the Lipschitz constant times the l1-length of the shift.

If h = -log(density) is continuous and |h'| <= L wherever it is smooth, h(z + s) - h(z) <= L |s| for each coordinate, and the losses of
independent coordinates add up. Exact where a coordinate can lose L |s| (see convex-exponent); an upper bound in general.

Theorem: Independent coordinates of density exp(-h), h continuous with |h'| <= L, have tight epsilon at most L times the greatest l1-length
of a shift within the sensitivity; one coordinate is the case of a shift of the line.

Checked:
- |h'| <= L on each cell, and the cells cover the line between the ends
- |h'| <= L on both ends
- h is continuous where the cells meet
- the density is integrable
- the sensitivity is at least 0

Source: docs/theory/additive.md#product-lipschitz
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.geometry.lengths import l1_radius
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, mul
from dpverify.trusted.kernel.model import Claim, Product, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.theories.additive import slopes
from dpverify.trusted.theories.additive.integrable import require_integrable

NAME: Final = "product-lipschitz"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """L times the l1-length.

    evidence: "slope" and "cuts" as `slopes.told` reads them; "sensitivity" and "radius" as in `geometry`. Raises Rejected or Undecided.
    """
    noise = claim.mechanism
    require(not claim.domains, Rejected(NAME, "the claim", "its parameters range over domains; this rule wants their values"))
    if isinstance(noise, Translation):
        if noise.support != (None, None) or noise.integers:
            raise Rejected(NAME, "the support", "the density must live on the whole line")
        radius: Expr = Num(Fraction(1))
    elif (
        isinstance(noise, Product) and isinstance(noise.dimension, Num) and noise.dimension.value.denominator == 1 <= noise.dimension.value
    ):
        radius = l1_radius(noise.norm, int(noise.dimension.value), evidence.get("radius"))
    else:
        raise Rejected(NAME, "the mechanism", "only products, and noise on the line, are covered")
    shift = sensitivity_bounds(claim, evidence.get("sensitivity")).upper
    require_integrable(noise, evidence, NAME)
    slope = slopes.told(neg_log(noise.density), "z", False, evidence, NAME)
    return Bound("upper", mul(slope, radius, shift))
