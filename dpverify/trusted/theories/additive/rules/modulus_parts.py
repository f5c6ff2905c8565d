"""The supremum rule for densities that rise, fall and jump as they like: a tree of exact cuts of all pairs of points, or all of these.

Theorem: Noise of density exp(-h) of a norm of the distance (or of the difference, on the line) has tight epsilon at most sup { h(a + s) -
h(a) : |s| <= D }, D the sensitivity over the scale. The pairs (a, s) form a strip. It is cut into parts, each bounded as in kernel-box; the
ends of the strip are bounded by the slope of h, or repeat the strip where h repeats with a rise, or both: where h = p + t and p repeats, by
one period of p and the slope of t. On the integers every pair of them between the ends is looked at.

Checked:
- the parts, or the integers, cover the strip between the ends, and one period past the start of an end that repeats
- h(a + s) - h(a) is at most the bound on every part, or at every pair of integers
- the loss is at most the bound on each end, or repeats, and the density is integrable there, and not 0 everywhere
- the sensitivity is positive

Source: docs/theory/additive.md#modulus-parts
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any, Final

from dpverify.trusted.geometry.polytopes import Polytope, box
from dpverify.trusted.kernel.balls import constant, exact
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Add, Expr, Num, Sym, add, call, mul, neg, num, parse, substitute, symbols
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.periods import quasi_period
from dpverify.trusted.numbers.pieces import without_floors
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.sides import checked_end, slope_integrable
from dpverify.trusted.theories.finite.rules.kernel_box import Tree

NAME: Final = "modulus-parts"
ASSUMED: Final = ("the sampler is ideal",)

_MOST_PAIRS: Final = 20_000
_BESIDE: Final = Fraction(1, 2**40)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight <= "bound", a constant.

    evidence: "near" (but on a half line) and "far": the start of an end as in `modulus`, or {"start", "period", "tree"} of one with waves;
    "tree" as in `kernel_box`, for the loss in y = a and other = s, but on the integers.
    """
    line = Line.of(claim, evidence, points=True)
    bound = parse(str(evidence["bound"]))
    if symbols(bound) or not line.step > 0:
        raise Rejected(NAME, "bound", "it is no constant, or the sensitivity is not certainly positive")
    near, far = None if line.half else _start(evidence["near"], -1, line, bound), _start(evidence["far"], 1, line, bound)
    strip(line, near, far).check(bound, evidence.get("tree"))
    if not line.whole:
        piece = line.smooth(far, far + 2 * _BESIDE)
        if calls(piece, "floor") or not constant(substitute(piece, {line.name: num(far + _BESIDE)})).is_finite():
            raise Rejected(NAME, "the density", "it may be 0 everywhere but at single points")
    return Bound("upper", bound)


@dataclass(frozen=True, slots=True)
class Strip:
    """The pairs (a, s) with a between low and high, |s| <= D, and a loss f(a + s) - f(a) + more(s) there."""

    line: Line
    low: Fraction
    high: Fraction
    f: Expr
    more: Expr

    def at(self, a: Expr, s: Expr) -> Expr:
        """The loss of a pair."""
        before, after = (substitute(self.f, {self.line.name: at}) for at in (a, add(a, s)))
        return add(after, neg(before), substitute(self.more, {"other": s}))

    @property
    def loss(self) -> Expr:
        """That in y = a and other = s."""
        return self.at(Sym("y"), Sym("other"))

    @property
    def region(self) -> Polytope:
        """The pairs as points (y, theta, other); on a half line those with a + s >= 0."""
        most = self.line.far(Fraction(0))
        region = box([(self.low, self.high), (Fraction(0), Fraction(0)), (-most, most)])
        inside = region.below((Fraction(-1), Fraction(0), Fraction(-1)), Fraction(0)) if self.line.half else region
        assert inside is not None
        return inside

    def check(self, bound: Expr, tree: Any) -> None:
        """Raises Rejected unless the loss is at most the bound: by the tree, or at all pairs of integers."""
        if not self.line.whole:
            Tree(bound).walk(tree, self.region, self.loss, 0)
            return
        low, high, most = (floor(x) for x in (self.low, self.high, self.line.far(Fraction(0))))
        if (high - low) * most > _MOST_PAIRS:
            raise Rejected(NAME, "ends", f"there are more than {_MOST_PAIRS} pairs of integers between them")
        for a, s in product(range(low, high + 1), range(-most, most + 1)):
            there = self.at(num(a), num(s))
            if not (constant(there) <= constant(bound) or certainly_le(there, bound)):
                raise Rejected(NAME, f"{a}, {a + s}", "the loss is not certainly at most the bound")


def _start(data: Any, outward: int, line: Line, bound: Expr) -> Fraction:
    """Where an end starts on which the loss is at most the bound, and the density has finite mass. Raises Rejected."""
    if not isinstance(data, Mapping):
        return checked_end(data, outward, line, bound).boundary()
    start = to_fraction(data["start"], NAME)
    waves(line, start, outward, to_fraction(data["period"], NAME)).check(bound, data.get("tree"))
    return start


def waves(line: Line, start: Fraction, outward: int, length: Fraction) -> Strip:
    """A strip with, for each pair (a, s) on an end with floors, a loss of at least h(a + s) - h(a). Raises Rejected without finite mass.

    On the end h is p + t, p the terms that repeat with a rise: p(a + s) - p(a) repeats. In t shares stand for floors: t moves by |dt/df|
    times the width of a share f at most where that moves, and by s dt/dz. p is at least its mean rise less a constant, as the strip bounds
    it over every period: exp(-h) is integrable where exp(-t) less that rise is.
    """
    name, most = line.name, line.far(Fraction(0))
    if not length > 0 or (line.half and start < 0) or (line.whole and length.denominator != 1):
        raise Rejected(NAME, "period", "it must be positive, outward of the line, and take integers to integers")
    h = line.smooth(*((start, None) if outward > 0 else (None, start)))
    terms = [(term, quasi_period(term, name, length)) for term in (h.args if isinstance(h, Add) else (h,))]
    rise = mul(Num(1 / length), add(*(rise for _, rise in terms if rise is not None)))
    t, shares = without_floors(add(*(term for term, rise in terms if rise is None)), name)
    more: Expr = ZERO
    finite = bool(outward * constant(rise) > 0)
    if symbols(t):
        end = End("+inf" if outward > 0 else "-inf", outward * start)
        finite = slope_integrable(end_jet(add(t, mul(rise, Sym(name))), name, end, shares).d1, end, constant(line.dimension))
        slope = end_jet(t, name, end, shares).d1.bounds()
        spread = ((end_jet(derivative(t, share), name, end, shares).v.bounds(), ball) for share, ball in shares.items())
        moved = [exact((rate.hi.max(-rate.lo) * (ball.upper() - ball.lower())).upper()) for rate, ball in spread]
        more = add(call("max", *(mul(Num(exact(rate)), Sym("other")) for rate in (slope.lo, slope.hi))), Num(sum(moved, Fraction(0))))
    if not finite or (line.whole and shares):  # what a share is at one integer alone may not be in its ball
        raise Rejected(NAME, f"past {start}", "h does not certainly rise as that of a density with finite mass there")
    low, high = sorted((start + outward * most, start + outward * (most + length)))
    return Strip(line, low, high, add(*(term for term, rise in terms if rise is not None)), more)


def strip(line: Line, near: Fraction | None, far: Fraction) -> Strip:
    """The pairs that are not on an end, with their loss. near, far: where the ends start."""
    most = line.far(Fraction(0))
    low, high = Fraction(0) if near is None else near - most, far + most
    require(low < high, Rejected(NAME, "ends", "the near one is not before the far one"))
    return Strip(line, low, high, line.h, ZERO)
