"""Finds the pair of points with the greatest loss, and the neighbourhoods that the rule point-witness wants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from flint import arb, ctx

from dpverify.search.additive import asymptotics, sensitivity
from dpverify.search.additive.kinks import kinks
from dpverify.search.grids import diagonally, simple_values
from dpverify.search.later import Later
from dpverify.search.numeric import number, vectorised
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, div, format_expr, mul, num, power, substitute
from dpverify.trusted.kernel.model import Claim, Product, Radial, Translation
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.language.rationals import MAX_EXPONENT, to_fraction
from dpverify.trusted.numbers.jets import jet
from dpverify.trusted.numbers.pieces import breaks
from dpverify.trusted.sensitivity.queries import differences
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.theories.additive.points import Points, neighbourhood
from dpverify.trusted.theories.additive.rules import point_witness as rule

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

_POWERS = (*range(-100, -8, 4), *range(-8, 25), *range(28, 101, 4))
_MOST_LATTICE = 64
_MOST_JUMPS = 24
_MOST_MOVES = 8
"""Moves of the answer to a query at which losses are looked at."""


@dataclass(frozen=True)
class Loss:
    """h(b) - h(a) with |a - b| at most a shift, on a line or (radial) a half line; floats and balls to look around.

    sign: 1 or -1 where b - a has to be plus or minus the shift. only: every pair has to be a shift apart.
    """

    density: Expr
    name: str
    half: bool
    shift: Expr
    integers: bool = False
    support: tuple[Expr | None, Expr | None] = (None, None)
    sign: int = 0
    only: bool = False

    @property
    def signs(self) -> tuple[int, ...]:
        """The signs of b - a to look at."""
        return (self.sign,) if self.sign else (1, -1)

    @cached_property
    def h(self) -> Expr:
        return neg_log(self.density)

    @cached_property
    def step(self) -> float:
        return number(self.shift)

    @cached_property
    def edges(self) -> tuple[float, float]:
        """The ends of the support as floats."""
        low, high = self.support
        return (0.0 if self.half else -math.inf if low is None else number(low), math.inf if high is None else number(high))

    def at(self, a: Expr, b: Expr) -> arb:
        """The loss of a pair at the current precision; not finite where the density is not."""
        return self.height(b) - self.height(a)

    @cached_property
    def heights(self) -> dict[tuple[Expr, int], arb]:
        """What h is at points, by their precision: those a shift apart from each other are asked for twice."""
        return {}

    def height(self, point: Expr) -> arb:
        """h at a point, at the current precision."""
        key = point, ctx.prec
        if key not in self.heights:
            known = constant(substitute(self.h, {self.name: point})) if self.integers else value(self.h, {self.name: constant(point)})
            self.heights[key] = known
        return self.heights[key]

    def pair(self, c: Fraction, sign: int) -> tuple[Expr, Expr]:
        """(a, b) for the point c and the one a shift above it; b is the upper one for sign 1."""
        low, high = Num(c), add(Num(c), self.shift)
        return (low, high) if sign > 0 else (high, low)

    # candidates

    def grid(self) -> list[Fraction]:
        """Points to look at: simple ones, kinks, and kinks a shift away."""
        if self.integers:
            return [Fraction(n) for n in range(-_MOST_LATTICE, _MOST_LATTICE + 1)] + [
                Fraction(s * 2**k) for k in range(7, 60, 4) for s in (1, -1)
            ]
        kinks = {Fraction(0)} | breaks(self.density, self.name)
        points = {Fraction(2) ** k for k in _POWERS}
        points |= kinks | {k + Fraction(s, 2**60) for k in kinks for s in (1, -1)}
        if not self.half:
            points |= {-p for p in points}
        shift = self.shift.value if isinstance(self.shift, Num) else Fraction(self.step)
        points |= {p - shift for p in points if abs(p) < 2**20}
        return sorted(p for p in points if self.edges[0] <= p <= self.edges[1] and not (self.half and p < 0))

    def far(self, digits: int) -> list[Fraction]:
        """Points so far out (or so close to a kink) that a limit there has been reached to the digits wanted."""
        if self.integers:
            return []
        far = Fraction(2) ** (10 * digits)
        return [far, 1 / far] if self.half else [far, -far, 1 / far, -1 / far]


Candidate = tuple[Expr, Expr, arb]


@lru_cache(maxsize=128)  # claims about one mechanism look for one pair
def best(loss: Loss, digits: int, known: Expr | None = None) -> Candidate | None:
    """The pair (a, b) of the greatest loss found, good to about `digits` digits, and the loss. known: what no pair exceeds."""
    found: list[Candidate] = []
    with precision(256):
        if loss.shift == ZERO:  # nothing is lost where nothing moves
            _try_all(loss, [Fraction(0), Fraction(1), Fraction(1, 3)], found)
            return found[0] if found else None
        if known is None:
            _try_all(loss, loss.grid(), found)
        else:
            _up_to(known, loss, found)
        top = _greatest(found)
        reached = top is not None and known is not None and bool(top[2].overlaps(constant(known)))
    if loss.integers:
        return _shorter(loss, top) if known is None else top
    with precision(12 * digits + 160):
        sharp: list[Candidate] = []
        if top is not None:
            _try(loss, top[0], top[1], sharp)
        if reached and sharp:
            return sharp[0]
        for a, b in chain(_local(loss), _between(loss, top), _beside_jumps(loss, digits)):
            _try(loss, a, b, sharp)
        _try_all(loss, loss.far(digits), sharp)
        return _greatest(sharp)


def _shorter(loss: Loss, top: Candidate | None) -> Candidate | None:
    """The greatest loss of integers that are any whole number apart, up to the shift."""
    found = [] if top is None else [top]
    if not loss.only and isinstance(loss.shift, Num):
        with precision(256):
            for apart in range(1, min(math.ceil(loss.shift.value), _MOST_LATTICE)):
                _try_all(replace(loss, shift=num(apart)), [Fraction(n) for n in range(-_MOST_LATTICE, _MOST_LATTICE + 1)], found)
    return _greatest(found)


def _up_to(known: Expr, loss: Loss, found: list[Candidate]) -> None:
    """The pairs of the grid, the simplest first, as far as one whose loss cannot be told from what no pair exceeds."""
    moved = loss.shift.value if isinstance(loss.shift, Num) else None
    starts = [(c, sign, c if sign > 0 else None if moved is None else c + moved) for c in loss.grid() for sign in loss.signs]
    for c, sign, _ in sorted(starts, key=lambda start: 1 if start[2] is None else _length(start[2])):
        _try(loss, *loss.pair(c, sign), found)
        if found and found[-1][2].overlaps(constant(known)):
            return


def _try_all(loss: Loss, points: list[Fraction], found: list[Candidate]) -> None:
    """The pairs a shift apart, upwards from each of the points."""
    for c in points:
        low, high = loss.pair(c, 1)
        try:
            size = loss.at(low, high)
        except DpverifyError:
            continue
        if size.is_finite():
            found += [(low, high, size) if sign > 0 else (high, low, -size) for sign in loss.signs]


def _try(loss: Loss, a: Expr, b: Expr, found: list[Candidate]) -> None:
    try:
        size = loss.at(a, b)
    except DpverifyError:
        return
    if size.is_finite():
        found.append((a, b, size))


def _greatest(found: list[Candidate]) -> Candidate | None:
    """The pair of the greatest lower end; among equals the simplest, which stands first."""
    top: Candidate | None = None
    for candidate in sorted(found, key=lambda pair: _size(pair[0])):
        if top is None or candidate[2].lower() > top[2].lower() + abs(top[2].lower()) * arb(2) ** (-ctx.prec // 3):
            top = candidate
    return top


def _size(point: Expr) -> int:
    return _length(point.value) if isinstance(point, Num) else 1


def _length(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


# -- local maxima by floats, sharpened by Newton's method on balls ---------------------------------


def _local(loss: Loss) -> Iterator[tuple[Expr, Expr]]:
    """Pairs at local maxima of the loss: a shift apart, or both stationary."""
    h = vectorised(loss.h, loss.name)
    low, high = loss.edges
    points = np.logspace(-4, 4, 1201) * max(1.0, loss.step)
    points = points if loss.half else np.concatenate([-points[::-1], points])
    points = np.unique(np.concatenate([points, points[np.abs(points) > loss.step] - loss.step]))
    points = points[(points >= low) & (points + loss.step <= high)]
    if len(points) < 3:
        return
    with np.errstate(invalid="ignore"):
        difference = h(points + loss.step) - h(points)
    for sign in loss.signs:
        for i in _peaks(sign * difference)[:4]:
            c = _newton(loss, points[i - 1], points[i], points[i + 1], loss.shift)
            if c is not None:
                yield loss.pair(c, sign)
    if loss.only:
        return
    heights = h(points)
    tops, bottoms = (
        [
            Fraction(0) if i is None else _newton(loss, points[i - 1], points[i], points[i + 1], None)
            for i in (*centre, *_peaks(side, ends=False)[:4])
        ]
        for centre in [(None,) if loss.half else ()]  # the centre is a place to stand at, whichever way the density goes from it
        for side in (heights, -heights)
    )
    for top, bottom in product(tops, bottoms):
        if top is not None and bottom is not None and top != bottom and abs(float(top - bottom)) < loss.step:
            yield Num(bottom), Num(top)


def _between(loss: Loss, top: Candidate | None) -> Iterator[tuple[Expr, Expr]]:
    """The pair a shift apart whose lower point lies between the neighbours of the best one on the grid, where floats may see noise."""
    if top is None:
        return
    low = min(top[:2], key=number)
    grid = loss.grid()
    if not isinstance(low, Num) or low.value not in grid:
        return
    i = grid.index(low.value)
    if 0 < i < len(grid) - 1:
        c = _newton(loss, float(grid[i - 1]), float(grid[i]), float(grid[i + 1]), loss.shift)
        if c is not None:
            yield loss.pair(c, 1 if low is top[0] else -1)


def _beside_jumps(loss: Loss, digits: int) -> Iterator[tuple[Expr, Expr]]:
    """Pairs that stand beside jumps, on either side, or the one so and the other a shift away: what is lost between them is a limit."""
    if loss.only or not calls(loss.density, "floor"):
        return
    apart = Fraction(1, 2 ** (4 * digits + 8))
    jumps = sorted(breaks(loss.density, loss.name) | kinks(loss.density, loss.name), key=abs)[:_MOST_JUMPS]
    beside = [at + side * apart for at in jumps for side in (1, -1) if not loss.half or at + side * apart > 0]
    shift = loss.shift.value if isinstance(loss.shift, Num) else Fraction(loss.step)
    for a, b in product(beside, beside):
        if a != b and abs(a - b) <= shift:
            yield Num(a), Num(b)
    for a in beside:
        for away in (shift - 2 * apart, 2 * apart - shift):
            b = a + away
            if not loss.half or b > 0:
                yield from ((Num(a), Num(b)), (Num(b), Num(a)))


def _peaks(heights: Any, ends: bool = True) -> list[int]:
    """Indices of interior local maxima, the highest first; with `ends` only those above both ends."""
    inner = heights[1:-1]
    with np.errstate(invalid="ignore"):
        edge = np.nanmax([heights[0], heights[-1], -np.inf]) if ends else -np.inf
        above = inner > edge + 1e-12 * np.abs(edge) if ends else True  # what lies below an end is not the greatest
        found = np.nonzero((inner >= heights[:-2]) & (inner >= heights[2:]) & np.isfinite(inner) & above)[0] + 1
    return sorted((int(i) for i in found), key=lambda i: -heights[i])


def _newton(loss: Loss, left: float, start: float, right: float, shift: Expr | None) -> Fraction | None:
    """A zero of the slope of h(c + shift) - h(c), or of h, between left and right."""
    moved = arb(0) if shift is None else constant(shift)

    def slope(at: arb) -> tuple[arb, arb]:
        near = jet(loss.h, loss.name, at)
        if shift is None:
            return near.d1.mid(), near.d2.mid()
        far = jet(loss.h, loss.name, (at + moved).mid())
        return (far.d1 - near.d1).mid(), (far.d2 - near.d2).mid()

    try:
        low, high, at = arb(float(left)), arb(float(right)), arb(float(start))
        below = slope(low)[0]
        for _ in range(60):
            first, second = slope(at)
            if not first.is_finite():
                return None
            if (first > 0) == (below > 0):
                low = at
            else:
                high = at
            step = first / second if second != 0 else arb("inf")
            after = (at - step).mid()
            if not (after.is_finite() and low <= after <= high):
                after = ((low + high) / 2).mid()
            if abs(after - at) <= abs(at) * arb(2) ** (-ctx.prec // 2):
                break
            at = after
    except DpverifyError:
        return None
    return _dyadic(at.mid(), ctx.prec // 2)


def _dyadic(point: arb, bits: int) -> Fraction:
    """An exact point rounded down to `bits` significant bits. Raises Undecided where it is too long to write out."""
    top, shift = (int(x) for x in point.man_exp())
    if abs(shift) > MAX_EXPONENT:
        raise Undecided("the witness has coordinates too large or too small to write out.")
    spare = max(0, abs(top).bit_length() - bits)
    return (top >> spare) * Fraction(2) ** (shift + spare)


# -- claims ----------------------------------------------------------------------------------------


def losses(claim: Claim) -> list[list[Loss]]:
    """The choices of a shift, a loss for every coordinate moved; one coordinate but for product noise."""
    noise = claim.mechanism
    assert isinstance(noise, Radial | Translation | Product)
    reach = sensitivity_bounds(claim, sensitivity.propose(claim) or None).lower
    if isinstance(noise, Radial):
        return [[Loss(noise.profile, "r", True, div(reach, noise.scale), only=claim.query is not None)]]
    if isinstance(noise, Translation):
        if noise.integers:
            reach = num(math.floor(number(reach) + 1e-9))
        moves = [reach]
        if claim.query is not None and claim.query.adjacency != "l2":
            others = {abs(x) for (x,) in differences(claim.query)} if len(claim.query.rows) == 1 else set()
            moves += [Num(x) for x in sorted(others, reverse=True)[:_MOST_MOVES] if Num(x) != reach]
        return [[Loss(noise.density, "z", False, move, noise.integers, noise.support, only=claim.query is not None)] for move in moves]
    if claim.query is not None:
        return [
            [Loss(noise.density, "z", False, Num(abs(x)), sign=s if x >= 0 else -s) for x in vector]
            for vector in differences(claim.query)
            for s in (1, -1)
        ]
    d = int(number(noise.dimension))
    shifts = [[reach]] if noise.norm.kind == "lp" else [[div(reach, norm_value(noise.norm, _unit(d)))]]
    if noise.norm.kind == "lp" and d > 1 and (noise.norm.p is None or noise.norm.p in (1, 2)):
        each = reach if noise.norm.p is None else mul(reach, power(num(d), Num(-1 / noise.norm.p)))
        shifts.append([each] * d)
    return [[Loss(noise.density, "z", False, shift) for shift in row] for row in shifts]


def _unit(d: int) -> tuple[Fraction, ...]:
    return (Fraction(1), *[Fraction(0)] * (d - 1))


def best_pair(claim: Claim, digits: int, known: Expr | None = None) -> tuple[list[Expr], list[Expr], arb] | None:
    """The best points a and b, coordinate by coordinate, with their loss; None where nothing finite was found.

    known: the tight epsilon, where it is known: of a pair of single numbers that reaches it none better is looked for.
    """
    top: tuple[list[Expr], list[Expr], arb] | None = None
    found: dict[Any, Candidate | None] = {}
    for row in losses(claim):
        found |= {loss: best(loss, digits, known if len(row) == 1 else None) for loss in dict.fromkeys(row) if loss not in found}
        chosen = [found[loss] for loss in row]
        pairs = [c for c in chosen if c is not None]
        if len(pairs) < len(row):
            continue
        total = sum((pair[2] for pair in pairs), arb(0))
        if top is None or total > top[2]:
            top = [pair[0] for pair in pairs], [pair[1] for pair in pairs], total
    return top


def unequal_support(claim: Claim) -> tuple[Expr, Expr, Fraction] | None:
    """Points a, b and a radius with the density positive round a and exactly zero round b, if floats see some."""
    noise = claim.mechanism
    assert isinstance(noise, Radial | Translation | Product)
    return next((found for loss, *_ in losses(claim) if (found := _one_alone(noise, loss)) is not None), None)


def _one_alone(noise: Additive, loss: Loss) -> tuple[Expr, Expr, Fraction] | None:
    """The same for one shift of one coordinate."""
    shift = loss.shift.value if isinstance(loss.shift, Num) else Fraction(loss.step).limit_denominator(1000)
    if loss.integers:
        points = sorted((Fraction(n) for n in range(-_MOST_LATTICE, _MOST_LATTICE + 1)), key=abs)
    else:
        edges = breaks(loss.density, loss.name) | {end.value for end in loss.support if isinstance(end, Num)}
        points = sorted({edge + s * shift * Fraction(n, 16) for edge in edges for s in (1, -1) for n in range(1, 16)})
    points = [point for point in points if point > 0 or not loss.half]
    if not points:
        return None
    at = np.array([float(point) for point in points])
    here = _heights(loss, at)
    radii = ("0",) if loss.integers else ("7/16", "1/4", "1/16", "1/4096")
    for radius in map(Fraction, radii):
        for sign in loss.signs:
            there = _heights(loss, at + sign * loss.step)
            for i in np.nonzero((here > 0) & (there == 0))[0]:
                found = Num(points[i]), add(Num(points[i]), mul(num(sign), loss.shift)), radius * shift
                if _vanishes(noise, *found):
                    return found
    return None


def _heights(loss: Loss, at: Any) -> Any:
    """The density at points, zero outside the support; nan at negative distances."""
    found = vectorised(loss.density, loss.name)(at)
    low, high = loss.edges
    found[(at < low) | (at > high)] = np.nan if loss.half else 0.0
    return found


def _vanishes(noise: Additive, a: Expr, b: Expr, radius: Fraction) -> bool:
    try:
        rule.certify(noise, Points((a,), (b,)), radius, INFINITE)
    except DpverifyError:
        return False
    return True


# -- steps -----------------------------------------------------------------------------------------


def evidence(claim: Claim, a: list[Expr], b: list[Expr], digits: int, target: Expr | None = None) -> dict[str, Any] | None:
    """Evidence for the pair: a radius so small that the value keeps its digits, and the largest for an event above the target."""
    noise = claim.mechanism
    assert isinstance(noise, Radial | Translation | Product)
    bits = _bits(a, b, digits)
    with precision(bits):
        found = _neighbourhood(noise, Points(tuple(a), tuple(b)), digits)
        if found is None:
            return None
        points, radius, least = found
        result: dict[str, Any] = {
            "a": [_text(x) for x in points.a],
            "b": [_text(x) for x in points.b],
            "radius": _text(Num(radius)),
            "value": _text(Num(_dyadic(least, 4 * digits + 24))),
            "prec": bits,
        }
        result |= asymptotics.evidence(noise)
        gauges = sensitivity.propose(claim)
        if gauges:
            result["sensitivity"] = gauges
        if target is not None:
            result["event"] = _text(Num(_event(noise, points, constant(target), radius)))
    return result


def _neighbourhood(noise: Additive, points: Points, digits: int) -> tuple[Points, Fraction, arb] | None:
    """The points, moved off a pole or the centre where that is needed, a radius, and the least loss within it."""
    if isinstance(noise, Translation) and noise.integers:
        least = _least(noise, points, Fraction(0))
        return None if least is None else (points, Fraction(1), least)
    centre, slack = _least(noise, points, Fraction(0)), arb(10) ** -(digits + 3)
    for k in range(16, 40 * digits + 400, 32):
        radius = Fraction(1, 2**k)
        for step in (0, 2 * radius, -2 * radius):  # beside a jump, or the edge of a half line, not on it
            moved = Points(tuple(add(x, num(step)) for x in points.a), tuple(add(x, num(step)) for x in points.b))
            least = _least(noise, moved, radius)
            if least is not None and centre is not None and centre - least <= abs(centre) * slack:
                return moved, radius, least
    return None


def _bits(a: list[Expr], b: list[Expr], digits: int) -> int:
    """Bits that separate the two points and keep the digits."""
    sizes = [abs(number(point)) for point in (*a, *b)]
    widest = 0
    for point in (*a, *b):
        if isinstance(point, Num):
            widest = max(widest, abs(point.value.numerator.bit_length() - point.value.denominator.bit_length()))
    finite = [s for s in sizes if 0 < s < math.inf]
    spread = max((abs(math.log2(s)) for s in finite), default=0)
    return min(16_384, int(128 + 8 * digits + 3 * max(widest, spread)))


def _least(noise: Additive, points: Points, radius: Fraction) -> arb | None:
    """The least loss on the neighbourhood, or None where it is not finite."""
    h, total = neg_log(noise.profile if isinstance(noise, Radial) else noise.density), arb(0)
    try:
        for a, b in zip(points.a, points.b, strict=True):
            near_a, near_b = neighbourhood(noise, a, radius), neighbourhood(noise, b, radius)
            whole = isinstance(noise, Translation) and noise.integers
            first, second = (
                constant(substitute(h, {variable(noise): point})) if whole else value(h, {variable(noise): near})
                for point, near in ((a, near_a), (b, near_b))
            )
            total += second - first
    except ExprError:
        return None
    return total.lower() if total.is_finite() else None


def _event(noise: Additive, points: Points, target: arb, least: Fraction) -> Fraction:
    """A simple radius on which the loss stays well above the target and loses at most 1/4; `least` where none larger does."""
    centre = _least(noise, points, Fraction(0))
    if centre is not None:
        target = ((target + centre) / 2).max(centre - arb(1) / 4)
    for k in range(1, 60):
        radius = Fraction(1, 10**k)
        found = _least(noise, points, radius) if radius > least else None
        if found is not None and found > target:
            return radius
    return least


def _text(point: Expr) -> str:
    """The text of a constant: long dyadic numbers as m*2^e."""
    if isinstance(point, Num) and _size(point) > 40 and point.value.denominator & (point.value.denominator - 1) == 0:
        top = point.value.numerator
        twos = (top & -top).bit_length() - 1
        return f"{top >> twos}*2^{twos - point.value.denominator.bit_length() + 1}"
    return format_expr(point)


def propose(claim: Claim, digits: int, loss_target: Expr | None = None, known: Expr | None = None) -> list[dict[str, Any]]:
    """Steps for the rule point-witness, best first; none where nothing was found.

    loss_target: the claimed epsilon, above which the event of the witness has to stay (default: the claim's own).
    known: the tight epsilon, where it is known and finite.
    """
    target = claim.epsilon if loss_target is None else loss_target
    if claim.domains:
        return _with_parameters(claim, digits)
    if not isinstance(claim.mechanism, Radial | Translation | Product):
        return []
    unequal = unequal_support(claim) if known is None else None
    if unequal is not None:
        reach = _text(Num(unequal[2]))
        shows = {"a": [_text(unequal[0])], "b": [_text(unequal[1])], "radius": reach, "value": "inf", "event": reach}
        return [{"rule": rule.NAME, "evidence": {**shows, **asymptotics.evidence(claim.mechanism)}}]
    pair = best_pair(claim, digits, known)
    if pair is None:
        return []
    a, b, size = pair
    with precision(12 * digits + 160):
        if target is None or not size > constant(target):
            found = evidence(claim, a, b, digits)
            return [] if found is None else [{"rule": rule.NAME, "evidence": found}]
        near = _nearby(claim, a[0], b[0], target) if any(_size(point) > 40 for point in a) else None
        simple = None if near is None else evidence(claim, *near, 10, target)
        if simple is not None and not rational(to_fraction(simple["value"], rule.NAME)) > constant(target):
            simple = None  # its few digits end below the target
    sharp = evidence(claim, a, b, digits, target if simple is None else None)
    return [{"rule": rule.NAME, "evidence": found} for found in (simple, sharp) if found is not None]


def _nearby(claim: Claim, a: Expr, b: Expr, target: Expr) -> tuple[list[Expr], list[Expr]] | None:
    """Simple points with a loss well above the target, for a witness that can be checked by hand."""
    rows = losses(claim)
    if len(rows[0]) > 1:
        return None
    loss, found = rows[0][0], list[Candidate]()
    with precision(512):
        _try_all(loss, loss.grid(), found)
        aim = constant(target)
        if isinstance(a, Num) and (constant(b) - constant(a)).overlaps(constant(loss.shift)):
            for k in range(0, 64, 2):
                _try(loss, *loss.pair(a.value.limit_denominator(2**k), 1), found)
        if isinstance(b, Num) and (constant(a) - constant(b)).overlaps(constant(loss.shift)):
            for k in range(0, 64, 2):
                _try(loss, *loss.pair(b.value.limit_denominator(2**k), -1), found)
        top = _greatest(found)
        if top is None or not top[2] > aim:
            return None
        wanted = aim + ((top[2] - aim) / 2).min(abs(aim) / 1000 + arb(1) / 1000)
        good = [pair for pair in found if pair[2] > wanted]
    best_a, best_b, _ = min(good, key=lambda pair: (max(_size(pair[0]), 40), abs(number(pair[0]))))
    return [best_a], [best_b]


def _with_parameters(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """A witness at one value of the parameters, where a simple one exceeds the claimed epsilon."""
    if claim.epsilon is None:
        return []
    names = [name for name, _ in claim.domains]
    grids = [simple_values(domain) for _, domain in claim.domains]
    for values in islice(diagonally(grids), 24):
        at = {name: str(x) for name, x in zip(names, values, strict=True)}
        try:
            special, chosen = fixed(claim, {"at": at}, rule.NAME)
            pair = best_pair(special, 4)
            epsilon = substitute(claim.epsilon, chosen)
            if pair is None or not pair[2] > constant(epsilon):
                continue
            found = evidence(special, pair[0], pair[1], digits, epsilon)
        except DpverifyError:
            continue
        if found is not None:
            return [{"rule": rule.NAME, "evidence": {**found, "at": at}}]
    return []
