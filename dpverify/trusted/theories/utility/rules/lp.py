"""The least error of any private mechanism on finitely many databases, by the dual of a linear program.

Theorem: If P[M(x) in S] <= b P[M(x') in S] + c for the pairs (x, x') of a list, then for all weights p_x >= 0 with the sum 1 and all
multipliers z >= 0 the greatest mean loss is at least sum over x of min over y of (p_x l(x, y) + sum over x' of z(x, x', y) - sum over x' of
b z(x', x, y)), less c max over y of z(x, x', y) for every pair.

Checked:
- the pairs are neighbours, or at most the stated number of steps apart, and b is at least e^(epsilon steps)
- where epsilon is per unit of distance, b is at least e^(epsilon distance)
- weights and multipliers are at least 0
- the sum, in exact rationals

Source: docs/theory/optimum.md#lp, Ghosh, Roughgarden & Sundararajan 2012; Hardt & Talwar 2010, Section 2.4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.assumed_of_inputs import ANY, PAIRS
from dpverify.trusted.facts.errors import EUCLIDEAN, ErrorBound
from dpverify.trusted.facts.premises import epsilon_of
from dpverify.trusted.geometry.linear import dot, square
from dpverify.trusted.kernel.assumptions import REAL
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, call, format_expr, mul, num, power
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Matrix, Vector
from dpverify.trusted.language.rationals import read_fraction, read_whole, to_fraction
from dpverify.trusted.theories.finite.tables import Finite, finite
from dpverify.trusted.theories.utility.dual import Between, Pair, Program, least

NAME: Final = "lp"
ASSUMED: Final = ()

SQUARES: Final = "rms_l2"


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Lower bounds on the error of any mechanism that is private as claimed. Raises Rejected, CertificateError.

    parameters: "ratio", a rational; "multipliers", a list of [x, x', [z for each output]]; "weights", one for each input, where the claim
    states no prior. Of a query beside: "measure", "expected_l2" or "rms_l2"; "row", the number of its row, whose error is at most that of
    all; "databases", a list of histograms; "outputs", a list of answers; "steps", how many steps between neighbours two databases with
    multipliers are apart at most. The ratio is at least e^(epsilon steps). Where epsilon is per unit of distance "ratios" stand in its
    place, a list of [x, x', a rational of at least e^(epsilon times their distance)]. premises: an upper bound on epsilon where "tight" is
    claimed.
    """
    if claim.domains or not isinstance(claim.delta, Num) or claim.delta.value < 0:
        raise Rejected(NAME, "the claim", "it wants a value for every parameter and a rational delta of at least 0")
    epsilon, assumed = epsilon_of(claim, premises, NAME)
    if claim.loss:
        return _of_losses(claim, (epsilon, claim.delta.value), assumed, parameters)
    ratio, steps = read_fraction(parameters, "ratio", NAME), read_whole(parameters, "steps", NAME, 1)
    _require_ratio(ratio, mul(num(steps), epsilon))
    # theory#group-privacy: delta times the sum of e^(k epsilon), k < steps
    between = (ratio, claim.delta.value * (1 + (steps - 1) * ratio))
    databases = databases_of(parameters)
    value = max(_bound(_of_query(claim, parameters, databases, between), rationals(parameters.get("weights")), parameters), Fraction(0))
    query = answered(claim)
    whole = all(map(of_counts, databases)) and query is not None and query.adjacency != "l2"
    assumed += () if whole else (REAL,)
    if parameters["measure"] == SQUARES:
        return (ErrorBound("rms_l2", "any", "lower", power(Num(value), Num(Fraction(1, 2))), assumed=assumed),)
    # the root of a mean square is at least the mean
    return tuple(ErrorBound(measure, "any", "lower", Num(value), assumed=assumed) for measure in EUCLIDEAN)


def _bound(program: Program, weights: Sequence[Fraction], parameters: Mapping[str, Any]) -> Fraction:
    multipliers: dict[Pair, Vector] = {}
    for near, far, row in parameters["multipliers"]:
        if any(type(x) is not int or not 0 <= x < len(program.losses) for x in (near, far)) or (near, far) in multipliers:
            raise Rejected(NAME, [near, far], "it is not a pair of inputs of the list, or stands there twice")
        multipliers[near, far] = rationals(row)
    return least(program, weights, multipliers)


def _of_losses(
    claim: Claim, guarantee: tuple[Expr, Fraction], assumed: tuple[str, ...], parameters: Mapping[str, Any]
) -> tuple[ErrorBound, ...]:
    """The mechanisms with the inputs, the neighbours and the outputs of the claim's own, and the losses that it states."""
    table = finite(claim)
    ratios = (_per_distance if table.divisors else _alike)(table, *guarantee, parameters)

    def of(near: int, far: int) -> Between:
        if (near, far) not in ratios:
            raise Rejected(NAME, [near, far], "these inputs are not adjacent, or no ratio is told of them")
        return ratios[near, far]

    value = _bound(Program(claim.loss, of), claim.prior or rationals(parameters.get("weights")), parameters)
    listed = claim.sensitivity is not None or getattr(claim.mechanism, "adjacent", None) is not None
    return (ErrorBound("expected_loss", "any", "lower", Num(value), assumed=(*assumed, PAIRS if listed else ANY)),)


def _alike(table: Finite, epsilon: Expr, delta: Fraction, parameters: Mapping[str, Any]) -> dict[Pair, Between]:
    """One ratio for all adjacent inputs."""
    ratio = read_fraction(parameters, "ratio", NAME)
    _require_ratio(ratio, epsilon)
    return dict.fromkeys(table.pairs, (ratio, delta))


def _per_distance(table: Finite, epsilon: Expr, delta: Fraction, parameters: Mapping[str, Any]) -> dict[Pair, Between]:
    """Ratios of pairs of inputs, by their distance."""
    require(delta == 0, Rejected(NAME, "delta", "epsilon is per unit of distance, and a delta is for adjacent inputs"))
    found: dict[Pair, Between] = {}
    for near, far, told in parameters["ratios"]:
        if (near, far) not in table.divisors:
            raise Rejected(NAME, [near, far], "these are not two inputs at a distance above 0")
        ratio = to_fraction(told, NAME)
        _require_ratio(ratio, mul(table.divisors[near, far], epsilon))
        found[near, far] = ratio, Fraction(0)
    return found


def _require_ratio(ratio: Fraction, exponent: Expr) -> None:
    if ratio <= 0 or not certainly_le(exponent, call("log", Num(ratio))):
        raise Rejected(NAME, "ratio", f"{ratio} is not certainly at least exp({format_expr(exponent)})")


def _of_query(claim: Claim, parameters: Mapping[str, Any], databases: Matrix, between: Between) -> Program:
    """The mechanisms with real outputs for one row of a query, on some databases."""
    query, squares = answered(claim), parameters.get("measure") == SQUARES
    if query is None:
        raise Rejected(NAME, "the claim", "it states neither losses nor a query")
    row = read_whole(parameters, "row", NAME, 0, len(query.rows) - 1)
    if any(len(database) != len(query.rows[row]) for database in databases):
        raise Rejected(NAME, "databases", "they must have an entry for each column of the query")
    answers = [dot(query.rows[row], database) for database in databases]
    outputs = rationals(parameters.get("outputs"))
    if any(low >= high for low, high in pairwise(outputs)) or outputs[0] > min(answers) or outputs[-1] < max(answers):
        raise Rejected(NAME, "outputs", "they must rise, from the least answer or below to the greatest or above")
    if not squares and not set(answers) <= set(outputs):
        raise Rejected(NAME, "outputs", "the answer on every database must be among them")
    gap = max((high - low for low, high in pairwise(outputs)), default=Fraction(0))
    losses = tuple(tuple((y - answer) ** 2 if squares else abs(y - answer) for y in outputs) for answer in answers)
    adjacency, most = query.adjacency, parameters["steps"]

    def of(near: int, far: int) -> Between:
        if not within(databases[near], databases[far], adjacency, most):
            raise Rejected(NAME, [near, far], f"these databases are not known to be joined by {most} steps between {adjacency} neighbours")
        return between

    return Program(losses, of, gap * gap / 4 if squares else Fraction(0))


def databases_of(parameters: Mapping[str, Any]) -> Matrix:
    """The histograms that are named, whose entries are at least 0."""
    found = tuple(rationals(database) for database in parameters["databases"])
    require(bool(found) and min(map(min, found)) >= 0, Rejected(NAME, "databases", "they must be histograms, with entries of at least 0"))
    return found


def within(near: Vector, far: Vector, adjacency: str, steps: int) -> bool:
    """Whether so many steps between neighbours certainly lead from one histogram to another, by histograms."""
    moves = tuple(a - b for a, b in zip(near, far, strict=True))
    length = sum(map(abs, moves), Fraction(0))
    if adjacency in ("l1", "l2"):
        return square(moves) <= steps**2 if adjacency == "l2" else length <= steps
    if not (of_counts(near) and of_counts(far)):
        return False
    return (adjacency == "add-remove" and length <= steps) or (adjacency == "replace" and sum(moves) == 0 and length <= 2 * steps)


def of_counts(database: Vector) -> bool:
    """Whether all entries are whole numbers."""
    return all(count.denominator == 1 for count in database)


def rationals(row: Any) -> Vector:
    """The numbers of a list. Raises CertificateError."""
    return tuple(to_fraction(entry, NAME) for entry in row)
