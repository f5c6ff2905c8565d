"""Facts about convex bodies: the best that is found of the volume and the moments of a claim's body along given axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dpverify.search.utility import mean_lengths, polytopes
from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.bodies import Body, BodyOf
from dpverify.trusted.geometry.linear import matrix
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Matrix
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility import shapes
from dpverify.trusted.theories.utility.rules import independent_columns, polytope, simple_body

MOST_SIMPLICES: Final = 100_000
"""The greatest number of simplices that go into a certificate."""
MOST_VERTICES: Final = 20_000
"""The greatest number of vertices that a body by facets can have for which they are looked for."""
MOST_SIZES: Final = 3_000_000
"""The greatest product of simplices and the cube of their dimension for which sizes of coordinates are asked for."""


def fact(proof: Proof, of: BodyOf, axes: Matrix | None = None, mean: bool | None = None, digits: int = mean_lengths.DIGITS) -> Fact | None:
    """The best that is found of a body: exact, else a lower bound on its volume; None where it has no interior along the axes.

    axes: independent rows; the whole space where None. mean: whether the mean length is asked for, to so many digits; where nothing is
    said, of the ball of a norm.
    """
    found: Fact | None = None
    mean = of == "norm" if mean is None else mean
    for rule, parameters in _proposed(proof.claim, of, axes, digits if mean else 0):
        if found is not None and rule == independent_columns.NAME:
            break
        try:
            fact = proof.infer(rule, (), parameters)
        except DpverifyError:
            continue
        assert isinstance(fact.says, Body)
        if not mean or fact.says.mean is not None or not fact.says.exact:
            return fact
        found = fact
    return found


def span(claim: Claim, of: BodyOf = "query") -> Matrix | None:
    """Independent vectors that span what a body spans, None where that is the whole space: the axes to see it along."""
    try:
        points = shapes.generators(claim, of, polytope.NAME)
    except Rejected:
        return None
    if points is None:
        query = answered(claim)
        if of == "norm" or query is None:
            return None
        points = tuple(zip(*query.rows, strict=True))
    if not points:
        return ()
    chosen = polytopes.spanning(points)
    return None if len(chosen) == len(points[0]) else tuple(points[k] for k in chosen)


def _proposed(claim: Claim, of: BodyOf, axes: Matrix | None, digits: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    seen = {} if axes is None else {"axes": [[str(x) for x in row] for row in axes]}
    named = {"of": of, **seen}
    yield simple_body.NAME, named
    try:
        points, rows = shapes.generators(claim, of, polytope.NAME), shapes.facets(claim, of, polytope.NAME)
    except Rejected:
        return
    if points:
        placed = shapes.seen(points, shapes.unit(len(points[0])) if axes is None else axes)
        if matrix(placed).rank() < len(placed[0]):
            return
        for evidence in _cut(placed, shapes.unit(len(points[0])) if axes is None else axes, digits):
            yield polytope.NAME, {**named, **evidence}
        yield independent_columns.NAME, {**named, "points": [k + 1 for k in polytopes.independent(placed)]}
    elif rows and axes is None and polytopes.most_facets(len(rows), len(rows[0])) <= MOST_VERTICES:
        corners = polytopes.vertices(rows)
        if corners is not None:
            vertices = [[str(x) for x in corner] for corner in corners]
            for evidence in _cut(corners, shapes.unit(len(rows[0])), digits):
                yield polytope.NAME, {**named, "vertices": vertices, **evidence}


def _cut(points: Matrix, axes: Matrix, digits: int) -> Iterator[Mapping[str, Any]]:
    """The boundary of the hull of the points and their opposites as evidence; with the mean length, where digits of it are asked for."""
    for simplices in polytopes.boundary(points):
        if len(simplices) > MOST_SIMPLICES:
            continue
        if digits:
            found = mean_lengths.cut(points, axes, simplices, digits)
            few = len(found.simplices) * len(points[0]) ** 3 <= MOST_SIZES
            yield {"simplices": polytopes.told(found.simplices), **found.evidence(), **({"sizes": True} if few else {})}
        yield {"simplices": polytopes.told(simplices)}
