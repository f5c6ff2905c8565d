"""Privacy curves of one-dimensional noise whose profile has no closed form, by enclosed integrals.

Lengths are in units of the shift, so that q(z) = p(z - 1). S, where p > e^epsilon q, is found cell by cell: on each the loss
log p(z) - log q(z) is proved monotone once, for all epsilons, so that for one epsilon it is left by one root at most. The integrand
vanishes at the root: a root known to 2^-b costs 2^-2b of H. What is not decided is counted by its mass, as an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from flint import acb, arb, ctx

from dpverify.balls import BallProgram, Jet, constant, exact, hull, precision, rational, resolve
from dpverify.compare import AT_LEAST_ZERO, AT_MOST_ZERO, certainly_equal, certainly_le, certainly_lt
from dpverify.curves.base import Curve, Pair, symmetric
from dpverify.ends import End, Germ, end_jet
from dpverify.errors import ExprError, Rejected, Undecided
from dpverify.expr import ONE, ZERO, Expr, Num, Sym, add, call, derivative, div, format_expr, mul, neg, neg_log, sqrt, sub, substitute, symbols
from dpverify.geometry import Sensitivity
from dpverify.integral import Piece, compiled, end_mass, pieces
from dpverify.model import Domain, Radial, Source, Translation
from dpverify.periods import step_period
from dpverify.quotients import divided
from dpverify.shapes import Shapes

NAME: Final = "line"
STATEMENT: Final = (
    "For additive noise on the line whose density does not fall up to a mode and does not rise after it, the divergence of (p, p(. - s)) "
    "does not fall as |s| grows: its derivative in s > 0 is e^epsilon times the integral of p' over {z: p(z + s) > e^epsilon p(z)}, which "
    "lies before the mode. So the pair at the full shift, in both orders, is the worst."
)
CHECKED: Final = ("the density is unimodal", "it is integrable", "the loss is monotone between the cuts", "the shift is not negative")
ASSUMED: Final = ("the query moves by at most the sensitivity", "the noise is the declared one")
SOURCE: Final = Source("THEORY", "T3, T18")

Z: Final = Sym("z")
REALS: Final = {"z": Domain()}
_LADDER: Final = (4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 30, 35, 40, 50, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k shifts."""
_MOST_DEPTH: Final = 300
_MOST_CELLS: Final = 4_000
_MOST_TRIES: Final = 4
_GUARD: Final = 16
_DEPTH: Final = 4
"""Masses are known to a relative accuracy where they are above the whole times 2^-precision to this power."""
_STEP: Final = 32
"""Set-ups are made at multiples of these bits."""
_INFINITY: Final = arb("inf")

Noise = Radial | Translation


# -- what is read off the noise --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """A density on the line in its pieces, from left to right, proved unimodal.

    concave: its logarithm is. even: about 0. Where it is not log-concave its mode is 0. The noise is z + offset.
    """

    parts: tuple[Piece, ...]
    even: bool
    concave: bool
    offset: Fraction = Fraction(0)

    def mirrored(self) -> Reading:
        """The density of -z."""
        flipped = tuple(
            Piece(substitute(p.density, {"z": neg(Z)}), "z", None if p.upper is None else -p.upper, None if p.lower is None else -p.lower)
            for p in reversed(self.parts)
        )
        return Reading(flipped, self.even, self.concave, -self.offset)

    def stretched(self, unit: Expr) -> Reading:
        """The density of z / unit."""
        return Reading(tuple(self._stretched(p, unit) for p in self.parts), self.even, self.concave, self.offset)

    def _stretched(self, part: Piece, unit: Expr) -> Piece:
        def end(x: Fraction | None) -> Fraction | None:
            if not x:
                return x
            if not isinstance(unit, Num):
                raise Undecided(f"the density has a kink or an end at {x} and the shift {format_expr(unit)} is not rational; round it up.")
            return x / unit.value

        return Piece(substitute(part.density, {"z": mul(unit, Z)}), "z", end(part.lower), end(part.upper))


@lru_cache(maxsize=64)
def read(noise: Noise) -> Reading:
    """The density of the noise, proved unimodal, about its mode or another point. Raises Undecided where that is not proved."""
    if isinstance(noise, Radial):
        return _read_radial(noise)
    lower, upper = (_rational_end(end) for end in noise.support)
    density = noise.density
    if symbols(density) - {"z"}:
        raise Undecided("a parameter of the density has no value.")
    if step_period(density, "z") is not None:
        raise Undecided("a density with steps at every whole number; its curve is not an integral of a few smooth pieces.")
    even = _mirror_image(lower, upper) and certainly_equal(density, substitute(density, {"z": neg(Z)}), REALS)
    if even and lower is None:
        right = _half_pieces(density)
        if _convex_line(density):
            return _both_sides(right, concave=True)
        found = _read_even(right)
        if found is not None:
            return found
    parts = _pieces(density, lower, upper)
    if (lower is None and upper is None and _convex_line(density)) or _convex_pieces(parts):
        return _about(parts, _nearest(Fraction(0), lower, upper), even, True)
    for mode in ({p.lower for p in parts} | {p.upper for p in parts}) - {None}:
        assert mode is not None
        if all(_monotone(p, rises=p.upper is not None and p.upper <= mode) for p in parts) and _joins(parts, mode):
            return _about(parts, mode, even, False)
    raise Undecided("the density is not proved unimodal; its mode must be 0 or a kink at a rational point, or its logarithm concave.")


def _read_radial(noise: Radial) -> Reading:
    if noise.dimension != ONE:
        raise Undecided(f"noise in dimension {format_expr(noise.dimension)}; this is for dimension 1.")
    if symbols(noise.profile) - {"r"} or symbols(noise.scale):
        raise Undecided("a parameter of the noise has no value.")
    found = _read_even(_half_pieces(substitute(noise.profile, {"r": Z})))
    if found is None:
        raise Undecided("the profile is not proved non-increasing.")
    return found


def _rational_end(end: Expr | None) -> Fraction | None:
    if end is not None and not isinstance(end, Num):
        raise Undecided("the ends of the support must be rational here.")
    return None if end is None else end.value


def _mirror_image(lower: Fraction | None, upper: Fraction | None) -> bool:
    return (lower is None and upper is None) or (lower is not None and upper is not None and lower == -upper)


def _half_pieces(density: Expr) -> tuple[Piece, ...]:
    return _pieces(density, Fraction(0), None)


def _pieces(density: Expr, lower: Fraction | None, upper: Fraction | None) -> tuple[Piece, ...]:
    """The smooth pieces, side by side. Raises Undecided for a density with gaps."""
    if step_period(density, "z") is not None:
        raise Undecided("a density with steps at every whole number; its curve is not an integral of a few smooth pieces.")
    parts = tuple(map(_plain, pieces(density, "z", lower, upper)))
    if not parts or any(left.upper != right.lower for left, right in pairwise(parts)):
        raise Undecided("a density that is zero between two places where it is not.")
    return parts


def _plain(part: Piece) -> Piece:
    """The piece without kinks where those of its logarithm are decided."""
    h = neg_log(part.density)
    plain = resolve(h, "z", part.lower, part.upper)
    return part if plain == h else Piece(call("exp", neg(plain)), "z", part.lower, part.upper)


def _read_even(right: tuple[Piece, ...]) -> Reading | None:
    """An even density from its right half, or None where that is not proved non-increasing."""
    if right[0].lower != 0:
        return None
    if not (all(_monotone(p, rises=False) for p in right) and _joins(right, Fraction(0))):
        return None
    return _both_sides(right, _convex_pieces(right))


def _both_sides(right: tuple[Piece, ...], concave: bool) -> Reading:
    left = Reading(right, True, concave).mirrored().parts
    return Reading(left + right, True, concave)


def _about(parts: tuple[Piece, ...], point: Fraction, even: bool, concave: bool) -> Reading:
    """The density moved so that `point` becomes 0, a cut."""

    def split(p: Piece) -> Iterator[Piece]:
        density = substitute(p.density, {"z": _plus(point)})
        low, high = (None if end is None else end - point for end in (p.lower, p.upper))
        if (low is None or low < 0) and (high is None or high > 0):
            yield Piece(density, "z", low, Fraction(0))
            yield Piece(density, "z", Fraction(0), high)
        else:
            yield Piece(density, "z", low, high)

    return Reading(tuple(piece for p in parts for piece in split(p)), even and point == 0, concave, point)


def _nearest(point: Fraction, lower: Fraction | None, upper: Fraction | None) -> Fraction:
    if lower is not None and point < lower:
        return lower
    return upper if upper is not None and point > upper else point


def _plus(offset: Fraction) -> Expr:
    return add(Z, Num(offset))


def _convex_line(density: Expr) -> bool:
    """Whether -log(density) is certainly convex on the whole line."""
    shapes = Shapes("z", False, {})
    try:
        return shapes.shape(shapes.tidy(divided(neg_log(density), "z"))).convex
    except (Undecided, ExprError):
        return False


def _outward(part: Piece) -> tuple[Expr, Shapes, int]:
    """-log(density) of a piece as a function of the distance from an end of it, on (0, inf); 1 or -1 for the direction of z."""
    h, shapes = neg_log(part.density), Shapes("z", True, {})
    if part.lower is not None:
        moved, direction = substitute(h, {"z": _plus(part.lower)}), 1
    else:
        assert part.upper is not None
        moved, direction = substitute(h, {"z": sub(Num(part.upper), Z)}), -1
    return shapes.tidy(divided(moved, "z")), shapes, direction


def _convex(part: Piece) -> bool:
    if part.lower is None and part.upper is None:
        return _convex_line(part.density)
    try:
        h, shapes, _ = _outward(part)
        return shapes.shape(h).convex
    except (Undecided, ExprError):
        return False


def _convex_pieces(parts: Sequence[Piece]) -> bool:
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


def _monotone(part: Piece, rises: bool) -> bool:
    """Whether the density certainly does not fall (rises) or does not rise on a piece."""
    if part.lower is None and part.upper is None:
        return False
    try:
        h, shapes, direction = _outward(part)
        shape = shapes.shape(h)
        wanted = AT_MOST_ZERO if rises == (direction > 0) else AT_LEAST_ZERO
        if shape.slope <= wanted:
            return True
        start = substitute(derivative(h, "z"), {"z": ZERO})
        if shape.convex and wanted == AT_LEAST_ZERO and certainly_le(ZERO, start):
            return True
    except (Undecided, ExprError):
        pass
    return _monotone_by_balls(part, rises)


def _monotone_by_balls(part: Piece, rises: bool) -> bool:
    """The same by balls over a partition, and by the scales at an infinite end."""
    sign = -1 if rises else 1
    low, high = part.lower, part.upper
    with precision(128):
        h = neg_log(part.density)
        for side in ("-inf", "+inf"):
            if (low if side == "-inf" else high) is not None:
                continue
            other = high if side == "-inf" else low
            end = next((e for e in _ends(side, other) if _slope_sign(h, e, sign)), None)
            if end is None:
                return False
            low, high = (end.boundary(), high) if side == "-inf" else (low, end.boundary())
        assert low is not None and high is not None
        return _slopes(BallProgram(h, "z"), rational(low), rational(high), sign, 0)


def _ends(side: Literal["-inf", "+inf"], other: Fraction | None) -> Iterator[End]:
    for k in _LADDER:
        end = End(side, Fraction(2) ** k)
        if other is None or (end.boundary() < other if side == "-inf" else end.boundary() > other):
            yield end


def _slope_sign(h: Expr, end: End, sign: int) -> bool:
    try:
        slope: Germ = end_jet(h, "z", end).d1
    except (Undecided, ExprError):
        return False
    return bool(slope.k.lo >= 0) if sign > 0 else bool(slope.k.hi <= 0)


def _slopes(h: BallProgram, low: arb, high: arb, sign: int, depth: int) -> bool:
    if sign * h(low.union(high)).d1 >= 0:
        return True
    middle = ((low + high) / 2).mid()
    return depth < 40 and all(_slopes(h, a, b, sign, depth + 1) for a, b in ((low, middle), (middle, high)))


def _joins(parts: Sequence[Piece], mode: Fraction) -> bool:
    """Whether the density does not fall where two pieces meet before the mode, and does not rise after it."""
    for left, right in pairwise(parts):
        assert left.upper is not None
        at = {"z": Num(left.upper)}
        before, after = substitute(left.density, at), substitute(right.density, at)
        if left.upper < mode and not certainly_le(before, after):
            return False
        if left.upper > mode and not certainly_le(after, before):
            return False
    return True


# -- masses ----------------------------------------------------------------------------------------


class Outward:
    """The mass of a density beyond a distance from 0, to the right, to a high relative accuracy.

    Its edges are powers of two and the points half way between them; the masses of the cells are kept.
    """

    def __init__(self, parts: Sequence[Piece]) -> None:
        self._parts = parts
        self._programs = [compiled(p.density, "z") for p in parts]
        self._edges: list[Fraction] = [Fraction(0)]
        self._masses: list[arb] = []
        self._sums: list[arb] = []
        self._rung = 0
        self.tail = arb(0)
        if parts and parts[-1].upper is None:
            self._extend()
            while self.tail.rad() > self._sums[0] * arb(2) ** -ctx.prec and self._rung < len(_LADDER):
                self._extend()
        elif parts:
            self._add_cells(parts[-1].upper or Fraction(0))

    @property
    def extent(self) -> Fraction:
        """The farthest edge."""
        return self._edges[-1]

    def _extend(self) -> None:
        """The next end that has an enclosed mass."""
        last = self._parts[-1]
        while self._rung < len(_LADDER):
            end = End("+inf", Fraction(2) ** _LADDER[self._rung])
            self._rung += 1
            if last.lower is not None and end.start <= last.lower:
                continue
            try:
                mass = end_mass(last.density, "z", end)
            except (Undecided, ExprError):
                continue
            if mass is None:
                raise Undecided("the density is not integrable.")
            self.tail = mass
            self._add_cells(end.start)
            return
        raise Undecided("whether the density is integrable at infinity is not certain.")

    def _add_cells(self, to: Fraction) -> None:
        edges = {to, *(p.lower for p in self._parts if p.lower is not None)}
        step = Fraction(1, 4)
        while step < to:
            edges |= {step, step * Fraction(3, 2)}
            step *= 2
        fresh = sorted(e for e in edges if self._edges[-1] < e <= to)
        for edge in fresh:
            self._masses.append(self._cell(rational(self._edges[-1]), edge))
            self._edges.append(edge)
        total, self._sums = self.tail, [self.tail]
        for mass in reversed(self._masses):
            total = total + mass
            self._sums.append(total)
        self._sums.reverse()

    def _cell(self, start: arb, end: Fraction) -> arb:
        """The integral from a point to the next edge."""
        function = next(f for f, p in zip(self._programs, self._parts, strict=True) if p.upper is None or end <= p.upper)
        tolerance, least = arb(2) ** -ctx.prec, self._masses[0] * arb(2) ** (-_DEPTH * ctx.prec) if self._masses else arb(0)
        found = acb.integral(
            function, acb(start), acb(rational(end)), rel_tol=tolerance, abs_tol=least.mid(), eval_limit=20_000, depth_limit=4_000
        )
        if not (found.real.is_finite() and 0 in found.imag):
            raise Undecided(f"the integral of the density up to {end} shifts from its centre has no finite enclosure.")
        return found.real.max(arb(0))

    def beyond(self, distance: arb) -> arb:
        """The mass beyond an exact distance of at least 0."""
        if not self._parts:
            return arb(0)
        found = self._beyond(distance)
        while found.rel_accuracy_bits() < ctx.prec // 2 and self._parts[-1].upper is None and self._rung < 9:
            self._extend()
            found = self._beyond(distance)
        return found

    def _beyond(self, distance: arb) -> arb:
        while self._parts[-1].upper is None and not distance <= rational(self.extent):
            self._extend()
        at = exact(distance)
        i = next((i for i, edge in enumerate(self._edges) if at <= edge), None)
        if i is None:
            return arb(0)
        return self._sums[i] if at == self._edges[i] else self._sums[i] + self._cell(distance, self._edges[i])


# -- the loss --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cell:
    """An interval on which the loss is monotone: direction 1 where it does not fall, -1 where it does not rise, 0 where not known.

    lower, upper: exact, None for an infinite end. here, there: the pieces that z and z - 1 are in, there None where the density at
    z - 1 is zero. far: bounds on the limit of the loss at the infinite end.
    """

    lower: arb | None
    upper: arb | None
    here: int
    there: int | None
    direction: int
    far: tuple[arb, arb] = (-_INFINITY, _INFINITY)


@dataclass(slots=True)
class Decided:
    """For one epsilon: the intervals of S, and a bound on what the undecided rest adds to H."""

    inside: list[tuple[arb | None, arb]] = field(default_factory=list)
    doubt: arb = field(default_factory=lambda: arb(0))

    def take(self, lower: arb | None, upper: arb) -> None:
        """Add an interval that starts where the last one ended or later."""
        if self.inside and lower is not None and self.inside[-1][1] == lower:
            lower = self.inside.pop()[0]
        self.inside.append((lower, upper))


class Order:
    """The pair (p, p(. - 1)) in one order, set up at the working precision of its making."""

    def __init__(self, density: Reading, left: Outward, right: Outward) -> None:
        self.density, self.left, self.right, self.bits = density, left, right, ctx.prec
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
        for low, high in pairwise([None, *sorted(cuts | {x + 1 for x in cuts}), None]):
            here, there = _piece_of(parts, low, high, 0), _piece_of(parts, low, high, 1)
            if here is None or (not self.density.concave and low is not None and low >= 1):
                continue  # past the mode and the shift p <= q
            ends = (None if low is None else rational(low), None if high is None else rational(high))
            if there is None:
                yield Cell(*ends, here, None, -1, (_INFINITY, _INFINITY))
            elif self.density.concave or (low is not None and low >= 0):
                far = self._limit(here) if low is None and here == there else (-_INFINITY, _INFINITY)
                yield Cell(*ends, here, there, -1, far)
            else:
                yield from self._monotone_cells(Cell(*ends, here, there, 0))

    def _limit(self, here: int) -> tuple[arb, arb]:
        """Bounds on the limit of the loss at minus infinity, the negative of that of h'."""
        for end in _ends("-inf", self.density.parts[here].upper):
            try:
                slope: Germ = end_jet(self._trees[here], "z", end).d1
                return _limit_of(slope)
            except (Undecided, ExprError):
                continue
        return arb(0), _INFINITY

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
        for end in _ends("-inf", None if cell.upper is None else exact(cell.upper)):
            try:
                found = end_jet(h, "z", end)
                bend: Germ = found.d2
                direction = -1 if bend.k.lo >= 0 else 1 if bend.k.hi <= 0 else 0
                if direction:
                    return Cell(None, rational(end.boundary()), cell.here, cell.there, direction, _limit_of(found.d1))
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

    def divergence(self, epsilon: arb) -> tuple[arb, Decided]:
        """H at an epsilon of at least 0, and S."""
        decided = Decided()
        for cell in self.cells:
            self._decide(cell, epsilon, decided)
        factor, total = epsilon.exp(), arb(0)
        for low, high in decided.inside:
            p, q = self.masses(low, high)
            total += p - factor * q
        total = (total + arb(0).union(decided.doubt)) / self.total
        return total.max(arb(0)).min(arb(1)), decided

    def masses(self, low: arb | None, high: arb) -> tuple[arb, arb]:
        """The mass of p and of q between two points."""
        if not high.is_finite():
            p, q = self.total, self.total
        else:
            p, q = self.below(high), self.below(high - 1)
        return (p, q) if low is None else (p - self.below(low), q - self.below(low - 1))

    def _decide(self, cell: Cell, epsilon: arb, decided: Decided) -> None:
        upper = _INFINITY if cell.upper is None else cell.upper
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
            if end is not None and (point <= end if width < 0 else point >= end):
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


def _limit_of(slope: Germ) -> tuple[arb, arb]:
    """Bounds on the negative of a germ's limit."""
    direction = 0 if slope.k.is_zero() else slope.direction()
    if direction < 0 or slope.k.is_zero():
        return arb(0), arb(0)
    if direction == 0:
        return -slope.k.hi, -slope.k.lo
    if slope.k.hi < 0:
        return _INFINITY, _INFINITY
    return arb(0), _INFINITY


# -- the curve -------------------------------------------------------------------------------------


class Shifted:
    """The pair (p, p(. - shift)) in one order: a profile that keeps what it has set up."""

    def __init__(self, density: Reading, shift: Expr, scale: Expr = ONE) -> None:
        self._density, self._unit = density.stretched(shift), mul(shift, scale)
        self._orders: dict[int, Order] = {}

    def order(self, bits: int) -> Order:
        """The pair at `bits` of precision or a few more."""
        bits += -bits % _STEP
        if bits not in self._orders:
            with precision(bits):
                density = self._density
                right = Outward([p for p in density.parts if p.lower is not None and p.lower >= 0])
                mirrored = density.mirrored().parts
                left = right if density.even else Outward([p for p in mirrored if p.lower is not None and p.lower >= 0])
                self._orders[bits] = Order(density, left, right)
        return self._orders[bits]

    def __call__(self, epsilon: arb) -> arb:
        """H, by more bits where the masses cancel. Raises Undecided."""
        if not epsilon.is_finite():
            raise Undecided("a privacy profile at an epsilon that is not enclosed.")
        if epsilon.is_exact() or epsilon.rel_accuracy_bits() >= ctx.prec - _GUARD:
            return self.decided(epsilon)[0]
        return self.decided(epsilon.lower().max(arb(0)))[0].union(self.decided(epsilon.upper())[0])

    def decided(self, epsilon: arb) -> tuple[arb, Decided, Order]:
        """H with S and the set-up that it was found at."""
        wanted, bits = ctx.prec - _GUARD, ctx.prec + _GUARD
        for _ in range(_MOST_TRIES):
            order = self.order(bits)
            with precision(bits):
                found, decided = order.divergence(epsilon)
            lost = wanted - found.rel_accuracy_bits()
            if lost <= 0 or found == 0 or not epsilon.is_exact():
                break
            bits += (lost if lost < wanted else 2 * wanted) + _GUARD
        if not found.is_finite():
            raise Undecided("the divergence has no finite enclosure; raise the precision.")
        return found, decided, order

    def event(self, epsilon: arb) -> Mapping[str, str]:
        """S in the noise's own units, with its two probabilities."""
        _, decided, order = self.decided(epsilon)
        texts, p, q = [], arb(0), arb(0)
        with precision(order.bits):
            unit, offset = constant(self._unit), rational(self._density.offset)
            for low, high in decided.inside:
                texts.append(_interval(*(None if x is None else x * unit + offset for x in (low, high))))
                more = order.masses(low, high)
                p, q = p + more[0] / order.total, q + more[1] / order.total
        return {
            "pair": f"answers q(x) and q(x') = q(x) + {format_expr(self._unit)}",
            "event": "{y : " + (" or ".join(texts) or "never") + "}",
            "P": p.str(15),
            "Q": q.str(15),
        }


def _interval(low: arb | None, high: arb | None) -> str:
    below = "" if low is None else f"{low.str(15)} < "
    above = "" if high is None or not high.is_finite() else f" < {high.str(15)}"
    return f"{below}y - q(x){above}"


def nothing(_: arb) -> arb:
    """The profile of two equal distributions."""
    return arb(0)


def curve(noise: Noise, reach: Sensitivity) -> Curve:
    """The curve of one-dimensional noise at a sensitivity, in units of the noise's norm.

    Raises Rejected for a sensitivity that is not certainly at least 0 or a scale that is not certainly positive, Undecided where the
    density is not proved unimodal or has no enclosed integral.
    """
    scale = noise.scale if isinstance(noise, Radial) else ONE
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(NAME, "the noise", "it lives on the integers, where its curve is a sum")
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


def dominating(pair: Pair) -> Pair:
    """A symmetric pair that dominates both orders of a pair: the greater of two profiles is a profile."""
    if pair.forward is pair.backward:
        return pair

    def profile(epsilon: arb) -> arb:
        return pair.worst(epsilon)

    return symmetric(profile, pair.event)
