"""Evidence for the loss of a finite mechanism, and for the least that any private mechanism can have, by linear programming."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, Final

from dpverify.search.numeric import written
from dpverify.search.private_tables import Dual, Pair, Task, dual_of, ratio
from dpverify.search.proposal import Steps
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.errors import DpverifyError, Rejected
from dpverify.trusted.language.expr import Expr, Num
from dpverify.trusted.language.model import Claim, Matrix, Query, Vector
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.order.linear import dot
from dpverify.trusted.order.tables import finite
from dpverify.trusted.proof import Proof
from dpverify.trusted.rules.utility import expected_loss, linear_program

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
    """The least mean error of any mechanism, for a query of one row."""
    return _of_query(proof.claim, known, "expected_l2")


def squared(proof: Proof, known: Sequence[Fact], digits: int) -> Steps:
    """The least root mean square of any mechanism, for a query of one row."""
    return _of_query(proof.claim, known, linear_program.SQUARES)


def _covered(claim: Claim) -> bool:
    return not claim.domains and isinstance(claim.delta, Num) and claim.delta.value >= 0


def _of_table(claim: Claim, known: Sequence[Fact], digits: int) -> Steps:
    table = finite(claim)
    if len(table.pairs) * len(table.weights[0]) > MOST_NUMBERS:
        raise Rejected(linear_program.NAME, "the table", "its linear program is larger than is solved for a verdict")
    epsilon, premises = _epsilon(claim, known)
    ends = ratio(epsilon)
    task = Task(claim.loss, dict.fromkeys(table.pairs, ends), _delta(claim), claim.prior)
    return [_step(dual_of(task, digits), ends[1], premises, {})]


def _of_query(claim: Claim, known: Sequence[Fact], measure: str) -> Steps:
    """On a chain of databases, each so many steps from the next that a mechanism may well tell them apart."""
    query = claim.query
    if query is None or len(query.rows) != 1 or not _covered(claim):
        return []
    epsilon, premises = _epsilon(claim, known)
    size = float(constant(epsilon).mid())
    if not 0 < size < GREATEST:
        return []
    steps = max(1, round(APART / size))
    squares = measure == linear_program.SQUARES
    databases = _chain(query, steps, max(FEWEST, round(LINKS[measure] / max(1.0, size * steps))))
    if not databases:
        return []
    answers = [dot(query.rows[0], database) for database in databases]
    outputs = sorted(answers)
    if squares:
        outputs = [low + Fraction(k, FINER) * (high - low) for low, high in pairwise(outputs) for k in range(FINER)] + outputs[-1:]
    losses = tuple(tuple((y - answer) ** 2 if squares else abs(y - answer) for y in outputs) for answer in answers)
    ends = ratio(epsilon, Fraction(steps))
    delta = _delta(claim) * (1 + (steps - 1) * ends[1])
    task = Task(losses, {pair: ends for x in range(len(answers) - 1) for pair in ((x, x + 1), (x + 1, x))}, delta)
    dual = dual_of(task, min(4 + round(size * steps / 2), DIGITS))
    spare = max(high - low for low, high in pairwise(outputs)) ** 2 / 4 if squares else 0
    if task.bound(dual) <= spare:
        return []
    told = {"measure": measure, "steps": steps, "databases": [_row(database) for database in databases], "outputs": _row(outputs)}
    return [_step(dual, ends[1], premises, told)]


def _chain(query: Query, steps: int, links: int) -> Matrix:
    """Histograms that differ by so many records from each to the next, whose answers move as far as these can move them."""
    columns, count = query.rows[0], len(query.rows[0])

    def records(*filled: tuple[int, int]) -> Vector:
        return tuple(Fraction(dict(filled).get(j, 0)) for j in range(count))

    if query.adjacency == "replace":
        first, second = max(combinations(range(count), 2), key=lambda both: abs(columns[both[0]] - columns[both[1]]), default=(0, 0))
        moved = columns[first] - columns[second]
        return tuple(records((first, steps * k), (second, steps * (links - k))) for k in range(links + 1)) if moved else ()
    best = max(range(count), key=lambda j: abs(columns[j]))
    if query.adjacency not in ("add-remove", "l1") or not columns[best]:
        return ()
    return tuple(records((best, steps * k)) for k in range(links + 1))


def _epsilon(claim: Claim, known: Sequence[Fact]) -> tuple[Expr, list[Fact]]:
    """The epsilon that any mechanism is to have, and the fact that proves it where the tight one is asked for."""
    if claim.epsilon is not None:
        return claim.epsilon, []
    for fact in known:
        try:
            return linear_program.guaranteed(claim, [fact])[0], [fact]
        except DpverifyError:
            continue
    raise Rejected(linear_program.NAME, "epsilon", "the tight one is not bounded from above; claim one")


def _delta(claim: Claim) -> Fraction:
    return claim.delta.value if isinstance(claim.delta, Num) else Fraction(0)


def _step(dual: Dual, factor: Fraction, premises: list[Fact], told: dict[str, Any]) -> dict[str, Any]:
    rows: list[tuple[Pair, Vector]] = sorted(dual.multipliers.items())
    evidence = {**told, "ratio": written(factor), "weights": _row(dual.weights), "multipliers": [[*pair, _row(row)] for pair, row in rows]}
    return {"rule": linear_program.NAME, "evidence": evidence, "premises": premises}


def _row(numbers: Sequence[Fraction]) -> list[str]:
    return [written(number) for number in numbers]
