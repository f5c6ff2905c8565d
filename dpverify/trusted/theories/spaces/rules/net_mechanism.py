"""The exponential mechanism on a net: how private answers near the truth can be (theory#net-mechanism).

Theorem: If N points form a net of radius s gamma of a metric space, 0 < s < 1, the exponential mechanism on them with the score -b d(q(x),
y), b = max(0, log((N - 1)(1 - beta)/beta))/((1 - s) gamma), answers within gamma of q(x) but with probability beta, and is 2 b C-private
per unit of distance between databases, where q is Lipschitz with constant C.

Checked:
- it is a metric space, and databases as declared exist
- gamma > 0 and 0 < beta < 1, for all parameters
- the number of points of the net

Source: docs/theory/spaces.md#net-mechanism, Kleinberg & Ligett 2010, Theorems 2.7 and 3.4; McSherry & Talwar 2007
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, add, call, div, mul, num, sub
from dpverify.trusted.kernel.model import Claim, Shape
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.theories.spaces.nets import net, others
from dpverify.trusted.theories.spaces.shapes import NET, asked

NAME: Final = "net-mechanism"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound. evidence: "share", s; "net", what the net is told (nets). Raises Rejected."""
    space, near, beta = asked(claim, NAME)
    share = read_fraction(evidence, "share", NAME)
    require(0 < share <= 1, Rejected(NAME, "share", f"{share} is not above 0 and at most 1"))
    told = evidence.get("net", {})
    size = net(space.shape, mul(Num(share), near), told, dict(claim.domains))
    assumed = (NET,) if _stated(space.shape) else ()
    if size == ZERO:
        return Bound("upper", ZERO, assumed=assumed)
    require(share != 1, Rejected(NAME, "share", "with more than one point the radius of the net must be below gamma"))
    odds = add(others(size), call("log", div(sub(ONE, beta), beta)))
    value = div(mul(num(2), space.lipschitz, call("max", ZERO, odds)), mul(Num(1 - share), near))
    return Bound("upper", value, assumed=assumed)


def _stated(shape: Shape) -> bool:
    return shape.kind == "net" or any(map(_stated, shape.parts))
