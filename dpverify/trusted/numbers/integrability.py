"""Whether the integral of a density is finite, and its mass at an end of a piece.

At an end of a piece (infinity, a pole, a zero, the centre), let w be |z| or the distance
from the point, h = -log(density), and theta = w dh/dw. Since d log(density)/d log(w) = -theta, from theta in [b1, b2]

    past w0:    the tail is in density(w0) w0 [1/(b2 - 1), 1/(b1 - 1)]  if b1 > 1,  and infinite if b2 <= 1;
    within w0:  the head is in density(w0) w0 [1/(1 - b1), 1/(1 - b2)]  if b2 < 1,  and infinite if b1 >= 1.

Radial noise has the weight r^(d-1) in its density; see `noise.weighted`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import Expr, Num, Sym, add, substitute
from dpverify.trusted.language.loading import load, remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Translation
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import hull, rational, value
from dpverify.trusted.numbers.expansion import expanded
from dpverify.trusted.numbers.noise import Additive, domain, variable, whole_density
from dpverify.trusted.numbers.pieces import Piece, pieces

STARTS: Final = (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30, 40, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k in its chart."""


def _theta(density: Expr, name: str, end: End) -> tuple[arb | None, arb | None]:
    """Lower and upper bound of w dh/dw over an end, None where unbounded. Raises Undecided."""
    h = neg_log(density)
    if end.point != 0:  # multiplied out round the point, so that what vanishes there cancels
        h, end = expanded(substitute(h, {name: add(Sym(name), Num(end.point))})), End(end.side, end.start)
    germ: Germ = end_jet(h, name, end).d1 * end_jet(Sym(name), name, end).v
    if germ.k.is_zero() or germ.direction() <= 0:
        found = germ.bounds()
        return found.lo, found.hi
    if germ.k.lo >= 0:
        return (1 / germ.power(Fraction(-1)).bounds().hi).lower() if germ.k.lo > 0 else arb(0), None
    if germ.k.hi <= 0:
        flipped = Germ(germ.start, -germ.k, germ.a, germ.b, germ.growth)
        return None, -(1 / flipped.power(Fraction(-1)).bounds().hi).lower() if germ.k.hi < 0 else arb(0)
    raise Undecided("the sign of a growing function at the end of the interval is not certain.")


def end_mass(density: Expr, name: str, end: End) -> arb | None:
    """The integral of a density over an end; None where it is certainly infinite. Raises Undecided."""
    low, high = _theta(density, name, end)
    distance = rational(end.start) if end.side in ("+inf", "-inf") else 1 / rational(end.start)
    boundary = end.boundary()
    edge = value(density, {name: rational(boundary)}) * distance
    if end.side not in ("+inf", "-inf"):  # the same statement for 1/w: theta - 1 changes sign
        low, high = None if high is None else 2 - high, None if low is None else 2 - low
    if high is not None and high <= 1:
        return None
    if low is None or not low > 1 or not edge >= 0 or not edge.is_finite():
        raise Undecided("whether the density is integrable at the end of its domain is not certain.")
    return edge * hull(arb(0) if high is None else 1 / (high - 1), 1 / (low - 1))


def later_ends(side: str, limit: Fraction | None, point: Fraction = Fraction(0)) -> Iterator[End]:
    """Ends that start further and further out, all beyond `limit` (the other end of the piece)."""
    for k in STARTS:
        end = End(side, Fraction(2) ** k, point)  # type: ignore[arg-type]
        if limit is None or (end.boundary() > limit if side in ("+inf", "left") else end.boundary() < limit):
            yield end


def _integrable_towards(density: Expr, name: str, ends: Iterable[End]) -> tuple[bool, End] | None:
    """Whether a density is integrable at the first of the ends where that is certain, and that end."""
    for end in ends:
        try:
            return end_mass(density, name, end) is not None, end
        except (Undecided, ExprError):
            continue
    return None


def _regular(piece: Piece, point: Fraction, inward: int) -> bool:
    """Whether the density is certainly bounded next to an end of its piece."""
    width = Fraction(inward, 1024)
    if piece.lower is not None and piece.upper is not None:
        width = inward * min(Fraction(1, 1024), piece.upper - piece.lower)
    near = value(piece.density, {piece.name: hull(point, point + width)})
    return bool(near.is_finite()) or load("numbers.discs").disc_round(piece.density, piece.name, point) is not None


def _bounded(density: Expr, name: str, lower: Fraction, upper: Fraction, depth: int = 0) -> bool:
    """Whether the density is certainly finite on a closed interval, by bisection."""
    if value(density, {name: hull(lower, upper)}).is_finite():
        return True
    for point in (lower, upper):
        disc = load("numbers.discs").disc_round(density, name, point)
        if disc is not None and rational(upper - lower) < disc.radius:
            return True
    if depth > 12:
        return False
    # a scale-free middle reaches 2^k in few steps
    middle = _middle(lower, upper)
    return _bounded(density, name, lower, middle, depth + 1) and _bounded(density, name, middle, upper, depth + 1)


def _middle(lower: Fraction, upper: Fraction) -> Fraction:
    if lower > 0 and upper > 4 * lower:
        return lower * Fraction(2) ** ((upper / lower).__floor__().bit_length() // 2)
    if upper < 0:
        return -_middle(-upper, -lower)
    return (lower + upper) / 2


def singular_ends(piece: Piece) -> Iterator[tuple[str, Fraction, Fraction | None]]:
    """The ends of a piece where the density may be unbounded: side, point (0 at infinity) and the other end of the piece."""
    for point, other, inward in ((piece.lower, piece.upper, 1), (piece.upper, piece.lower, -1)):
        if point is None:
            yield ("-inf" if inward > 0 else "+inf"), Fraction(0), other
        elif not _regular(piece, point, inward):
            yield ("right" if inward > 0 else "left"), point, other


def integrable(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> bool | None:
    """Whether the integral over (lower, upper) is finite: True or False where proved, None where not."""
    answer: bool | None = True
    for piece in pieces(density, name, lower, upper):
        low, high = piece.lower, piece.upper
        for side, point, other in singular_ends(piece):
            found = _integrable_towards(piece.density, name, later_ends(side, other, point))
            if found is None:
                answer = None
            elif not found[0]:
                return False
            elif side in ("-inf", "right"):
                low = found[1].boundary()
            else:
                high = found[1].boundary()
        if low is not None and high is not None and low < high and not _bounded(piece.density, name, low, high):
            answer = None
    return answer


@remembered(256)
def has_normaliser(mechanism: Additive) -> bool | None:
    """Whether the noise is integrable: True or False where proved, None where not. Lattice noise: summable."""
    try:
        lower, upper = domain(mechanism)
        if isinstance(mechanism, Translation) and mechanism.integers:
            load("numbers.quadrature").normaliser(mechanism)
            return True
        return integrable(whole_density(mechanism), variable(mechanism), lower, upper)
    except (Undecided, ExprError):
        return None


def end_name(side: str, point: Fraction) -> str:
    """An end of a piece, for messages."""
    return f"at {side[0]}infinity" if side in ("+inf", "-inf") else f"to the {side} of {point}"
