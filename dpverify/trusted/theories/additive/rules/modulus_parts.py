"""The supremum rule for densities that rise, fall and jump as they like: a tree of exact cuts of all pairs of points, or all of these.

Theorem: Noise of density exp(-h) of a norm of the distance (or of the difference, on the line) has tight epsilon at most sup { h(a + s) -
h(a) : |s| <= D }, D the sensitivity over the scale. The pairs (a, s) form a strip. It is cut into parts, each bounded as in kernel-box; the
ends of the strip are bounded by the slope of h, or repeat the strip where h repeats with a rise, or both: where h = p + t and p repeats, by
one period of p and the slope of t. On the integers every pair of them between the ends is looked at.

Checked:
- the parts, or the integers, cover the strip between the ends, and one period past the start of an end that repeats
- h(a + s) - h(a) is at most the bound on every part, or at every pair of integers
- the loss is at most the bound on each end, or repeats, and the density is integrable there
- the sensitivity is positive

Source: docs/theory/additive.md#modulus-parts
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Any, Final

from dpverify.trusted.geometry.polytopes import Polytope, box
from dpverify.trusted.kernel.balls import constant, exact
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Add, Expr, Num, Sym, add, call, mul, num, parse, sub, substitute, symbols
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.periods import quasi_period, without_floors
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.sides import Period, Side, check_side, read_side, slope_integrable
from dpverify.trusted.theories.finite.rules.kernel_box import Tree

NAME: Final = "modulus-parts"
ASSUMED: Final = ("the sampler is ideal",)

_MOST_PAIRS: Final = 100_000


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight <= "bound", a constant.

    evidence: "near" (but on a half line) and "far" as in `modulus`, "tree" as in `kernel_box`, for the loss in y = a and other = s, but on
    the integers.
    """
    line = Line.of(claim, evidence, points=True)
    bound = parse(str(evidence["bound"]))
    if symbols(bound) or not line.step > 0:
        raise Rejected(NAME, "bound", "it is no constant, or the sensitivity is not certainly positive")
    near, far = None if line.half else _side(evidence["near"], -1, line, bound), _side(evidence["far"], 1, line, bound)
    if line.whole:
        _check_integers(line, near, far, bound)
    else:
        Tree(bound).walk(evidence["tree"], *strip(line, near, far), 0)
    return Bound("upper", bound)


def _side(data: Any, outward: int, line: Line, bound: Expr) -> Side:
    """A side on which the loss is at most the bound, as of `read_side`; one with a "tree" is an end with waves. Raises Rejected."""
    side = read_side(data, outward, line)
    if not (isinstance(side, Period) and "tree" in data):
        check_side(line, side, bound)
        return side
    end = End("+inf" if outward > 0 else "-inf", outward * side.start)
    Tree(bound).walk(data["tree"], *waves(line, end, side.length), 0)
    return end


def waves(line: Line, end: End, length: Fraction) -> tuple[Polytope, Expr]:
    """A loss on a strip of pairs (a, s) that is at least h(a + s) - h(a) for all pairs on an end with floors; the density has mass there.

    On the end h is p + t, p the terms with floors that repeat with a rise outward. In t shares stand for floors: t moves by |dt/df| times
    the width of a share f at most where that moves, and by s dt/dz. p(a + s) - p(a) repeats in a. exp(-h) is integrable where exp(-t) is:
    p is not below a constant, as the strip bounds it over every period, and it rises from one to the next.
    Raises Rejected for the integers, where a value at one point counts, and where the density is not certainly integrable.
    """
    outward, most = 1 if end.side == "+inf" else -1, line.far(Fraction(0))
    near = end.boundary()
    h = line.smooth(*((near, None) if outward > 0 else (None, near)))
    terms = h.args if isinstance(h, Add) else (h,)
    rises = [quasi_period(term, line.name, outward * length) if calls(term, "floor") else None for term in terms]
    p = add(*(term for term, rise in zip(terms, rises, strict=True) if rise is not None))
    t, shares = without_floors(add(*(term for term, rise in zip(terms, rises, strict=True) if rise is None)), line.name)
    slope = end_jet(t, line.name, end, shares).d1
    rises_outward = certainly_le(ZERO, add(*(rise for rise in rises if rise is not None)))
    if line.whole or not rises_outward or not slope_integrable(slope, end, constant(line.dimension)):
        raise Rejected(NAME, end.side, "the density is not certainly integrable at this end, or lives on the integers")
    spread = ((end_jet(derivative(t, share), line.name, end, shares).v.bounds(), ball) for share, ball in shares.items())
    moved = [exact((rate.hi.max(-rate.lo) * (ball.upper() - ball.lower())).upper()) for rate, ball in spread]
    rates = [mul(Num(exact(rate)), Sym("other")) for rate in (slope.bounds().lo, slope.bounds().hi)]
    a, b = (substitute(p, {line.name: at}) for at in (Sym("y"), add(Sym("y"), Sym("other"))))
    low, high = sorted((near + outward * most, near + outward * (most + length)))
    region = box([(low, high), (Fraction(0), Fraction(0)), (-most, most)])
    return region, add(sub(b, a), call("max", *rates), Num(sum(moved, Fraction(0))))


def _check_integers(line: Line, near: Side | None, far: Side, bound: Expr) -> None:
    """Raises Rejected unless the loss is at most the bound for all pairs of integers in the strip."""
    if any(isinstance(side, Period) and side.length.denominator != 1 for side in (near, far)):
        raise Rejected(NAME, "period", "it is no integer, so that it does not move integers to integers")
    low, high, most = (floor(x) for x in reaches(line, near, far))
    if (high - low) * most > _MOST_PAIRS:
        raise Rejected(NAME, "ends", f"there are more than {_MOST_PAIRS} pairs of integers between them")
    heights = {n: substitute(line.h, {line.name: num(n)}) for n in range(low - most, high + most + 1)}
    balls, top = {n: constant(height) for n, height in heights.items()}, constant(bound)
    for a in range(low, high + 1):
        for b in range(a - most, a + most + 1):
            if not (balls[b] - balls[a] <= top or certainly_le(sub(heights[b], heights[a]), bound)):
                raise Rejected(NAME, f"{a}, {b}", "the loss is not certainly at most the bound")


def reaches(line: Line, near: Side | None, far: Side) -> tuple[Fraction, Fraction, Fraction]:
    """The least and the greatest a of pairs that are not on an end, where one that repeats begins after a period; and D."""
    most, ends = line.far(Fraction(0)), [Fraction(0)]
    for side, away in ((near, -1), (far, 1)):
        if side is not None:
            start, length = (side.start, side.length) if isinstance(side, Period) else (side.boundary(), Fraction(0))
            ends.append(start + away * (most + length))
    if not ends[-2] < ends[-1]:
        raise Rejected(NAME, "ends", "the near one is not before the far one")
    return ends[-2], ends[-1], most


def strip(line: Line, near: Side | None, far: Side) -> tuple[Polytope, Expr]:
    """The pairs (a, s) that are not on an end, as of `reaches`; and the loss h(a + s) - h(a)."""
    low, high, most = reaches(line, near, far)
    region = box([(low, high), (Fraction(0), Fraction(0)), (-most, most)])
    inside = region.below((Fraction(-1), Fraction(0), Fraction(-1)), Fraction(0)) if line.half else region
    assert inside is not None
    a, b = (substitute(line.h, {line.name: at}) for at in (Sym("y"), add(Sym("y"), Sym("other"))))
    return inside, sub(b, a)
