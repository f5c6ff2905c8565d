"""Private tables of least loss: a linear program, solved to many digits, and made exact on both sides.

The primal becomes a table of rationals that is private for certain, the dual weights and multipliers that prove a bound for every table.
Source: Hardt & Talwar 2010, Section 2.4; Ghosh, Roughgarden & Sundararajan 2012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import fmpq

from dpverify.search.utility.refined import LinearProgram, solve
from dpverify.trusted.geometry.linear import to_fmpq, to_fraction
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Call, Expr, Num, mul
from dpverify.trusted.kernel.model import Matrix, Vector
from dpverify.trusted.theories.utility.dual import Program, least

Pair = tuple[int, int]
Ends = tuple[Fraction, Fraction]

_BITS: Final = 128
_SIMPLE: Final = (10**4, 10**8)
"""Greatest denominators of the tables that are tried where an exact optimum is looked for."""


@dataclass(frozen=True, slots=True)
class Task:
    """losses[x][y]; for ordered pairs of inputs numbers just below and above the greatest ratio; a prior, empty for the worst input."""

    losses: Matrix
    ratios: Mapping[Pair, Ends]
    delta: Fraction = Fraction(0)
    prior: Vector = ()

    def private(self, rows: Matrix) -> bool:
        """Whether a table is certainly private: exactly, with the lower ratios."""
        for (near, far), (ratio, _) in self.ratios.items():
            excess = (p - ratio * q for p, q in zip(rows[near], rows[far], strict=True))
            if sum((one for one in excess if one > 0), Fraction(0)) > self.delta:
                return False
        return True

    def error(self, rows: Matrix) -> Fraction:
        """The mean loss of a table, on the worst input or under the prior."""
        means = [sum((p * loss for p, loss in zip(*both, strict=True)), Fraction(0)) for both in zip(rows, self.losses, strict=True)]
        return sum((w * mean for w, mean in zip(self.prior, means, strict=True)), Fraction(0)) if self.prior else max(means)

    def bound(self, dual: Dual) -> Fraction:
        """What a dual proves of the loss of any private table."""
        program = Program(self.losses, lambda near, far: (self.ratios[near, far][1], self.delta))
        return least(program, self.prior or dual.weights, dual.multipliers)


@dataclass(frozen=True, slots=True)
class Dual:
    """A weight for each input, and for pairs of inputs a multiplier for each output."""

    weights: Vector
    multipliers: Mapping[Pair, Vector]

    def simplified(self, denominator: int) -> Dual:
        """The nearest one with small denominators."""
        rows = {pair: _simple(row, denominator) for pair, row in self.multipliers.items()}
        return Dual(_simple(self.weights, denominator), rows)


def ratio(epsilon: Expr, distance: Fraction = Fraction(1)) -> Ends:
    """Rationals that e^(epsilon distance) lies between: itself, where epsilon is the logarithm of a rational and the distance whole."""
    if isinstance(epsilon, Call) and epsilon.name == "log" and isinstance(epsilon.args[0], Num) and distance.denominator == 1:
        whole = epsilon.args[0].value ** int(distance)
        return whole, whole
    with precision(_BITS):
        ball = constant(mul(epsilon, Num(distance))).exp()
        return exact(ball.lower()), exact(ball.upper())


def solved(task: Task, digits: int) -> tuple[Matrix, Dual]:
    """A private table and a dual, both exact, whose loss and bound are about 10^-digits apart or less. Raises Undecided."""
    table, dual = _found(task, digits)
    for denominator in _SIMPLE:
        rows = _near(table, denominator, digits)
        if rows is not None and all(sum(row) == 1 for row in rows) and task.private(rows):
            simple = dual.simplified(denominator)
            if any(simple.weights) and task.error(rows) == task.bound(simple):
                return rows, simple
    return _repaired(task, table, digits), dual


def dual_of(task: Task, digits: int) -> Dual:
    """A dual whose bound is about 10^-digits below the least loss, or less. Raises Undecided."""
    table, dual = _found(task, digits)
    least_loss = task.error(table)
    for denominator in _SIMPLE:
        simple = dual.simplified(denominator)
        if any(simple.weights) and abs(task.bound(simple) - least_loss) <= Fraction(1, 10**digits):
            return simple
    return dual


def _found(task: Task, digits: int) -> tuple[Matrix, Dual]:
    """A table that is private and a dual that is feasible up to the solver's precision, rounded to a few more digits than are wanted."""
    pairs, inputs, outputs = list(task.ratios), len(task.losses), len(task.losses[0])
    solution = solve(_program(task), 10.0 ** -(digits + 8))
    numbers = [to_fraction(one) for one in solution.x[: inputs * outputs]]
    table = tuple(tuple(max(one, Fraction(0)) for one in numbers[x * outputs : (x + 1) * outputs]) for x in range(inputs))
    bits = 4 * (digits + 8)
    found = [_dyadic(max(-to_fraction(one), Fraction(0)), bits) for one in solution.y]
    rows = {pair: tuple(found[number * outputs : (number + 1) * outputs]) for number, pair in enumerate(pairs)}
    start = len(pairs) * outputs
    return table, Dual(task.prior or tuple(found[start : start + inputs]), {pair: row for pair, row in rows.items() if any(row)})


def _program(task: Task) -> LinearProgram:
    """Rows: of each pair and output; of each input its loss, where there is no prior; of each input its sum; of each pair its delta.

    Columns: the table; the greatest loss, which is above 0 as losses are moved for it; where delta is positive, for each pair and output
    what is above the ratio; slacks.
    """
    inputs, outputs = len(task.losses), len(task.losses[0])
    one, top = fmpq(1), inputs * outputs
    costs = [fmpq(0)] * top + [fmpq(0) if task.prior else one]
    entries: list[tuple[int, int, fmpq]] = []
    right: list[fmpq] = []

    def row(numbers: Mapping[int, fmpq], value: fmpq, slack: bool) -> None:
        entries.extend((len(right), column, number) for column, number in numbers.items() if number != 0)
        if slack:
            entries.append((len(right), len(costs), one))
            costs.append(fmpq(0))
        right.append(value)

    above, base = len(costs), min(map(min, task.losses)) - 1
    if task.delta:
        costs += [fmpq(0)] * (len(task.ratios) * outputs)
    for number, ((near, far), (factor, _)) in enumerate(task.ratios.items()):
        for y in range(outputs):
            extra = {above + number * outputs + y: -one} if task.delta else {}
            row({near * outputs + y: one, far * outputs + y: -to_fmpq(factor), **extra}, fmpq(0), True)
    for x, losses in enumerate(task.losses):
        weighted = {x * outputs + y: to_fmpq(loss - base) for y, loss in enumerate(losses)}
        if task.prior:
            for column, loss in weighted.items():
                costs[column] = to_fmpq(task.prior[x]) * loss
        else:
            row({**weighted, top: -one}, fmpq(0), True)
    for x in range(inputs):
        row({x * outputs + y: one for y in range(outputs)}, one, False)
    for number in range(len(task.ratios) if task.delta else 0):
        row({above + number * outputs + y: one for y in range(outputs)}, to_fmpq(task.delta), True)
    return LinearProgram(costs, entries, right)


def _repaired(task: Task, table: Matrix, digits: int) -> Matrix:
    """A private table near one that is nearly private: a little of the uniform law in every row, decimals, and sums that are 1.

    The uniform rows hold every inequality with room to spare, which pays for what is wrong and what is rounded. Raises Undecided.
    """
    outputs = len(table[0])
    unit = Fraction(1, 10 ** (digits + 10))
    laws = [[p / total for p in row] for row, total in zip(table, map(sum, table), strict=True)]
    for power in range(digits + 8, 1, -1):
        share = Fraction(1, 10**power)
        rows = tuple(_rounded([(1 - share) * p + share / outputs for p in row], unit) for row in laws)
        if task.private(rows):
            return rows
    raise Undecided("the table that the solver found could not be made private: it may be too large, or epsilon too small.")


def _rounded(row: Sequence[Fraction], unit: Fraction) -> Vector:
    """Multiples of the unit below the entries; what is lacking goes to the greatest of them."""
    rounded = [p // unit * unit for p in row]
    rounded[max(range(len(row)), key=row.__getitem__)] += 1 - sum(rounded)
    return tuple(rounded)


def _near(table: Matrix, denominator: int, digits: int) -> Matrix | None:
    """The table with small denominators; None where an entry has none near."""
    rows = []
    for row in table:
        rows.append(_simple(row, denominator))
        if any(abs(a - b) * 10**digits > 1 for a, b in zip(row, rows[-1], strict=True)):
            return None
    return tuple(rows)


def _simple(row: Sequence[Fraction], denominator: int) -> Vector:
    return tuple(entry.limit_denominator(denominator) for entry in row)


def _dyadic(number: Fraction, bits: int) -> Fraction:
    return Fraction(round(number * 2**bits), 2**bits)
