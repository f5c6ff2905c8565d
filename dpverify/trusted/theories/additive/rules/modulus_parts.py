"""The supremum rule for densities that rise, fall and jump as they like: a tree of exact cuts of all pairs of points, or all of these.

Theorem: Noise of density exp(-h) of a norm of the distance (or of the difference, on the line) has tight epsilon at most sup { h(a + s) -
h(a) : |s| <= D }, D the sensitivity over the scale. The pairs (a, s) form a strip. It is cut into parts, each bounded as in kernel-box; the
ends of the strip are bounded by the slope of h, or repeat the strip where h repeats with a rise. On the integers every pair of them between
the ends is looked at.

Checked:
- the parts, or the integers, cover the strip between the ends, and one period past the start of an end that repeats
- h(a + s) - h(a) is at most the bound on every part, or at every pair of integers
- the loss is at most the bound on each end, or repeats, and the density is integrable there, and not 0 everywhere
- the sensitivity is positive

Source: docs/theory/additive.md#modulus-parts
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Any, Final

from dpverify.trusted.geometry.polytopes import Polytope, box
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Sym, add, num, parse, sub, substitute, symbols
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.calls import calls
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.sides import Period, Side, check_side, read_side
from dpverify.trusted.theories.finite.rules.kernel_box import Tree

NAME: Final = "modulus-parts"
ASSUMED: Final = ("the sampler is ideal",)

_MOST_PAIRS: Final = 100_000
_BESIDE: Final = Fraction(1, 2**40)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight <= "bound", a constant.

    evidence: "near" (but on a half line) and "far" as in `modulus`, "tree" as in `kernel_box`, for the loss in y = a and other = s, but on
    the integers.
    """
    line = Line.of(claim, evidence, points=True)
    bound = parse(str(evidence["bound"]))
    if symbols(bound) or not line.step > 0:
        raise Rejected(NAME, "bound", "it is no constant, or the sensitivity is not certainly positive")
    near, far = None if line.half else read_side(evidence["near"], -1, line), read_side(evidence["far"], 1, line)
    for side in (near, far):
        if side is not None:
            check_side(line, side, bound)
    if line.whole:
        _check_integers(line, near, far, bound)
    else:
        Tree(bound).walk(evidence["tree"], *strip(line, near, far), 0)
        start = reaches(line, near, far)[1]
        piece = line.smooth(start, start + 2 * _BESIDE)
        if calls(piece, "floor") or not constant(substitute(piece, {line.name: num(start + _BESIDE)})).is_finite():
            raise Rejected(NAME, "the density", "it may be 0 everywhere but at single points")
    return Bound("upper", bound)


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
