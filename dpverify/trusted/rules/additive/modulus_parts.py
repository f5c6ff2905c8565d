"""The supremum rule for densities that rise, fall and jump as they like: a tree of exact cuts of all pairs of points.

Theorem: Noise of density exp(-h) of a norm of the distance (or of the difference, on the line) has tight epsilon at most sup { h(a + s) -
h(a) : |s| <= D }, D the sensitivity over the scale. The pairs (a, s) form a strip. It is cut into parts, each bounded as in kernel-box; the
ends of the strip are bounded by the slope of h, or repeat the strip where h repeats with a rise.

Checked:
- the parts cover the strip between the ends, and one period past the start of an end that repeats
- h(a + s) - h(a) is at most the bound on every part
- the loss is at most the bound on each end, or repeats, and the density is integrable there
- the sensitivity is positive

Source: docs/theory/additive.md#modulus-parts
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, Sym, add, parse, sub, substitute, symbols
from dpverify.trusted.language.model import Claim
from dpverify.trusted.order.polytopes import Polytope, box
from dpverify.trusted.rules.additive.axis import Line
from dpverify.trusted.rules.additive.sides import Period, Side, check_side, read_side
from dpverify.trusted.rules.finite.kernel_box import Tree

NAME: Final = "modulus-parts"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight <= "bound", a constant.

    evidence: "near" (but on a half line) and "far" as in `modulus`, "tree" as in `kernel_box`, for the loss in y = a and other = s.
    """
    line = Line.of(claim, evidence)
    bound = parse(str(evidence["bound"]))
    if symbols(bound) or not line.step > 0:
        raise Rejected(NAME, "bound", "it is no constant, or the sensitivity is not certainly positive")
    near, far = None if line.half else read_side(evidence["near"], -1, line), read_side(evidence["far"], 1, line)
    for side in (near, far):
        if side is not None:
            check_side(line, side, bound)
    Tree(bound).walk(evidence["tree"], *strip(line, near, far), 0)
    return Bound("upper", bound)


def strip(line: Line, near: Side | None, far: Side) -> tuple[Polytope, Expr]:
    """The pairs (a, s) that are not on an end, where an end that repeats begins after a period; and the loss h(a + s) - h(a)."""
    most = line.far(Fraction(0))
    reaches = [Fraction(0)]
    for side, away in ((near, -1), (far, 1)):
        if side is not None:
            start, length = (side.start, side.length) if isinstance(side, Period) else (side.boundary(), Fraction(0))
            reaches.append(start + away * (most + length))
    low, high = reaches[-2:]
    region = box([(low, high), (Fraction(0), Fraction(0)), (-most, most)])
    inside = region.below((Fraction(-1), Fraction(0), Fraction(-1)), Fraction(0)) if line.half else region
    if inside is None or not low < high:
        raise Rejected(NAME, "ends", "the near one is not before the far one")
    a, b = (substitute(line.h, {line.name: at}) for at in (Sym("y"), add(Sym("y"), Sym("other"))))
    return inside, sub(b, a)
