"""A cross-polytope inside a polytope: a lower bound on the volume, from independent points alone.

Theorem: A convex body that is symmetric about 0 and holds d independent points F has a volume of at least 2^d |det F| / d!.

Checked:
- the points are the body's
- their determinant

Source: docs/theory/bodies.md#independent-columns
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import factorial
from typing import Any, Final

from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.utility import shapes

NAME: Final = "independent-columns"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> Body:
    """A lower bound on the volume.

    evidence: "of" and "axes" as for a polytope; "points", the numbers of the points, counted from 1. Raises Rejected, CertificateError.
    """
    of = shapes.body_named(evidence)
    axes = shapes.axes_told(evidence, shapes.dimension_of(claim, of, NAME), NAME)
    own, d = shapes.generators(claim, of, NAME), len(axes)
    if own is None:
        raise Rejected(NAME, "the body", "it is not given by points")
    points = tuple(own[to_whole(k, "points", NAME, 1, len(own)) - 1] for k in evidence["points"])
    determinant = abs(to_fraction(matrix(shapes.seen(points, axes)).det()))
    require(determinant != 0, Rejected(NAME, "the points", "they are not independent"))
    return Body(of, axes, Num(2**d * determinant * Fraction(1, factorial(d))), False)
