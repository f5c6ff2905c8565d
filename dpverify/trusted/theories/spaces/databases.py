"""Databases of finitely many answers: how far apart they are at least, and at most (theory#near-table)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, div, format_expr, parse, symbols
from dpverify.trusted.kernel.model import Claim, Matrix, Space
from dpverify.trusted.theories.spaces.shapes import asked


@dataclass(frozen=True, slots=True)
class Finite:
    """The space of a claim, its distances, the answer of each database, gamma and beta."""

    space: Space
    distances: Matrix
    truth: tuple[int, ...]
    near: Expr
    beta: Expr

    def least(self, one: int, other: int) -> Expr:
        """How far apart two databases are at least."""
        if self.space.databases == "listed":
            return Num(self.space.distances[one][other])
        return div(Num(self.distances[one][other]), self.space.lipschitz)

    def most(self, one: int, other: int, rule: str) -> Expr:
        """How far apart two databases are at most. Raises Rejected where that is not declared."""
        if self.space.databases == "bounded" and self.space.diameter is not None:
            return self.space.diameter
        if self.space.databases == "unbounded":
            raise Rejected(rule, "databases", "how far apart they are at most is not declared, so nothing bounds what a mechanism can do")
        return self.least(one, other)


def finite(claim: Claim, evidence: Mapping[str, Any], rule: str, one: bool = False) -> tuple[Finite, Expr]:
    """The space of a claim about finitely many points, and the epsilon that evidence speaks of. Raises Rejected."""
    space, near, beta = asked(claim, rule, one)
    if space.shape.kind != "points" or symbols(near) or symbols(beta):
        raise Rejected(rule, "the claim", "this rule is about finitely many points, with gamma and beta that are numbers")
    epsilon = parse(str(evidence.get("epsilon")))
    if symbols(epsilon) or not certainly_le(ZERO, epsilon):
        raise Rejected(rule, "epsilon", f"{format_expr(epsilon)} is not certainly at least 0")
    distances = space.shape.matrix
    return Finite(space, distances, space.truth if space.databases == "listed" else tuple(range(len(distances))), near, beta), epsilon
