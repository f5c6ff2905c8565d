"""Bounds on errors: what rules prove of how far answers are from the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from flint import arb

from dpverify.trusted.kernel.balls import exact, finite
from dpverify.trusted.kernel.bounds import Infinite, Side
from dpverify.trusted.kernel.expr import Expr, Num

Measure = Literal["expected_l2", "rms_l2", "expected_absolute", "rms", "exceeded", "exceeded_union", "expected_loss"]
Whose = Literal["this", "any"]

SIDES: Final[tuple[Side, ...]] = ("lower", "upper")
EUCLIDEAN: Final[tuple[Measure, ...]] = ("expected_l2", "rms_l2")
"""The mean of the Euclidean length of the error, and the root of the mean of its square."""
COORDINATE: Final[tuple[Measure, ...]] = ("expected_absolute", "rms")
"""The same of one coordinate."""


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """What a rule has proved of the error of answers.

    measure "expected_l2", "rms_l2": see above; "expected_absolute", "rms": the same of one coordinate; "exceeded": the least t such that
    the error's greatest coordinate (or the one coordinate) is above t in absolute value with probability at most beta; "exceeded_union":
    the least t such that the probabilities of the coordinates to be above t in absolute value sum to at most beta.
    "expected_loss": the mean of the loss that the claim states, on the worst input, or on average under the prior that it states.
    whose "this": of the claim's own noise, whatever the data. "any": the supremum over all data, for every mechanism that is private as
    the claim says, for the claim's neighbours and query.
    side "upper": the error is at most `value`; "lower": at least. value: an exact closed form, a dyadic rational, or INFINITE.
    coordinate: which one, counted from 0; None where the measure is of all. beta: of "exceeded". assumed: hypotheses that are not checked.
    """

    measure: Measure
    whose: Whose
    side: Side
    value: Expr | Infinite
    coordinate: int | None = None
    beta: Expr | None = None
    assumed: tuple[str, ...] = ()

    @property
    def about(self) -> tuple[Measure, Whose, int | None, Expr | None]:
        """What number it is a bound on."""
        return self.measure, self.whose, self.coordinate, self.beta


def known(
    measure: Measure, value: Expr | Infinite, coordinate: int | None = None, beta: Expr | None = None, assumed: tuple[str, ...] = ()
) -> tuple[ErrorBound, ...]:
    """Both sides of an error of the claim's own noise that is known."""
    return tuple(ErrorBound(measure, "this", side, value, coordinate, beta, assumed) for side in SIDES)


def enclosed(measure: Measure, ball: arb, coordinate: int | None = None) -> tuple[ErrorBound, ...]:
    """Both sides of an error of the claim's own noise that a ball contains. Raises Undecided where that is not finite."""
    ends = Num(exact(finite(ball).lower().max(arb(0)))), Num(exact(ball.upper()))
    return tuple(ErrorBound(measure, "this", side, end, coordinate) for side, end in zip(SIDES, ends, strict=True))
