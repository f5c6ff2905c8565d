"""Integrals of exp(-t) over polyhedra, exactly, and with them the divergence of noise exp(-||y||) whose ball is a polytope.

Let ||y|| = max <a, y> over facets a, v a shift, and q(y) = p(y - v). Then min(p, e^epsilon q) is exp(-max over a of (<a, y> - c_a)) with
c_a = min(0, <a, v> + epsilon). Its integral over y is that of exp(-t) over the (y, t) with <a, y> <= t + c_a for all a. By the divergence
theorem, in the direction of t, the integral of exp(-t) over a polyhedron is that over its facets, each times its normal's share of t; and
so on down to single intervals of t. Volumes, where t is constant on a facet, are sums over facets too (Lasserre). All of it is done for
many epsilons at once: numbers are linear in epsilon, and the epsilons are noted up to which every comparison comes out as it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from flint import arb, fmpq, fmpq_poly

from dpverify.trusted.geometry.linear import dot, to_fmpq
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import Matrix, Vector

MOST_FLAGS: Final = 3_000
"""The most chains of facets of facets that are looked at for one integral."""

Line = tuple[fmpq, fmpq]
"""(k, m): the number k + m epsilon."""
Row = tuple[tuple[fmpq, ...], fmpq, Line]
"""(a, b, c): the half space of the (y, t) with <a, y> <= b t + c."""
Terms = dict[Line, fmpq_poly]
"""The sum of k(epsilon) e^-t over its keys t and their values k."""

_ZERO: Final = fmpq(0)
_NONE: Final = (_ZERO, _ZERO)


class Shift:
    """Noise of density proportional to exp(-||y||), ||y|| = max <a, y> over all facets, moved by multiples of a vector."""

    def __init__(self, facets: Matrix, vector: Vector) -> None:
        """Raises Undecided where there are too many facets."""
        if len(facets) ** len(vector) > MOST_FLAGS:
            raise Undecided(f"{len(facets)} facets in {len(vector)} dimensions are too many to integrate over.")
        self._facets = [tuple(map(to_fmpq, a)) for a in facets]
        self._heights = [to_fmpq(dot(a, vector)) for a in facets]
        whole = Polyhedra(_ZERO).integral([(a, fmpq(1), _NONE) for a in self._facets])
        self._whole = whole[_NONE](_ZERO)
        self._found: dict[Fraction, list[tuple[Polyhedra, Terms]]] = {}

    def divergence(self, length: Fraction, epsilon: Fraction) -> arb:
        """H(epsilon) of the noise and the same moved by `length` times the vector, at any real epsilon."""
        t, at = to_fmpq(length), to_fmpq(epsilon)
        if all(t * height + at >= 0 for height in self._heights):
            return arb(0)
        pieces = self._found.setdefault(length, [])
        terms = next((terms for where, terms in pieces if where.holds(at)), None)
        if terms is None:
            where = Polyhedra(at)
            levels = [where.least(_NONE, (t * height, fmpq(1))) for height in self._heights]
            terms = where.integral([(a, fmpq(1), c) for a, c in zip(self._facets, levels, strict=True)])
            pieces.append((where, terms))
        common = sum((arb(k(at)) * (-arb(_at(line, at))).exp() for line, k in terms.items()), arb(0)) / arb(self._whole)
        return (1 - common).max(arb(0)).min(arb(1))


def _at(line: Line, epsilon: fmpq) -> fmpq:
    return line[0] + line[1] * epsilon


def _times(factor: fmpq, line: Line) -> Line:
    return factor * line[0], factor * line[1]


def _minus(line: Line, other: Line) -> Line:
    return line[0] - other[0], line[1] - other[1]


class Polyhedra:
    """Integrals and volumes as functions of epsilon, between the nearest epsilons at which any comparison turns out otherwise.

    Inside all comparisons come out alike, so that the same formulas hold; at its ends they do as integrals and formulas are continuous.
    """

    def __init__(self, epsilon: fmpq) -> None:
        self._at = epsilon
        self._low: fmpq | None = None
        self._high: fmpq | None = None

    def holds(self, epsilon: fmpq) -> bool:
        """Whether what was found holds at another epsilon."""
        return (self._low is None or self._low <= epsilon) and (self._high is None or epsilon <= self._high)

    def _positive(self, line: Line) -> bool:
        """Whether a number is positive at this epsilon."""
        found = bool(_at(line, self._at) > 0)
        if line[1] != 0:
            root = -line[0] / line[1]
            if (line[1] > 0) == found:
                self._low = root if self._low is None else max(self._low, root)
            else:
                self._high = root if self._high is None else min(self._high, root)
        return found

    def least(self, line: Line, other: Line) -> Line:
        """The smaller of two numbers."""
        return other if self._positive(_minus(line, other)) else line

    def integral(self, rows: Iterable[Row]) -> Terms:
        """The integral of exp(-t) over the (y, t) in all half spaces, which bound t from below and, for each t, also y."""
        tidied = self._tidied(rows)
        if tidied is None:
            return {}
        kept, low, high = tidied
        if low is None and not kept:
            raise Undecided("an integral of exp(-t) over t that nothing bounds from below.")
        size = len(kept[0][0]) if kept else 0
        ends = [(t, fmpq(sign)) for t, sign in ((low, 1), (high, -1)) if t is not None]
        found: Terms = {}
        for t, sign in ends:
            section = [(a, (b * t[0] + c[0], b * t[1] + c[1])) for a, b, c in kept]
            _add(found, {t: self.volume(section, size)}, sign)
        bounds: list[Row] = [((_ZERO,) * size, sign, _times(-sign, t)) for t, sign in ends]
        for j, (a, b, _) in enumerate(kept):
            if b != 0:
                k = next(i for i, x in enumerate(a) if x != 0)
                side = [_without(row, kept[j], k) for i, row in enumerate([*kept, *bounds]) if i != j]
                _add(found, self.integral(side), b / abs(a[k]))
        return found

    def volume(self, rows: Iterable[tuple[tuple[fmpq, ...], Line]], dimension: int) -> fmpq_poly:
        """Of the bounded polytope {y : <a, y> <= c for all rows}."""
        tidied = self._tidied((a, _ZERO, c) for a, c in rows)
        if tidied is None or dimension == 0:
            return fmpq_poly([tidied is not None])
        total = fmpq_poly([0])
        for row in tidied[0]:
            k = next(i for i, x in enumerate(row[0]) if x != 0)
            others = (_without(other, row, k) for other in tidied[0] if other is not row)
            total += fmpq_poly([*row[2]]) / abs(row[0][k]) * self.volume([(a, c) for a, _, c in others], dimension - 1)
        return total / dimension

    def _tidied(self, rows: Iterable[Row]) -> tuple[list[Row], Line | None, Line | None] | None:
        """Half spaces without those that others contain in the same direction, and what the rest say of t alone; None for nothing."""
        tightest: dict[tuple[tuple[fmpq, ...], fmpq], Line] = {}
        low: Line | None = None
        high: Line | None = None
        for a, b, c in rows:
            lead = next((abs(x) for x in a if x != 0), None)
            if lead is not None:
                key, level = (tuple(x / lead for x in a), b / lead), _times(1 / lead, c)
                tightest[key] = self.least(tightest[key], level) if key in tightest else level
                continue
            if b == 0:
                if self._positive(_times(fmpq(-1), c)):
                    return None
                continue
            t = _times(-1 / b, c)
            if b > 0:
                low = t if low is None or self._positive(_minus(t, low)) else low
            else:
                high = t if high is None else self.least(high, t)
        if low is not None and high is not None and not self._positive(_minus(high, low)):
            return None
        return [(a, b, c) for (a, b), c in tightest.items()], low, high


def _add(found: Terms, more: Terms, factor: fmpq) -> None:
    for t, k in more.items():
        found[t] = found.get(t, fmpq_poly([0])) + factor * k


def _without(row: Row, other: Row, k: int) -> Row:
    """A half space where y_k is such that the other one holds with equality."""
    ratio = row[0][k] / other[0][k]
    a = tuple(x - ratio * y for i, (x, y) in enumerate(zip(row[0], other[0], strict=True)) if i != k)
    return a, row[1] - ratio * other[1], _minus(row[2], _times(ratio, other[2]))
