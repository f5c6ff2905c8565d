"""Convex bodies: what rules prove of the volume and the moments of a body that is symmetric about 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Matrix

BodyOf = Literal["query", "norm"]


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A convex body in R^d that is symmetric about 0, as seen along k independent axes: the set B K of all B u for u in it.

    of "query": the hull of what the answers of neighbours differ by. "norm": the unit ball of the noise's norm.
    axes: the rows of B, k of length d; Euclidean lengths in their span are those of R^d: ||P u||^2 = (B u)' (B B')^-1 (B u).
    volume: of B K, exactly, or, where `exact` is false, at least.
    second: E[w w'] for w = B u uniform in B K itself, None where it is not known.
    mean: numbers that E||P u||_2 of the same w certainly lies between, None where it is not known.
    sizes: for each coordinate of w, numbers that E|w_i| certainly lies between.
    """

    of: BodyOf
    axes: Matrix
    volume: Expr
    exact: bool
    second: tuple[tuple[Expr, ...], ...] | None = None
    mean: tuple[Expr, Expr] | None = None
    sizes: tuple[tuple[Expr, Expr], ...] | None = None
