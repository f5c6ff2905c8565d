"""The convex bodies of a claim, as the claim gives them: which points they are the hull of, or which half spaces they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import fmpq_mat

from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.bodies import BodyOf
from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import Claim, Matrix, Mixture, Norm, Radial
from dpverify.trusted.language.rationals import read_rows
from dpverify.trusted.sensitivity.sensitivity import noise_norm, require_answers

_BODIES: Final[Mapping[str, BodyOf]] = {"query": "query", "norm": "norm"}


def body_named(parameters: Mapping[str, Any]) -> BodyOf:
    """Which body is meant: "of" of the parameters."""
    return _BODIES[parameters["of"]]


def dimension_of(claim: Claim, of: BodyOf, rule: str) -> int:
    """The dimension that the body lives in, once norm and query are found sound. Raises Rejected."""
    if of == "query":
        query = answered(claim)
        if query is None:
            raise Rejected(rule, "the claim", "it has no query")
        return len(query.rows)
    if not isinstance(claim.mechanism, Radial | Mixture):
        raise Rejected(rule, "the mechanism", "it is not noise in a norm")
    _, dimension = require_answers(claim)
    if dimension is None or dimension < 1:
        raise Rejected(rule, "the dimension", "it is no number")
    return dimension


def norm_of(claim: Claim) -> Norm:
    """The noise's norm."""
    return noise_norm(claim)[0]


def generators(claim: Claim, of: BodyOf, rule: str) -> Matrix | None:
    """Points whose hull, with their opposites, the body is: one of each pair, without 0. None where it is given in another way."""
    dimension = dimension_of(claim, of, rule)
    if of == "query":
        query = answered(claim)
        if query is None or query.adjacency == "l2":
            return None
        from dpverify.trusted.sensitivity.queries import differences

        return differences(query)
    norm = norm_of(claim)
    if norm.kind == "columns":
        return norm.matrix
    return unit(dimension) if norm.kind == "lp" and (norm.p == 1 or dimension == 1) else None


def facets(claim: Claim, of: BodyOf, rule: str) -> Matrix | None:
    """The rows a of a body that is {x : |<a, x>| <= 1 for all a}. None where it is given in another way."""
    dimension = dimension_of(claim, of, rule)
    if of == "query":
        return None
    norm = norm_of(claim)
    if norm.kind == "facets":
        return norm.matrix
    return unit(dimension) if norm.kind == "lp" and norm.p is None else None


def axes_told(parameters: Mapping[str, Any], dimension: int, rule: str) -> Matrix:
    """The axes along which the body is seen, independent rows; all of them where none are told. Raises Rejected, CertificateError."""
    if "axes" not in parameters:
        return unit(dimension)
    found = read_rows(parameters["axes"], "axes", rule, dimension)
    require(matrix(found).rank() == len(found), Rejected(rule, "the axes", "they are not independent"))
    return found


def seen(points: Matrix, axes: Matrix) -> Matrix:
    """The points along the axes."""
    return _rows(matrix(points) * matrix(axes).transpose())


def lengths(axes: Matrix) -> fmpq_mat:
    """G with ||P x||^2 = (B x)' G (B x), for the projection P on the span of the axes B."""
    rows = matrix(axes)
    return (rows * rows.transpose()).inv()


def unit(dimension: int) -> Matrix:
    """The unit vectors."""
    return tuple(tuple(Fraction(int(i == j)) for j in range(dimension)) for i in range(dimension))


def expressions(values: fmpq_mat) -> tuple[tuple[Expr, ...], ...]:
    """A matrix of rationals as expressions."""
    return tuple(tuple(Num(entry) for entry in row) for row in _rows(values))


def _rows(values: fmpq_mat) -> Matrix:
    return tuple(tuple(map(to_fraction, row)) for row in values.tolist())
