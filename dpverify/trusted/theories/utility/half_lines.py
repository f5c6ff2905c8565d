"""A linear form over a simplex, from its values at the corners: its mean size, and how likely it is to be above 0.

What is proved of them stands in theory#mean-size-of-a-coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, fmpq, fmpz

Number = fmpz | fmpq


def mean_size(values: Sequence[fmpz]) -> arb:
    """E |sum l_i t_i| for l uniform in the simplex of weights: 2 E (.)_+ - E (.)."""
    return (2 * _positive(values, len(values)) - arb(sum(values, fmpz(0)))) / len(values)


def share_above(values: Sequence[fmpq]) -> arb:
    """P(sum l_i t_i > 0): the indicator is the derivative of (y_+)^(d - 1) of order d - 1, over (d - 1)!."""
    return _positive(values, len(values) - 1).max(arb(0)).min(arb(1))


def _positive(values: Sequence[Number], degree: int) -> arb:
    """The divided difference of (y_+)^degree at all the values."""
    below, above = [t for t in values if t < 0], [t for t in values if t >= 0]
    # found[j]: the divided difference at the values below 0 that have been looked at and the first j + 1 of the others
    found = [arb(total) for total in _complete(above, degree)]
    for low in below:
        before = arb(0)
        for j, high in enumerate(above):
            before = found[j] = (found[j] - before) / arb(high - low)
    return found[-1] if found else arb(0)


def _complete(values: Sequence[Number], degree: int) -> list[Number]:
    """For each j the sum of all products of degree - j of the first j + 1 values: the divided difference there of y^degree."""
    powers: list[Number] = [fmpz(1), *(fmpz(0) for _ in range(degree))]
    found = list[Number]()
    for j, value in enumerate(values):
        for k in range(1, degree + 1):
            powers[k] += value * powers[k - 1]
        found.append(powers[degree - j])
    return found
