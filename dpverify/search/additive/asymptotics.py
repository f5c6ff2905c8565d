"""Ends of intervals at which what is known of a density decides whether it is integrable there, and the evidence for rules that want it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from dpverify.trusted.kernel.balls import hull, precision, value
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Undecided
from dpverify.trusted.kernel.expr import ONE, Expr, Sym, call, mul, neg, power, sub
from dpverify.trusted.kernel.model import Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.numbers import lattice_sums
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.discs import bound_on_disc
from dpverify.trusted.numbers.integrability import bounded, end_mass, end_of
from dpverify.trusted.numbers.noise import domain, integrable, whole_density
from dpverify.trusted.numbers.pieces import Piece, pieces
from dpverify.trusted.theories.additive.integrable import integrable_by_shape

STARTS: Final = (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30, 40, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k in its chart."""
BESIDE: Final = Fraction(1, 1024)
"""How far from its end a piece is looked at, to see whether its density is bounded there."""
MOST_HALVINGS: Final = 12
BITS: Final = 53
"""The least precision of a line: what is found at it holds at others."""


# -- evidence ------------------------------------------------------------------------------------------


def evidence(noise: Additive) -> dict[str, Any]:
    """What shows that noise is integrable, under "normaliser": nothing where its shape does, or where nothing is found."""
    if integrable_by_shape(noise):
        return {}
    try:
        lower, upper = domain(noise)
        if isinstance(noise, Translation) and noise.integers:
            told = _tails(noise, lower, upper)
        else:
            told = of_density(whole_density(noise), variable(noise), lower, upper)
    except DpverifyError:
        return {}
    return {} if told is None else {"normaliser": told}


def is_integrable(noise: Additive) -> bool | None:
    """Whether noise is integrable (summable, on the integers): True or False where proved, None where not."""
    if integrable_by_shape(noise):
        return True
    shown = evidence(noise)
    if shown and integrable(noise, shown["normaliser"]):
        return True
    try:
        return False if infinite_ends(noise) else None
    except DpverifyError:
        return None


@lru_cache(maxsize=64)
def of_density(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> list[Any] | None:
    """What is told of the pieces of a density: where their ends start, and cuts in between; None where that is not found."""
    with precision(BITS):
        return _of_density(density, name, lower, upper)


def _of_density(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> list[Any] | None:
    told = []
    for piece in pieces(density, name, lower, upper):
        starts = [_start(piece, piece.lower, -1), _start(piece, piece.upper, 1)]
        if any(start is False for start in starts):
            return None
        limits = ((piece.lower, -1, starts[0]), (piece.upper, 1, starts[1]))
        low, high = (end if start is None else end_of(end, outward, start).boundary() for end, outward, start in limits)
        if low is None or high is None:
            return None
        cuts = [] if low >= high else _cuts(piece, low, high, 0)
        if cuts is None:
            return None
        told.append([starts[0], [str(cut) for cut in cuts], starts[1]])
    return told


def _start(piece: Piece, limit: Fraction | None, outward: int) -> Any:
    """Where an end of a piece starts, None where the density is bounded there, False where no start is found."""
    if limit is not None and _regular(piece, limit, -outward):
        return None
    other = piece.lower if outward > 0 else piece.upper
    for k in STARTS:
        boundary = end_of(limit, outward, k).boundary()
        if other is not None and (boundary <= other if outward > 0 else boundary >= other):
            continue
        try:
            return False if end_mass(piece.density, piece.name, end_of(limit, outward, k)) is None else k
        except (Undecided, ExprError):
            continue
    return False


def _regular(piece: Piece, point: Fraction, inward: int) -> bool:
    """Whether the density is certainly bounded next to an end of its piece."""
    width = inward * (BESIDE if piece.lower is None or piece.upper is None else min(BESIDE, piece.upper - piece.lower))
    near = value(piece.density, {piece.name: hull(point, point + width)})
    return bool(near.is_finite()) or bound_on_disc(piece.density, piece.name, point, BESIDE) is not None


def _cuts(piece: Piece, low: Fraction, high: Fraction, depth: int) -> list[Fraction] | None:
    """Cuts between which the density is certainly bounded, None where they are not found."""
    if bounded(piece.density, piece.name, low, high):
        return []
    if depth > MOST_HALVINGS:
        return None
    middle = _middle(low, high)
    left = _cuts(piece, low, middle, depth + 1)
    right = None if left is None else _cuts(piece, middle, high, depth + 1)
    return None if left is None or right is None else [*left, middle, *right]


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """A middle that reaches 2^k in few steps."""
    if low > 0 and high > 4 * low:
        return low * Fraction(2) ** ((high / low).__floor__().bit_length() // 2)
    if high < 0:
        return -_middle(-high, -low)
    return (low + high) / 2


def _tails(noise: Translation, lower: Fraction | None, upper: Fraction | None) -> list[int | None] | None:
    """Where the tails of noise on the integers start."""
    told: list[int | None] = []
    for end, place in ((lower, 0), (upper, 1)):
        start = None if end is not None else next((k for k in STARTS if k in lattice_sums.MAY_START and _summable(noise, place, k)), -1)
        if start == -1:
            return None
        told.append(start)
    return told


def _summable(noise: Translation, place: int, start: int) -> bool:
    """Whether the tail on one side is summable from a start."""
    zero = Fraction(0)
    try:
        if place == 0:
            return lattice_sums.summable(noise.density, "z", None, zero, [start, None])
        return lattice_sums.summable(noise.density, "z", zero, None, [None, start])
    except (Undecided, ExprError):
        return False


# -- ends ----------------------------------------------------------------------------------------------


def integrable_at(h: Expr, name: str, dimension: Expr, end: End) -> bool | None:
    """Whether exp(-h) |z|^(d-1) is integrable at an end: True or False where proved, None where not.

    The end may be judged from a later start; before it the density has to be bounded for other reasons.
    """
    density = mul(call("exp", neg(h)), power(Sym(name), sub(dimension, ONE)))
    later = (End(end.side, Fraction(2) ** k, end.point) for k in STARTS if 2**k > end.start)
    judged = _judged(density, name, chain((end,), later))
    return None if judged is None else judged[0]


def infinite_ends(noise: Additive) -> list[str]:
    """The places where the density certainly has an infinite integral (or sum, on the integers), for messages. Raises Undecided."""
    lower, upper = domain(noise)
    ends = []
    for piece in pieces(whole_density(noise), variable(noise), lower, upper):
        for limit, other, outward in ((piece.lower, piece.upper, -1), (piece.upper, piece.lower, 1)):
            lattice = isinstance(noise, Translation) and noise.integers
            if limit is not None and (lattice or _regular(piece, limit, -outward)):
                continue
            judged = _judged(piece.density, piece.name, _later(limit, other, outward))
            if judged is not None and not judged[0] and (not lattice or _monotone(piece, judged[1])):
                ends.append(_name(judged[1]))
    return ends


def _later(limit: Fraction | None, other: Fraction | None, outward: int) -> Iterator[End]:
    """Ends that start further and further out, all beyond the other end of the piece."""
    for k in STARTS:
        end = end_of(limit, outward, k)
        if other is None or (end.boundary() > other if outward > 0 else end.boundary() < other):
            yield end


def _judged(density: Expr, name: str, ends: Iterable[End]) -> tuple[bool, End] | None:
    """Whether a density is integrable at the first of the ends where that is certain, and that end."""
    for end in ends:
        try:
            return end_mass(density, name, end) is not None, end
        except (Undecided, ExprError):
            continue
    return None


def _monotone(piece: Piece, end: End) -> bool:
    """Whether the density certainly rises or falls on the end, so that its sum is infinite where its integral is."""
    slope: Germ = end_jet(neg_log(piece.density), piece.name, end).d1
    return bool(slope.k.lo >= 0 or slope.k.hi <= 0)


def _name(end: End) -> str:
    return f"at {end.side[0]}infinity" if end.side in ("+inf", "-inf") else f"to the {end.side} of {end.point}"
