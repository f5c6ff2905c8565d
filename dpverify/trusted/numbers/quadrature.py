"""Enclosed integrals of densities.

A density is integrated piece by piece between its kinks and singular points. Inside a piece adaptive quadrature on complex
balls encloses the integral; at its ends the mass is enclosed as `integrability` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import Expr
from dpverify.trusted.language.loading import load, remembered
from dpverify.trusted.language.model import Translation
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.balls import hull, precision, rational, value
from dpverify.trusted.numbers.complex import Complex, compiled
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.noise import domain, whole_density
from dpverify.trusted.numbers.pieces import Piece, pieces

WORKING: Final = 80
"""Bits for quadrature; ends of the order of 2^-1000 need no more, exponents are unbounded."""


_BESIDE: Final = Fraction(1, 1024)
"""How far from an end of a piece its density is looked at."""
_STARTS: Final = (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30, 40, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k in its chart."""


def _quadrature(density: Expr, name: str, lower: Fraction, upper: Fraction, reference: arb, bits: int) -> arb:
    """The integral over a closed interval by adaptive Gauss rules on complex balls (Johansson 2018)."""
    function = compiled(density, name)
    for point in (lower, upper):
        found = value(density, {name: rational(point)})
        bound = None if found.is_finite() else load("numbers.discs").bound_on_disc(density, name, point, _BESIDE)
        if bound is not None:
            function = _with_disc(function, point, bound)
    tolerance = arb(2) ** -bits
    total = acb.integral(
        function,
        acb(rational(lower)),
        acb(rational(upper)),
        rel_tol=tolerance,
        abs_tol=reference * tolerance,
        eval_limit=20_000,
        depth_limit=4_000,
    )
    if not (total.real.is_finite() and 0 in total.imag):
        raise Undecided(f"the integral of the density from {lower} to {upper} has no finite enclosure.")
    return total.real.max(arb(0))


def _with_disc(function: Complex, point: Fraction, bound: arb) -> Complex:
    """The function, by its bound where it has no finite value on a box inside the disc."""
    bounded, radius = acb((-bound).union(bound), (-bound).union(bound)), rational(_BESIDE)

    def f(z: acb, a: bool) -> acb:
        found = function(z, a)
        return bounded if not found.is_finite() and abs(z - rational(point)) < radius else found

    return f


def _reference(piece: Piece) -> arb:
    """About the mass of a piece, a point only, to set tolerances by: the largest density * distance on a grid of powers of two."""
    best = arb(0)
    for k in range(-24, 25):
        for point in _grid(piece, Fraction(2) ** k):
            height = value(piece.density, {piece.name: rational(point)}).mid()
            if height.is_finite():
                best = best.max((height * rational(Fraction(2) ** k)).mid())
    return best


def _grid(piece: Piece, step: Fraction) -> Iterator[Fraction]:
    """The points at a distance inside from each end of a piece."""
    low = piece.lower if piece.lower is not None else (Fraction(0) if piece.upper is None else None)
    inside = [low + step] if low is not None else []
    if piece.upper is not None:
        inside.append(piece.upper - step)
    for point in inside:
        if (piece.lower is None or point > piece.lower) and (piece.upper is None or point < piece.upper):
            yield point


def integral(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, bits: int = 24) -> arb:
    """A ball that contains the integral of a density over (lower, upper), at about `bits` bits relative accuracy.

    None is an infinite end. Raises Undecided where the integral is not proved finite or the form is not covered.
    """
    return _integral(density, name, lower, upper, bits, max(ctx.prec, WORKING))


@remembered(256)
def _integral(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, bits: int, prec: int) -> arb:
    with precision(prec):
        found = pieces(density, name, lower, upper)
        references = [_reference(piece) for piece in found]
        largest = arb(0)
        for reference in references:
            largest = largest.max(reference)
        total = arb(0)
        for piece in found:
            total += _piece_integral(piece, largest.mid(), bits)
        return total


def _piece_integral(piece: Piece, reference: arb, bits: int) -> arb:
    total, left, right = arb(0), piece.lower, piece.upper
    for side, point, other in _singular_ends(piece):
        mass, boundary = _sharp_end(piece, side, other, point, reference * arb(2) ** -bits)
        total += mass
        if side in ("-inf", "right"):
            left = boundary
        else:
            right = boundary
    assert left is not None and right is not None
    if left == right:
        return total
    if left > right:
        raise Undecided("the two ends of a piece of the density overlap.")
    return total + _quadrature(piece.density, piece.name, left, right, reference, bits)


def _sharp_end(piece: Piece, side: str, other: Fraction | None, point: Fraction, wanted: arb) -> tuple[arb, Fraction]:
    """The mass of the first end that is as narrow as wanted, or of the narrowest, with the point where it starts."""
    ends = list(_later_ends(side, _halfway(point, other, side), point))
    known: dict[int, arb | None] = {}

    def mass(i: int) -> arb | None:
        if i not in known:
            known[i] = _known_mass(piece.density, piece.name, ends[i], _end_name(side, point), ctx.prec)
        return known[i]

    def sharp(i: int) -> bool:
        found = mass(i)
        return found is not None and bool(found.rad() <= wanted)

    # masses are the narrower the further out an end starts, nearly always: by doubling and halving, else one by one
    low, high = 0, 1
    while high < len(ends) and not sharp(high):
        low, high = high + 1, 2 * high + 1
    high = min(high, len(ends))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sharp(middle) else (middle + 1, high)
    best: tuple[arb, Fraction] | None = None
    for i in (low,) if low < len(ends) else range(len(ends)):
        found = mass(i)
        if found is not None and (best is None or found.rad() < best[0].rad()):
            best = found, ends[i].boundary()
    if best is None:
        raise Undecided(f"whether the density is integrable {_end_name(side, point)} is not certain.")
    return best


@remembered(1024)
def _known_mass(density: Expr, name: str, end: End, where: str, _: int) -> arb | None:
    """The mass of an end at the working precision, None where it is not known. Raises Undecided where it is certainly infinite."""
    try:
        mass = end_mass(density, name, end)
    except (Undecided, ExprError):
        return None
    if mass is None:
        raise Undecided(f"the density is not integrable {where}.")
    return mass


def _later_ends(side: str, limit: Fraction | None, point: Fraction = Fraction(0)) -> Iterator[End]:
    """Ends that start further and further out, all beyond `limit` (the other end of the piece)."""
    for k in _STARTS:
        end = End(side, Fraction(2) ** k, point)  # type: ignore[arg-type]
        if limit is None or (end.boundary() > limit if side in ("+inf", "left") else end.boundary() < limit):
            yield end


def _regular(piece: Piece, point: Fraction, inward: int) -> bool:
    """Whether the density is certainly bounded next to an end of its piece."""
    width = _BESIDE if piece.lower is None or piece.upper is None else min(_BESIDE, piece.upper - piece.lower)
    near = value(piece.density, {piece.name: hull(point, point + inward * width)})
    return bool(near.is_finite()) or load("numbers.discs").bound_on_disc(piece.density, piece.name, point, _BESIDE) is not None


def _singular_ends(piece: Piece) -> Iterator[tuple[str, Fraction, Fraction | None]]:
    """The ends of a piece where the density may be unbounded: side, point (0 at infinity) and the other end of the piece."""
    for point, other, inward in ((piece.lower, piece.upper, 1), (piece.upper, piece.lower, -1)):
        if point is None:
            yield ("-inf" if inward > 0 else "+inf"), Fraction(0), other
        elif not _regular(piece, point, inward):
            yield ("right" if inward > 0 else "left"), point, other


def _end_name(side: str, point: Fraction) -> str:
    """An end of a piece, for messages."""
    return f"at {side[0]}infinity" if side in ("+inf", "-inf") else f"to the {side} of {point}"


def _halfway(point: Fraction, other: Fraction | None, side: str) -> Fraction | None:
    """Where an end must stop so that the end on the other side of its piece has room."""
    if other is None:
        return None if side in ("left", "right") else Fraction(0)
    return (point + other) / 2 if side in ("left", "right") else other


@remembered(256)
def normaliser(mechanism: Additive, bits: int = 24) -> arb:
    """The integral of the density, for lattice noise the sum; for radial noise that of profile(r) r^(d-1).

    A norm ball of radius rho in the scaled norm round a point at distance a has mass rho^d profile(..) / (d * this),
    without any volume. Raises Undecided.
    """
    lower, upper = domain(mechanism)
    if isinstance(mechanism, Translation) and mechanism.integers:
        low = None if lower is None else lower.__ceil__()
        summed: arb = load("numbers.lattice_sums").lattice_sum(
            mechanism.density, "z", low, None if upper is None else upper.__floor__(), bits
        )
        return summed
    return integral(whole_density(mechanism), variable(mechanism), lower, upper, bits)
