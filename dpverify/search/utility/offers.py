"""What searches for lower bounds on errors share: the question in floats, what they offer, and numbers that are as good as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Query
from dpverify.trusted.kernel.proof import Proof

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """About the least mean square along one line of neighbours, and what the rule is told of it."""

    square: float
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the bounds are about. granted: the premise about epsilon, where one is needed.

    line: with a delta, or in another measure, where nothing is said of the mean length.
    """

    proof: Proof
    query: Query
    epsilon: float
    granted: tuple[Fact, ...]
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A use of a rule, with about what it proves: a lower bound on the mean length, and one on the root mean square."""

    rule: str
    parameters: Mapping[str, Any]
    premises: Sequence[Fact]
    worth: tuple[float, float]


def argmax(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a function is about greatest, on a scale of ratios, looked at more closely each time."""
    best = low
    for _ in range(4):
        points = np.geomspace(low, high, 41)
        at = int(np.argmax([value(float(x)) for x in points]))
        best, low, high = float(points[at]), float(points[max(at - 1, 0)]), float(points[min(at + 1, 40)])
    return best


def rational_text(x: float) -> str:
    """A rational of few digits near a positive float and not above it."""
    unit = Fraction(2) ** (40 - ceil(log(x, 2)))
    return str(int(Fraction(x) * unit) / unit)
