"""Polytopes that are symmetric about 0, cut into simplices that meet in 0: volume and second moments, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Num
from dpverify.trusted.language.model import Claim, Matrix, Source
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.order.linear import dot
from dpverify.trusted.order.triangulations import Boundary
from dpverify.trusted.rules.utility import shapes

NAME: Final = "polytope"
STATEMENT: Final = (
    "Simplices on supporting hyperplanes of a body K about 0 that, with their opposites and oriented from 0, have no boundary, and of "
    "which the ray through the middle of one meets no other, cut K into pyramids: volume and second moments of K are the sums of theirs."
)
CHECKED: Final = (
    "every simplex has a hyperplane that supports the body, and corners in the body",
    "every side of a simplex lies between two",
    "one ray meets one simplex alone",
)
ASSUMED: Final = ()
SOURCE: Final = Source("docs/theory/bodies.md#polytope")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Body:
    """The exact volume and second moments of a polytope.

    evidence: "of", "query" or "norm"; "axes", if given, rows of rationals; "simplices", each the numbers of its points, as in "1 -2 5",
    counted from 1, -k for the opposite of point k, one of each pair of opposite simplices. The points are the body's own along the axes
    (`shapes.generators`); for a body by facets they are told under "vertices", one of each pair. "middles", if given, adds points half
    way between two, by their numbers. Raises Rejected, CertificateError.
    """
    of = shapes.body_named(evidence, NAME)
    axes = shapes.axes_told(evidence, shapes.dimension_of(claim, of, NAME), NAME)
    own, rows = shapes.generators(claim, of, NAME), shapes.facets(claim, of, NAME)
    if own is not None:
        points = shapes.seen(own, axes) if own else ()
    elif rows is not None and "axes" not in evidence:
        points = _vertices(evidence, rows)
    else:
        raise Rejected(NAME, "the body", "it is not a polytope by its points, nor, without axes, by its facets")
    if not points:
        raise Rejected(NAME, "the body", "it is a single point")
    boundary = Boundary(_with_middles(points, evidence), evidence.get("simplices"), NAME)
    if own is not None:
        boundary.require_supporting(points)
    else:
        boundary.require_among(rows or ())
    return Body(of, axes, Num(boundary.volume()), True, shapes.expressions(boundary.second()))


def _vertices(evidence: Mapping[str, Any], rows: Matrix) -> Matrix:
    """The points that are told of a body by its facets, all of them in it."""
    told = evidence.get("vertices")
    if not isinstance(told, list) or not told or not all(isinstance(point, list) and len(point) == len(rows[0]) for point in told):
        raise CertificateError(f"{NAME}: a body by its facets needs 'vertices', a list of points of {len(rows[0])} rationals.")
    points = tuple(tuple(to_fraction(x, NAME) for x in point) for point in told)
    for number, point in enumerate(points, 1):
        if any(abs(dot(row, point)) > 1 for row in rows):
            raise Rejected(NAME, f"vertex {number}", "it is outside the body")
    return points


def _with_middles(points: Matrix, evidence: Mapping[str, Any]) -> Matrix:
    """The points, and those half way between two that are told, which the hull holds too."""
    found = [*points]
    for pair in evidence.get("middles", ()):
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(k) is int and 0 < abs(k) <= len(found) for k in pair):
            raise CertificateError(f"{NAME}: 'middles' is not a list of pairs of numbers of points before them.")
        ends = [[x if k > 0 else -x for x in found[abs(k) - 1]] for k in pair]
        found.append(tuple((x + y) / 2 for x, y in zip(*ends, strict=True)))
    return tuple(found)
