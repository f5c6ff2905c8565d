"""Ends of intervals at which what is known of a density decides whether it is integrable there."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import ONE, Expr, Sym, call, mul, neg, neg_log, power, sub
from dpverify.trusted.language.model import Translation
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.integrability import STARTS, end_mass, end_name, later_ends, singular_ends
from dpverify.trusted.numbers.noise import Additive, domain, variable, whole_density
from dpverify.trusted.numbers.pieces import Piece, pieces


def integrable_at(h: Expr, name: str, dimension: Expr, end: End) -> bool | None:
    """Whether exp(-h) |z|^(d-1) is integrable at an end: True or False where proved, None where not.

    The end may be judged from a later start; before it the density has to be bounded for other reasons.
    """
    density = mul(call("exp", neg(h)), power(Sym(name), sub(dimension, ONE)))
    later = (End(end.side, Fraction(2) ** k, end.point) for k in STARTS if 2**k > end.start)
    found = _judged(density, name, chain((end,), later))
    return None if found is None else found[0]


def infinite_ends(noise: Additive) -> list[str]:
    """The places where the density certainly has an infinite integral (or sum, on the integers), for messages. Raises Undecided."""
    lower, upper = domain(noise)
    found = []
    for piece in pieces(whole_density(noise), variable(noise), lower, upper):
        for side, point, other in singular_ends(piece):
            lattice = isinstance(noise, Translation) and noise.integers
            if lattice and side in ("right", "left"):
                continue
            judged = _judged(piece.density, piece.name, later_ends(side, other, point))
            if judged is not None and not judged[0] and (not lattice or _monotone(piece, judged[1])):
                found.append(end_name(side, point))
    return found


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
