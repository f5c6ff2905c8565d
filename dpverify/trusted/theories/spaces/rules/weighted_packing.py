"""Packings of databases: how private no mechanism with answers near the truth is (theory#weighted-packing).

Theorem: If no answer is within gamma of more than m of the true answers of databases x_1, ..., x_N, a mechanism that answers within gamma
but with probability beta is epsilon-private only where (1 - beta) sum over i of e^(-epsilon dist(x_1, x_i)) <= m. With infinitely many at a
bounded distance from x_1 there is no such epsilon.

Checked:
- it is a metric space, and databases as declared exist
- the points are in it, and no answer is near to more than m of them
- the inequality, for databases as far apart as they may be

Source: docs/theory/spaces.md#weighted-packing, Kleinberg & Ligett 2010, Theorem 3.4
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel.balls import constant, exact
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, call, div, format_expr, mul, num, sub
from dpverify.trusted.kernel.model import Claim, Space
from dpverify.trusted.theories.spaces.packings import Packing, packing, width
from dpverify.trusted.theories.spaces.shapes import asked

NAME: Final = "weighted-packing"
ASSUMED: Final = ()
MOST_BITS: Final = 256
"""Of a number of points that is written out."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """A lower bound. Raises Rejected.

    evidence: "packing", what the packing is told (packings). "at" fixes parameters.
    """
    claim, at = fixed(claim, evidence, NAME)
    require(not claim.domains, Rejected(NAME, "the claim", "a packing is of parameters that have values"))
    space, near, beta = asked(claim, NAME, one=True)
    found = packing(space.shape, near, evidence.get("packing", {}))
    far = _furthest(space, found)
    says = {"pair": {"says": "databases-packed"}, "packing": _told(found, near, far)}
    if found.count is None:
        return Bound("lower", INFINITE, witness=says, at=at, assumed=found.assumed)
    odds = div(sub(ONE, beta), add(num(found.overlap - 1), beta))
    if found.count.bit_length() > MOST_BITS:
        least = ((arb(found.count - 1) * constant(odds)).log() / constant(far)).lower()
        return Bound("lower", Num(exact(least)), witness=says, at=at, assumed=found.assumed)
    room = mul(num(found.count - 1), odds)
    if not certainly_lt(ONE, room):
        raise Rejected(NAME, "the packing", f"{_many(found.count)} points with an overlap of {found.overlap} do not exclude epsilon 0")
    return Bound("lower", div(call("log", room), far), witness=says, at=at, assumed=found.assumed)


def _told(found: Packing, near: Expr, far: Expr) -> dict[str, Any]:
    count = None if found.count is None else _many(found.count)
    sizes = {"far": format_expr(far), "near": format_expr(near), "overlap": found.overlap}
    return {"says": "packing", "count": count, "what": found.what, **sizes}


def _many(count: int) -> str:
    if count < 10**9:
        return str(count)
    return f"{'' if count & (count - 1) == 0 else 'more than '}2^{count.bit_length() - 1}"


def _furthest(space: Space, found: Packing) -> Expr:
    """How far apart any two databases of the packing are at most."""
    if space.databases == "bounded" and space.diameter is not None:
        return space.diameter
    if space.databases != "answers":
        raise Rejected(NAME, "databases", "how far apart they are at most is not declared, so nothing bounds what a mechanism can do")
    return div(width(space.shape, found), space.lipschitz)
