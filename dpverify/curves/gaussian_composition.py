"""Compositions of Gaussian mechanisms: exactly one Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.curves import normal
from dpverify.curves.base import Curve
from dpverify.curves.runs import Run, reach
from dpverify.errors import Rejected
from dpverify.expr import Expr, add, mul, num, power, sqrt
from dpverify.model import Source

NAME: Final = "gaussian-composition"
STATEMENT: Final = (
    "Gaussian mechanisms whose answers move by D_i at standard deviations s_i compose, adaptively, to the pair of N(0, 1) and N(mu, 1) with "
    "mu = sqrt(sum of (D_i / s_i)^2): the likelihood ratio of all answers is that of one."
)
CHECKED: Final = ("every part adds Gaussian noise in a Euclidean norm",)
ASSUMED: Final = ("the neighbours that are worst for one part are worst for all",)
SOURCE: Final = Source("THEORY", "T13, T17; Dong, Roth & Su 2022, Corollary 3.3")


def curve(runs: Sequence[Run]) -> Curve:
    """The exact curve. Raises Rejected where a part is not Gaussian."""
    upper, lower = total(runs, True), total(runs, False)
    dominating = normal.pair(upper)
    return Curve(dominating, dominating if upper == lower else normal.pair(lower), (NAME,), ASSUMED)


def total(runs: Sequence[Run], upper: bool = True) -> Expr:
    """mu of the composition, by the upper or the lower bounds on what the answers move by."""
    squares = []
    for run in runs:
        found = reach(run)
        mu = normal.mu(run.part.mechanism, found.upper if upper else found.lower)
        if mu is None:
            raise Rejected(NAME, "the parts", "one of them is not Gaussian noise in a Euclidean norm")
        squares.append(mul(num(run.times), power(mu, num(2))))
    return sqrt(add(*squares))
