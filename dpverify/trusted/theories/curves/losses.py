"""A density on the line and its copy moved by 1, in one order: their loss, cut into cells on which it is monotone, and their divergence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import arb, ctx

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.theories.curves.monotone import around, rises
from dpverify.trusted.theories.curves.moved_density import Density
from dpverify.trusted.theories.curves.unimodal import INFINITY, Hints, Reading, ends, limit_of, most_of


@dataclass(frozen=True, slots=True)
class Cell:
    """An interval on which the loss is monotone: direction 1 where it does not fall, -1 where it does not rise, 0 where not known.

    lower, upper: enclosed, or infinite; the same object where two cells meet. here, there: the pieces that z and z - 1 are in. far: bounds
    on the limit of the loss at an infinite end.
    """

    lower: arb
    upper: arb
    here: int
    there: int
    direction: int
    far: tuple[arb, arb] = (-INFINITY, INFINITY)


class Loss:
    """The privacy loss of (p, p(. - 1)) on its cells, at the working precision of the making."""

    def __init__(self, density: Reading) -> None:
        self.density = density
        self._trees = [neg_log(p.density) for p in density.parts]
        self._programs, self._ends = [BallProgram(h, "z") for h in self._trees], list(map(ends, density.parts))

    def _jets(self, cell: Cell, z: arb) -> tuple[Jet, Jet]:
        """h at z and at z - 1, both kept inside their pieces: z is in the cell."""
        (here, before), (there, after) = ((self._programs[i], self._ends[i]) for i in (cell.here, cell.there))
        return here(_clipped(z, *before)), there(_clipped(z - 1, *after))

    def __call__(self, cell: Cell, z: arb) -> Jet:
        """The loss with two derivatives at z, or over a ball."""
        here, there = self._jets(cell, z)
        return Jet(there.v - here.v, there.d1 - here.d1, there.d2 - here.d2)

    def range(self, cell: Cell, low: arb, high: arb) -> tuple[arb, arb]:
        """Bounds on the loss between two points of a cell: at these, or where its direction is not known by h, which falls there."""
        if not cell.direction:
            (first, before), (last, after) = self._jets(cell, low), self._jets(cell, high)
            return after.v - first.v, before.v - last.v
        least, most = (self(cell, z).v if z.is_finite() else None for z in (low, high)[:: cell.direction])
        return cell.far[0] if least is None else least, cell.far[1] if most is None else most

    def monotone(self, cell: Cell, hints: Hints) -> Iterator[Cell]:
        """A cell, cut where the loss may turn: before the mode of a density that is not log-concave."""
        low, cuts = cell.lower, [cut for cut in hints.turns if cell.lower < rational(cut) and rational(cut) < cell.upper]
        if self.density.concave or not low < 0:
            yield cell if low.is_finite() else replace(cell, far=self._limit(cell, hints))
            return
        edges = list(map(rational, cuts))
        if low.is_finite():
            edges.insert(0, low)
        elif edges:
            yield replace(self.tail(cell, cuts[0]), upper=edges[0])
        else:
            raise Undecided("where the loss turns is not told: the rule wants cuts before the mode.")
        for left, right in pairwise([*edges, cell.upper]):
            yield from self.pieces(cell, left, right)

    def pieces(self, cell: Cell, low: arb, high: arb) -> list[Cell]:
        """The monotone pieces of a cell between two cuts, where it is not all one direction by convexity or concavity of h."""
        if cell.here == cell.there:
            bend = self._programs[cell.here](_clipped((low - 1).union(high), *self._ends[cell.here])).d2
            if bend >= 0 or bend <= 0:
                return [replace(cell, lower=low, upper=high, direction=-1 if bend >= 0 else 1)]
        parts = rises(lambda z: self(cell, z), [low, high])
        return [replace(cell, lower=rise.low, upper=rise.high, direction=rise.direction) for rise in parts]

    def tail(self, cell: Cell, before: Fraction) -> Cell:
        """The first cell before a point, where h is convex or concave: the loss is h(z - 1) - h(z). Raises Undecided."""
        jet = end_jet(self._trees[cell.here], "z", End("-inf", -before))
        if not (jet.d2.k.lo >= 0 or jet.d2.k.hi <= 0):
            raise Undecided("whether -log(density) is convex or concave beyond the first cut is not certain.")
        return replace(cell, upper=rational(before), direction=-1 if jet.d2.k.lo >= 0 else 1, far=limit_of(jet.d1))

    def _limit(self, cell: Cell, hints: Hints) -> tuple[arb, arb]:
        """Bounds on the limit of the loss of a log-concave density at minus infinity, the negative of that of h'."""
        try:
            return limit_of(end_jet(self._trees[cell.here], "z", hints.end(self.density.parts[cell.here].upper)).d1)
        except (Undecided, ExprError):
            return arb(0), INFINITY


class Order:
    """The pair (p, p(. - 1)) in one order, set up at the working precision of its making."""

    def __init__(self, reading: Reading, hints: Hints) -> None:
        self._loss, self._density = Loss(reading), Density(reading, falling=reading.even or not reading.concave)
        self._reach = 4 * rational(self._density.extent)
        self._cells = [part for cell in whole_cells(reading) for part in self._loss.monotone(cell, hints)]
        self.alone = self._density.alone(arb(1)).max(arb(0)).min(arb(1))

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0."""
        inside, doubt, factor = list[tuple[arb, arb]](), arb(0), epsilon.exp()
        for cell in self._cells:
            low, high, more = self._decided(cell, epsilon)
            doubt = (doubt + more).upper()
            if low is not high:
                inside.append((inside.pop()[0] if inside and inside[-1][1] is low else low, high))
        below, total = self._density.below, arb(0).union(doubt)
        for low, high in inside:
            total += below(high) - below(low) - factor * (below(high - 1) - below(low - 1))
        return (total / self._density.total + self.alone).max(arb(0)).min(arb(1))

    def _decided(self, cell: Cell, epsilon: arb) -> tuple[arb, arb, arb]:
        """The part of a cell that is certainly in S, from one point to another, and a bound on what the undecided rest adds to H."""
        low, high = cell.lower, cell.upper
        least, most = self._loss.range(cell, low, high)
        if most <= epsilon or least >= epsilon:
            return low, (low if most <= epsilon else high), arb(0)
        left, right = self._crossing(cell, epsilon) if cell.direction else (low, high)  # between them it is not certain
        doubt = self._doubt(cell, left, right, epsilon)
        return (right, high, doubt) if cell.direction > 0 else (low, left, doubt)

    def _doubt(self, cell: Cell, left: arb, right: arb, epsilon: arb) -> arb:
        """What an undecided interval may add: the integral of p (1 - e^(epsilon - loss))_+."""
        mass, gap = (right - left) * self._density.value(left, right).abs_upper(), self._loss.range(cell, left, right)[1] - epsilon
        if not mass.is_finite():
            mass = self._density.below(right) - self._density.below(left)
        return most_of(mass, gap)

    def _crossing(self, cell: Cell, epsilon: arb) -> tuple[arb, arb]:
        """Points round the root of loss = epsilon, left and right of it for certain; the cell's end where no such point is found."""
        low = cell.lower.upper() if cell.lower.is_finite() else -self._reach
        high = cell.upper.lower() if cell.upper.is_finite() else self._reach

        def loss(z: arb) -> tuple[arb, arb]:
            jet = self._loss(cell, z)
            return jet.v, jet.d1

        left, right = around(loss, epsilon, low, high, cell.direction > 0, ctx.prec // 2 + 10, unit=1)
        return (left if left > low else cell.lower), (right if right < high else cell.upper)


def whole_cells(density: Reading) -> Iterator[Cell]:
    """The intervals on which z is in one piece and z - 1 in one; not those past the mode and the shift, where p <= q.

    Directions are those of log-concave densities, and of others beyond the mode, where z - 1 and z stand on either side of it.
    """
    cuts = {x for p in density.parts for x in (p.lower, p.upper) if x is not None} | {Fraction(0)}
    places = sorted(cuts | {x + 1 for x in cuts})
    inside = [(low + high) / 2 for low, high in pairwise([places[0] - 1, *places, places[-1] + 1])]
    for (left, right), at in zip(pairwise([-INFINITY, *map(rational, places), INFINITY]), inside, strict=True):
        here, there = _piece_at(density.parts, at), _piece_at(density.parts, at - 1)
        if here is not None and there is not None and (density.concave or at < 1):
            yield Cell(left, right, here, there, -1)


def _clipped(x: arb, low: arb, high: arb) -> arb:
    """The part of a ball between two ends, for a point known to lie there."""
    return x if x.lower() >= low and x.upper() <= high else x.lower().max(low).union(x.upper().min(high))


def _piece_at(parts: Sequence[Piece], x: Fraction) -> int | None:
    """The piece inside which a point is; None outside the support, and where two pieces meet."""
    return next((i for i, p in enumerate(parts) if (p.lower is None or p.lower < x) and (p.upper is None or x < p.upper)), None)
