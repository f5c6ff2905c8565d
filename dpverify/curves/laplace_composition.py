"""Compositions of equal Laplace mechanisms: finite sums in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.compare import certainly_equal
from dpverify.curves import laplace, laplace_sums
from dpverify.curves.base import Curve
from dpverify.curves.runs import Run, reach
from dpverify.errors import Rejected
from dpverify.expr import Expr
from dpverify.model import Source

NAME: Final = "laplace-composition"
STATEMENT: Final = (
    "The loss of Laplace noise is an exponentially tilted uniform law on (-eps0, eps0) with an atom at either end. A sum of k of them is a "
    "mixture over the numbers of atoms of tilted Irwin-Hall laws, so the profile of the composition is a finite sum."
)
CHECKED: Final = ("every part adds Laplace noise on the line with the same ratio of sensitivity to scale",)
ASSUMED: Final = ("the neighbours that are worst for one part are worst for all",)
SOURCE: Final = Source("THEORY", "T19")


def curve(runs: Sequence[Run]) -> Curve:
    """The exact curve. Raises Rejected where the parts are not equal Laplace mechanisms."""
    epsilon = common_loss(runs)
    found = laplace_sums.pair(epsilon, sum(run.times for run in runs))
    return Curve(found, found, (NAME,), ASSUMED)


def common_loss(runs: Sequence[Run]) -> Expr:
    """The pure epsilon that all parts have."""
    ratios = []
    for run in runs:
        found = reach(run)
        ratio = laplace.scale_ratio(run.part.mechanism, found.upper) if found.exact else None
        if ratio is None:
            raise Rejected(NAME, "the parts", "one of them is not Laplace noise on the line")
        ratios.append(ratio)
    if not all(certainly_equal(ratios[0], other) for other in ratios[1:]):
        raise Rejected(NAME, "the parts", "their losses differ")
    return ratios[0]
