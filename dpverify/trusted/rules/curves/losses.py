"""The privacy loss of a density on the line and its copy moved by 1, on intervals on which it is monotone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import arb

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.balls import hull, rational
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.rules.curves.monotone import rises
from dpverify.trusted.rules.curves.unimodal import INFINITY, Reading, limit_of


@dataclass(frozen=True, slots=True)
class Cell:
    """An interval on which the loss is monotone: direction 1 where it does not fall, -1 where it does not rise, 0 where not known.

    lower, upper: enclosed, None for an infinite end; the same object where two cells meet. here, there: the pieces that z and z - 1 are
    in, there None where the density at z - 1 is zero. far: bounds on the limit of the loss at the infinite end.
    """

    lower: arb | None
    upper: arb | None
    here: int
    there: int | None
    direction: int
    far: tuple[arb, arb] = (-INFINITY, INFINITY)


class Loss:
    """The privacy loss of (p, p(. - 1)) on its cells, at the working precision of the making."""

    def __init__(self, density: Reading) -> None:
        self.density = density
        self.trees = [neg_log(p.density) for p in density.parts]
        self._programs = [BallProgram(h, "z") for h in self.trees]

    def _jets(self, cell: Cell, z: arb) -> tuple[Jet, Jet]:
        """h at z and at z - 1, both kept inside their pieces: z is in the cell."""
        assert cell.there is not None
        here, there = self.density.parts[cell.here], self.density.parts[cell.there]
        return self._programs[cell.here](_clipped(z, here)), self._programs[cell.there](_clipped(z - 1, there))

    def __call__(self, cell: Cell, z: arb) -> Jet:
        """The loss with two derivatives at z, or over a ball."""
        here, there = self._jets(cell, z)
        return Jet(there.v - here.v, there.d1 - here.d1, there.d2 - here.d2)

    def range(self, cell: Cell, low: arb, high: arb) -> arb:
        """The loss between two points of a cell, before the mode also by h, which does not rise there."""
        over: arb = self(cell, low.union(high)).v
        if over.is_finite() or self.density.concave or not high <= 0:
            return over
        (here, there), (nearer, near) = self._jets(cell, low), self._jets(cell, high)
        least, most = arb(near.v - here.v), arb(there.v - nearer.v)
        return least.union(most)

    def height(self, x: arb) -> arb:
        """An upper bound on the density over a ball."""
        best = arb(0)
        for part, h in zip(self.density.parts, self._programs, strict=True):
            if (part.lower is not None and x < rational(part.lower)) or (part.upper is not None and x > rational(part.upper)):
                continue
            least = h(_clipped(x, part)).v
            if not least.is_finite() and not self.density.concave:
                least = h(_nearest_to_mode(x, part)).v
            best = best.max((-least).exp().upper())
        return best

    def pieces(self, cell: Cell, low: arb, high: arb) -> list[Cell]:
        """The monotone pieces of a cell between two cuts, where it is not all one direction by convexity or concavity of h."""
        if cell.here == cell.there:
            bend = self._programs[cell.here](_clipped((low - 1).union(high), self.density.parts[cell.here])).d2
            if bend >= 0 or bend <= 0:
                return [replace(cell, lower=low, upper=high, direction=-1 if bend >= 0 else 1)]
        parts = rises(lambda z: self(cell, z), [low, high])
        return [replace(cell, lower=rise.low, upper=rise.high, direction=rise.direction) for rise in parts]

    def tail(self, cell: Cell, before: Fraction) -> Cell:
        """The part of a cell before a point on which h is convex or concave: the loss is h(z - 1) - h(z). Raises Undecided."""
        if cell.here != cell.there or not before < 0:  # exact
            raise Undecided("the density has pieces before the first cut.")
        jet = end_jet(self.trees[cell.here], "z", End("-inf", -before))
        if not (jet.d2.k.lo >= 0 or jet.d2.k.hi <= 0):
            raise Undecided("whether -log(density) is convex or concave beyond the first cut is not certain.")
        return replace(cell, upper=rational(before), direction=-1 if jet.d2.k.lo >= 0 else 1, far=limit_of(jet.d1))


def whole_cells(density: Reading) -> Iterator[Cell]:
    """The intervals on which z is in one piece and z - 1 in one, or in none; not those past the mode and the shift, where p <= q.

    Directions are those of log-concave densities, and of others beyond the mode, where z - 1 and z stand on either side of it.
    """
    cuts = {x for p in density.parts for x in (p.lower, p.upper) if x is not None} | {Fraction(0)}
    edges: list[tuple[Fraction | None, arb | None]] = [(x, rational(x)) for x in sorted(cuts | {x + 1 for x in cuts})]
    for (low, left), (high, right) in pairwise([(None, None), *edges, (None, None)]):
        here, there = _piece_of(density.parts, low, high, 0), _piece_of(density.parts, low, high, 1)
        if here is not None and (density.concave or low is None or low < 1):
            yield Cell(left, right, here, there, -1, (-INFINITY, INFINITY) if there is not None else (INFINITY, INFINITY))


def turns_on(cell: Cell, density: Reading) -> bool:
    """Whether the loss may turn on a cell: before the mode of a density that is not log-concave."""
    return cell.there is not None and not density.concave and (cell.lower is None or bool(cell.lower < 0))


def _clipped(x: arb, part: Piece) -> arb:
    """The part of a ball inside a piece, for a point known to lie there."""
    low, high = x.lower(), x.upper()
    below = part.lower is not None and not low >= rational(part.lower)
    above = part.upper is not None and not high <= rational(part.upper)
    if not (below or above):
        return x
    return hull(part.lower if below and part.lower is not None else low, part.upper if above and part.upper is not None else high)


def _nearest_to_mode(x: arb, part: Piece) -> arb:
    """The exact point of a ball and a piece that is nearest to the mode, 0."""
    if part.upper is not None and part.upper <= 0:
        return x.upper() if x.upper() < rational(part.upper) else rational(part.upper)
    assert part.lower is not None
    return x.lower() if x.lower() > rational(part.lower) else rational(part.lower)


def _piece_of(parts: Sequence[Piece], low: Fraction | None, high: Fraction | None, shift: int) -> int | None:
    """The piece that holds the interval moved to the left by the shift; None outside the support."""
    for i, p in enumerate(parts):
        after = p.lower is None or (low is not None and p.lower <= low - shift)
        before = p.upper is None or (high is not None and high - shift <= p.upper)
        if after and before:
            return i
    return None
