"""Integrals of exp(-t) over polyhedra, exactly, and with them the divergence of noise exp(-||y||) whose ball is a polytope.

Let ||y|| = max <a, y> over facets a, v a shift, and q(y) = p(y - v). Then min(p, e^epsilon q) is exp(-max over a of (<a, y> - c_a)) with
c_a = min(0, <a, v> + epsilon). Its integral over y is that of exp(-t) over the (y, t) with <a, y> <= t + c_a for all a. By the divergence
theorem, in the direction of t, the integral of exp(-t) over a polyhedron is that over its facets, each times its normal's share of t; and
so on down to single intervals of t. Volumes, where t is constant on a facet, are sums over facets too (Lasserre).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb, fmpq

from dpverify.curves.cones import dot
from dpverify.errors import Undecided
from dpverify.geometry import Vector
from dpverify.model import Matrix

MOST_FLAGS: Final = 3_000
"""The most chains of facets of facets that are looked at for one integral."""

Row = tuple[tuple[fmpq, ...], fmpq, fmpq]
"""(a, b, c): the half space of the (y, t) with <a, y> <= b t + c."""
Terms = dict[fmpq, fmpq]
"""The sum of k e^-t over its keys t and their values k."""

_ZERO: Final = fmpq(0)


class Shift:
    """Noise of density proportional to exp(-||y||), ||y|| = max <a, y> over all facets, moved by multiples of a vector."""

    def __init__(self, facets: Matrix, vector: Vector) -> None:
        """Raises Undecided where there are too many facets."""
        if len(facets) ** len(vector) > MOST_FLAGS:
            raise Undecided(f"{len(facets)} facets in {len(vector)} dimensions are too many to integrate over.")
        self._facets = [tuple(map(_rational, a)) for a in facets]
        self._heights = [_rational(dot(a, vector)) for a in facets]
        self._whole = self._integral([_ZERO] * len(facets))[_ZERO]

    def divergence(self, length: Fraction, epsilon: Fraction) -> arb:
        """H(epsilon) of the noise and the same moved by `length` times the vector, at any real epsilon."""
        t, least = _rational(length), _rational(epsilon)
        levels = [min(_ZERO, t * height + least) for height in self._heights]
        if not any(levels):
            return arb(0)
        common = sum((arb(k) * (-arb(at)).exp() for at, k in self._integral(levels).items()), arb(0)) / arb(self._whole)
        return (1 - common).max(arb(0)).min(arb(1))

    def _integral(self, levels: Sequence[fmpq]) -> Terms:
        return integral([(a, fmpq(1), c) for a, c in zip(self._facets, levels, strict=True)])


def _rational(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def integral(rows: Iterable[Row]) -> Terms:
    """The integral of exp(-t) over the (y, t) in all half spaces, which bound t from below and, for each t, also y."""
    kept, low, high = _tidied(rows)
    if low is not None and high is not None and low >= high:
        return {}
    if low is None and not kept:
        raise Undecided("an integral of exp(-t) over t that nothing bounds from below.")
    size = len(kept[0][0]) if kept else 0
    ends = [(t, fmpq(sign)) for t, sign in ((low, 1), (high, -1)) if t is not None]
    found: Terms = {}
    for t, sign in ends:
        _add(found, {t: volume([(a, b * t + c) for a, b, c in kept], size)}, sign)
    bounds = [((_ZERO,) * size, sign, -sign * t) for t, sign in ends]
    _add(found, _over_sides(kept, bounds), fmpq(1))
    return found


def _over_sides(rows: Sequence[Row], bounds: list[Row]) -> Terms:
    """What the facets on which t varies add."""
    found: Terms = {}
    for j, (a, b, _) in enumerate(rows):
        if b != 0:
            k = next(i for i, x in enumerate(a) if x != 0)
            side = [_without(row, rows[j], k) for i, row in enumerate([*rows, *bounds]) if i != j]
            _add(found, integral(side), b / abs(a[k]))
    return found


def _add(found: Terms, more: Terms, factor: fmpq) -> None:
    for t, k in more.items():
        found[t] = found.get(t, _ZERO) + factor * k


def _without(row: Row, other: Row, k: int) -> Row:
    """A half space where y_k is such that the other one holds with equality."""
    ratio = row[0][k] / other[0][k]
    a = tuple(x - ratio * y for i, (x, y) in enumerate(zip(row[0], other[0], strict=True)) if i != k)
    return a, row[1] - ratio * other[1], row[2] - ratio * other[2]


def _tidied(rows: Iterable[Row]) -> tuple[list[Row], fmpq | None, fmpq | None]:
    """Half spaces without those that others contain in the same direction; what the rest say of t alone, low >= high where none is left."""
    tightest: dict[tuple[tuple[fmpq, ...], fmpq], fmpq] = {}
    low: fmpq | None = None
    high: fmpq | None = None
    for a, b, c in rows:
        lead = next((abs(x) for x in a if x != 0), None)
        if lead is not None:
            key = tuple(x / lead for x in a), b / lead
            tightest[key] = min(tightest.get(key, c / lead), c / lead)
        elif b > 0:
            low = -c / b if low is None else max(low, -c / b)
        elif b < 0:
            high = -c / b if high is None else min(high, -c / b)
        elif c < 0:
            return [], _ZERO, _ZERO
    return [(a, b, c) for (a, b), c in tightest.items()], low, high


def volume(rows: Iterable[tuple[tuple[fmpq, ...], fmpq]], dimension: int) -> fmpq:
    """Of the bounded polytope {y : <a, y> <= c for all rows}."""
    tightest: dict[tuple[fmpq, ...], fmpq] = {}
    for a, c in rows:
        lead = next((abs(x) for x in a if x != 0), None)
        if lead is not None:
            key = tuple(x / lead for x in a)
            tightest[key] = min(tightest.get(key, c / lead), c / lead)
        elif c < 0:
            return _ZERO
    if dimension == 0:
        return fmpq(1)
    total = _ZERO
    for a, c in tightest.items():
        if c != 0:
            k = next(i for i, x in enumerate(a) if x != 0)
            side = [(row[0], row[2]) for row in (_without((b, _ZERO, e), (a, _ZERO, c), k) for b, e in tightest.items() if b != a)]
            total += c / abs(a[k]) * volume(side, dimension - 1)
    return total / dimension
