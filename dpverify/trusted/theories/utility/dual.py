"""The dual of the linear program whose optimum is the least loss of any private mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.model import Matrix

RULE: Final = "lp"


Pair = tuple[int, int]


Between = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Program:
    """What any mechanism is asked for: losses[x][y], and for two inputs b and c with P[M(x) in S] <= b P[M(x') in S] + c.

    between: raises Rejected where the inputs have no such b and c. spare: what the loss of any output is at most below the loss that is
    interpolated between the outputs of the list.
    """

    losses: Matrix
    between: Callable[[int, int], Between]
    spare: Fraction = Fraction(0)


def least(program: Program, weights: Sequence[Fraction], multipliers: Mapping[Pair, Sequence[Fraction]]) -> Fraction:
    """The lower bound that weights, with a positive sum, and multipliers prove. Raises Rejected where one of them is negative."""
    if len(weights) != len(program.losses) or min(weights) < 0 or sum(weights) <= 0:
        raise Rejected(RULE, "weights", "they must be one for each input, at least 0, and not all 0")
    sums = [[weight * loss for loss in row] for weight, row in zip(weights, program.losses, strict=True)]
    paid = Fraction(0)
    for (near, far), row in multipliers.items():
        if len(row) != len(sums[near]) or min(row) < 0:
            raise Rejected(RULE, [near, far], "its multipliers must be one for each output, and at least 0")
        factor, addend = program.between(near, far)
        paid += addend * max(row)
        for y, z in enumerate(row):
            if z:
                sums[near][y] += z
                sums[far][y] -= factor * z
    return (sum((min(row) for row in sums), -paid) - program.spare * sum(weights)) / sum(weights)
