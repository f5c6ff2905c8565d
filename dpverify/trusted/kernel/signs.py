"""Signs: what is known of whether a quantity is negative, zero or positive, and how that adds, multiplies and squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.certificate import PRECISIONS

Sign = frozenset[int]
"""The signs that a quantity may have, a subset of {-1, 0, 1}."""

POSITIVE: Final[Sign] = frozenset((1,))
NEGATIVE: Final[Sign] = frozenset((-1,))
NULL: Final[Sign] = frozenset((0,))
AT_LEAST_ZERO: Final[Sign] = frozenset((0, 1))
AT_MOST_ZERO: Final[Sign] = frozenset((-1, 0))
ANY: Final[Sign] = frozenset((-1, 0, 1))

FINEST: Final = PRECISIONS[-1]
"""Bits at which a constant is evaluated that the working precision does not tell from zero."""


def plus(a: Sign, b: Sign) -> Sign:
    """The signs of sums."""
    return frozenset(s for x in a for y in b for s in ((-1, 0, 1) if x * y < 0 else (x or y,)))


def times(a: Sign, b: Sign) -> Sign:
    """The signs of products."""
    return frozenset(x * y for x in a for y in b)


def minus(a: Sign) -> Sign:
    """The signs of negatives."""
    return frozenset(-x for x in a)


def square(a: Sign) -> Sign:
    """The signs of squares."""
    return frozenset(x * x for x in a)


def sharpened(ball: Callable[[], arb]) -> arb:
    """A ball at the working precision, or at the finest where it has no sign."""
    found = ball()
    if sign_of_ball(found) is None:
        with precision(FINEST):
            found = ball()
    return found


def sign_of_ball(ball: arb) -> int | None:
    """The sign of all numbers in a ball; None where they differ, or it is not finite."""
    return 1 if ball > 0 else -1 if ball < 0 else 0 if ball == 0 else None
