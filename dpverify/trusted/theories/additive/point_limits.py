"""The loss of two points themselves, where h is continuous: a lower bound that no event need meet."""

from __future__ import annotations

from fractions import Fraction

from dpverify.trusted.kernel.balls import value
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Call, Expr, add, sub, substitute
from dpverify.trusted.language.calls import subtrees
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, profile, variable
from dpverify.trusted.theories.additive.points import RULE, Points, neighbourhood, outside


def certify(noise: Additive, points: Points, radius: Fraction, claimed: Expr) -> None:
    """Check that h is continuous on the neighbourhood, and the loss of the two points themselves at least `claimed`. Raises Rejected."""
    losses = [sub(_continuous(noise, b, radius, "b"), _continuous(noise, a, radius, "a")) for a, b in zip(points.a, points.b, strict=True)]
    require(certainly_le(claimed, add(*losses)), Rejected(RULE, "limit", "the loss of the two points is not certainly at least this"))


def _continuous(noise: Additive, point: Expr, radius: Fraction, side: str) -> Expr:
    """h at a point. Raises Rejected unless it is finite nearby, and so continuous but for floors, which are to be constant."""
    near, name, h = neighbourhood(noise, point, radius), variable(noise), neg_log(profile(noise))
    if outside(noise, near) is not False or not value(h, {name: near}).is_finite():
        raise Rejected(RULE, side, "the density is not certainly positive and finite here; make the radius smaller")
    if not all(value(floor, {name: near}).is_exact() for floor in subtrees(h) if isinstance(floor, Call) and floor.name == "floor"):
        raise Rejected(RULE, side, "the density may jump here; make the radius smaller")
    return substitute(h, {name: point})
