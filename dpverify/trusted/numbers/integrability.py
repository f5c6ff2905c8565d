"""Whether the integral of a density is finite, and its mass at an end of a piece.

At an end of a piece (infinity, a pole, a zero, the centre), let w be |z| or the distance
from the point, h = -log(density), and theta = w dh/dw. Since d log(density)/d log(w) = -theta, from theta in [b1, b2]

    past w0:    the tail is in density(w0) w0 [1/(b2 - 1), 1/(b1 - 1)]  if b1 > 1,  and infinite if b2 <= 1;
    within w0:  the head is in density(w0) w0 [1/(1 - b1), 1/(1 - b2)]  if b2 < 1,  and infinite if b1 >= 1.

Radial noise has the weight r^(d-1) in its density; see `noise.weighted`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import hull, rational, value
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, Num, Sym, add, substitute
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.expansion import expanded
from dpverify.trusted.numbers.pieces import Piece, pieces, without_floors

STARTS: Final = range(4, 1001)
"""Where an end may start, as k in 2^k: before, its chart has no scales to tell apart."""


def _theta(density: Expr, name: str, end: End, shares: Mapping[str, arb]) -> tuple[arb | None, arb | None]:
    """Lower and upper bound of w dh/dw over an end, None where unbounded. Raises Undecided."""
    h = neg_log(density)
    if end.point != 0:  # multiplied out round the point, so that what vanishes there cancels
        h, end = expanded(substitute(h, {name: add(Sym(name), Num(end.point))})), End(end.side, end.start)
    germ: Germ = end_jet(h, name, end, shares).d1 * end_jet(Sym(name), name, end).v
    if germ.direction() <= 0:
        found = germ.bounds()
        return found.lo, found.hi
    if germ.k.lo >= 0:
        return (1 / germ.power(Fraction(-1)).bounds().hi).lower() if germ.k.lo > 0 else arb(0), None
    if germ.k.hi <= 0:
        flipped = Germ(germ.start, -germ.k, germ.a, germ.b, germ.growth)
        return None, -(1 / flipped.power(Fraction(-1)).bounds().hi).lower() if germ.k.hi < 0 else arb(0)
    raise Undecided("the sign of a growing function at the end of the interval is not certain.")


def end_mass(density: Expr, name: str, end: End) -> arb | None:
    """The integral of a density over an end; None where it is certainly infinite. Raises Undecided.

    Where shares stand for floors, the bounds hold for each value of these, so that they hold of the least and the greatest density of all.
    """
    density, shares = without_floors(density, name)
    low, high = _theta(density, name, end, shares)
    distance = rational(end.start) if end.side in ("+inf", "-inf") else 1 / rational(end.start)
    boundary = end.boundary()
    edge = value(density, {name: rational(boundary), **shares}) * distance
    if end.side not in ("+inf", "-inf"):  # the same statement for 1/w: theta - 1 changes sign
        low, high = None if high is None else 2 - high, None if low is None else 2 - low
    if high is not None and high <= 1:
        return None
    if low is None or not low > 1 or not edge >= 0 or not edge.is_finite():
        raise Undecided("whether the density is integrable at the end of its domain is not certain.")
    return edge * hull(arb(0) if high is None else 1 / (high - 1), 1 / (low - 1))


def integrable(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, told: Any) -> bool:
    """Whether the integral over (lower, upper) is proved to be finite. Raises CertificateError for what is not told as `read` wants it."""
    found = pieces(density, name, lower, upper)
    return all(_finite(piece, *one) for piece, one in zip(found, read(told), strict=True))


Told = tuple[int | None, list[Fraction], int | None]
"""Of a piece: its left end starts at 2^k in its chart (None: the density is bounded there), cuts, its right end."""


def read(told: Any) -> list[Told]:
    """What is told of the pieces of a density, [left, cuts, right] for each. Raises CertificateError."""
    return [(_start(left), [exact_fraction(cut) for cut in cuts], _start(right)) for left, cuts, right in told]


def _start(told: Any) -> int | None:
    return None if told is None else to_whole(told, "an end", "the normaliser", STARTS[0], STARTS[-1])


def _finite(piece: Piece, left: int | None, cuts: list[Fraction], right: int | None) -> bool:
    """Whether the integral over a piece is finite: over its ends, and over the cells between, on each of which the density is bounded."""
    low, high = (_behind(piece, *one) for one in ((left, piece.lower, -1), (right, piece.upper, 1)))
    if low is None or high is None:
        return False
    points = [low, *cuts, high]
    return low >= high or all(a < b and bounded(piece.density, piece.name, a, b) for a, b in pairwise(points))


def _behind(piece: Piece, start: int | None, limit: Fraction | None, outward: int) -> Fraction | None:
    """The point where an end of a piece meets the rest of it, if the density is certainly integrable over the end, else None."""
    if start is None:
        return limit
    end = end_of(limit, outward, start)
    boundary, other = end.boundary(), piece.lower if outward > 0 else piece.upper
    inside = other is None or (boundary > other if outward > 0 else boundary < other)
    return boundary if inside and end_mass(piece.density, piece.name, end) is not None else None


def end_of(limit: Fraction | None, outward: int, start: int) -> End:
    """The end of a piece at its limit (None: infinite), outward 1 for the right one and -1 for the left one."""
    infinite, beside = ("+inf", "left") if outward > 0 else ("-inf", "right")
    return End(infinite if limit is None else beside, Fraction(2) ** start, limit or Fraction(0))  # type: ignore[arg-type]


def bounded(density: Expr, name: str, lower: Fraction, upper: Fraction) -> bool:
    """Whether the density is certainly bounded on a closed interval: by its value, or in a disc round an end of it."""
    if value(density, {name: hull(lower, upper)}).is_finite():
        return True
    from dpverify.trusted.numbers.discs import bound_on_disc

    bounds = (bound_on_disc(density, name, point, upper - lower) for point in (lower, upper))
    return any(bound is not None for bound in bounds)
