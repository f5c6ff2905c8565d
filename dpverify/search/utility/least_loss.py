"""Evidence for the loss of a finite mechanism, and for the least that any private mechanism can have, by linear programming."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import hypot, sinh
from typing import Any, Final

from dpverify.search.numeric import written
from dpverify.search.proposal import Steps
from dpverify.search.spaces.private_tables import Dual, Pair, Task, dual_of, ratio
from dpverify.search.utility import lines_lower_bound, one_line
from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.premises import epsilon_of
from dpverify.trusted.geometry.linear import dot
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, mul
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Matrix, Query, Vector
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.finite.tables import finite
from dpverify.trusted.theories.utility.rules import expected_loss
from dpverify.trusted.theories.utility.rules import lp as linear_program

DIGITS: Final = 12
MOST_NUMBERS: Final = 30_000
"""The most inequalities between probabilities that a linear program is made of for a verdict."""
LINKS: Final = {"expected_l2": 28, "rms_l2": 18}
"""At most so many databases beside the first are in the chain on which a query is asked; fewer where epsilon is above 1."""
FEWEST: Final = 6
APART: Final = 0.55
"""About how large epsilon is for two that follow each other: with more the chain is too coarse, with less too short."""
GREATEST: Final = 700
"""Beyond it, e^epsilon is no float."""
NEAR: Final = 0.99
"""Of the variance of geometric noise what is proved of any noise, where a linear program has no more to say."""
FINER: Final = 2
"""How many outputs there are for a step of the answers, where the error is squared."""


def own(proof: Proof, _: Sequence[Fact], digits: int) -> Steps:
    """The mean loss of the claim's own mechanism, where losses are stated."""
    return [{"rule": expected_loss.NAME, "evidence": {}}] if proof.claim.loss and not proof.claim.domains else []


def of_any(proof: Proof, known: Sequence[Fact], digits: int) -> Steps:
    """The least mean loss of any mechanism, where losses are stated."""
    claim = proof.claim
    return _of_table(claim, known, min(digits, DIGITS)) if claim.loss and _covered(claim) else []


def expected(proof: Proof, known: Sequence[Fact], digits: int) -> Steps:
    """The least mean error of any mechanism, from one row of a query."""
    return _of_query(proof.claim, known, "expected_l2")


def squared(proof: Proof, known: Sequence[Fact], digits: int) -> Steps:
    """The least root mean square of any mechanism, from one row of a query."""
    return _of_query(proof.claim, known, linear_program.SQUARES)


def _covered(claim: Claim) -> bool:
    return not claim.domains and isinstance(claim.delta, Num) and claim.delta.value >= 0


def _of_table(claim: Claim, known: Sequence[Fact], digits: int) -> Steps:
    table = finite(claim)
    if len(table.pairs) * len(table.weights[0]) > MOST_NUMBERS:
        raise Rejected(linear_program.NAME, "the table", "its linear program is larger than is solved for a verdict")
    epsilon, premises = _epsilon(claim, known)
    if not table.divisors:
        ends = ratio(epsilon)
        task = Task(claim.loss, dict.fromkeys(table.pairs, ends), _delta(claim), claim.prior)
        return [_step(dual_of(task, digits), {"ratio": written(ends[1])}, premises)]
    ratios = {pair: ratio(mul(epsilon, distance)) for pair, distance in table.divisors.items()}
    dual = dual_of(Task(claim.loss, ratios, prior=claim.prior), digits)
    return [_step(dual, {"ratios": [[*pair, written(ratios[pair][1])] for pair in sorted(dual.multipliers)]}, premises)]


def _of_query(claim: Claim, known: Sequence[Fact], measure: str) -> Steps:
    """On a chain of databases, each so many steps from the next that a mechanism may well tell them apart. For delta above 0 alone: other
    rules are sharper where it is 0.
    """
    query = answered(claim)
    if query is None or not _covered(claim) or claim.delta == ZERO:
        return []
    epsilon, premises = _epsilon(claim, known)
    size = float(constant(epsilon).mid())
    if not 0 < size < GREATEST:
        return []
    steps = max(1, round(APART / size))
    squares = measure == linear_program.SQUARES
    row, move = _move(query)
    moved = float(dot(query.rows[row], move))
    least = _along_a_line(claim, query, moved) if squares else 0.0
    if not any(move) or least > NEAR * moved**2 / (2 * sinh(size / 2) ** 2):
        return []  # nothing moves, or geometric noise has hardly more
    databases = _chain(move, steps, max(FEWEST, round(LINKS[measure] / max(1.0, size * steps))))
    answers = [dot(query.rows[row], database) for database in databases]
    outputs = sorted(answers)
    if squares:
        outputs = [low + Fraction(k, FINER) * (high - low) for low, high in pairwise(outputs) for k in range(FINER)] + outputs[-1:]
    losses = tuple(tuple((y - answer) ** 2 if squares else abs(y - answer) for y in outputs) for answer in answers)
    ends = ratio(epsilon, Fraction(steps))
    delta = _delta(claim) * (1 + (steps - 1) * ends[1])
    dual, bound = _on_a_chain(losses, ends, delta, min(4 + round(size * steps / 2), DIGITS))
    spare = max(high - low for low, high in pairwise(outputs)) ** 2 / 4 if squares else 0
    if bound <= max(spare, Fraction(least)):
        return []
    told = {
        "measure": measure,
        "row": row,
        "steps": steps,
        "databases": [_row(database) for database in databases],
        "outputs": _row(outputs),
    }
    return [_step(dual, {**told, "ratio": written(ends[1])}, premises)]


def _along_a_line(claim: Claim, query: Query, moved: float) -> float:
    """About what is proved of the same row along a line of neighbours that has no end; 0 where that is not known, or not asked of them."""
    numbers = one_line.numbers_of(claim)
    if numbers is None or len(query.rows[0]) ** 2 > lines_lower_bound.MOST_MOVES:
        return 0.0
    return max(one_line.with_delta(*numbers)[2], 0.0) * moved**2


@lru_cache(8)
def _on_a_chain(losses: Matrix, ends: tuple[Fraction, Fraction], delta: Fraction, digits: int) -> tuple[Dual, Fraction]:
    """The dual, and its bound, for databases of which each is next to the one before; claims about one query have the same."""
    task = Task(losses, {pair: ends for x in range(len(losses) - 1) for pair in ((x, x + 1), (x + 1, x))}, delta)
    dual = dual_of(task, digits)
    return dual, task.bound(dual)


def _move(query: Query) -> tuple[int, Vector]:
    """A row and a difference of neighbours that moves its answer far; 0 where none moves any."""
    found = []
    for number, row in enumerate(query.rows):
        ends = max(row), min(row)
        if query.adjacency == "l2":
            length = hypot(*map(float, row)) * (1 + 1e-12)  # so that no rounding makes the move longer than 1
            move = tuple(Fraction(float(entry) / length) if length else Fraction(0) for entry in row)
        elif query.adjacency == "replace":
            move = _unit(row, ends[0], 1, _unit(row, ends[1], -1)) if ends[0] != ends[1] else _unit(row, None)
        else:
            move = _unit(row, max(ends, key=abs) or None)
        found.append((abs(dot(row, move)), -number, move))
    _, number, move = max(found)
    return -number, move


def _unit(row: Vector, entry: Fraction | None, by: int = 1, to: Vector = ()) -> Vector:
    """The vector that is `by` where the row has the entry for the first time, added to another; without an entry, 0."""
    moved = list(to or (Fraction(0),) * len(row))
    if entry is not None:
        moved[row.index(entry)] += by
    return tuple(moved)


def _chain(move: Vector, steps: int, links: int) -> Matrix:
    """Histograms that differ by so many times the move from each to the next; the first has what the move takes away."""
    return tuple(tuple(steps * (k * max(m, Fraction(0)) + (links - k) * max(-m, Fraction(0))) for m in move) for k in range(links + 1))


def _epsilon(claim: Claim, known: Sequence[Fact]) -> tuple[Expr, list[Fact]]:
    """The epsilon that any mechanism is to have, and the fact that proves it where the tight one is asked for."""
    if claim.epsilon is not None:
        return claim.epsilon, []
    for fact in known:
        try:
            return epsilon_of(claim, [fact], linear_program.NAME)[0], [fact]
        except DpverifyError:
            continue
    raise Rejected(linear_program.NAME, "epsilon", "the tight one is not bounded from above; claim one")


def _delta(claim: Claim) -> Fraction:
    return claim.delta.value if isinstance(claim.delta, Num) else Fraction(0)


def _step(dual: Dual, told: dict[str, Any], premises: list[Fact]) -> dict[str, Any]:
    rows: list[tuple[Pair, Vector]] = sorted(dual.multipliers.items())
    evidence = {**told, "weights": _row(dual.weights), "multipliers": [[*pair, _row(row)] for pair, row in rows]}
    return {"rule": linear_program.NAME, "evidence": evidence, "premises": premises}


def _row(numbers: Sequence[Fraction]) -> list[str]:
    return [written(number) for number in numbers]
