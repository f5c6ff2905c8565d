"""The error of any private mechanism on counts is at least what the number of answers near each other makes it.

Theorem: On counts, with N(y) the least number of steps between neighbours from the answer 0 to y, Y the answers with N(y) <= T and W the
sum of e^(-eps N(y)) over them, every eps-DP mechanism has on some data a mean error of at least R - S/W, S the supremum over a of the sum
over y in Y of (R - ||a - y||)_+.

Checked:
- N(y) and Y, by going through them
- S: exactly for one answer and for balls that do not meet, else through a lattice that holds Y
- epsilon above 0, delta = 0

Source: docs/theory/necessary.md#lattice-lower-bound
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, lcm
from typing import Any, Final

from flint import arb, fmpq_mat

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.geometry.linear import matrix, square, to_fraction
from dpverify.trusted.kernel.balls import exact, rational
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Matrix
from dpverify.trusted.language.rationals import read_fraction, read_rows
from dpverify.trusted.sensitivity.queries import differences
from dpverify.trusted.theories.utility.any_mechanism import COUNTS, granted, least, query_of, unit_ball

NAME: Final = "lattice-lower-bound"
ASSUMED: Final = ()

MOST_STEPS: Final = 2_000_000
"""The most steps between answers that are gone through."""


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Lower bounds on the two Euclidean errors of any mechanism.

    parameters: "reach", T; "radius", R; "basis", rows of rationals whose integer combinations hold all answers; "inner", if the answer 0
    is to count by itself. premises: where epsilon is "tight", an upper bound on it. Raises Rejected, CertificateError.
    """
    query = query_of(claim, COUNTS, NAME)
    epsilon, assumed = granted(claim, premises, NAME)
    steps = differences(query)
    radius, reach = read_fraction(parameters, "radius", NAME), parameters.get("reach")
    if radius <= 0 or type(reach) is not int or reach < 1 or not steps:
        raise Rejected(NAME, "the parameters", "the radius is not above 0, the reach no number of steps, or all answers are equal")
    basis = _basis(parameters, steps)
    crowd = _crowd(radius, basis)
    others = sum((count * (-epsilon * n).exp() for n, count in enumerate(layers(steps, reach), 1)), arb(0))
    if "inner" not in parameters:
        mass = 1 + others
        return least(rational(radius) - crowd[0] / mass, rational(radius**2) - crowd[1] / mass, assumed, NAME)
    inner = read_fraction(parameters, "inner", NAME)
    if inner <= 0 or (inner + radius) ** 2 > _spacing(basis):
        raise Rejected(NAME, "the inner radius", "it is not above 0, or the answer 0 does not count by itself")
    linear, squared = rational(inner) / crowd[0] * others, rational(inner**2) / crowd[1] * others
    return least(rational(radius) * linear / (1 + linear), rational(radius**2) * squared / (1 + squared), assumed, NAME)


def layers(steps: Matrix, reach: int) -> list[int]:
    """How many answers y have N(y) = 1, ..., reach. Raises Rejected where they are too many."""
    whole = lcm(*(x.denominator for step in steps for x in step))
    longest = max(abs(x.numerator) * (whole // x.denominator) for step in steps for x in step)
    base = 2 * (reach + 1) * longest + 1  # so that answers within reach have one number each
    codes = [sum(x.numerator * (whole // x.denominator) * base**i for i, x in enumerate(step)) for step in steps]
    moves = [*codes, *(-code for code in codes)]
    seen, last, found, spent = {0}, {0}, list[int](), 0
    for _ in range(reach):
        spent += len(last) * len(moves)
        require(spent <= MOST_STEPS, Rejected(NAME, "the reach", f"more than {MOST_STEPS} steps would be gone through"))
        last = {answer + move for answer in last for move in moves} - seen
        seen |= last
        found.append(len(last))
    return found


def _basis(parameters: Mapping[str, Any], steps: Matrix) -> Matrix:
    """Independent rows whose integer combinations hold all steps. Raises Rejected, CertificateError."""
    rows = read_rows(parameters.get("basis"), "basis", NAME, len(steps[0]))
    basis, moved = matrix(rows), matrix(steps)
    gram = basis * basis.transpose()
    require(gram.det() != 0, Rejected(NAME, "the basis", "its rows are not independent"))
    numbers: fmpq_mat = moved * basis.transpose() * gram.inv()
    if numbers * basis != moved or any(to_fraction(number).denominator != 1 for number in numbers.entries()):
        raise Rejected(NAME, "the basis", "a step is no integer combination of its rows")
    return rows


def _spacing(basis: Matrix) -> Fraction:
    """The square of a distance that different answers have at least: the least part of a row that is orthogonal to those before it."""
    rows = [matrix(basis[: number + 1]) for number in range(len(basis))]
    minors = [Fraction(1), *(to_fraction((row * row.transpose()).det()) for row in rows)]
    return min(after / before for before, after in pairwise(minors))


def _crowd(radius: Fraction, basis: Matrix) -> tuple[arb, arb]:
    """At least the suprema over a of the sums of (R - ||a - y||)_+ and of (R^2 - ||a - y||^2)_+ over all answers y."""
    if 4 * radius**2 <= _spacing(basis):
        return rational(radius), rational(radius**2)
    k, rows = len(basis), matrix(basis)
    cell = rational(to_fraction((rows * rows.transpose()).det())).sqrt()
    spread = rational(sum((square(row) for row in basis), Fraction(0)) / 12)
    r, ball = rational(radius), unit_ball(k)
    linear = _in_line(r, cell) if k == 1 else ball * (r + spread.sqrt()) ** (k + 1) / ((k + 1) * cell)
    return linear, 2 * ball * (r**2 + spread) ** (arb(k) / 2 + 1) / ((k + 2) * cell)


def _in_line(radius: arb, gap: arb) -> arb:
    """The sum of (R - g |n|)_+ over the integers n: on a line the greatest, at an answer."""
    most = ceil(exact((radius / gap).upper()))
    require(most <= MOST_STEPS, Rejected(NAME, "the radius", "it reaches over too many answers"))
    return radius + 2 * sum(((radius - gap * n).max(arb(0)) for n in range(1, most + 1)), arb(0))
