"""Looks for points and weights with which a function is a combination of values of a covariance that is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpverify.search.numeric import vectorised
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, children
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.theories.processes.kernel_combinations import MOST

_SAMPLES: Final = 8
_DENOMINATORS: Final = (1, 60, 10**6)
_NEAR: Final = 1e-9


def combinations_of(
    written: Expr, h: Expr, interval: tuple[Fraction, Fraction], kinks: Callable[[Expr, Fraction, Fraction], Iterator[Expr]]
) -> Iterator[dict[str, Any]]:
    """Points where the function has a kink, or that are named in it, and ends; the weights by least squares, as simple rationals."""
    low, high = interval
    named = {at for u in kinks(h, low, high) if (at := _root(u)) is not None}
    for some in (named, named | set(_numbers(h)) | {-value for value in _numbers(h)} | {low, high}):
        points = sorted(point for point in some if low <= point <= high)[:MOST]
        if not points:
            continue
        weights = _weights(written, h, points, low, high)
        for most in _DENOMINATORS if weights is not None else ():
            exact = [Fraction(float(weight)).limit_denominator(most) for weight in weights]
            kept = [(x, c) for x, c in zip(points, exact, strict=True) if c]
            if kept:
                yield {"points": [str(x) for x, _ in kept], "weights": [str(c) for _, c in kept]}


def _weights(written: Expr, h: Expr, points: list[Fraction], low: Fraction, high: Fraction) -> Any:
    """About the weights; None where there are none."""
    at = np.linspace(float(low), float(high), _SAMPLES * len(points) + 3)[1:-1]
    beside = np.array(list(map(float, points)))
    try:
        kernel, function = vectorised(written, "s", "t"), vectorised(h, "t")
        with np.errstate(all="ignore"):
            columns = kernel(np.maximum(at[:, None], beside), np.minimum(at[:, None], beside)) + np.zeros((len(at), len(beside)))
            values = function(at) + np.zeros(len(at))
        found = np.linalg.lstsq(columns, values, rcond=None)[0]
    except (DpverifyError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return None
    return found if np.abs(columns @ found - values).max() <= _NEAR * (1 + np.abs(values).max()) else None


def _numbers(expr: Expr) -> Iterator[Fraction]:
    if isinstance(expr, Num):
        yield expr.value
    for part in children(expr):
        yield from _numbers(part)


def _root(u: Expr) -> Fraction | None:
    try:
        slope, offset = linear_part(u, "t")
    except DpverifyError:
        return None
    return -offset.value / slope.value if isinstance(slope, Num) and isinstance(offset, Num) and slope.value else None
