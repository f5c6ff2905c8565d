"""Noise whose scale depends on the data: an upper bound on the loss over outputs, answers and scales, by a tree of exact cuts.

Theorem: For noise of a positive density exp(-h) on the line, at a scale whose logarithm moves by at most b, of answers that move by at most
D times the smaller scale, the tight epsilon is the supremum of |t + h(e^-t (y - u)) - h(y)| over all y, |u| <= D and 0 <= t <= b: two
losses over a polytope of dimension three, which is cut into parts as in kernel-box.

Checked:
- the density is positive on the whole line, and integrable
- the parts cover the region, and each of the two losses is at most the value on every part
- past the reach of the outputs the losses, in a coordinate that goes to 0, are at most the value on every part

Source: docs/theory/additive.md#smooth-box
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import to_constant, to_fraction
from dpverify.trusted.theories.additive.smooth import everywhere, losses
from dpverify.trusted.theories.finite.far_outputs import far
from dpverify.trusted.theories.finite.rules.kernel_box import Tree

NAME: Final = "smooth-box"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight <= "value", a constant. Raises Rejected, CertificateError.

    evidence: "reach", two rationals between which outputs are looked at as they are; "losses", for each of the two "tree", and "tails", for
    either side beyond the reach [rate, tree], all as in `kernel_box`; "normaliser", as in `integrable`.
    """
    target = to_constant(evidence.get("value"), "value", NAME)
    low, high = (to_fraction(end, NAME) for end in evidence["reach"])
    require(low < high, Rejected(NAME, "reach", "its ends do not rise"))
    _, h, assumed = everywhere(claim, evidence.get("normaliser"), NAME)
    for space, shown in zip(losses(claim, h, (low, high), NAME), evidence["losses"], strict=True):
        for ray, (rate, tree) in zip(space.rays, shown["tails"], strict=True):
            loss, region = far(space, ray, to_fraction(rate, NAME))
            Tree(target).walk(tree, region, loss, 0)
        Tree(target).walk(shown["tree"], space.region, space.loss, 0)
    return Bound("upper", target, assumed=assumed)
