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

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

from flint import arb, fmpq_mat

from dpverify.trusted.facts.bodies import Body, BodyOf
from dpverify.trusted.geometry.linear import dot, matrix
from dpverify.trusted.kernel.balls import exact, finite
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import Claim, Matrix
from dpverify.trusted.language.rationals import read_rows, to_fraction
from dpverify.trusted.theories.utility import shapes
from dpverify.trusted.theories.utility.half_lines import mean_size
from dpverify.trusted.theories.utility.mean_lengths import Moments, Root
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
        if any(abs(dot(row, point)) > 1 for row in rows):
            raise Rejected(NAME, f"vertex {number}", "it is outside the body")
    return points


def _with_middles(points: Matrix, evidence: Mapping[str, Any]) -> Matrix:
    """The points, and those half way between two that are told, which the hull holds too."""
    found = [*points]
    for pair in evidence.get("middles", ()):
        ends = [[x if k > 0 else -x for x in found[abs(k) - 1]] for k in pair]
        found.append(tuple((x + y) / 2 for x, y in zip(*ends, strict=True)))
    return tuple(found)
