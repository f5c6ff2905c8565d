"""Additive noise on the line or the integers, proved unimodal: what its curve rests on.

Where p(z) > e^epsilon p(z - s), s > 0, epsilon >= 0, the point z - s lies before the mode: past it p does not rise. A longer shift only
lowers p(z - s) there. So H of (p, p(. - s)) does not fall in s, and the pair at the full shift, in both orders, is the worst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

from flint import arb

from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, Sym, add, call, format_expr, mul, neg, num, substitute, symbols
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Domain, Radial, Translation
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import precision, rational
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.pieces import Piece, pieces
from dpverify.trusted.numbers.quotients import divided
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.shape import Shape
from dpverify.trusted.order.signs import AT_LEAST_ZERO, AT_MOST_ZERO

Z: Final = Sym("z")
REALS: Final = {"z": Domain()}
LADDER: Final = (4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 30, 35, 40, 50, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k."""
INFINITY: Final = arb("inf")
_FAR: Final = 1 << 20
_HALVINGS: Final = 60
_FEW: Final = 1000

Noise = Radial | Translation


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


@remembered(64)
def read(noise: Noise) -> Reading:
    """The density of the noise, proved unimodal, about its mode or another point. Raises Undecided where that is not proved."""
    try:
        return _read_radial(noise) if isinstance(noise, Radial) else _read_translation(noise)
    except ExprError as error:
        raise Undecided(f"the density has no value somewhere: {error}") from error


def _read_translation(noise: Translation) -> Reading:
    lower, upper = (_rational_end(end) for end in noise.support)
    density = noise.density
    if symbols(density) - {"z"}:
        raise Undecided("a parameter of the density has no value.")
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
    for mode in _modes(parts):
        moved = _about(parts, mode, even, False)
        rising = [p.upper is not None and p.upper <= 0 for p in moved.parts]
        if all(map(_monotone, moved.parts, rising)) and _joins(moved.parts):
            return moved
    raise Undecided("the density is not proved unimodal; its mode must be a rational point of few digits, or its logarithm concave.")


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
    """The smooth pieces, side by side. Raises Undecided for a density with gaps, or with more steps than there are pieces."""
    parts = tuple(_merged(map(_plain, pieces(density, "z", lower, upper))))
    if not parts or any(left.upper != right.lower for left, right in pairwise(parts)):
        raise Undecided("a density that is zero between two places where it is not.")
    for low, high in ((lower, parts[0].lower), (parts[-1].upper, upper)):
        # infinitely many steps come folded onto the first of them, which keeps the integral and nothing else
        if low != high and resolve(density, "z", low, high) != ZERO:
            raise Undecided("a density with infinitely many steps; its curve is not an integral of a few smooth pieces.")
    return parts


def _merged(parts: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbours of the same form as one piece."""
    last: Piece | None = None
    for part in parts:
        if last is not None and last.upper == part.lower and last.density == part.density:
            last = Piece(last.density, "z", last.lower, part.upper)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last


def _plain(part: Piece) -> Piece:
    """The piece without kinks where those of its logarithm are decided."""
    h = neg_log(part.density)
    plain = resolve(h, "z", part.lower, part.upper)
    return part if plain == h else Piece(call("exp", neg(plain)), "z", part.lower, part.upper)


def _read_even(right: tuple[Piece, ...]) -> Reading | None:
    """An even density from its right half, or None where that is not proved non-increasing."""
    if right[0].lower != 0:
        return None
    if not (all(_monotone(p, rises=False) for p in right) and _joins(right)):
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


def _views(part: Piece) -> Iterator[tuple[Expr, Shapes, int]]:
    """-log(density) of a piece as a function of the distance from an end of it, on (0, inf); 1 or -1 for the direction of z."""
    h, shapes = neg_log(part.density), Shapes("z", True, {})
    for end, direction in ((part.lower, 1), (part.upper, -1)):
        if end is not None:
            yield shapes.tidy(divided(substitute(h, {"z": add(Num(end), mul(num(direction), Z))}), "z")), shapes, direction


def _convex(part: Piece) -> bool:
    if part.lower is None and part.upper is None:
        return _convex_line(part.density)
    return any(shape is not None and shape.convex for shape in (_shape(h, shapes) for h, shapes, _ in _views(part)))


def _shape(h: Expr, shapes: Shapes) -> Shape | None:
    try:
        return shapes.shape(h)
    except (Undecided, ExprError):
        return None


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
    for h, shapes, direction in _views(part):
        shape, wanted = _shape(h, shapes), AT_MOST_ZERO if rises == (direction > 0) else AT_LEAST_ZERO
        if shape is not None and (shape.slope <= wanted or (shape.convex and wanted == AT_LEAST_ZERO and _starts_upward(h))):
            return True
    return _monotone_by_balls(part, rises)


def _starts_upward(h: Expr) -> bool:
    try:
        return certainly_le(ZERO, substitute(derivative(h, "z"), {"z": ZERO}))
    except (Undecided, ExprError):
        return False


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
            end = next((e for e in far_ends(side, other) if _slope_sign(h, e, sign)), None)
            if end is None:
                return False
            low, high = (end.boundary(), high) if side == "-inf" else (low, end.boundary())
        assert low is not None and high is not None
        return _slopes(BallProgram(h, "z"), rational(low), rational(high), sign, 0)


def far_ends(side: Literal["-inf", "+inf"], other: Fraction | None) -> Iterator[End]:
    """Ends that start further and further out, all beyond `other`."""
    for k in LADDER:
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


def _joins(parts: Sequence[Piece]) -> bool:
    """Whether the density does not fall where two pieces meet before 0, and does not rise after it."""
    for left, right in pairwise(parts):
        assert left.upper is not None
        at = {"z": Num(left.upper)}
        before, after = substitute(left.density, at), substitute(right.density, at)
        if left.upper < 0 and not certainly_le(before, after):
            return False
        if left.upper > 0 and not certainly_le(after, before):
            return False
    return True


def _modes(parts: Sequence[Piece]) -> Iterator[Fraction]:
    """Points of the support that may be the mode: 0, where pieces meet, and rational points of few digits where the slope vanishes."""
    low, high = parts[0].lower, parts[-1].upper
    cuts = {x for p in parts for x in (p.lower, p.upper) if x is not None}
    for point in sorted(cuts | {Fraction(0), *(turn for turn in map(_turn, parts) if turn is not None)}, key=abs):
        if (low is None or low <= point) and (high is None or point <= high):
            yield point


def _turn(part: Piece) -> Fraction | None:
    """A point near which the density of a piece turns from rising to falling. Proves nothing."""
    low = part.lower if part.lower is not None else Fraction(-_FAR)
    high = part.upper if part.upper is not None else Fraction(_FAR)
    with precision(64):
        h = BallProgram(neg_log(part.density), "z")
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            slope = h(rational(middle)).d1.mid()
            if not slope.is_finite():
                return None
            low, high = (middle, high) if slope < 0 else (low, middle)
    return ((low + high) / 2).limit_denominator(_FEW)


def limit_of(slope: Germ) -> tuple[arb, arb]:
    """Bounds on the negative of a germ's limit."""
    direction = 0 if slope.k.is_zero() else slope.direction()
    if direction < 0 or slope.k.is_zero():
        return arb(0), arb(0)
    if direction == 0:
        return -slope.k.hi, -slope.k.lo
    if slope.k.hi < 0:
        return INFINITY, INFINITY
    return arb(0), INFINITY


def in_pieces(noise: Noise) -> Reading:
    """The density of the noise in its pieces, cut at 0 or at the end nearest to it, whatever its shape. Raises Undecided."""
    try:
        if isinstance(noise, Translation):
            lower, upper = (_rational_end(end) for end in noise.support)
            if symbols(noise.density) - {"z"}:
                raise Undecided("a parameter of the density has no value.")
            mirrored = substitute(noise.density, {"z": neg(Z)})
            even = _mirror_image(lower, upper) and certainly_equal(noise.density, mirrored, REALS)
            return _about(_pieces(noise.density, lower, upper), _nearest(Fraction(0), lower, upper), even, False)
        if noise.dimension != ONE or symbols(noise.profile) - {"r"} or symbols(noise.scale):
            raise Undecided("this is for dimension 1 and for parameters with values.")
        right = _half_pieces(substitute(noise.profile, {"r": Z}))
        if right[0].lower != 0:
            raise Undecided("a density that is zero about its centre.")
        return _both_sides(right, concave=False)
    except ExprError as error:
        raise Undecided(f"the density has no value somewhere: {error}") from error
