"""Privacy curves of one-dimensional noise whose profile has no closed form, by enclosed integrals.

Lengths are in units of the shift, so that q(z) = p(z - 1). S, where p > e^epsilon q, is found cell by cell: on each the loss
log p(z) - log q(z) is proved monotone once, for all epsilons, so that for one epsilon it is left by one root at most. The integrand
vanishes at the root: a root known to 2^-b costs 2^-2b of H. What is not decided is counted by its mass, as an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, dominating, symmetric
from dpverify.trusted.facts.refined import Refined
from dpverify.trusted.language.errors import ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, div, format_expr, mul, sqrt
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Mechanism, Radial, Source, Translation
from dpverify.trusted.numbers.asymptotics import Germ, end_jet
from dpverify.trusted.numbers.balls import constant, exact, hull, precision, rational
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves.outward import Outward
from dpverify.trusted.rules.curves.unimodal import INFINITY, Noise, Reading, far_ends, limit_of, read

NAME: Final = "line"
STATEMENT: Final = (
    "For additive noise on the line whose density does not fall up to a mode and does not rise after it, the pair at the full shift, in "
    "both orders, dominates all others: where p(z) > e^epsilon p(z - s), s > 0, z - s lies before the mode, so that a longer shift only "
    "lowers p(z - s)."
)
CHECKED: Final = ("the density is unimodal", "it is integrable", "the loss is monotone between the cuts", "the shift is not negative")
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#line")

_MOST_DEPTH: Final = 300
_MOST_CELLS: Final = 4_000


# -- the loss --------------------------------------------------------------------------------------


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


@dataclass(slots=True)
class Decided:
    """For one epsilon: the intervals of S, and a bound on what the undecided rest adds to H."""

    inside: list[tuple[arb | None, arb]] = field(default_factory=list)
    doubt: arb = field(default_factory=lambda: arb(0))

    def take(self, lower: arb | None, upper: arb) -> None:
        """Add an interval that starts where the last one ended or later."""
        if self.inside and lower is not None and self.inside[-1][1] is lower:
            lower = self.inside.pop()[0]
        self.inside.append((lower, upper))


class Order:
    """The pair (p, p(. - 1)) in one order, set up at the working precision of its making."""

    def __init__(self, density: Reading, left: Outward, right: Outward) -> None:
        self.density, self.left, self.right = density, left, right
        self.total = left.beyond(arb(0)) + right.beyond(arb(0))
        self._trees = [neg_log(p.density) for p in density.parts]
        self._programs = [BallProgram(h, "z") for h in self._trees]
        self.cells = list(self._cells())

    # values

    def below(self, x: arb) -> arb:
        """The mass below x."""
        at = x.mid()
        found = self.left.beyond(-at) if at <= 0 else self.total - self.right.beyond(at)
        return found if x.is_exact() else found + arb(0, 1) * x.rad() * self.height(x)

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

    def _jets(self, cell: Cell, z: arb) -> tuple[Jet, Jet]:
        """h at z and at z - 1, both kept inside their pieces: z is in the cell."""
        assert cell.there is not None
        here, there = self.density.parts[cell.here], self.density.parts[cell.there]
        return self._programs[cell.here](_clipped(z, here)), self._programs[cell.there](_clipped(z - 1, there))

    def loss(self, cell: Cell, z: arb) -> tuple[arb, arb]:
        """The loss and its slope at z, or over a ball."""
        here, there = self._jets(cell, z)
        return there.v - here.v, there.d1 - here.d1

    def _range(self, cell: Cell, low: arb, high: arb) -> arb:
        """The loss between two points of a cell, before the mode also by h, which does not rise there."""
        found = self.loss(cell, low.union(high))[0]
        if found.is_finite() or self.density.concave or not high <= 0:
            return found
        (here, there), (nearer, near) = self._jets(cell, low), self._jets(cell, high)
        least, most = arb(near.v - here.v), arb(there.v - nearer.v)
        return least.union(most)

    # cells

    def _cells(self) -> Iterator[Cell]:
        parts = self.density.parts
        cuts = {x for p in parts for x in (p.lower, p.upper) if x is not None} | {Fraction(0)}
        edges: list[tuple[Fraction | None, arb | None]] = [(x, rational(x)) for x in sorted(cuts | {x + 1 for x in cuts})]
        for (low, left), (high, right) in pairwise([(None, None), *edges, (None, None)]):
            here, there = _piece_of(parts, low, high, 0), _piece_of(parts, low, high, 1)
            if here is None or (not self.density.concave and low is not None and low >= 1):
                continue  # past the mode and the shift p <= q
            if there is None:
                yield Cell(left, right, here, None, -1, (INFINITY, INFINITY))
            elif self.density.concave or (low is not None and low >= 0):
                far = self._limit(here) if low is None and here == there else (-INFINITY, INFINITY)
                yield Cell(left, right, here, there, -1, far)
            else:
                yield from self._monotone_cells(Cell(left, right, here, there, 0))

    def _limit(self, here: int) -> tuple[arb, arb]:
        """Bounds on the limit of the loss at minus infinity, the negative of that of h'."""
        for end in far_ends("-inf", self.density.parts[here].upper):
            try:
                slope: Germ = end_jet(self._trees[here], "z", end).d1
                return limit_of(slope)
            except (Undecided, ExprError):
                continue
        return arb(0), INFINITY

    def _monotone_cells(self, cell: Cell) -> Iterator[Cell]:
        """A cell before the mode, cut where the loss turns."""
        low, high = cell.lower, cell.upper
        assert high is not None
        found: list[Cell] = []
        if low is None:
            tail = self._tail_cell(cell)
            found.append(tail)
            assert tail.upper is not None
            low = tail.upper
        least = arb(2) ** -(ctx.prec // 3 + 16)
        stack = [(low, high)]
        while stack:
            a, b = stack.pop()
            direction = self._direction(cell, a, b)
            if direction == 0 and b - a > least * (1 + abs(b)):
                if len(stack) + len(found) > _MOST_CELLS:
                    raise Undecided("the loss is not certainly monotone between a few points.")
                middle = ((a + b) / 2).mid()
                stack += [(middle, b), (a, middle)]
                continue
            last = found[-1] if found else None
            if last is not None and last.direction == direction and last.lower is not None:
                found.pop()
                a = last.lower
            found.append(Cell(a, b, cell.here, cell.there, direction))
        yield from found

    def _tail_cell(self, cell: Cell) -> Cell:
        """The part towards minus infinity where h is convex or concave: the loss is h(z - 1) - h(z)."""
        h = self._trees[cell.here]
        if cell.here != cell.there:
            raise Undecided("the first piece of the density is not the one at minus infinity.")
        for end in far_ends("-inf", None if cell.upper is None else exact(cell.upper.lower())):
            try:
                found = end_jet(h, "z", end)
                bend: Germ = found.d2
                direction = -1 if bend.k.lo >= 0 else 1 if bend.k.hi <= 0 else 0
                if direction:
                    return Cell(None, rational(end.boundary()), cell.here, cell.there, direction, limit_of(found.d1))
            except (Undecided, ExprError):
                continue
        raise Undecided("whether -log(density) is convex or concave towards infinity is not certain.")

    def _direction(self, cell: Cell, a: arb, b: arb) -> int:
        if cell.here == cell.there:
            bend = self._programs[cell.here](_clipped((a - 1).union(b), self.density.parts[cell.here])).d2
            if bend >= 0:
                return -1
            if bend <= 0:
                return 1
        here, there = self._jets(cell, a.union(b))
        slope = there.d1 - here.d1
        if not (slope >= 0 or slope <= 0):
            middle = ((a + b) / 2).mid()
            slope = self.loss(cell, middle)[1] + (there.d2 - here.d2) * (a.union(b) - middle)
        return 1 if slope >= 0 else -1 if slope <= 0 else 0

    # one epsilon

    def decided(self, epsilon: arb) -> Decided:
        """S at an epsilon of at least 0."""
        decided = Decided()
        for cell in self.cells:
            self._decide(cell, epsilon, decided)
        return decided

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0."""
        decided = self.decided(epsilon)
        factor, total = epsilon.exp(), arb(0)
        for low, high in decided.inside:
            p, q = self.masses(low, high)
            total += p - factor * q
        total = (total + arb(0).union(decided.doubt)) / self.total
        return total.max(arb(0)).min(arb(1))

    def masses(self, low: arb | None, high: arb) -> tuple[arb, arb]:
        """The mass of p and of q between two points."""
        if not high.is_finite():
            p, q = self.total, self.total
        else:
            p, q = self.below(high), self.below(high - 1)
        return (p, q) if low is None else (p - self.below(low), q - self.below(low - 1))

    def _decide(self, cell: Cell, epsilon: arb, decided: Decided) -> None:
        upper = INFINITY if cell.upper is None else cell.upper
        if cell.there is None:
            decided.take(cell.lower, upper)
            return
        if cell.direction == 0:
            assert cell.lower is not None and cell.upper is not None
            if self._range(cell, cell.lower, cell.upper) >= epsilon:
                decided.take(cell.lower, cell.upper)
            else:
                self._doubt(cell, cell.lower, cell.upper, epsilon, decided)
            return
        least, most = self._least_and_most(cell)
        if most <= epsilon:
            return
        if least >= epsilon:
            decided.take(cell.lower, upper)
            return
        left, right = self._crossing(cell, epsilon)  # between them it is not certain
        if cell.direction < 0 and left is not None and (cell.lower is None or left > cell.lower):
            decided.take(cell.lower, left)
        self._doubt(cell, left, right, epsilon, decided)
        if cell.direction > 0 and right is not None and (cell.upper is None or right < cell.upper):
            decided.take(right, upper)

    def _least_and_most(self, cell: Cell) -> tuple[arb, arb]:
        low, high = cell.far
        if cell.lower is not None and cell.upper is not None:
            ends = (self.loss(cell, cell.lower)[0], self.loss(cell, cell.upper)[0])
            return ends if cell.direction > 0 else (ends[1], ends[0])
        if cell.lower is None and cell.upper is not None:
            near = self.loss(cell, cell.upper)[0]
            return (low, near) if cell.direction > 0 else (near, high)
        assert cell.lower is not None and cell.direction < 0
        return low, self.loss(cell, cell.lower)[0]

    def _doubt(self, cell: Cell, left: arb | None, right: arb | None, epsilon: arb, decided: Decided) -> None:
        """Count what an undecided interval may add: the integral of p (1 - e^(epsilon - loss))_+."""
        if left is not None and right is not None:
            mass, most = (right - left) * self.height(left.union(right)), self._range(cell, left, right)
        elif left is None and right is not None:
            mass, most = self.below(right), self.loss(cell, right)[0] if cell.direction > 0 else cell.far[1]
        else:
            assert left is not None
            mass, most = self.total - self.below(left), self.loss(cell, left)[0]
        share, gap = arb(1), (most - epsilon).upper()
        if gap <= 0:
            return
        if gap.is_finite():
            share = share.min(-(-gap).expm1())
        decided.doubt = (decided.doubt + mass * share).upper()

    def _crossing(self, cell: Cell, epsilon: arb) -> tuple[arb | None, arb | None]:
        """Points round the root of loss = epsilon, left and right of it for certain; the cell's end where no such point is found."""
        root = self._root(cell, epsilon, *self._bracket(cell, epsilon))
        width = arb(2) ** -(ctx.prec // 2 + 10) * (1 + abs(root)).mid()
        left = self._certain(cell, epsilon, root, -width, cell.lower, cell.direction < 0)
        right = self._certain(cell, epsilon, root, width, cell.upper, cell.direction > 0)
        return left, right

    def _certain(self, cell: Cell, epsilon: arb, root: arb, width: arb, end: arb | None, above: bool) -> arb | None:
        """The first of root + width, root + 16 width, ... where the loss is certainly above (below) epsilon."""
        for _ in range(_MOST_DEPTH):
            point = (root + width).mid()
            if end is not None and not (point > end if width < 0 else point < end):
                return end
            loss = self.loss(cell, point)[0]
            if (loss >= epsilon) if above else (loss <= epsilon):
                return point
            if abs(width) > rational(self.left.extent + self.right.extent) + abs(root):
                break
            width = width * 16
        return end

    def _bracket(self, cell: Cell, epsilon: arb) -> tuple[arb, arb]:
        """Two exact points, the root between them as far as midpoints show and as the density has mass."""
        if cell.lower is not None and cell.upper is not None:
            return cell.lower, cell.upper
        near, sign = (cell.upper, -1) if cell.lower is None else (cell.lower, 1)
        assert near is not None
        grows = cell.direction * sign > 0
        reach = rational(max(self.left.extent, self.right.extent)) * 4
        step, last, point = arb(1) / 2, near, near
        while step < reach:
            last, point = point, (near + sign * step).mid()
            gap = (self.loss(cell, point)[0] - epsilon).mid()
            if (gap > 0) if grows else (gap < 0):
                break
            step = step * 2
        return (point, last) if sign < 0 else (last, point)

    def _root(self, cell: Cell, epsilon: arb, low: arb, high: arb) -> arb:
        """A point near the root: Newton's steps, halves where one leaves the bracket. Proves nothing."""
        at, target = ((low + high) / 2).mid(), epsilon.mid()
        small = arb(2) ** -(ctx.prec // 2 + 14)
        for _ in range(_MOST_DEPTH):
            value, slope = self.loss(cell, at)
            gap = (value - target).mid()
            if gap == 0:
                break
            if (gap > 0) == (cell.direction < 0):
                low = at
            else:
                high = at
            step = (at - gap / slope.mid()).mid()
            if not (step > low and step < high):
                step = ((low + high) / 2).mid()
            moved, at = abs(step - at), step
            if moved <= small * (1 + abs(at)):
                break
        return at


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


# -- the curve -------------------------------------------------------------------------------------


class Shifted(Refined[Order]):
    """The pair (p, p(. - shift)) in one order. unit: the length in which the noise's own unit measures the shift."""

    def __init__(self, density: Reading, shift: Expr, unit: Expr = ONE) -> None:
        super().__init__()
        self._density, self._shift = density.stretched(shift), mul(shift, unit)

    def make(self) -> Order:
        falling = self._density.even or not self._density.concave
        right = Outward(_right_half(self._density), falling)
        left = right if self._density.even else Outward(_right_half(self._density.mirrored()), falling)
        return Order(self._density, left, right)

    def event(self, epsilon: arb) -> Mapping[str, str]:
        """S in the noise's own units, with its two probabilities."""
        _, bits = self.found(epsilon)
        texts, p, q, order = [], arb(0), arb(0), self.at(bits)
        with precision(bits):
            shift, offset = constant(self._shift), rational(self._density.offset)
            for low, high in order.decided(epsilon).inside:
                texts.append(_interval(*(None if x is None else x * shift + offset for x in (low, high))))
                more = order.masses(low, high)
                p, q = p + more[0] / order.total, q + more[1] / order.total
        return {
            "pair": f"answers q(x) and q(x') = q(x) + {format_expr(self._shift)}",
            "event": "{y : " + " or ".join(texts) + "}" if texts else "{}",
            "P": p.str(15),
            "Q": q.str(15),
        }


def _right_half(density: Reading) -> list[Piece]:
    return [p for p in density.parts if p.lower is not None and p.lower >= 0]


def _interval(low: arb | None, high: arb | None) -> str:
    below = "" if low is None else f"{low.str(15)} < "
    above = "" if high is None or not high.is_finite() else f" < {high.str(15)}"
    return f"{below}y - q(x){above}"


def nothing(_: arb) -> arb:
    """The profile of two equal distributions."""
    return arb(0)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    return settled.noise(run, curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))), parameters, one_way=True)


def curve(noise: Mechanism, reach: Sensitivity) -> Curve:
    """The curve of one-dimensional noise at a sensitivity, in units of the noise's norm.

    Raises Rejected for another kind of noise, a sensitivity that is not certainly at least 0 or a scale that is not certainly positive,
    Undecided where the density is not proved unimodal or has no enclosed integral.
    """
    if not isinstance(noise, Radial | Translation):
        raise Rejected(NAME, "the noise", "it is not one density on the line; this is for radial noise in dimension 1 and for translations")
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(NAME, "the noise", "it lives on the integers, where its curve is a sum")
    scale = noise.scale if isinstance(noise, Radial) else ONE
    if not certainly_lt(ZERO, scale):
        raise Rejected(NAME, "the scale", f"{format_expr(scale)} is not certainly positive")
    density = read(noise)
    shifts = [div(bound, scale) for bound in (reach.upper, reach.lower)]
    for shift in shifts:
        if not certainly_le(ZERO, shift):
            raise Rejected(NAME, "the sensitivity", f"{format_expr(shift)} is not certainly at least 0")
    if density.even:
        length = mul(scale, unit_length(noise))
        upper = _even_pair(density, shifts[0], length)
        return Curve(upper, upper if shifts[0] == shifts[1] else _even_pair(density, shifts[1], length), (NAME,), ASSUMED)
    return Curve(dominating(_two_orders(density, shifts[0])), _two_orders(density, shifts[1]), (NAME,), ASSUMED)


def unit_length(noise: Noise) -> Expr:
    """The length of a number of norm 1."""
    if isinstance(noise, Translation) or noise.norm.kind == "lp":
        return ONE
    largest = max(abs(row[0]) for row in noise.norm.matrix)
    if noise.norm.kind == "ellipsoid":
        return sqrt(Num(largest))
    return Num(largest if noise.norm.kind == "columns" else 1 / largest)


def _even_pair(density: Reading, shift: Expr, scale: Expr) -> Pair:
    if certainly_le(shift, ZERO):
        return symmetric(nothing)
    profile = Shifted(density, shift, scale)
    return symmetric(profile, profile.event)


def _two_orders(density: Reading, shift: Expr) -> Pair:
    if certainly_le(shift, ZERO):
        return symmetric(nothing)
    forward = Shifted(density, shift)
    return Pair(forward, Shifted(density.mirrored(), shift), forward.event)
