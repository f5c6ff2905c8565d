"""Additive noise on the line or the integers, proved unimodal: what its curve rests on.

Where p(z) > e^epsilon p(z - s), s > 0, epsilon >= 0, the point z - s lies before the mode: past it p does not rise. A longer shift only
lowers p(z - s) there. So H of (p, p(. - s)) does not fall in s, and the pair at the full shift, in both orders, is the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, format_expr, mul, neg, substitute, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Domain, Mechanism, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.numbers.pieces import Piece, pieces
from dpverify.trusted.theories.curves.shapes import Z, convex_line, convex_pieces, monotone

REALS: Final = {"z": Domain()}
INFINITY: Final = arb("inf")

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

    def shaped_at(self, point: Fraction, density: Expr) -> bool:
        """Whether the density's own value at a point, which pieces do not show, certainly fits the shape that they have on both sides."""
        here, place = substitute(density, {"z": Num(point)}), point - self.offset
        before = [p for p in self.parts if (p.lower is None or p.lower < place) and (p.upper is None or place <= p.upper)]
        after = [p for p in self.parts if (p.lower is None or p.lower <= place) and (p.upper is None or place < p.upper)]
        left, right = (substitute(beside[0].density, {"z": Num(place)}) if beside else ZERO for beside in (before, after))
        if self.concave and before and after:
            return certainly_equal(left, here)  # the two limits are equal, where the logarithm is concave
        if self.concave:  # one of the two is 0
            return certainly_le(here, add(left, right))
        rises = certainly_le(left, here) and (place == 0 or certainly_le(here, right))
        falls = certainly_le(right, here) and (place == 0 or certainly_le(here, left))
        return (place > 0 or rises) and (place < 0 or falls)

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


@dataclass(frozen=True, slots=True)
class Hints:
    """What a proof that a density is unimodal may need beside it.

    mode: a mode, where the density is not log-concave. cuts: rising, in units about the mode; where no law shows that the density rises or
    falls, its slope has one sign on each cell between them, and beyond the outermost. turns: rising, in units of the shift; between them
    the loss is monotone, or turns once. far: from where on its behaviour towards infinity is certain, in units of the shift.
    """

    mode: Fraction = Fraction(0)
    cuts: tuple[Fraction, ...] = ()
    turns: tuple[Fraction, ...] = ()
    far: Fraction = Fraction(16)

    def end(self, other: Fraction | None) -> End:
        """The end towards minus infinity that lies beyond `other`."""
        return End("-inf", self.far if other is None or -self.far < other else 1 - 2 * other)


def hints(parameters: Mapping[str, Any], rule: str) -> Hints:
    """The hints of a line: "mode", "slopes", "turns" and "far". Raises CertificateError."""
    slopes, turns = (tuple(to_fraction(cut, rule) for cut in parameters.get(key, ())) for key in ("slopes", "turns"))
    far = to_fraction(parameters.get("far", 16), rule)
    if any(list(cuts) != sorted(set(cuts)) for cuts in (slopes, turns)) or far <= 0:  # exact
        raise CertificateError(f"{rule}: the cuts under 'slopes' and 'turns' must rise, and 'far' be positive.")
    return Hints(to_fraction(parameters.get("mode", 0), rule), slopes, turns, far)


@remembered(64)
def read(noise: Noise, hints: Hints) -> Reading:
    """The density of the noise, proved unimodal. Raises Undecided where that is not proved."""
    try:
        return _read_radial(noise, hints) if isinstance(noise, Radial) else _read_translation(noise, hints)
    except ExprError as error:
        raise Undecided(f"the density has no value somewhere: {error}") from error


def shifted(noise: Mechanism, reach: Sensitivity, read: Callable[[Noise], Reading], rule: str) -> tuple[Reading, tuple[Expr, Expr]]:
    """The density, and the greatest and the least shift, in units of the scale.

    Raises Rejected for another kind of noise, a scale that is not certainly positive or a sensitivity that is not certainly at least 0,
    Undecided where the density is not read.
    """
    if not isinstance(noise, Radial | Translation):
        raise Rejected(rule, "the noise", "it is not one density on the line; this is for radial noise in dimension 1 and for translations")
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(rule, "the noise", "it lives on the integers, where its curve is a sum")
    scale = noise.scale if isinstance(noise, Radial) else ONE
    require(certainly_lt(ZERO, scale), Rejected(rule, "the scale", f"{format_expr(scale)} is not certainly positive"))
    shifts = div(reach.upper, scale), div(reach.lower, scale)
    for shift in shifts:
        require(certainly_le(ZERO, shift), Rejected(rule, "the sensitivity", f"{format_expr(shift)} is not certainly at least 0"))
    return read(noise), shifts


def _read_translation(noise: Translation, hints: Hints) -> Reading:
    (lower, upper, even), density = _support(noise), noise.density
    convex = lower is None and upper is None and convex_line(density)
    reading = _read_even(_pieces(density, Fraction(0), None), hints, convex) if even and lower is None else None
    if reading is None:
        parts = _pieces(density, lower, upper)
        concave = convex or convex_pieces(parts)
        reading = _about(parts, _nearest(Fraction(0) if concave else hints.mode, lower, upper), even, concave)
        if not (concave or _falls_from_mode(reading.parts, hints)):
            why = "its mode must be a rational point of few digits, or its logarithm concave."
            raise Undecided(f"the density is not proved unimodal; {why}")
    if noise.integers and not all(reading.shaped_at(cut, density) for cut in _cuts(density, lower, upper)):
        raise Undecided("the density has a step at an integer, whose probability is not what is beside it.")
    return reading


def _cuts(density: Expr, lower: Fraction | None, upper: Fraction | None) -> set[Fraction]:
    """The integers at which a density, or a piece of it, begins or ends: at all others it is continuous."""
    ends = {lower, upper} | {end for part in pieces(density, "z", lower, upper) for end in (part.lower, part.upper)}
    return {end for end in ends if end is not None and end.denominator == 1}


def _read_radial(noise: Radial, hints: Hints) -> Reading:
    reading = _read_even(_radial_half(noise), hints, False)
    if reading is None:
        raise Undecided("the profile is not proved non-increasing.")
    return reading


def _radial_half(noise: Radial) -> tuple[Piece, ...]:
    """The pieces of radial noise beyond its centre, in units of its scale."""
    require(noise.dimension == ONE, Undecided(f"noise in dimension {format_expr(noise.dimension)}; this is for dimension 1."))
    require(not (symbols(noise.profile) - {"r"} or symbols(noise.scale)), Undecided("a parameter of the noise has no value."))
    return _pieces(substitute(noise.profile, {"r": Z}), Fraction(0), None)


def _support(noise: Translation) -> tuple[Fraction | None, Fraction | None, bool]:
    """The ends of the support, and whether the density is even about 0."""
    if symbols(noise.density) - {"z"}:
        raise Undecided("a parameter of the density has no value.")
    lower, upper = domain(noise)
    mirrored = upper is None if lower is None else upper == -lower
    return lower, upper, mirrored and certainly_equal(noise.density, substitute(noise.density, {"z": neg(Z)}), REALS)


def _pieces(density: Expr, lower: Fraction | None, upper: Fraction | None) -> tuple[Piece, ...]:
    """The smooth pieces, side by side. Raises Undecided for a density with gaps, or with more steps than there are pieces."""
    parts = tuple(merged(map(_plain, pieces(density, "z", lower, upper))))
    if not parts or any(left.upper != right.lower for left, right in pairwise(parts)):
        raise Undecided("a density that is zero between two places where it is not.")
    for low, high in ((lower, parts[0].lower), (parts[-1].upper, upper)):
        # infinitely many steps come folded onto the first of them, which keeps the integral and nothing else
        if low != high and resolve(density, "z", low, high) != ZERO:
            raise Undecided("a density with infinitely many steps; its curve is not an integral of a few smooth pieces.")
    return parts


def merged(parts: Iterable[Piece]) -> list[Piece]:
    """Neighbours of the same form as one piece."""
    merged: list[Piece] = []
    for part in parts:
        joined = bool(merged) and merged[-1].upper == part.lower and merged[-1].density == part.density
        merged.append(Piece(part.density, "z", merged.pop().lower if joined else part.lower, part.upper))
    return merged


def _plain(part: Piece) -> Piece:
    """The piece without kinks where those of its logarithm are decided."""
    h = neg_log(part.density)
    plain = resolve(h, "z", part.lower, part.upper)
    return part if plain == h else Piece(call("exp", neg(plain)), "z", part.lower, part.upper)


def _read_even(right: tuple[Piece, ...], hints: Hints, convex: bool) -> Reading | None:
    """An even density from its right half, or None where that is not proved non-increasing. convex: -log(density) is on the whole line."""
    if right[0].lower != 0 or not (convex or _falls_from_mode(right, hints)):
        return None
    return _both_sides(right, convex or convex_pieces(right))


def _falls_from_mode(parts: Sequence[Piece], hints: Hints) -> bool:
    """Whether a density does not fall before its mode, 0, and does not rise after it, also where pieces meet."""
    return all(monotone(part, part.upper is not None and part.upper <= 0, hints.cuts) for part in parts) and _joins(parts)


def _both_sides(right: tuple[Piece, ...], concave: bool) -> Reading:
    left = Reading(right, True, concave).mirrored().parts
    return Reading(left + right, True, concave)


def _about(parts: tuple[Piece, ...], point: Fraction, even: bool, concave: bool) -> Reading:
    """The density moved so that `point` becomes 0, a cut."""

    def split(p: Piece) -> Iterator[Piece]:
        density = substitute(p.density, {"z": add(Z, Num(point))})
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


def _joins(parts: Sequence[Piece]) -> bool:
    """Whether the density does not fall where two pieces meet before 0, and does not rise after it."""
    for left, right in pairwise(parts):
        assert left.upper is not None
        at = {"z": Num(left.upper)}
        nearer, farther = (substitute(p.density, at) for p in ((right, left) if left.upper < 0 else (left, right)))
        if left.upper != 0 and not certainly_le(farther, nearer):
            return False
    return True


def ends(part: Piece) -> tuple[arb, arb]:
    """Where a piece begins and where it ends, enclosed, or infinite."""
    return -INFINITY if part.lower is None else rational(part.lower), INFINITY if part.upper is None else rational(part.upper)


def most_of(mass: arb, gap: arb) -> arb:
    """An upper bound on what is left of a mass whose loss exceeds epsilon by at most `gap`: of p (1 - e^(epsilon - loss))_+."""
    if gap <= 0 or mass == 0:
        return arb(0)
    return (mass * (-(-gap.upper()).expm1()).min(arb(1))).upper() if gap.upper().is_finite() else mass.upper()


def limit_of(slope: Germ) -> tuple[arb, arb]:
    """Bounds on the negative of a germ's limit."""
    direction = slope.direction()
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
            lower, upper, even = _support(noise)
            return _about(_pieces(noise.density, lower, upper), _nearest(Fraction(0), lower, upper), even, False)
        right = _radial_half(noise)
        require(right[0].lower == 0, Undecided("a density that is zero about its centre."))
        return _both_sides(right, concave=False)
    except ExprError as error:
        raise Undecided(f"the density has no value somewhere: {error}") from error
