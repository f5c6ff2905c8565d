"""The samples that a banded strategy comes to where each step takes a sample of one group of the records."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import zip_longest
from typing import Final

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, mul, num, parse, sqrt
from dpverify.trusted.kernel.model import L2, Compose, CorrelatedNoise, Part, Radial, Subsample, repeated
from dpverify.trusted.sensitivity.participation import count, first_column

WHAT: Final = "the sampled strategy"
_NORMAL: Final = parse("exp(-r**2/2)")


def samples(part: Part) -> tuple[Part, bool]:
    """Gaussian noises of samples that dominate what all groups see together, and whether some group sees just these.

    Raises Rejected for a strategy that is not lower triangular, and for one without sampling.
    """
    noise = part.mechanism
    if not isinstance(noise, CorrelatedNoise) or noise.rate is None:
        raise Rejected(WHAT, "the part", "it is no correlated noise with sampling")
    lengths, bands = _columns(noise)
    apart = max(bands, count(noise.separation, "separation"))
    groups = [sorted(lengths[first::apart], reverse=True) for first in range(min(apart, len(lengths)))]
    worst = [max(those) for those in zip_longest(*groups, fillvalue=Fraction(0))]
    radial, moved = Radial(_NORMAL, L2, ONE, noise.sigma), part.sensitivity or ONE
    parts = [
        repeated(Part(Subsample(Part(radial, mul(moved, sqrt(num(square)))), noise.rate)), num(times))
        for square, times in Counter(worst).items()
    ]
    return parts[0] if len(parts) == 1 else Part(Compose(tuple(parts))), worst in groups


def _columns(noise: CorrelatedNoise) -> tuple[list[Fraction], int]:
    """The square of the length of each column, and how many bands there are."""
    steps = count(noise.steps)
    if noise.strategy in ("toeplitz", "prefix_sums"):
        column = first_column(noise)
        sums = [Fraction(0)]
        for x in column:
            sums.append(sums[-1] + x**2)
        return [sums[min(len(column), steps - step)] for step in range(steps)], len(column)
    filled = [(i, j) for i, row in enumerate(noise.matrix) for j, x in enumerate(row) if x]
    if noise.strategy != "matrix" or len(noise.matrix) != steps or any(i < j for i, j in filled):
        raise Rejected(WHAT, "strategy", "it is not lower triangular")
    return [sum((row[j] ** 2 for row in noise.matrix), Fraction(0)) for j in range(steps)], max((i - j + 1 for i, j in filled), default=1)
