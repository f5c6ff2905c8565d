"""The optimal private mechanism for finitely many databases and outputs, with its error and a lower bound that no mechanism is below."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dpverify.errors import SpecError
from dpverify.search.spaces.private_tables import Dual, Pair, Task, ratio, solved
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, format_expr, mul, parse, symbols
from dpverify.trusted.kernel.model import Claim, Matrix, Table, Vector

Number = int | Fraction | Decimal | str
Point = Number | Sequence[Number]

CONSECUTIVE: Final = "consecutive"
ALL: Final = "all"
MOST_NUMBERS: Final = 1_000_000
"""The most inequalities between probabilities that a linear program is made of."""

LOSSES: Final[Mapping[str, Callable[[Vector, Vector], Fraction]]] = {
    "absolute": lambda x, y: sum((abs(a - b) for a, b in zip(x, y, strict=True)), Fraction(0)),
    "greatest": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
    "squared": lambda x, y: sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0)),
    "zero-one": lambda x, y: Fraction(x != y),
}
"""What an output costs, from the true answer and the output: sum and greatest of the coordinates' absolute errors, squared length, and
whether it is wrong."""


@dataclass(frozen=True)
class Optimum:
    """A private mechanism, and how far it may be from the best one.

    rows: the probability of each output, a row for each database, exact. error: its mean loss, on the worst database or under the prior,
    exact. bound: no mechanism with these databases and outputs, private as asked, has less. claims: what `verify` proves of it; several
    where neighbours are at different distances, one for each distance. outputs: what each output says, where answers were given.
    """

    rows: Matrix = field(repr=False)
    error: Fraction
    bound: Fraction
    claims: tuple[Claim, ...] = field(repr=False)
    outputs: tuple[Vector, ...] = field(repr=False)
    dual: Dual = field(repr=False)

    @property
    def gap(self) -> Fraction:
        """By how much its error is above that of the best mechanism at most."""
        return self.error - self.bound

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The text of a claim file for each claim."""
        return tuple(map(_text, self.claims))


def optimum(
    epsilon: Number,
    *,
    answers: Sequence[Point] | None = None,
    outputs: Sequence[Point] | None = None,
    loss: str | Sequence[Sequence[Number]] = "absolute",
    neighbours: str | Sequence[tuple[int, int]] | None = None,
    distances: Sequence[Sequence[Number]] | None = None,
    prior: Sequence[Number] | None = None,
    delta: Number = 0,
    digits: int = 12,
) -> Optimum:
    """The mechanism of least error among all that are private, with a proof that no other does better by more than the gap.

    Databases are numbered from 0. Give the true answer on each (`answers`: numbers, or points) and what the mechanism may say (`outputs`,
    the answers themselves where they are left out), and `loss`, "absolute", "greatest", "squared" or "zero-one"; or no answers, and a
    matrix as `loss`, with a row for each database and a column for each output.

    neighbours: "consecutive" (databases 0 and 1, 1 and 2, ...), "all", or a list of pairs, which are private at epsilon (in nats) and
    delta. In its place distances: a matrix, in which d(x, x') allows the log-ratio epsilon d(x, x'). prior: a weight for each database,
    for the least mean loss under it; without one the loss on the worst database counts. digits: about so many decimals of the error and
    of the bound agree.

    Numbers are int, Fraction, Decimal or str ("1/3", "log(2)"). Raises SpecError with all that is wrong, Undecided where the solver fails.
    """
    asked = _Asked()
    size = asked.exact("epsilon", epsilon)
    if not asked.faults and not certainly_lt(ZERO, size):
        asked.fault(f"epsilon = {format_expr(size)} is not above 0: then all databases have one law of outputs. Give a positive one.")
    losses, said = asked.losses(answers, outputs, loss)
    count = len(losses)
    addend = asked.rational("delta", delta)
    if not 0 <= addend < 1:
        asked.fault(f"delta = {addend} is not in [0, 1). Leave it out for pure privacy.")
    between = asked.distances(count, neighbours, distances, addend) if count else {}
    weights = asked.prior(count, prior) if count else ()
    if digits not in range(1, 16):
        asked.fault(f"digits = {digits!r} is not a whole number from 1 to 15.")
    if count and len(between) * len(losses[0]) > MOST_NUMBERS:
        asked.fault(f"{len(between)} pairs of databases times {len(losses[0])} outputs are more than {MOST_NUMBERS}. Ask for fewer.")
    if count and not between and not asked.faults:
        asked.fault("no two databases are neighbours, so that nothing is to be hidden. Name the pairs that are.")
    if asked.faults:
        raise SpecError(asked.faults)
    task = Task(losses, {pair: ratio(size, distance) for pair, distance in between.items()}, addend, weights)
    rows, dual = solved(task, digits)
    claims = tuple(_claims(rows, size, addend, between, losses, weights))
    return Optimum(rows, task.error(rows), task.bound(dual), claims, said, dual)


class _Asked:
    """Reads what is asked for; what is wrong becomes a fault that names it."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def fault(self, text: str) -> None:
        self.faults.append(f"optimum: {text}")

    def exact(self, name: str, value: Any) -> Expr:
        if isinstance(value, bool | float) or not isinstance(value, int | Fraction | Decimal | str):
            self.fault(f'{name} = {value!r} is not an exact number. Write an int, a Fraction, a Decimal or a string such as "1/10".')
            return ZERO
        try:
            found = parse(str(value))
        except ExprError as error:
            self.fault(f"{name} = {value!r} is not a number: {error}")
            return ZERO
        if symbols(found):
            self.fault(f"{name} = {value!r} has the free symbols {', '.join(sorted(symbols(found)))}. Give a number.")
            return ZERO
        return found

    def rational(self, name: str, value: Any) -> Fraction:
        found = self.exact(name, value)
        if isinstance(found, Num):
            return found.value
        self.fault(f'{name} = {value!r} is not rational. Write a fraction such as "7/10".')
        return Fraction(0)

    def points(self, name: str, given: Sequence[Any]) -> tuple[Vector, ...]:
        points = [point if isinstance(point, list | tuple) else [point] for point in given]
        found = tuple(tuple(self.rational(f"{name}[{i}]", entry) for entry in point) for i, point in enumerate(points))
        if len({len(point) for point in found}) != 1 or not found[0]:
            self.fault(f"{name} must be a list of numbers, or of points with one number of coordinates, and not empty.")
            return ()
        return found

    def losses(self, answers: Any, outputs: Any, loss: Any) -> tuple[Matrix, tuple[Vector, ...]]:
        """The matrix of losses, and what the outputs say; both empty after a fault."""
        if not isinstance(loss, str):
            if answers is not None or outputs is not None:
                self.fault("give answers with the name of a loss, or a matrix as loss, not both.")
                return (), ()
            matrix = tuple(tuple(self.rational(f"loss[{x}][{y}]", entry) for y, entry in enumerate(row)) for x, row in enumerate(loss))
            if not matrix or not matrix[0] or len({len(row) for row in matrix}) > 1:
                self.fault("loss must have a row for each database, all with an entry for each output.")
                return (), ()
            return matrix, ()
        if loss not in LOSSES:
            self.fault(f"loss = {loss!r} is not one of {', '.join(LOSSES)}, and no matrix. Give one of these, or a row for each database.")
        if answers is None:
            self.fault("answers are missing: give the true answer on each database, or a matrix as loss.")
            return (), ()
        true = self.points("answers", answers)
        said = tuple(dict.fromkeys(true)) if outputs is None else self.points("outputs", outputs)
        if not self.faults and len(true[0]) != len(said[0]):
            self.fault(f"answers have {len(true[0])} coordinates and outputs {len(said[0])}. Give both as many.")
        if self.faults:
            return (), ()
        return tuple(tuple(LOSSES[loss](x, y) for y in said) for x in true), said

    def distances(self, count: int, neighbours: Any, distances: Any, delta: Fraction) -> dict[Pair, Fraction]:
        """The ordered pairs whose inequalities are all there is to ask, with their distances."""
        if (neighbours is None) == (distances is None):
            self.fault('give neighbours ("consecutive", "all" or a list of pairs) or distances (a matrix), one of them.')
        elif distances is not None:
            if delta:
                self.fault("delta with distances: a delta is for neighbours at distance 1. Give neighbours in place of distances.")
            return self._metric(count, distances)
        elif neighbours in (CONSECUTIVE, ALL):
            pairs = [(x, y) for x in range(count) for y in range(x) if neighbours == ALL or x == y + 1]
            return {pair: Fraction(1) for x, y in pairs for pair in ((x, y), (y, x))}
        else:
            return self._listed(count, neighbours)
        return {}

    def _listed(self, count: int, neighbours: Any) -> dict[Pair, Fraction]:
        found: dict[Pair, Fraction] = {}
        for pair in neighbours if isinstance(neighbours, list | tuple | set) else [neighbours]:
            inside = isinstance(pair, list | tuple) and len(pair) == 2 and all(type(x) is int and 0 <= x < count for x in pair)
            if not inside or pair[0] == pair[1]:
                self.fault(f"neighbours: {pair!r} is not a pair of two databases from 0 to {count - 1}.")
            else:
                found |= {(pair[0], pair[1]): Fraction(1), (pair[1], pair[0]): Fraction(1)}
        return found

    def _metric(self, count: int, given: Any) -> dict[Pair, Fraction]:
        """The pairs of a metric with no third database between them, whose inequalities follow from the others."""
        d = [[self.rational(f"distances[{x}][{y}]", entry) for y, entry in enumerate(row)] for x, row in enumerate(given)]
        if len(d) != count or any(len(row) != count for row in d):
            self.fault(f"distances must be a matrix of {count} rows and columns, one for each database.")
            return {}
        for x in range(count):
            for y in range(count):
                if d[x][y] != d[y][x] or (d[x][y] > 0) != (x != y):
                    self.fault(f"distances[{x}][{y}] = {d[x][y]}: a metric is symmetric, 0 on the diagonal and positive elsewhere.")
                    return {}
        for x, y, z in ((x, y, z) for x in range(count) for y in range(count) for z in range(count)):
            if d[x][z] > d[x][y] + d[y][z]:
                self.fault(
                    f"distances are no metric: from {x} to {z} it is {d[x][z]}, by way of {y} only {d[x][y] + d[y][z]}. "
                    "Give the shorter one: privacy by steps holds in any case."
                )
                return {}
        inner = range(count)
        kept = ((x, y) for x in inner for y in inner if x != y and not any(z not in (x, y) and d[x][z] + d[z][y] == d[x][y] for z in inner))
        return {(x, y): d[x][y] for x, y in kept}

    def prior(self, count: int, given: Any) -> Vector:
        if given is None:
            return ()
        weights = tuple(self.rational(f"prior[{x}]", entry) for x, entry in enumerate(given))
        if len(weights) != count or min(weights, default=Fraction(0)) < 0 or sum(weights) != 1:
            self.fault(f"prior must have {count} entries, one for each database, at least 0 and with the sum 1.")
        return weights


def _claims(
    rows: Matrix, epsilon: Expr, delta: Fraction, between: Mapping[Pair, Fraction], losses: Matrix, prior: Vector
) -> Iterator[Claim]:
    """For each distance that neighbours are at, that the table is private for these; errors beside it where there is one distance."""
    entries = tuple(tuple(map(Num, row)) for row in rows)
    sizes = sorted(set(between.values()))
    every = len(rows) * (len(rows) - 1)
    for size in sizes:
        pairs = tuple((x, y) for (x, y), distance in between.items() if distance == size and x < y)
        adjacent = None if 2 * len(pairs) == every else pairs
        claim = Claim(Table(entries, adjacent), mul(epsilon, Num(size)), Num(delta), mechanism_name="optimum", name=f"distance {size}")
        yield claim if len(sizes) > 1 else replace(claim, name="least error", utility=True, loss=losses, prior=prior)


def _text(claim: Claim) -> str:
    """A claim file that says this claim."""
    assert isinstance(claim.mechanism, Table) and claim.epsilon is not None and claim.delta is not None
    adjacent = [] if claim.mechanism.adjacent is None else [f"adjacent = {json.dumps(claim.mechanism.adjacent)}"]
    lines = ["[mechanism]", 'kind = "table"', *_matrix("rows", [[_number(p) for p in row] for row in claim.mechanism.rows]), *adjacent]
    lines += ["", "[[claim]]", f"name = {json.dumps(claim.name)}", f'epsilon = "{format_expr(claim.epsilon)}"']
    lines += [] if claim.delta == ZERO else [f'delta = "{format_expr(claim.delta)}"']
    if claim.utility:
        lines += ["utility = true", *_matrix("loss", list(map(_plain, claim.loss)))]
        lines += [f"prior = {json.dumps(_plain(claim.prior))}"] if claim.prior else []
    return "\n".join(lines) + "\n"


def _number(entry: Expr) -> str:
    """A rational as a decimal, where it is one."""
    value = entry.value if isinstance(entry, Num) else Fraction(0)
    places = next((k for k in range(40) if 10**k % value.denominator == 0), None)
    return str(value) if not places else f"0.{int(value * 10**places):0{places}}" if 0 <= value < 1 else str(value)


def _plain(row: Vector) -> list[int | str]:
    return [entry.numerator if entry.denominator == 1 else str(entry) for entry in row]


def _matrix(key: str, rows: Sequence[Sequence[int | str]]) -> list[str]:
    return [f"{key} = [", *(f"    {json.dumps(row)}," for row in rows), "]"]
