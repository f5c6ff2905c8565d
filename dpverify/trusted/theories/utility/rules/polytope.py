"""Polytopes that are symmetric about 0, cut into simplices that meet in 0: volume and second moments exactly, mean lengths enclosed.

Theorem: Simplices on supporting hyperplanes of a body K about 0 that, with their opposites and oriented from 0, have no boundary, and of
which the ray through the middle of one meets no other, cut K into pyramids: volume and second moments of K are the sums of theirs. Over
each simplex the mean of the length lies between those of two polynomials in its square.

Checked:
- every simplex has a hyperplane that supports the body, and corners in the body
- every side of a simplex lies between two
- one ray meets one simplex alone
- the range of the length over each simplex, for the polynomials

Source: docs/theory/bodies.md#polytope
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement
from math import prod
from operator import mul
from typing import Any, Final

from flint import arb, fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mat

from dpverify.trusted.facts.bodies import Body, BodyOf
from dpverify.trusted.geometry.linear import dot, matrix, to_fmpq
from dpverify.trusted.kernel.balls import exact, finite
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import Claim, Matrix
from dpverify.trusted.language.rationals import read_rows, to_fraction
from dpverify.trusted.theories.utility import shapes
from dpverify.trusted.theories.utility.half_lines import mean_size
from dpverify.trusted.theories.utility.triangulations import Boundary

NAME: Final = "polytope"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> Body:
    """The exact volume and second moments of a polytope.

    evidence: "of", "query" or "norm"; "axes", if given, rows of rationals; "simplices", each the numbers of its points, as in "1 -2 5",
    counted from 1, -k for the opposite of point k, one of each pair of opposite simplices. The points are the body's own along the axes
    (`shapes.generators`); for a body by facets they are told under "vertices", one of each pair. "middles", if given, adds points half
    way between two, by their numbers. "above" and "below", if given, are lists of lists of positive rationals, where polynomials above
    and below the root touch it (`mean_lengths`); for each simplex the best counts. "sizes", if true, asks for the mean sizes of the
    coordinates too. Raises Rejected, Undecided, CertificateError.
    """
    of, axes, boundary = boundary_of(claim, evidence)
    mean = _mean(boundary, axes, evidence) if "above" in evidence or "below" in evidence else None
    sizes = _sizes(boundary) if evidence.get("sizes") is True else None
    return Body(of, axes, Num(boundary.volume()), True, shapes.expressions(boundary.second()), mean, sizes)


def boundary_of(claim: Claim, evidence: Mapping[str, Any]) -> tuple[BodyOf, Matrix, Boundary]:
    """Which body is meant, along which axes, and its boundary in the simplices that are told. Raises Rejected, CertificateError."""
    of = shapes.body_named(evidence)
    axes = shapes.axes_told(evidence, shapes.dimension_of(claim, of, NAME), NAME)
    own, rows = shapes.generators(claim, of, NAME), shapes.facets(claim, of, NAME)
    if own is not None:
        points = shapes.seen(own, axes) if own else ()
    elif rows is not None and "axes" not in evidence:
        points = _vertices(evidence, rows)
    else:
        raise Rejected(NAME, "the body", "it is not a polytope by its points, nor, without axes, by its facets")
    require(bool(points), Rejected(NAME, "the body", "it is a single point"))
    boundary = Boundary(_with_middles(points, evidence), evidence.get("simplices"), NAME)
    if own is not None:
        boundary.require_supporting(points)
    else:
        boundary.require_among(rows or ())
    return of, axes, boundary


def _mean(boundary: Boundary, axes: Matrix, evidence: Mapping[str, Any]) -> tuple[Expr, Expr]:
    """Bounds on the mean length: the sum over the simplices, by their sizes, times d/(d + 1)."""
    form, unit = shapes.lengths(axes).numer_denom()
    inverse = matrix(axes) * matrix(axes).transpose()
    nearest = {}
    for normal, level in set(boundary.planes):
        row = fmpq_mat(1, len(normal), normal)
        nearest[normal, level] = arb(unit * level * level / (row * inverse * row.transpose())[0, 0])
    below, above = (_roots(evidence, key) for key in ("below", "above"))
    moments_of = Moments(boundary.dimension, max(root.order for root in (*below, *above)))
    low, high = arb(0), arb(0)
    for number, (size, plane) in enumerate(zip(boundary.sizes, boundary.planes, strict=True)):
        corners = boundary.corners(number)
        gram = corners * form * corners.transpose()
        moments = moments_of(gram)
        farthest = arb(max(gram[i, i] for i in range(boundary.dimension)))
        low += size * reduce(arb.max, (root.bound(moments, nearest[plane]) for root in below))
        high += size * reduce(arb.min, (root.bound(moments, farthest) for root in above))
    return _over_the_body(boundary, low.union(high) / arb(unit).sqrt())


def _sizes(boundary: Boundary) -> tuple[tuple[Expr, Expr], ...]:
    """Bounds on the mean sizes of the coordinates."""
    found = [arb(0)] * boundary.dimension
    for number, size in enumerate(boundary.sizes):
        columns = boundary.corners(number).transpose().tolist()
        found = [total + size * mean_size(values) for total, values in zip(found, columns, strict=True)]
    return tuple(_over_the_body(boundary, total) for total in found)


def _over_the_body(boundary: Boundary, total: arb) -> tuple[Expr, Expr]:
    """Bounds on the mean of a norm over the body, from the sum of its means over the simplices, by their sizes."""
    mean = finite(total * boundary.dimension / ((boundary.dimension + 1) * boundary.total * boundary.unit))
    return Num(exact(mean.lower())), Num(exact(mean.upper()))


def _roots(evidence: Mapping[str, Any], key: str) -> list[Root]:
    lists = [[to_fraction(x, NAME) for x in one] for one in evidence[key]]
    if any(min(roots) <= 0 or len(set(roots)) < len(roots) for roots in lists):
        raise Rejected(NAME, key, "where a polynomial touches the root are not different positive numbers")
    return [Root(roots) for roots in lists]


def _vertices(evidence: Mapping[str, Any], rows: Matrix) -> Matrix:
    """The points that are told of a body by its facets, all of them in it."""
    points = read_rows(evidence.get("vertices"), "vertices", NAME, len(rows[0]))
    for number, point in enumerate(points, 1):
        require(all(abs(dot(row, point)) <= 1 for row in rows), Rejected(NAME, f"vertex {number}", "it is outside the body"))
    return points


def _with_middles(points: Matrix, evidence: Mapping[str, Any]) -> Matrix:
    """The points, and those half way between two that are told, which the hull holds too."""
    found = [*points]
    for pair in evidence.get("middles", ()):
        ends = [[x if k > 0 else -x for x in found[abs(k) - 1]] for k in pair]
        found.append(tuple((x + y) / 2 for x, y in zip(*ends, strict=True)))
    return tuple(found)


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
