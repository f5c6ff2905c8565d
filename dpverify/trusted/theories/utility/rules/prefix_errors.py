"""Prefix sums of what correlated noise tells: the error of the estimate that undoes the strategy.

Theorem: Let C be square and lower triangular, with no 0 on its diagonal, and A lower triangular of ones. A C^-1 (C x + Z) is A x with the
error A C^-1 Z: that of the i-th prefix sum is normal with the deviation sigma |e_i' A C^-1|, in each number of a step's vector. If C is
Toeplitz with the coefficients c, so is A C^-1, with those of r, r (1 - z) c = 1 as power series. For s with s (1 - z) c = 1 + e to n terms,
and |e|_1 below 1, |r - s|_1 is at most |s|_1 |e|_1/(1 - |e|_1).

Checked:
- the strategy is square, lower triangular, and has no 0 on its diagonal
- e, exactly, for an s that is found in whole numbers; of a matrix the inverse, in rationals

Source: docs/theory/utility.md#prefix-errors, Denisov et al. 2022
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any, Final

from flint import arb, ctx, fmpq, fmpq_mat, fmpz_poly

from dpverify.trusted.facts.errors import ErrorBound, enclosed, known
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import mul, num, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, CorrelatedNoise
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.sensitivity.participation import count, first_column

NAME: Final = "prefix-errors"
ASSUMED: Final = ("the sampler is ideal",)


def infer(claim: Claim, parameters: Mapping[str, Any], _: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the root mean square errors. parameters: "steps", those that are told of by themselves. Raises Rejected."""
    noise = claim.mechanism
    if claim.domains or not isinstance(noise, CorrelatedNoise):
        raise Rejected(NAME, "the mechanism", "it is no correlated noise with a value for every parameter")
    steps = count(noise.steps)
    told = [to_whole(step, "steps", NAME, 0, steps - 1) for step in parameters.get("steps", ())]
    if noise.strategy == "matrix":
        squares = _of_matrix(noise)
        bounds = known("rms_l2", mul(noise.sigma, sqrt(num(sum(squares, Fraction(0))))))
        return (*bounds, *(bound for i in told for bound in known("rms", mul(noise.sigma, sqrt(num(squares[i]))), i)))
    if noise.strategy not in ("toeplitz", "prefix_sums"):
        raise Rejected(NAME, "strategy", "it is not square")
    sums, radius = _of_column(first_column(noise), steps)
    sigma = constant(noise.sigma)

    def deviation(square: Fraction, far: Fraction) -> arb:
        return sigma * (rational(square).sqrt() + arb(0, rational(far).upper()))

    whole = deviation(sum(sums, Fraction(0)), radius * steps)  # more than its root
    return (*enclosed("rms_l2", whole), *(bound for i in told for bound in enclosed("rms", deviation(sums[i], radius), i)))


def _of_matrix(noise: CorrelatedNoise) -> list[Fraction]:
    """The squares of the rows of A C^-1."""
    rows = noise.matrix
    if len(rows) != len(rows[0]) or any(any(row[i + 1 :]) or not row[i] for i, row in enumerate(rows)):
        raise Rejected(NAME, "strategy", "it is not square and lower triangular without 0 on the diagonal")
    inverse = fmpq_mat(len(rows), len(rows), [fmpq(x.numerator, x.denominator) for row in rows for x in row]).inv().tolist()
    sums = accumulate(inverse, lambda above, row: [x + y for x, y in zip(above, row, strict=True)])
    return [sum((Fraction(int(x.p), int(x.q)) ** 2 for x in row), Fraction(0)) for row in sums]


def _of_column(column: Sequence[Fraction], steps: int) -> tuple[list[Fraction], Fraction]:
    """Squares of rows of a matrix near A C^-1, and how far each row is from its own at most. Raises Rejected."""
    if not column[0]:
        raise Rejected(NAME, "strategy", "its diagonal is 0")
    unit = lcm(*(x.denominator for x in column))
    numbers = [int(x * unit) for x in column]
    divisor = [x - y for x, y in zip((*numbers, 0), (0, *numbers), strict=True)][:steps]
    bits = ctx.prec + 2 * steps.bit_length()
    near = [(unit << bits) // numbers[0]]
    for size in _doubled(steps):  # Newton's, in whole numbers of 2^-bits
        product = _times(divisor[:size], near, size)
        near = [x >> bits for x in _times(near, [(2 << bits) * (i == 0) - x // unit for i, x in enumerate(product)], size)]
    one = unit << bits
    off = Fraction(sum(abs(x - one * (i == 0)) for i, x in enumerate(_times(divisor, near, steps))), one)
    if off >= 1:
        raise Rejected(NAME, "strategy", "its inverse is not known at this precision")
    radius = Fraction(sum(map(abs, near)), 1 << bits) * off / (1 - off)
    return [Fraction(square, 1 << 2 * bits) for square in accumulate(x * x for x in near)], radius


def _doubled(steps: int) -> Iterator[int]:
    size = 1
    while size < steps:
        size = min(2 * size, steps)
        yield size


def _times(one: Sequence[int], other: Sequence[int], size: int) -> list[int]:
    """The first coefficients of a product."""
    found = [int(x) for x in (fmpz_poly(list(one)) * fmpz_poly(list(other))).coeffs()[:size]]
    return found + [0] * (size - len(found))
