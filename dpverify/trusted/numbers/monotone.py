"""Monotone functions on balls."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb


def on_ends(x: arb, monotone: Callable[[arb], arb]) -> arb:
    """The image of a ball under a monotone function of exact points, from its two ends."""
    if x.is_exact():
        return monotone(x)
    return monotone(x.lower()).union(monotone(x.upper()))
