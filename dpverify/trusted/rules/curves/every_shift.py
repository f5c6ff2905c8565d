"""Privacy curves of noise on the line of any shape: the greatest divergence over all shifts up to the sensitivity, by cells of shifts.

A longer shift need not be worse where the density has several modes, or a zero inside. Lengths are in units of the sensitivity, so that
shifts t lie in [-1, 1]. G(t) is the integral of (p(y) - a p(y - t))_+, a = e^epsilon. Boxes of y are split, the one that matters most
first, until each lies inside S = {p > a p(. - t)}, outside it, or adds little.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.assumptions import EVERY, REAL
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.orientation import oriented
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.language.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Num, div, format_expr, substitute
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Radial, Source, Translation
from dpverify.trusted.language.rationals import read_fraction, to_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import constant, precision, rational
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.order.compare import certainly_equal, certainly_lt
from dpverify.trusted.parts.neighbours import OnePair
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.additive.points import sign_of
from dpverify.trusted.rules.curves.outward import BothSides, Outward
from dpverify.trusted.rules.curves.unimodal import INFINITY, Reading, in_pieces

NAME: Final = "every-shift"
STATEMENT: Final = (
    "Noise on the line with a density of bounded variation, of any shape: the tight delta is the greatest divergence of (p, p(. - s)) for "
    "|s| <= D, which need not be at D. Between two shifts it changes by at most e^epsilon times their distance times what p is at the "
    "edges of {p > e^epsilon p(. - s)}."
)
CHECKED: Final = (
    "the shifts are cut into cells from end to end",
    "the divergence at every cut, and its slopes on every cell",
    "the density is integrable, and non-negative where no assumption says otherwise",
    "the sensitivity is positive",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#every-shift")

_MOST_CUTS: Final = 4_000
_MOST_SPLITS: Final = 1_000
_MOST_BITS: Final = 200
_MOST_FAR: Final = 1_000
_WHOLE: Final = 32
"""Precisions are multiples of this many bits."""

_NONE: Final[Mapping[int, arb]] = {}

Interval = tuple[arb, arb]


@dataclass(frozen=True, slots=True)
class Effort:
    """far: what is beyond 2^far counts as a tail. Boxes of y are split while they weigh more than 2^-point of the mass, for one shift, and
    more than 2^-cell of the mass times the cell's width, for a cell of shifts.
    """

    far: int
    point: int
    cell: int


@dataclass(frozen=True, slots=True)
class _Near:
    """The density over a ball: its values, its slopes, and the cuts there at which it leaps, with how far."""

    v: arb
    d1: arb
    leaps: Mapping[int, arb]


@dataclass(frozen=True, slots=True)
class _Box:
    """Points y, the densities p(y) and p(y - t) there, and the most of p(y) - a p(y - t)."""

    low: arb
    high: arb
    here: _Near
    there: _Near
    most: arb


@dataclass(frozen=True, slots=True)
class _Tail:
    """What lies beyond `edge`: its mass; bounds on |h'| there and one unit before, h = -log p; the variation of p there."""

    edge: arb
    mass: arb
    steepest: arb
    variation: arb


class Density:
    """A density with its mass on both sides, at the precision of its making."""

    def __init__(self, reading: Reading, far: int) -> None:
        first, *_, last = (*reading.parts, reading.parts[-1])
        self._first, self._last = _end(first.lower, -INFINITY), _end(last.upper, INFINITY)
        self._pieces = [(_end(p.lower, -INFINITY), _end(p.upper, INFINITY), BallProgram(p.density, "z")) for p in reading.parts]
        self._sides = BothSides(reading, falling=False)
        self.total = self._sides.total
        self.cuts = sorted({x for p in reading.parts for x in (p.lower, p.upper) if x is not None})
        self._leaps = list(_leaps(reading.parts))
        self.after = _tail(reading, self._sides.right, far)
        self.before = self.after if reading.even else _tail(reading.mirrored(), self._sides.left, far)

    def below(self, x: arb) -> arb:
        """The mass below x."""
        return self._sides.below(x, lambda ball: self.over(ball).v.abs_upper())

    def over(self, x: arb) -> _Near:
        """The density over a ball. Not finite where it, or its slope, may have no bound."""
        low, high = x.lower(), x.upper()
        found: list[Jet] = []
        for start, end, program in self._pieces:
            if high < start or low > end:
                continue
            found.append(program(x if low >= start and high <= end else low.max(start).union(high.min(end))))
        leaps = {i: size for i, (at, size) in enumerate(self._leaps) if not (x < at or x > at)} if self._leaps else _NONE
        if len(found) == 1 and low >= self._first and high <= self._last:
            return _Near(found[0].v, found[0].d1, leaps)
        if not (low >= self._first and high <= self._last):
            found.append(Jet(arb(0), arb(0), arb(0)))
        return _Near(_union([jet.v for jet in found]), _union([jet.d1 for jet in found]), leaps)


def _leaps(parts: Sequence[Piece]) -> Iterator[tuple[arb, arb]]:
    """The cuts at which a density may leap, with a bound on how far, between balls that hold them."""
    cuts = {x for p in parts for x in (p.lower, p.upper) if x is not None}
    for cut in sorted(cuts):
        at = {"z": Num(cut)}
        before = next((substitute(p.density, at) for p in parts if p.upper == cut), ZERO)
        after = next((substitute(p.density, at) for p in parts if p.lower == cut), ZERO)
        if not certainly_equal(before, after):
            yield rational(cut), abs(constant(after) - constant(before)).upper()


def _end(at: Fraction | None, infinite: arb) -> arb:
    return infinite if at is None else rational(at)


def _union(balls: Sequence[arb]) -> arb:
    found = balls[0]
    for ball in balls[1:]:
        found = found.union(ball)
    return found


def _tail(reading: Reading, right: Outward, far: int) -> _Tail:
    """What is far to the right. Raises Undecided where the density is not certainly falling there."""
    last = reading.parts[-1]
    if last.upper is not None:  # a shift of 1 later both densities are 0
        return _Tail(rational(last.upper.__ceil__() + 1), arb(0), arb(0), arb(0))
    end = End("+inf", Fraction(2) ** far)
    if last.lower is not None and end.start <= last.lower:
        raise Undecided("the tail starts before the last piece of the density.")
    slope: Germ = end_jet(neg_log(last.density), "z", end).d1
    if not slope.k.lo >= 0:
        raise Undecided("the density is not certainly falling towards infinity; start the tail further out.")
    steepest = INFINITY
    if slope.direction() <= 0:
        steepest = slope.bounds().hi
    start, edge = rational(end.start), rational(end.start + 1)  # exact at every precision
    return _Tail(edge, right.beyond(edge), steepest, BallProgram(last.density, "z")(start).v.abs_upper())


class Shifts:
    """G at shifts, and what it changes by between them, at the precision of its making. Lengths are in units of the sensitivity."""

    def __init__(self, density: Density, effort: Effort, epsilon: arb) -> None:
        self.density, self._effort = density, effort
        self._epsilon, self._factor = epsilon, epsilon.exp()
        self._points: dict[Fraction, arb] = {}

    def point(self, shift: Fraction) -> arb:
        """G, over the total mass, at a shift."""
        if shift not in self._points:
            self._points[shift] = arb(0)
            if shift:  # p <= a p
                inside, doubt = self.decided(shift)
                found = arb(0)
                for p, q in (self.masses(shift, *part) for part in inside):
                    found += p - self._factor * q
                self._points[shift] = ((found + arb(0).union(doubt)) / self.density.total).max(arb(0)).min(arb(1))
        return self._points[shift]

    def decided(self, shift: Fraction) -> tuple[list[Interval], arb]:
        """Intervals of S, and a bound on what the undecided rest adds to G."""

        def adds(box: _Box) -> arb:
            return ((box.high - box.low) * box.most.max(arb(0))).upper()

        inside, undecided = self._sorted(rational(shift), adds, self.density.total * arb(2) ** -self._effort.point)
        doubt = sum(map(adds, undecided), arb(0))
        for tail in (self.density.before, self.density.after):
            over = (abs(rational(shift)) * tail.steepest - self._epsilon).upper()
            if not over <= 0:
                doubt += tail.mass * (-(-over).expm1() if over.is_finite() else arb(1))
        return inside, doubt.upper()

    def masses(self, shift: Fraction, low: arb, high: arb) -> tuple[arb, arb]:
        """The mass of p and of p(. - shift) between two points."""
        below, s = self.density.below, rational(shift)
        return below(high) - below(low), below(high - s) - below(low - s)

    def slopes(self, low: Fraction, high: Fraction) -> arb:
        """What G, over the total mass, may change by between two shifts of a cell, over their distance."""
        shifts, width = rational(low).union(rational(high)), rational(high - low)

        def moves(box: _Box) -> arb:
            return (self._factor * (box.high - box.low) * box.there.d1.abs_upper()).upper()

        def matters(box: _Box) -> arb:
            leaps = sum(self._leaps(box).values(), arb(0)) if box.high - box.low > width else arb(0)
            return (moves(box) + leaps).upper()

        fine = self._factor * self.density.total * width * arb(2) ** -self._effort.cell
        inside, undecided = self._sorted(shifts, matters, fine, keeps_leaps=True)
        doubt, leaps = sum(map(moves, undecided), arb(0)), dict[int, arb]()
        for box in undecided:
            for cut, size in self._leaps(box).items():
                leaps[cut] = leaps.get(cut, arb(0)).max(size)
        for tail in (self.density.before, self.density.after):
            if not shifts.abs_upper() * tail.steepest <= self._epsilon:
                doubt += self._factor * tail.variation
        found = arb(0)
        for start, end in inside:
            found += self.density.over(end - shifts).v - self.density.over(start - shifts).v
        return (self._factor * found + arb(0, 1) * sum(leaps.values(), doubt).upper()) / self.density.total

    def _leaps(self, box: _Box) -> dict[int, arb]:
        """What a p(y - t) leaps by at the cuts of an undecided box, as far as it counts: the integrand lies between 0 and p."""
        return {cut: (self._factor * size).upper().min(box.here.v.upper()) for cut, size in box.there.leaps.items()}

    def most(self, low: Fraction, high: Fraction) -> arb:
        """An upper bound on G, over the total mass, on a cell of shifts."""
        left, right, width = self.point(low).upper(), self.point(high).upper(), rational(high - low)
        slopes = self.slopes(low, high)
        if not slopes.is_finite():
            return arb(1)
        up, down = slopes.upper().max(arb(0)), (-slopes).upper().max(arb(0))
        found = (left + up * width).upper().min((right + down * width).upper())
        if up > 0 and down > 0:
            found = found.min(((down * left + up * right + up * down * width) / (up + down)).upper())
        return found.min(arb(1))

    def _sorted(self, shift: arb, weight: Callable[[_Box], arb], fine: arb, keeps_leaps: bool = False) -> tuple[list[Interval], list[_Box]]:
        """Boxes of y that are certainly in S for every shift of a ball, joined; and those undecided, split while they weigh more than fine.

        keeps_leaps: boxes that p(. - t) may leap on count as not decided.
        """
        inside: list[Interval] = []
        number = count()
        heap: list[tuple[arb, int, _Box]] = []

        def look(low: arb, high: arb) -> None:
            y = low.union(high)
            here, there = self.density.over(y), self.density.over(y - shift)
            sign, most = self._sign(y, shift, here, there)
            if sign == 0 or (sign > 0 and keeps_leaps and there.leaps):
                box = _Box(low, high, here, there, most)
                heavy = weight(box)
                heapq.heappush(heap, (-heavy if heavy.is_finite() else -INFINITY, next(number), box))
            elif sign > 0:
                inside.append((low, high))

        for low, high in pairwise(self._edges(shift)):
            look(low, high)
        for _ in range(_MOST_SPLITS):
            if not heap or -heap[0][0] <= fine:
                break
            _, _, box = heapq.heappop(heap)
            middle = ((box.low + box.high) / 2).mid()
            if not (box.low < middle and middle < box.high):
                raise Undecided("boxes that are too small for the precision.")
            look(box.low, middle)
            look(middle, box.high)
        return list(_joined(sorted(inside, key=lambda box: box[0]))), [box for _, _, box in heap]

    def _edges(self, shift: arb) -> list[arb]:
        """Exact points that boxes start from, from one tail to the other: the cuts of both densities, where they lie between."""
        low, high = (-self.density.before.edge).lower(), self.density.after.edge.upper()  # a negative is rounded too
        cuts = [rational(cut) for cut in self.density.cuts]
        between = [at for at in (arb(0), *(at.mid() for at in cuts), *((at + shift).mid() for at in cuts)) if low < at and at < high]
        edges: list[arb] = []
        for at in sorted([low, *between, high]):
            if not edges or edges[-1] < at:
                edges.append(at)
        return edges

    def _sign(self, y: arb, shift: arb, here: _Near, there: _Near) -> tuple[int, arb]:
        """1 where p > a p(. - shift) on the box, at every shift, -1 where nowhere, 0 where not decided; and the most of the difference."""
        gap = here.v - self._factor * there.v
        most = here.v.upper()
        for attempt in (0, 1):
            if gap >= 0:
                return 1, most
            if gap <= 0:
                return -1, most
            if gap.is_finite():
                most = most.min(gap.upper())
            if attempt == 0:
                if here.leaps or there.leaps:
                    break
                middle = y.mid()
                slope = here.d1 - self._factor * there.d1
                gap = self.density.over(middle).v - self._factor * self.density.over(middle - shift).v + slope * (y - middle)
        return 0, most


def _joined(boxes: Sequence[Interval]) -> Iterator[Interval]:
    """Boxes from left to right, those that meet as one."""
    last: Interval | None = None
    for low, high in boxes:
        if last is not None and last[1] == low:
            last = last[0], high
            continue
        if last is not None:
            yield last
        last = low, high
    if last is not None:
        yield last


# -- the curve -------------------------------------------------------------------------------------


class Divergences:
    """The divergences of a density and its copies, set up once for each precision and each epsilon."""

    def __init__(self, reading: Reading, effort: Effort) -> None:
        self._effort = effort
        self._density = per_precision(lambda: Density(reading, effort.far))
        self._shifts: dict[Any, Shifts] = {}

    def at(self, epsilon: arb) -> Shifts:
        """At an exact epsilon of at least 0, for the working precision, which must be `whole`."""
        key = epsilon.man_exp(), ctx.prec
        if key not in self._shifts:
            self._shifts[key] = Shifts(self._density(), self._effort, epsilon)
        return self._shifts[key]

    def profile(self, shift: Fraction) -> Callable[[arb], arb]:
        """The profile of the pair (p, p(. - shift))."""

        def at(epsilon: arb) -> arb:
            with whole():
                return self.at(epsilon).point(shift)

        return falling(at)

    def greatest(self, cuts: Sequence[Fraction]) -> Callable[[arb], arb]:
        """The greatest of the profiles at all shifts between the first cut and the last."""

        def at(epsilon: arb) -> arb:
            with whole():
                found = self.at(epsilon)
                least, most = arb(0), arb(0)
                for cut in cuts:
                    least = least.max(found.point(cut).lower())
                for low, high in pairwise(cuts):
                    most = most.max(found.most(low, high))
                return least.union(most)

        return falling(at)


@remembered(16)
def divergences(reading: Reading, effort: Effort) -> Divergences:
    """The divergences of a density; equal ones remember what they have computed."""
    return Divergences(reading, effort)


def whole() -> precision:
    """The working precision with guard bits, rounded up: so that what is prepared for one of them serves again."""
    return precision(-(-(ctx.prec + _WHOLE) // _WHOLE) * _WHOLE)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of noise on the line. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", shifts as shares of the sensitivity, from 0 (from -1 where the density is not even) to 1; "at", the shift of the
    lower bound; "far", "point", "cell", see `Effort`; "sensitivity", if given, the certificate of a gauge.
    """
    noise, query = run.part.mechanism, run.part.query
    if not isinstance(noise, Radial | Translation) or (isinstance(noise, Translation) and noise.integers):
        raise Rejected(NAME, "the noise", "it has no density on the line")
    reached = reach(run, parameters.get("sensitivity"))
    reading = in_pieces(noise)
    scale = noise.scale if isinstance(noise, Radial) else ONE
    for length in (scale, reached.lower):
        if not certainly_lt(ZERO, length):
            raise Rejected(NAME, "the sensitivity", f"{format_expr(length)} is not certainly positive")
    effort = Effort(*(_number(parameters, key, most) for key, most in (("far", _MOST_FAR), ("point", _MOST_BITS), ("cell", _MOST_BITS))))
    at = read_fraction(parameters, "at", NAME)
    if not (0 < at <= 1):
        raise Rejected(NAME, "at", "it is no share of the sensitivity")
    cuts = [to_fraction(cut, NAME) for cut in parameters.get("cuts", ())]
    if len(cuts) > _MOST_CUTS or any(low >= high for low, high in pairwise(cuts)):
        raise Rejected(NAME, "cuts", f"they are not at most {_MOST_CUTS} numbers in order")
    if not cuts or cuts[0] > (0 if reading.even else -1) or cuts[-1] < 1:
        raise Rejected(NAME, "cuts", "they do not reach over all shifts up to the sensitivity")
    above, below = (divergences(reading.stretched(div(bound, scale)), effort) for bound in (reached.upper, reached.lower))
    one = isinstance(run.part, OnePair) and reached.exact
    pair = _pair(below, Fraction(1) if one else at, reading.even)
    upper = pair if one else symmetric(above.greatest(cuts))
    assumed = () if at == 1 or one else (REAL if query is not None else EVERY,)
    found = Curve(upper, pair, (NAME,), (*ASSUMED, *sign_of(noise)), assumed)
    if not one and query is not None:
        small = query.adjacency in ("l1", "l2")
        # a query moves by its own differences alone; and which order of the pair has the record, `oriented` knows of the whole one
        lower = oriented(found, run).lower if at == 1 or small else None
        found = replace(found, lower=lower)
    return settled.single(run, found)


def _pair(shifts: Divergences, at: Fraction, even: bool) -> Pair:
    forward = shifts.profile(at)
    return Pair(forward, forward if even else shifts.profile(-at))


def _number(parameters: Mapping[str, Any], key: str, most: int) -> int:
    found = parameters.get(key)
    if type(found) is not int or not 0 <= found <= most:
        raise CertificateError(f"{NAME}: {key} must be an integer from 0 to {most}.")
    return found
