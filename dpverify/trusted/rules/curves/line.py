"""Privacy curves of one-dimensional noise whose profile has no closed form, by enclosed integrals.

Lengths are in units of the shift, so that q(z) = p(z - 1). S, where p > e^epsilon q, is found cell by cell: on each the loss
log p(z) - log q(z) is proved monotone once, for all epsilons, so that for one epsilon it is left by one root at most. The integrand
vanishes at the root: a root known to 2^-b costs 2^-2b of H. What is not decided is counted by its mass, as an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import refined
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, dominating, symmetric
from dpverify.trusted.language.errors import ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, div, format_expr
from dpverify.trusted.language.model import Mechanism, Radial, Source, Translation
from dpverify.trusted.numbers.asymptotics import end_jet
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves.losses import Cell, Loss, turns_on, whole_cells
from dpverify.trusted.rules.curves.monotone import around
from dpverify.trusted.rules.curves.outward import BothSides
from dpverify.trusted.rules.curves.unimodal import INFINITY, Hints, Reading, hints, limit_of, read

NAME: Final = "line"
STATEMENT: Final = (
    "For additive noise on the line whose density does not fall up to a mode and does not rise after it, the pair at the full shift, in "
    "both orders, dominates all others: where p(z) > e^epsilon p(z - s), s > 0, z - s lies before the mode, so that a longer shift only "
    "lowers p(z - s)."
)
CHECKED: Final = ("the density is unimodal", "it is integrable", "the loss is monotone between the cuts", "the shift is not negative")
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#line")


class Order:
    """The pair (p, p(. - 1)) in one order, set up at the working precision of its making."""

    def __init__(self, density: Reading, hints: Hints) -> None:
        self.loss, self._hints = Loss(density), hints
        self._sides = BothSides(density, falling=density.even or not density.concave)
        self.total = self._sides.total
        self.cells = [part for cell in whole_cells(density) for part in self._monotone(cell)]

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
        total = (total + arb(0).union(doubt)) / self.total
        return total.max(arb(0)).min(arb(1))

    def _masses(self, low: arb | None, high: arb) -> tuple[arb, arb]:
        """The mass of p and of q between two points."""
        p, q = (self.below(high), self.below(high - 1)) if high.is_finite() else (self.total, self.total)
        return (p, q) if low is None else (p - self.below(low), q - self.below(low - 1))

    def _decided(self, cell: Cell, epsilon: arb) -> tuple[tuple[arb | None, arb] | None, arb]:
        """The part of a cell that is certainly in S, and a bound on what the undecided rest adds to H."""
        upper, nothing = INFINITY if cell.upper is None else cell.upper, arb(0)
        whole = cell.lower, upper
        if cell.there is None:
            return whole, nothing
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


def _shifted(density: Reading, hints: Hints) -> Profile:
    """The profile of (p, p(. - shift)) in one order, the density stretched to units of the shift."""
    return refined(lambda: Order(density, hints))


def nothing(_: arb) -> arb:
    """The profile of two equal distributions."""
    return arb(0)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run.

    parameters: those of `hints`; "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided.
    """
    both = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), hints(parameters, NAME))
    return settled.noise(run, both, parameters, one_way=True)


def curve(noise: Mechanism, reach: Sensitivity, hints: Hints) -> Curve:
    """The curve of one-dimensional noise at a sensitivity, in units of the noise's norm.

    Raises Rejected for another kind of noise, a sensitivity that is not certainly at least 0 or a scale that is not certainly positive,
    Undecided where the density is not proved unimodal or has no enclosed integral.
    """
    density, shifts = read_shifted(noise, reach, hints)
    upper, lower = ((_even_pair if density.even else _two_orders)(density, shift, hints) for shift in shifts)
    if shifts[0] == shifts[1]:
        lower = upper
    return Curve(dominating(upper), lower, (NAME,), ASSUMED)


def read_shifted(noise: Mechanism, reach: Sensitivity, hints: Hints) -> tuple[Reading, tuple[Expr, Expr]]:
    """The density, and the greatest and the least shift, in units of the scale. Raises as `curve` does."""
    if not isinstance(noise, Radial | Translation):
        raise Rejected(NAME, "the noise", "it is not one density on the line; this is for radial noise in dimension 1 and for translations")
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(NAME, "the noise", "it lives on the integers, where its curve is a sum")
    scale = noise.scale if isinstance(noise, Radial) else ONE
    if not certainly_lt(ZERO, scale):
        raise Rejected(NAME, "the scale", f"{format_expr(scale)} is not certainly positive")
    density = read(noise, hints)
    shifts = div(reach.upper, scale), div(reach.lower, scale)
    for shift in shifts:
        if not certainly_le(ZERO, shift):
            raise Rejected(NAME, "the sensitivity", f"{format_expr(shift)} is not certainly at least 0")
    return density, shifts


def _even_pair(density: Reading, shift: Expr, hints: Hints) -> Pair:
    return symmetric(nothing if certainly_le(shift, ZERO) else _shifted(density.stretched(shift), hints))


def _two_orders(density: Reading, shift: Expr, hints: Hints) -> Pair:
    if certainly_le(shift, ZERO):
        return symmetric(nothing)
    return Pair(_shifted(density.stretched(shift), hints), _shifted(density.mirrored().stretched(shift), hints))
