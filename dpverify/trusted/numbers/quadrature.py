"""Enclosed integrals of densities.

A density is integrated piece by piece between its kinks and singular points. Inside a piece adaptive quadrature on complex
balls encloses the integral; at its ends the mass is enclosed as `integrability` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import hull, precision, rational, value
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Translation
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.complex import Complex, compiled
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.noise import domain, whole_density
from dpverify.trusted.numbers.pieces import Piece, pieces

WORKING: Final = 80
"""Bits for quadrature; ends of the order of 2^-1000 need no more, exponents are unbounded."""


_BESIDE: Final = Fraction(1, 1024)
"""How far from an end of a piece its density is looked at."""
_POWERS: Final = (*range(4, 32), *range(32, 128, 8), *range(128, 1025, 128))
"""At which powers of 2 a density is looked at, to guess where its end starts."""
_NEARER: Final = range(-24, 4)
"""Where it is looked at beside, to see how great it is."""
_SPARE: Final = 8
"""Bits beyond those wanted to which an end is a power, and a piece integrated."""


def _quadrature(density: Expr, name: str, lower: Fraction, upper: Fraction, tolerance: arb, least: arb) -> arb:
    """The integral over a closed interval by adaptive Gauss rules on complex balls (Johansson 2018)."""
    function = compiled(density, name)
    for point in (lower, upper):
        if value(density, {name: rational(point)}).is_finite():
            continue
        from dpverify.trusted.numbers.discs import bound_on_disc

        bound = bound_on_disc(density, name, point, _BESIDE)
        if bound is not None:
            function = _with_disc(function, point, bound)
    ends = acb(rational(lower)), acb(rational(upper))
    total = acb.integral(function, *ends, rel_tol=tolerance, abs_tol=least, eval_limit=20_000, depth_limit=4_000, use_heap=True)
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


def integral(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, bits: int = 24) -> arb:
    """A ball that contains the integral of a density over (lower, upper), at about `bits` bits relative accuracy.

    None is an infinite end. Raises Undecided where the integral is not proved finite or the form is not covered.
    """
    return _integral(density, name, lower, upper, bits, max(ctx.prec, WORKING))


@remembered(256)
def _integral(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, bits: int, prec: int) -> arb:
    with precision(prec):
        total = arb(0)
        for piece in sorted(pieces(density, name, lower, upper), key=_about, reverse=True):  # small ones as accurately as the whole
            total += _piece_integral(piece, bits, abs(total.mid()).max(_about(piece)))
        return total


def _about(piece: Piece) -> arb:
    """About the integral of a piece, by one of its points: a guess."""
    low = piece.lower if piece.lower is not None else Fraction(-1) if piece.upper is None else piece.upper - 1
    high = piece.upper if piece.upper is not None else low + 1
    size = value(piece.density, {piece.name: rational((low + high) / 2)}).mid() * rational(high - low)
    return size if size.is_finite() else arb(0)


def _piece_integral(piece: Piece, bits: int, known: arb) -> arb:
    total, left, right, tolerance = arb(0), piece.lower, piece.upper, arb(2) ** -(bits + _SPARE)
    for end in _singular_ends(piece):
        far = End(end.side, start_of_end(piece, end, tolerance), end.point)
        total += _mass(piece.density, piece.name, far, ctx.prec)
        if end.side in ("-inf", "right"):
            left = far.boundary()
        else:
            right = far.boundary()
    assert left is not None and right is not None
    return total + _quadrature(piece.density, piece.name, left, right, tolerance, (abs(total.mid()) + known).mid() * tolerance)


def start_of_end(piece: Piece, end: End, tolerance: arb) -> Fraction:
    """About where an end starts whose mass is known to so much of the greatest size: a guess, as masses are enclosed wherever it is.

    Sizes are the density times the distance, at powers of 2 in the chart of the end. With sizes at three of them in a row, each 2^-a of
    the one before, the mass is the first over a: how far are the two a apart? Nothing is said of sizes that are not enclosed.
    """

    @cache
    def size(k: int) -> arb:
        at = End(end.side, Fraction(2) ** k, end.point).boundary()
        return value(piece.density, {piece.name: rational(at)}) * rational(abs(at - end.point))

    found: int = _POWERS[0]
    none, greatest = arb(2) ** -ctx.prec, arb(0)
    for k in (*_NEARER, *_POWERS):
        at = End(end.side, Fraction(2) ** k, end.point).boundary()
        if (piece.lower is None or at > piece.lower) and (piece.upper is None or at < piece.upper) and size(k).is_finite():
            greatest = greatest.max(size(k).mid())
    least = greatest * tolerance
    for k, after in pairwise(_POWERS):
        first, second, third = size(k), size(k + 1), size(k + 2)
        apart = first * abs(1 / (first / second).log() - 1 / (second / third).log())
        if first > least and (second <= first * none or second >= first or third >= second or apart > least):
            found = after
    return max(end.start, Fraction(2) ** found)


@remembered(1024)
def _mass(density: Expr, name: str, end: End, _: int) -> arb:
    """The mass of an end at the working precision. Raises Undecided."""
    where = f"at {end.side[0]}infinity" if end.side in ("+inf", "-inf") else f"to the {end.side} of {end.point}"
    try:
        mass = end_mass(density, name, end)
    except (Undecided, ExprError) as error:
        raise Undecided(f"whether the density is integrable {where} is not certain.") from error
    if mass is None:
        raise Undecided(f"the density is not integrable {where}.")
    return mass


def _regular(piece: Piece, point: Fraction, inward: int) -> bool:
    """Whether the density is certainly bounded next to an end of its piece."""
    width = _BESIDE if piece.lower is None or piece.upper is None else min(_BESIDE, piece.upper - piece.lower)
    near = value(piece.density, {piece.name: hull(point, point + inward * width)})
    if near.is_finite():
        return True
    from dpverify.trusted.numbers.discs import bound_on_disc

    return bound_on_disc(piece.density, piece.name, point, _BESIDE) is not None


def _singular_ends(piece: Piece) -> Iterator[End]:
    """The ends of a piece where the density may be unbounded, each in no more than its half of a piece with another end."""
    for point, other, inward in ((piece.lower, piece.upper, 1), (piece.upper, piece.lower, -1)):
        if point is None:
            yield End("-inf" if inward > 0 else "+inf", max(Fraction(1), -2 * inward * (other or Fraction(0))))
        elif not _regular(piece, point, inward):
            yield End("right" if inward > 0 else "left", Fraction(1) if other is None else 2 / abs(other - point), point)


@remembered(256)
def normaliser(mechanism: Additive, bits: int = 24) -> arb:
    """The integral of the density, for lattice noise the sum; for radial noise that of profile(r) r^(d-1).

    A norm ball of radius rho in the scaled norm round a point at distance a has mass rho^d profile(..) / (d * this),
    without any volume. Raises Undecided.
    """
    lower, upper = domain(mechanism)
    if isinstance(mechanism, Translation) and mechanism.integers:
        low = None if lower is None else lower.__ceil__()
        from dpverify.trusted.numbers.lattice_sums import lattice_sum

        return lattice_sum(mechanism.density, "z", low, None if upper is None else upper.__floor__(), bits)
    return integral(whole_density(mechanism), variable(mechanism), lower, upper, bits)
