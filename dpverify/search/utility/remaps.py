"""The best use of what a mechanism says: for each output another one, at random, so that the mean loss is least.

Privacy is not touched: it is post-processing. For a counting query geometric noise with its best remap has the least loss of all private
mechanisms, whatever the prior. Source: Ghosh, Roughgarden & Sundararajan 2012; Gupte & Sundararajan 2010.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import fmpq

from dpverify.search.utility.refined import LinearProgram, solve
from dpverify.trusted.geometry.linear import to_fmpq, to_fraction
from dpverify.trusted.kernel.model import Matrix, Vector

_SIMPLE: Final = 10**6
"""Greatest denominator of the remaps that are tried first."""


def remap(rows: Matrix, losses: Matrix, prior: Vector = (), digits: int = 12) -> Matrix:
    """A stochastic matrix of rationals, a row for each output y with the probabilities of what is said in its place.

    rows: the probability of each output on each input. losses: what each thing that may be said costs on each input. prior: weights of
    the inputs, for the least mean loss; without them the worst input counts. Raises Undecided.
    """
    inputs, said, outputs = len(rows), len(losses[0]), len(rows[0])
    size = outputs * said
    base = min(map(min, losses)) - 1  # so that the greatest mean is above 0, as every variable of a program is
    weighted = [[to_fmpq(rows[x][i] * (losses[x][y] - base)) for i in range(outputs) for y in range(said)] for x in range(inputs)]
    one, nothing = fmpq(1), fmpq(0)
    entries = [(i, i * said + y, one) for i in range(outputs) for y in range(said)]
    right = [one] * outputs
    if prior:
        costs = [sum((to_fmpq(weight) * row[k] for weight, row in zip(prior, weighted, strict=True)), nothing) for k in range(size)]
    else:
        costs = [nothing] * size + [one] + [nothing] * inputs
        entries += [(outputs + x, k, weighted[x][k]) for x in range(inputs) for k in range(size) if weighted[x][k] != 0]
        entries += [entry for x in range(inputs) for entry in ((outputs + x, size, -one), (outputs + x, size + 1 + x, one))]
        right += [nothing] * inputs
    solution = solve(LinearProgram(costs, entries, right), 10.0 ** -(digits + 4))
    found = [max(to_fraction(number), Fraction(0)) for number in solution.x[:size]]
    return tuple(_distribution(found[i * said : (i + 1) * said], digits) for i in range(outputs))


def remapped(rows: Matrix, remap: Matrix) -> Matrix:
    """The mechanism whose outputs are said by way of a remap."""
    columns = list(zip(*remap, strict=True))
    return tuple(tuple(sum((p * t for p, t in zip(row, column, strict=True)), Fraction(0)) for column in columns) for row in rows)


def truncated_geometric(ratio: Fraction, last: int) -> Matrix:
    """Two-sided geometric noise on the answers 0 to last, of which ends take what is beyond them; the ratio is e^epsilon."""
    a = 1 / ratio

    def law(x: int) -> Vector:
        inner = ((1 - a) / (1 + a) * a ** abs(x - y) for y in range(1, last))
        return a**x / (1 + a), *inner, a ** (last - x) / (1 + a)

    return tuple(map(law, range(last + 1)))


def _distribution(row: list[Fraction], digits: int) -> Vector:
    """A row of rationals that sums to 1: with small denominators where these do, else with decimals."""
    simple = [entry.limit_denominator(_SIMPLE) for entry in row]
    near = max(abs(a - b) for a, b in zip(simple, row, strict=True)) * 10 ** (digits + 4) <= 1
    if near and sum(simple) == 1:
        return tuple(simple)
    unit = Fraction(1, 10 ** (digits + 6))
    rounded = [entry // unit * unit for entry in row]
    rounded[max(range(len(row)), key=row.__getitem__)] += 1 - sum(rounded)
    return tuple(rounded)
