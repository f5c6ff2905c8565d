"""The range of the privacy loss of an exponential mechanism, by its scores (theory#privacy-measures)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, mul, sub
from dpverify.trusted.kernel.model import Exponential

NAME: Final = "score-range"
MOST_SCORES: Final = 4000
"""The most triples of two inputs and an output whose scores are compared."""


def exponential_range(mechanism: Exponential, sensitivity: Expr) -> Expr:
    """The exact range of an exponential mechanism: of log p - log q, up to a constant beta times the difference of the scores.

    Raises Rejected for scores that are not rational, or too many.
    """
    rows, inputs = mechanism.scores, range(len(mechanism.scores))
    pairs = [(i, j) for i in inputs for j in inputs if i < j] if mechanism.adjacent is None else list(mechanism.adjacent)
    if sensitivity != ONE or len(pairs) * len(rows[0]) > MOST_SCORES:
        raise Rejected(NAME, "the scores", f"their sensitivity is stated apart, or they are more than {MOST_SCORES} to compare")
    most = Fraction(0)
    for i, j in pairs:
        gaps = [sub(a, b) for a, b in zip(rows[i], rows[j], strict=True)]
        values = [gap.value for gap in gaps if isinstance(gap, Num)]
        require(len(values) >= len(gaps), Rejected(NAME, "the scores", "their differences are not rational"))
        most = max(most, max(values) - min(values))
    return mul(mechanism.beta, Num(most))
