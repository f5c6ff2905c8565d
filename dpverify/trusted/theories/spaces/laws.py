"""The law of the answers of one mechanism on finitely many points: near the truth, and private (theory#given-mechanism)."""

from __future__ import annotations

from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, add, mul
from dpverify.trusted.kernel.model import Claim, Exponential, Matrix, Table
from dpverify.trusted.theories.finite import tables
from dpverify.trusted.theories.spaces.databases import Finite


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
