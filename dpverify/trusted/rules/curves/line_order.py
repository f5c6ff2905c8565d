"""A density on the line and its copy moved by 1, in one order: their loss, cut into cells on which it is monotone, and their divergence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from flint import arb, ctx

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.numbers.asymptotics import end_jet
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.rules.curves.losses import Cell, Loss, turns_on, whole_cells
from dpverify.trusted.rules.curves.monotone import around
from dpverify.trusted.rules.curves.outward import BothSides
from dpverify.trusted.rules.curves.unimodal import INFINITY, Hints, Reading, limit_of


class Order:
    """The pair (p, p(. - 1)) in one order, set up at the working precision of its making."""

    def __init__(self, density: Reading, hints: Hints) -> None:
        self.loss, self._hints = Loss(density), hints
        self._sides = BothSides(density, falling=density.even or not density.concave)
        self.total = self._sides.total
        self.cells = [part for cell in whole_cells(density) if cell.there is not None for part in self._monotone(cell)]
        apart = (self._masses(cell.lower, _end(cell.upper))[0] for cell in whole_cells(density) if cell.there is None)
        self.alone = (sum(apart, arb(0)) / self.total).max(arb(0)).min(arb(1))
        """The mass of p where p(. - 1) is 0."""

    def below(self, x: arb) -> arb:
        """The mass below x."""
        return self._sides.below(x, self.loss.height)

    def _monotone(self, cell: Cell) -> Iterator[Cell]:
        """A cell, cut where the loss may turn: before the mode of a density that is not log-concave."""
        low, high = cell.lower, cell.upper
        if turns_on(cell, self.loss.density):
            assert high is not None
            cuts = [cut for cut in self._hints.turns if (low is None or rational(cut) > low) and rational(cut) < high]
            if low is None and not cuts:
                raise Undecided("where the loss turns is not told: the rule wants cuts before the mode.")
            edges = list(map(rational, cuts))
            if low is None:
                tail = self.loss.tail(cell, cuts[0])
                yield tail
                assert tail.upper is not None
                low, edges[0] = tail.upper, tail.upper
            else:
                edges.insert(0, low)
            for left, right in pairwise([*edges, high]):
                yield from self.loss.pieces(cell, left, right)
        else:
            yield replace(cell, far=self._limit(cell)) if low is None and cell.here == cell.there else cell

    def _limit(self, cell: Cell) -> tuple[arb, arb]:
        """Bounds on the limit of the loss of a log-concave density at minus infinity, the negative of that of h'."""
        end = self._hints.end(self.loss.density.parts[cell.here].upper)
        try:
            return limit_of(end_jet(self.loss.trees[cell.here], "z", end).d1)
        except (Undecided, ExprError):
            return arb(0), INFINITY

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0."""
        inside, doubt = list[tuple[arb | None, arb]](), arb(0)
        for cell in self.cells:
            taken, more = self._decided(cell, epsilon)
            doubt = (doubt + more).upper()
            if taken is not None and inside and taken[0] is not None and inside[-1][1] is taken[0]:
                taken = inside.pop()[0], taken[1]
            inside += [] if taken is None else [taken]
        total, factor = arb(0), epsilon.exp()
        for low, high in inside:
            p, q = self._masses(low, high)
            total += p - factor * q
        total = (total + arb(0).union(doubt)) / self.total + self.alone
        return total.max(arb(0)).min(arb(1))

    def _masses(self, low: arb | None, high: arb) -> tuple[arb, arb]:
        """The mass of p and of q between two points."""
        p, q = (self.below(high), self.below(high - 1)) if high.is_finite() else (self.total, self.total)
        return (p, q) if low is None else (p - self.below(low), q - self.below(low - 1))

    def _decided(self, cell: Cell, epsilon: arb) -> tuple[tuple[arb | None, arb] | None, arb]:
        """The part of a cell that is certainly in S, and a bound on what the undecided rest adds to H."""
        upper, nothing = _end(cell.upper), arb(0)
        whole = cell.lower, upper
        if cell.direction == 0:
            assert cell.lower is not None and cell.upper is not None
            sure = self.loss.range(cell, cell.lower, cell.upper) >= epsilon
            return (whole, nothing) if sure else (None, self._doubt(cell, cell.lower, cell.upper, epsilon))
        least, most = self._least_and_most(cell)
        if most <= epsilon:
            return None, nothing
        if least >= epsilon:
            return whole, nothing
        left, right = self._crossing(cell, epsilon)  # between them it is not certain
        doubt = self._doubt(cell, left, right, epsilon)
        if cell.direction < 0:
            return (None if left is None or left is cell.lower else (cell.lower, left)), doubt
        return (None if right is None or right is cell.upper else (right, upper)), doubt

    def _least_and_most(self, cell: Cell) -> tuple[arb, arb]:
        first = None if cell.lower is None else self.loss(cell, cell.lower).v
        last = None if cell.upper is None else self.loss(cell, cell.upper).v
        least, most = (first, last) if cell.direction > 0 else (last, first)
        return cell.far[0] if least is None else least, cell.far[1] if most is None else most

    def _doubt(self, cell: Cell, left: arb | None, right: arb | None, epsilon: arb) -> arb:
        """What an undecided interval may add: the integral of p (1 - e^(epsilon - loss))_+."""
        if left is not None and right is not None:
            mass, most = (right - left) * self.loss.height(left.union(right)), self.loss.range(cell, left, right)
        elif left is None and right is not None:
            mass, most = self.below(right), self.loss(cell, right).v if cell.direction > 0 else cell.far[1]
        else:
            assert left is not None
            mass, most = self.total - self.below(left), self.loss(cell, left).v
        gap = (most - epsilon).upper()
        share = -(-gap).expm1() if gap.is_finite() else arb(1)
        return arb(0) if gap <= 0 else (mass * share.min(arb(1))).upper()

    def _crossing(self, cell: Cell, epsilon: arb) -> tuple[arb | None, arb | None]:
        """Points round the root of loss = epsilon, left and right of it for certain; the cell's end where no such point is found."""
        reach = 4 * rational(max(self._sides.left.extent, self._sides.right.extent))
        low, high = (-reach if cell.lower is None else cell.lower.upper()), (reach if cell.upper is None else cell.upper.lower())

        def loss(z: arb) -> tuple[arb, arb]:
            jet = self.loss(cell, z)
            return jet.v, jet.d1

        left, right = around(loss, epsilon, low, high, cell.direction > 0, ctx.prec // 2 + 10, unit=1)
        return (left if left > low else cell.lower), (right if right < high else cell.upper)


def _end(upper: arb | None) -> arb:
    return INFINITY if upper is None else upper
