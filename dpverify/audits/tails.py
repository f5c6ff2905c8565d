"""Tails of hypergeometric laws: how odd it is that a class of outputs fell to the two sides as it did."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.special import gammaln

Floats = np.ndarray[Any, np.dtype[np.float64]]

_BLOCK: Final = 4096
_NEGLIGIBLE: Final = 1e-18


def rarer_tails(a: Any, b: Any, all_a: Any, all_b: Any) -> Floats:
    """The smaller of P(X <= a) and P(X >= a), X the number on the first side of a + b outputs drawn from all_a + all_b without return."""
    counts = np.broadcast_arrays(*(np.asarray(count, float) for count in (a, b, all_a, all_b)))
    found = [_rarer(*map(float, each)) for each in zip(*(count.ravel() for count in counts), strict=True)]
    return np.array(found, float).reshape(counts[0].shape)


def _rarer(a: float, b: float, all_a: float, all_b: float) -> float:
    """Of one class: the tail on the side of a that is away from the mean, from its greatest term outward."""
    upward = a * (all_a + all_b) >= (a + b) * all_a
    if not upward:
        a, b, all_a, all_b = b, a, all_b, all_a  # X <= a where a + b - X >= b
    last, total, start = min(all_a, a + b), 0.0, a
    while start <= last:
        k = np.arange(start, min(start + _BLOCK, last + 1))
        terms = np.exp(_ways(all_a, k) + _ways(all_b, a + b - k) - _ways(all_a + all_b, a + b))
        total += float(terms.sum())
        if terms[-1] <= _NEGLIGIBLE * total:
            break
        start += _BLOCK
    return min(total, 1.0)


def _ways(n: Any, k: Any) -> Any:
    """The logarithm of n choose k."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
