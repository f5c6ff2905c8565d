"""The supremum rule for additive noise: one dimension is enough, for every norm.

With h = -log(density), the loss between answers at distance at most D is h(b) - h(a), |a - b| <= D.
Let the line (or half line) be cut into pieces on which h rises, falls, or which are small enough to
be bounded as a whole ("turns"). Move b uphill and a downhill: the loss does not fall until |a - b| = D
or until both stand in turns. So the supremum is at most the greatest of

    sup over c of h(c + D) - h(c),   sup over c of h(c) - h(c + D),   and h(turn) - h(turn') for turns within D.

Each is proved on cells (balls, mean-value forms, tangents) and on the ends of the line (germs). For
noise of density g(||y - q||) in any norm, a = ||y - q| and b = ||y - q'|| obey |a - b| <= D by the
triangle inequality, and every such pair occurs: theory#two-argument-modulus.

Theorem: Noise of density exp(-h) of a norm of the distance (or of the difference, in one dimension) has tight epsilon at most sup { h(b) -
h(a) : |a - b| <= D }, D the sensitivity over the scale; the supremum is taken along h(c + D) - h(c), h(c) - h(c + D), and between the
turning points of h.

Checked:
- h rises, falls or turns on each piece, is continuous or jumps the same way between them, and they cover the whole line
- the loss is at most the bound on each cell, and the cells cover the line between the ends
- the loss is at most the bound on each end
- the loss between turning pieces within the sensitivity is at most the bound
- the density is integrable at each end

Source: docs/theory/additive.md#modulus, Reimherr & Awan 2019, Theorem 3; Hardt & Talwar 2010, Theorem 4.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import Expr, parse, symbols
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.cells import MAX_CELLS, WAYS, Cell, check_pieces, summit
from dpverify.trusted.theories.additive.sides import checked_end, start_holds

NAME: Final = "modulus"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """Check the cells, ends, turns and integrability, and return the upper bound that the evidence names."""
    line = Line.of(claim, evidence)
    bound = parse(str(evidence["bound"]))
    after, before = evidence["far"], evidence.get("near")
    pieces = [(to_fraction(cut, NAME), str(kind)) for cut, kind in evidence["pieces"]]
    if before is None and not line.half:
        raise Rejected(NAME, "ends", "an infinite side of the line is not accounted for")
    require(not symbols(bound), Rejected(NAME, "bound", "it has free symbols"))
    far = checked_end(after, 1, line, bound)
    near = None if before is None else checked_end(before, -1, line, bound)
    rising_only = check_pieces(line, near, far, pieces, bound)
    first = Fraction(0) if near is None else near.boundary()
    for sign, key in ((1, "rise"),) if rising_only else ((1, "rise"), (-1, "fall")):
        if near is not None and near.side == "right" and not start_holds(line, near, bound, sign):
            raise Rejected(NAME, "0", "the loss is not certainly below the bound near 0; start the end closer to 0")
        _check_cells(line, evidence.get(key), bound, sign, first, far.boundary())
    return Bound("upper", bound)


def _way(cell: Sequence[Any]) -> tuple[Callable[[Cell], bool], list[Fraction]]:
    """The way that a cell names, and the point for it: a rational, or for "summit" a closed form."""
    if cell[1] == "summit":
        return partial(summit, at=parse(str(cell[2]))), []
    return WAYS[cell[1]], [to_fraction(at, NAME) for at in cell[2:]]


def _check_cells(line: Line, evidence: Any, bound: Expr, sign: int, first: Fraction, last: Fraction) -> None:
    """Check that the loss is at most the bound on each cell, each in the way that it names, and that the cells reach both ends."""
    read = [(to_fraction(cell[0], NAME), *_way(cell)) for cell in evidence["cells"]]
    stop = to_fraction(evidence["stop"], NAME)
    require(0 < len(read) <= MAX_CELLS, Rejected(NAME, "cells", f"between 1 and {MAX_CELLS} are wanted"))
    begins = rational(read[0][0])
    covered = begins <= rational(first) if line.half else begins + line.step <= rational(first)
    require(covered and stop >= last, Rejected(NAME, "cells", "they do not reach both ends"))
    uppers = [*(lower for lower, _, _ in read[1:]), stop]
    for (lower, holds, points), upper in zip(read, uppers, strict=True):
        point = points[0] if points else (lower + upper) / 2
        if not lower < upper or not lower <= point <= upper:
            raise Rejected(NAME, lower, "the cells do not go forward, or a tangent point lies outside its cell")
        try:
            held = holds(Cell(line, lower, upper, sign, bound, point))
        except (Undecided, ExprError) as error:
            raise Rejected(NAME, f"[{lower}, {upper}]", str(error)) from error
        require(held, Rejected(NAME, f"[{lower}, {upper}]", "the loss is not certainly below the bound here; split the cell"))
