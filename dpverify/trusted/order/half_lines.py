"""The mean size of a linear form over a simplex, from its values at the corners (theory#mean-size-of-a-coordinate)."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, fmpz


def mean_size(values: Sequence[fmpz]) -> arb:
    """E |sum l_i t_i| for l uniform in the simplex of weights: 2 E (.)_+ - E (.)."""
    count = len(values)
    below, above = [t for t in values if t < 0], [t for t in values if t >= 0]
    # found[j]: the divided difference of (y_+)^count at the values below 0 that have been looked at and the first j + 1 of the others
    found = [arb(total) for total in _complete(above, count)]
    for low in below:
        before = arb(0)
        for j, high in enumerate(above):
            before = found[j] = (found[j] - before) / (high - low)
    positive = found[-1] if found else arb(0)
    return (2 * positive - arb(sum(values, fmpz(0)))) / count


def _complete(values: Sequence[fmpz], degree: int) -> list[fmpz]:
    """For each j the sum of all products of degree - j of the first j + 1 values: the divided difference there of y^degree."""
    powers = [fmpz(1), *(fmpz(0) for _ in range(degree))]
    found = []
    for j, value in enumerate(values):
        for k in range(1, degree + 1):
            powers[k] += value * powers[k - 1]
        found.append(powers[degree - j])
    return found
