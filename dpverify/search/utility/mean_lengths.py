"""Where polynomials are to touch the root, and which simplices are to be halved, for a narrow enclosure of a mean length; in floats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb
from typing import Final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from dpverify.search.utility.polytopes import Simplices, corners, ordered
from dpverify.trusted.geometry.linear import to_fraction
from dpverify.trusted.kernel.model import Matrix
from dpverify.trusted.theories.utility import shapes

Array = NDArray[np.float64]

DIGITS: Final = 6
"""So many are looked for."""
MOST_POWERS: Final = 3_000_000
"""The most powers of squares of lengths that are summed up for them."""
FIRST_POWERS: Final = 20_000_000
"""The same for the first two or three digits."""
FREE_POWERS: Final = 50_000
"""The same for digits that nobody waits for."""
_ROOTS, _FIRST_ROOTS, _LISTS, _FEW = 8, 2, 6, 1_000
_ROUNDS, _PATIENCE, _BESIDE = 16, 4, 300
_AT_ONCE: Final = 1_000_000
_SHOWN: Final = 10_000


@dataclass(frozen=True, slots=True)
class Cut:
    """Simplices, perhaps halved some times, and where polynomials touch the root. gap: the relative width that floats foresee."""

    simplices: Simplices
    middles: tuple[tuple[int, int], ...] = ()
    above: tuple[tuple[Fraction, ...], ...] = ()
    below: tuple[tuple[Fraction, ...], ...] = ()
    gap: float = np.inf

    def evidence(self) -> dict[str, object]:
        """As parameters of the rule `polytope`, without the simplices."""
        middles = {"middles": [list(pair) for pair in self.middles]} if self.middles else {}
        told = {"above": self.above, "below": self.below}
        return {**middles, **{side: [[str(x) for x in roots] for roots in lists] for side, lists in told.items()}}


def cut(points: Matrix, axes: Matrix, simplices: Simplices, digits: int = DIGITS) -> Cut:
    """The best that is found. points: along the axes; simplices: of the boundary of their hull with their opposites."""
    lengths = np.array([[float(to_fraction(x)) for x in row] for row in shapes.lengths(axes).tolist()])
    near = np.array([[float(x) for x in point] for point in points]) @ np.linalg.cholesky(lengths)
    size, wanted = near.shape[1], 10.0 ** -min(digits, DIGITS)
    first = max(_roots(len(simplices), size, MOST_POWERS), min(_FIRST_ROOTS, _roots(len(simplices), size, FIRST_POWERS)))
    now, gaps = _touching(Cut(simplices), near, first, wanted)
    best, idle = now, 0
    for _ in range(_ROUNDS if size > 1 else 0):
        if idle == _PATIENCE or best.gap <= wanted or _roots(len(now.simplices), size, MOST_POWERS) < _FIRST_ROOTS:
            break
        now, near = _halved(now, near, gaps)
        now, gaps = _touching(now, near, _roots(len(now.simplices), size, MOST_POWERS), wanted)
        idle = 0 if now.gap < best.gap else idle + 1
        best = min(best, now, key=lambda found: found.gap)
    return best


def _roots(simplices: int, size: int, most: int) -> int:
    """How many roots there is time for."""
    return max((k for k in range(1, _ROOTS + 1) if _powers(simplices, size, k) <= most), default=1)


def _powers(simplices: int, size: int, roots: int) -> int:
    """How many powers are summed up, or could be in the time that the rest takes."""
    return simplices * (roots * comb(size + 2 * roots, size) + _BESIDE)


def _touching(now: Cut, near: Array, most: int, wanted: float) -> tuple[Cut, Array]:
    """At most so many roots for these simplices, as many as give the gap that is wanted, and what each simplex adds to the gap."""
    placed = corners(near, now.simplices)
    gram = placed @ placed.transpose(0, 2, 1)
    diagonal = np.einsum("sii->si", gram)
    unit = (diagonal.sum(1) + gram.sum((1, 2))) / (near.shape[1] * (near.shape[1] + 1))
    normals = np.linalg.solve(placed, np.ones((*placed.shape[:2], 1)))[..., 0]
    low, high = 1 / (normals**2).sum(1) / unit, diagonal.max(1) / unit
    weights = np.abs(np.linalg.det(placed)) * np.sqrt(unit)
    weights /= weights.sum()
    every = _moments(gram / unit[:, None, None], 2 * most)
    classes = np.array_split(np.argsort(every[:, 2]), min(_LISTS if len(placed) < _FEW else 2, len(placed)))  # by how much the squares vary
    nearer, farther = every[:, 1:] - low[:, None] * every[:, :-1], high[:, None] * every[:, :-1] - every[:, 1:]
    for k in range(1, most + 1):
        below, above = (tuple(dict.fromkeys(_nodes(weights[c] @ one[c], k) for c in classes)) for one in (nearer, farther))
        least = np.max([_means(roots, every, low) for roots in below], axis=0)
        greatest = np.min([_means(roots, every, high) for roots in above], axis=0)
        gaps = weights * (greatest - least)
        now = replace(now, above=above, below=below, gap=max(float(gaps.sum()), 0.0))
        if now.gap <= wanted and _powers(len(placed), near.shape[1], k + 1) > FREE_POWERS:
            break
    return now, gaps


def _moments(gram: Array, order: int) -> Array:
    """The means of the powers of x' G x over each simplex, as `utility.mean_lengths` has them."""
    size = gram.shape[1]
    rows, columns = np.tril_indices(size)
    folded = gram[:, rows, columns] * np.where(rows == columns, 1, 2)
    found = np.zeros((len(gram), order + 1))
    sides = size + 2 * np.arange(order + 1.0)
    for j, side in enumerate(sides):
        odd = np.array([[1 + 2 * chosen.count(i) for i in range(size)] for chosen in combinations_with_replacement(range(size), j)]) / side
        forms, share = odd[:, rows] * odd[:, columns], np.prod([side**2 / (side**2 - other**2) for other in sides if other != side])
        step = max(1, _AT_ONCE // len(odd))
        for start in range(0, len(gram), step):
            squares = folded[start : start + step] @ forms.T
            powers = np.ones_like(squares)
            for k in range(order + 1):
                found[start : start + step, k] += share * powers.mean(1)
                powers *= squares
    return found


def _nodes(moments: Array, count: int) -> tuple[Fraction, ...]:
    """The roots of the nodes of the Gauss rule with these moments, or of as many as floats tell."""
    for k in range(count if moments[0] > 1e-9 else 0, 0, -1):
        hankel = moments[np.add.outer(range(k), range(k))]
        shifted = moments[np.add.outer(range(k), range(k)) + 1]
        try:
            nodes = scipy.linalg.eigh(shifted, hankel, eigvals_only=True)
        except np.linalg.LinAlgError:
            continue
        found = {Fraction(round(float(node) ** 0.5 * _SHOWN), _SHOWN) for node in nodes if 1e-6 < node < 1e6}
        if len(found) == k:
            return tuple(sorted(found))
    return (Fraction(1, 2),)  # the squares do not vary: any will do


def _means(roots: Sequence[Fraction], moments: Array, ends: Array) -> Array:
    """The mean over each simplex of the polynomial that touches the root at the roots' squares and meets it at the end."""
    nodes = np.repeat([float(root) for root in roots], 2)
    differences, polynomial, factor = nodes, np.array([nodes[0]]), np.array([1.0])
    for order in range(1, len(nodes)):
        spread = nodes[order:] ** 2 - nodes[:-order] ** 2
        differences = np.where(spread == 0, 0.5 / nodes[:-order], np.diff(differences) / np.where(spread == 0, 1, spread))
        factor = np.convolve(factor, [-(nodes[order - 1] ** 2), 1])
        polynomial = np.append(polynomial, 0) + differences[0] * factor
    double = np.convolve(factor, [-(nodes[-1] ** 2), 1])
    powers = ends[:, None] ** np.arange(moments.shape[1])
    missing = np.sqrt(ends) - powers[:, : len(polynomial)] @ polynomial
    share = missing / (powers[:, : len(double)] @ double)
    return np.asarray(moments[:, : len(polynomial)] @ polynomial + share * (moments[:, : len(double)] @ double))


def _halved(now: Cut, near: Array, gaps: Array) -> tuple[Cut, Array]:
    """The simplices that make half of the gap are cut through the middle of their longest edge, with all others that have it."""
    falling = np.argsort(-gaps)
    worst = falling[: 1 + int(np.searchsorted(np.cumsum(gaps[falling]), gaps.sum() / 2))]
    simplices, middles = now.simplices, [*now.middles]
    for first, second in dict.fromkeys(_longest(simplices[worst], near)):
        new = len(near) + 1
        forth, back = ((simplices == sign * first).any(1) & (simplices == sign * second).any(1) for sign in (1, -1))
        flips = forth.astype(int) - back.astype(int)
        met = np.flatnonzero(flips)
        halves = [np.where(np.abs(simplices[met]) == abs(end), new * flips[met, None], simplices[met]) for end in (first, second)]
        simplices = np.concatenate((np.delete(simplices, met, axis=0), *map(ordered, halves)))
        near = np.concatenate((near, corners(near, np.array([[first, second]]))[0].mean(0)[None]))
        middles.append((first, second))
    return replace(now, simplices=simplices, middles=tuple(middles)), near


def _longest(simplices: Simplices, near: Array) -> Iterable[tuple[int, int]]:
    """The longest edge of each simplex, up to sign; the longest of all come first."""
    placed = corners(near, simplices)
    sides = np.linalg.norm(placed[:, :, None] - placed[:, None], axis=-1)
    size = simplices.shape[1]
    chosen = sides.reshape(len(simplices), -1).argmax(1)
    for number in np.argsort(-sides.max((1, 2)), kind="stable"):
        i, j = sorted(divmod(int(chosen[number]), size))
        sign = 1 if simplices[number, i] > 0 else -1
        yield int(sign * simplices[number, i]), int(sign * simplices[number, j])
