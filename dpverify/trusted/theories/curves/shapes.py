"""Whether a density falls or rises on a piece, or has a concave logarithm there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

from dpverify.trusted.kernel.balls import hull, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, Sym, add, mul, num, substitute
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, AT_MOST_ZERO
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.numbers.quotients import divided
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.shapes.shape import Shape

Z: Final = Sym("z")


def convex_line(density: Expr) -> bool:
    """Whether -log(density) is certainly convex on the whole line."""
    shapes = Shapes("z", False, {})
    try:
        return shapes.shape(shapes.tidy(divided(neg_log(density), "z"))).convex
    except (Undecided, ExprError):
        return False


def _views(part: Piece) -> Iterator[tuple[Expr, Shapes, int]]:
    """-log(density) of a piece as a function of the distance from an end of it, on (0, inf); 1 or -1 for the direction of z."""
    h, shapes = neg_log(part.density), Shapes("z", True, {})
    for end, direction in ((part.lower, 1), (part.upper, -1)):
        if end is not None:
            yield shapes.tidy(divided(substitute(h, {"z": add(Num(end), mul(num(direction), Z))}), "z")), shapes, direction


def _convex(part: Piece) -> bool:
    if part.lower is None and part.upper is None:
        return convex_line(part.density)
    return any(shape is not None and shape.convex for shape in (_shape(h, shapes) for h, shapes, _ in _views(part)))


def _shape(h: Expr, shapes: Shapes) -> Shape | None:
    try:
        return shapes.shape(h)
    except (Undecided, ExprError):
        return None


def convex_pieces(parts: Sequence[Piece]) -> bool:
    """Whether -log(density) is convex on every piece, continuous between them, and bends upward there."""
    if not all(map(_convex, parts)):
        return False
    for left, right in pairwise(parts):
        at = {"z": Num(left.upper or Fraction(0))}
        before, after = neg_log(left.density), neg_log(right.density)
        try:
            joined = certainly_equal(substitute(before, at), substitute(after, at))
            bends = certainly_le(substitute(derivative(before, "z"), at), substitute(derivative(after, "z"), at))
        except (Undecided, ExprError):
            return False
        if not (joined and bends):
            return False
    return True


def monotone(part: Piece, rises: bool, cuts: Sequence[Fraction]) -> bool:
    """Whether the density certainly does not fall (rises) or does not rise on a piece."""
    if part.lower is None and part.upper is None:
        return False
    for h, shapes, direction in _views(part):
        shape, wanted = _shape(h, shapes), AT_MOST_ZERO if rises == (direction > 0) else AT_LEAST_ZERO
        if shape is not None and (shape.slope <= wanted or (shape.convex and wanted == AT_LEAST_ZERO and _starts_upward(h))):
            return True
    return _slope_on_cells(part, rises, cuts)


def _starts_upward(h: Expr) -> bool:
    try:
        return certainly_le(ZERO, substitute(derivative(h, "z"), {"z": ZERO}))
    except (Undecided, ExprError):
        return False


def _slope_on_cells(part: Piece, rises: bool, cuts: Sequence[Fraction]) -> bool:
    """The same by balls on the cells between cuts, and by the scales at an infinite end beyond the last of them."""
    h, sign = neg_log(part.density), -1 if rises else 1
    inside = [cut for cut in cuts if (part.lower is None or cut > part.lower) and (part.upper is None or cut < part.upper)]
    sides: tuple[tuple[Literal["-inf", "+inf"], Fraction | None], ...] = (("-inf", part.lower), ("+inf", part.upper))
    ends = [side for side, end in sides if end is None]
    edges = [*([] if part.lower is None else [part.lower]), *inside, *([] if part.upper is None else [part.upper])]
    if len(edges) < 2 or (part.lower is None and not edges[0] < 0) or (part.upper is None and not edges[-1] > 0):
        return False
    program = BallProgram(h, "z")
    # h' is bounded on a cell where it has a sign, so that the density is positive on all of it where it is at one point
    cells = all(
        sign * program(hull(low, high)).d1 >= 0 and program(rational((low + high) / 2)).v.is_finite() for low, high in pairwise(edges)
    )
    return cells and all(slope_sign(h, End(side, abs(edges[0 if side == "-inf" else -1])), sign) for side in ends)


def slope_sign(h: Expr, end: End, sign: int) -> bool:
    """Whether sign * h' is certainly at least 0 on an end."""
    try:
        slope: Germ = end_jet(h, "z", end).d1
    except (Undecided, ExprError):
        return False
    return bool(slope.k.lo >= 0) if sign > 0 else bool(slope.k.hi <= 0)
