"""Randomized response on the pieces that a space falls into: how private answers near the truth can be (theory#cell-response).

Theorem: If a metric space is N pieces, each within gamma of one of its points and any two at least t apart, and b = min(beta, 1 - 1/N), the
mechanism that tells the piece of the truth with probability 1 - b and each other one with probability b/(N - 1) answers within gamma but
with probability b, and is max(0, log((N - 1)(1 - beta)/beta)) C/t-private per unit of distance between databases, where q is Lipschitz with
constant C.

Checked:
- it is the leaves of a tree or a Cantor set, and databases as declared exist
- gamma > 0 and 0 < beta < 1
- the pieces are within gamma of a point, and how many and how far apart they are

Source: docs/theory/spaces.md#cell-response, Warner 1965; Kleinberg & Ligett 2010, Definition 2.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, call, div, mul, num, sub
from dpverify.trusted.kernel.model import Claim, Shape
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.theories.spaces.nets import net, others
from dpverify.trusted.theories.spaces.shapes import apart_at, asked

NAME: Final = "cell-response"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound. evidence: "depth", at which nodes of a tree are pieces, or after how many steps those of a Cantor set are."""
    space, near, beta = asked(claim, NAME)
    shape, depth = space.shape, read_whole(evidence, "depth", NAME, 0)
    if shape.kind not in ("tree", "infinite_tree", "cantor"):
        raise Rejected(NAME, "the space", f"how far apart pieces are is not known of the kind {shape.kind}")
    size = net(shape, near, {"depth": depth}, dict(claim.domains))
    if size == ZERO:
        return Bound("upper", ZERO)
    odds = add(others(size), call("log", div(sub(ONE, beta), beta)))
    return Bound("upper", div(mul(space.lipschitz, call("max", ZERO, odds)), _gap(shape, depth)))


def _gap(shape: Shape, depth: int) -> Expr:
    """How far apart pieces are at least that part before a depth of at least 1."""
    apart = apart_at(shape, num(depth - 1))
    return mul(sub(ONE, mul(num(2), shape.numbers[1])), apart) if shape.kind == "cantor" else apart
