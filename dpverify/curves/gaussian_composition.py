"""Compositions of Gaussian mechanisms: exactly one Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.compare import certainly_equal
from dpverify.curves import normal, stated_guarantee
from dpverify.curves.base import Curve
from dpverify.curves.runs import Run, leaf, reach
from dpverify.errors import Rejected
from dpverify.expr import Expr, add, mul, num, power, sqrt
from dpverify.model import Guarantee, Product, Source

NAME: Final = "gaussian-composition"
STATEMENT: Final = (
    "Gaussian mechanisms whose answers move by D_i at standard deviations s_i compose, adaptively, to the pair of N(0, 1) and N(mu, 1) "
    "with mu = sqrt(sum of (D_i / s_i)^2): the likelihood ratio of all answers is that of one."
)
CHECKED: Final = ("every part adds Gaussian noise in a Euclidean norm, or is mu-GDP by what is stated of it",)
ASSUMED: Final = (*normal.ASSUMED, "the neighbours that are worst for one part are worst for all")
SOURCE: Final = Source("THEORY", "T13, T17; Dong, Roth & Su 2022, Corollary 3.3")


def curve(runs: Sequence[Run]) -> Curve:
    """The exact curve. Raises Rejected where a part is not Gaussian."""
    upper, lower = total(runs), total(runs, attained=True)
    assert upper is not None
    dominating = normal.pair(upper)
    if any(isinstance(run.part.mechanism, Guarantee) for run in runs):
        return Curve(dominating, None, (NAME,), stated_guarantee.ASSUMED)
    if lower is None:
        return Curve(dominating, None, (NAME,), ASSUMED)
    return Curve(dominating, dominating if certainly_equal(upper, lower) else normal.pair(lower), (NAME,), ASSUMED)


def total(runs: Sequence[Run], attained: bool = False) -> Expr | None:
    """mu of the composition, at most; with `attained` one that some neighbours have, None where none is known."""
    squares = []
    for run in runs:
        found, noise = reach(run), run.part.mechanism
        if isinstance(noise, Guarantee):
            if attained:
                return None
            mu = _stated(run)
        else:
            mu = normal.mu(noise, found.lower if attained else found.upper)
        if mu is None:
            raise Rejected(NAME, "the parts", "one of them is not Gaussian noise in a Euclidean norm")
        if attained and run.part.query is not None and isinstance(noise, Product):
            return None  # which coordinates move together is not known
        squares.append(mul(num(run.times), power(mu, num(2))))
    return sqrt(add(*squares))


def _stated(run: Run) -> Expr | None:
    """mu of a guarantee; None of one in another measure."""
    found, sensitivity, query = leaf(run)
    if not isinstance(found, Guarantee) or found.measure != "gdp" or sensitivity is not None or query is not None:
        return None
    stated_guarantee.check(found)
    return found.rows[0][0]
