"""Databases of finitely many answers: how far apart they are at least, and at most (theory#near-table)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, div, format_expr, mul, parse, symbols
from dpverify.trusted.kernel.model import Claim, Exponential, Matrix, Space, Table
from dpverify.trusted.theories.finite import tables
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


def law_of(given: Finite, table: Matrix, rule: str) -> tables.Finite:
    """The probabilities of a table, a row for each database, else of the exponential mechanism at the rate of the space."""
    rate = given.space.rate
    if table:
        return tables.finite(Claim(Table(tuple(tuple(map(Num, row)) for row in table)), None))
    if rate is None:
        raise Rejected(rule, "the mechanism", "none is given")
    scores = tuple(tuple(Num(-distance) for distance in given.distances[answer]) for answer in given.truth)
    return tables.finite(Claim(Exponential(scores, rate), None))


def far(given: Finite, law: tables.Finite, x: int, rule: str) -> Expr:
    """The probability on a database of answers that are further than gamma from its own. Raises Rejected where that is not certain."""
    row = given.distances[given.truth[x]]
    answers = [y for y, distance in enumerate(row) if not certainly_le(Num(distance), given.near)]
    if any(not certainly_lt(given.near, Num(row[y])) for y in answers):
        raise Rejected(rule, f"database {x}", "whether an answer is within gamma is not certain; raise the precision")
    return add(*(law.probability(x, y) for y in answers))


def require(given: Finite, law: tables.Finite, epsilon: Expr, rule: str) -> None:
    """Raises Rejected unless answers are near the truth but with probability beta, and the mechanism is epsilon-private."""
    for x, truth in enumerate(given.truth):
        if not certainly_le(far(given, law, x, rule), given.beta):
            raise Rejected(rule, f"database {x}", "its answers are not certainly near the truth but with probability beta")
        near = given.distances[truth]
        for other in range(len(given.truth)):
            if other == x:
                continue
            where, away = f"databases {x} and {other}", given.distances[given.truth[other]]
            cells = [(x, other, y) for y in range(len(near)) if not law.is_zero(x, y)]
            if any(law.is_zero(other, y) for _, _, y in cells):
                raise Rejected(rule, where, "an answer has a positive probability on the first alone")
            # where the loss is greatest, in rationals: of exponents it grows with how much nearer an answer is to the first
            worst = max(cells, key=lambda cell: law.ratio(cell) or away[cell[2]] - near[cell[2]])
            if not certainly_le(law.loss(worst), mul(epsilon, given.least(x, other))):
                raise Rejected(rule, where, "their loss is not certainly allowed at their distance")
