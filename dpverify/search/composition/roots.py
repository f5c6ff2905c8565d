"""Where falling functions pass a value, in floats."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

_MOST = 2.0**10
_HALVINGS = 50


def crossing(height: Callable[[float], float], delta: float) -> Fraction | None:
    """About where a falling function passes a value."""
    if height(0.0) <= delta:
        return None
    low, high = 0.0, 1.0
    while height(high) > delta and high < _MOST:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if height(middle) > delta else (low, middle)
    return Fraction(high)
