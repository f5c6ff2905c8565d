"""The mean length of uniform points of simplices, between polynomials in the square of the length (theory#mean-length)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from operator import mul

from flint import arb, fmpq, fmpq_poly, fmpz, fmpz_mat

from dpverify.trusted.geometry.linear import to_fmpq


class Root:
    """A polynomial that touches the square root, and the one that meets it at an end besides.

    roots: where they touch, y = r^2, positive and all different. order: the greatest degree of the two.
    """

    def __init__(self, roots: Sequence[Fraction]) -> None:
        self.order = 2 * len(roots)
        touching = _touching([*roots, *roots])
        double = prod((fmpq_poly([-to_fmpq(root * root), 1]) ** 2 for root in roots), start=fmpq_poly([1]))
        self._touching, self._double = ([arb(x) for x in polynomial.coeffs()] for polynomial in (touching, double))

    def bound(self, moments: Sequence[arb], end: arb) -> arb:
        """The mean of the polynomial that meets the root at the end too, from the moments of what the root is taken of.

        The touching points are in units of the first moment. At least the mean of the root where the end is at least all that the root is
        taken of, at most that where the end is at most all of it.
        """
        unit = moments[1]
        powers = [(end / unit) ** k for k in range(len(moments))]
        scaled = [moment / unit**k for k, moment in enumerate(moments)]
        missing = powers[1].sqrt() - _value(self._touching, powers)
        return unit.sqrt() * (_value(self._touching, scaled) + missing / _value(self._double, powers) * _value(self._double, scaled))


class Moments:
    """The means of the powers of x' G x over simplices with so many corners, up to an even order."""

    def __init__(self, corners: int, order: int) -> None:
        self._half = order // 2
        levels = [[*_odd(corners, j)] for j in range(order + 1)]
        sides = [corners + 2 * j for j in range(order + 1)]
        shares = [prod((fmpq(a * a, a * a - b * b) for b in sides if b != a), start=fmpq(1)) for a in sides]
        self._forms = [fmpz_mat([[x * y for i, x in enumerate(v) for y in v[: i + 1]] for v in level]) for level in levels]
        self._ones = {len(level): fmpz_mat(len(level), 1, [1] * len(level)) for level in levels}
        self._weights = [
            [arb(share / (len(level) * side ** (2 * k))) for k in range(order + 1)]
            for level, side, share in zip(levels, sides, shares, strict=True)
        ]

    def __call__(self, gram: fmpz_mat) -> list[arb]:
        """Of every power, from 0 on; gram: the products v_i' G v_j of the corners."""
        size = gram.nrows()
        folded = [gram[i, j] * (1 if i == j else 2) for i in range(size) for j in range(i + 1)]
        form = fmpz_mat(len(folded), 1, folded)
        found = [arb(0)] * (2 * self._half + 1)
        for forms, weights in zip(self._forms, self._weights, strict=True):
            sums = self._sums(forms * form)
            found = [mean + weight * arb(total) for mean, weight, total in zip(found, weights, sums, strict=True)]
        return found

    def _sums(self, squares: fmpz_mat) -> Iterator[fmpz]:
        """The sums of all powers of the entries of a column, as products of two columns of lower powers."""
        count, entries = squares.nrows(), squares.entries()
        columns, powers = [self._ones[count], squares], entries
        while len(columns) <= self._half:
            powers = [*map(mul, powers, entries)]
            columns.append(fmpz_mat(count, 1, powers))
        rows = [column.transpose() for column in columns]
        for k in range(2 * self._half + 1):
            yield (rows[k // 2] * columns[k - k // 2])[0, 0]


def _odd(corners: int, level: int) -> Iterator[list[int]]:
    """All vectors of so many odd positive integers whose sum is corners + 2 level."""
    for chosen in combinations_with_replacement(range(corners), level):
        yield [1 + 2 * chosen.count(i) for i in range(corners)]


def _touching(roots: Sequence[Fraction]) -> fmpq_poly:
    """The polynomial that meets the square root at the squares of these roots, and touches it at those that come twice (Newton)."""
    nodes = [to_fmpq(root) for root in sorted(roots)]
    differences = nodes
    polynomial, factor = fmpq_poly([nodes[0]]), fmpq_poly([1])
    for order in range(1, len(nodes)):
        differences = [
            1 / (2 * left) if left == right else (after - before) / (right * right - left * left)
            for before, after, left, right in zip(differences, differences[1:], nodes, nodes[order:], strict=False)
        ]
        factor *= fmpq_poly([-nodes[order - 1] * nodes[order - 1], 1])
        polynomial += differences[0] * factor
    return polynomial


def _value(coefficients: Sequence[arb], powers: Sequence[arb]) -> arb:
    """A polynomial, from the powers of its variable or their means."""
    return sum(map(mul, coefficients, powers), arb(0))
