"""Grids of true answers, each point with its own distance from the first (theory#grid-packing).

Theorem: Points of the integer lattice, or those of it whose entries have an even sum, times a step s at which they are 2 gamma apart in an
lp norm, have balls of radius gamma that do not meet when the step is a little longer. Where there is a database for each answer, a
mechanism that answers within gamma but with probability beta is epsilon-private only where (1 - beta) sum of e^(-epsilon s ||z||/C) <= 1,
over the points z s of a box, or of a ball round 0.

Checked:
- there is a database for each answer, and the points have room inside
- how many points there are at each distance, and the inequality at the epsilon that is told

Source: docs/theory/spaces.md#grid-packing, Kleinberg & Ligett 2010, Theorem 3.4
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, div, format_expr, mul, num, power
from dpverify.trusted.kernel.model import Claim, Norm, Shape
from dpverify.trusted.language.rationals import read_fraction, to_whole
from dpverify.trusted.theories.spaces.shapes import asked, dimension

NAME: Final = "grid-packing"
ASSUMED: Final = ()
MOST_STEPS: Final = 64
"""Most points on each side of the first along an axis."""
MOST_LENGTHS: Final = 20_000
"""Most different distances from the first."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """A lower bound. Raises Rejected.

    evidence: "epsilon", a rational; "reach", for each axis how many points are taken on either side of the first; "even", true for the
    lattice of even sums. "at" fixes parameters.
    """
    claim, at = fixed(claim, evidence, NAME)
    space, near, beta = asked(claim, NAME, one=True)
    if claim.domains or space.databases != "answers" or space.shape.kind not in ("real", "box", "ball"):
        raise Rejected(NAME, "the claim", "it is not about a box, a ball or R^d with a database for each answer, with numbers")
    epsilon, even = read_fraction(evidence, "epsilon", NAME), evidence.get("even") is True
    p = _power(space.shape.norm, even, dimension(space.shape))
    step = mul(num(2), near, power(num(2), Num(Fraction(-1, p)))) if even and p is not None else mul(num(2), near)
    reach = _reach(evidence.get("reach"), dimension(space.shape))
    room = _room(space.shape, step, reach)
    found = {n: count for n, count in lengths(reach, p, even).items() if room is None or n == 0 or _inside(n, p, step, room)}
    far, total = constant(div(step, space.lipschitz)), arb(0)
    for n, count in found.items():
        total += count * (-rational(epsilon) * far * (arb(n) if p is None or n == 0 else arb(n).root(p))).exp()
    if epsilon < 0 or not (1 - constant(beta)) * total > 1:
        raise Rejected(NAME, "epsilon", f"the sum at {epsilon} is not certainly above 1")
    told = {"says": "grid-of-databases", "count": str(sum(found.values())), "step": format_expr(step), "near": format_expr(near)}
    says = {"pair": {"says": "databases-in-a-grid"}, "packing": told}
    return Bound("lower", Num(epsilon), witness=says, at=at)


def _power(norm: Norm, even: bool, count: int) -> int | None:
    """The whole power of an lp norm; None for the maximum norm. Raises Rejected for others."""
    if norm.kind != "lp" or (norm.p is not None and norm.p.denominator != 1):
        raise Rejected(NAME, "norm", "grids are counted in lp norms with a whole p, and in the maximum norm")
    if even and (norm.p is None or count < 2):
        raise Rejected(NAME, "even", "in the maximum norm, and on a line, points of even sums are no further apart than others")
    return None if norm.p is None else int(norm.p)


def _reach(told: Any, count: int) -> list[tuple[int, int]]:
    require(len(told) == count, CertificateError(f"{NAME}: 'reach' is not a pair of whole numbers for each axis."))
    return [(to_whole(left, "reach", NAME, 0, MOST_STEPS), to_whole(right, "reach", NAME, 0, MOST_STEPS)) for left, right in told]


def _room(shape: Shape, step: Expr, reach: Sequence[tuple[int, int]]) -> Expr | None:
    """Of a ball its radius. Raises Rejected where the grid has no room in a box, or in a ball that is an interval."""
    if shape.kind == "ball" and len(reach) > 1:
        return shape.numbers[0]
    if shape.kind != "real":
        sides = shape.numbers if shape.kind == "box" else (mul(num(2), shape.numbers[0]),)
        for side, (left, right) in zip(sides, reach, strict=True):
            if left + right and not certainly_lt(mul(num(left + right), step), side):
                raise Rejected(NAME, "reach", f"{left + right} steps of {format_expr(step)} are not certainly shorter than the side")
    return None


def lengths(reach: Sequence[tuple[int, int]], p: int | None, even: bool) -> dict[int, int]:
    """How many points there are of each length: by the sum of |z_i|^p, or by the greatest |z_i|."""
    if p is None:
        most = max(map(max, reach))
        within = [prod(min(left, k) + min(right, k) + 1 for left, right in reach) for k in range(most + 1)]
        return {k: count - (within[k - 1] if k else 0) for k, count in enumerate(within)}
    found = Counter({0: 1})
    for left, right in reach:
        each = Counter(abs(z) ** p for z in range(-left, right + 1))
        before, found = found, Counter()
        for n, count in before.items():
            for m, times in each.items():
                found[n + m] += count * times
        require(len(found) <= MOST_LENGTHS, Rejected(NAME, "reach", f"there are more than {MOST_LENGTHS} different distances"))
    return {n: count for n, count in found.items() if not even or n % 2 == 0}  # |z|^p is odd where z is


def _inside(n: int, p: int | None, step: Expr, room: Expr) -> bool:
    """Whether points of a length are certainly inside a ball."""
    return certainly_lt(mul(step, num(n) if p is None else power(num(n), Num(Fraction(1, p)))), room)
