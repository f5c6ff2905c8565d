"""In floats: the least mean square of an error along one line of neighbours, and the dual function that proves it with a delta."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, log, sqrt
from typing import Any, Final

import numpy as np

from dpverify.search.utility.offers import Vectors, rational_text
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ZERO, Expr, symbols
from dpverify.trusted.kernel.model import Claim

_LARGEST: Final = 700.0
"""Beyond it, an exponential is no float."""
_CELLS: Final = 60
"""Of a dual function, to a deviation of Gaussian noise, and the most to a step."""
_MOST_PARTS: Final = 120
_DEVIATIONS: Final = 8
_ALIKE: Final = 2.0
"""From this variance of Gaussian noise on, twice its square is the best weight to six digits."""
_CLOSE: Final = 1e-3
_WIDEST: Final = 20_000.0
"""Steps to where a dual function is constant, at most."""
_TURNS: Final = 6
_FINE: Final = 1001


def by_divergence(claim: Claim) -> tuple[float, dict[str, Any]]:
    """The bound in another measure than epsilon, 0 where there is none, and what a rule is told of it."""
    measure = claim.measure
    if measure is None or not isinstance(measure.value, Expr) or symbols(measure.value):
        return 0.0, {}
    value, most = float(constant(measure.value)), float("inf") if measure.at is None else float(measure.at)
    if value <= 0 or measure.name not in ("zcdp", "gdp", "renyi"):
        return 0.0, {}
    found = [by_entropy(_divergence(measure.name, value, 1.0))]
    for order in (Fraction(k, 8) for k in range(9, 161) if measure.name == "renyi" and k / 8 <= most):
        found.append((_by_order(float(order), value), {"order": str(order)}))
    if most >= 2 and (size := _divergence(measure.name, value, 2.0)) < _LARGEST:
        found.append((1 / expm1(size), {}))
    return max(found, key=lambda one: one[0])


def _divergence(name: str, value: float, order: float) -> float:
    return {"zcdp": order * value, "gdp": order * value**2 / 2, "renyi": value}[name]


def _by_order(order: float, size: float) -> float:
    exponent = (order - 1) * size
    return order * (order - 1) / (2 * expm1(exponent)) - 0.25 if exponent < _LARGEST else -0.25


@lru_cache(64)
def by_entropy(size: float) -> tuple[float, dict[str, Any]]:
    """The bound by divergences of order 1 of at most `size`, and what a rule is told of it; 0 where none is found.

    Gaussian noise of the variance 1/(2 size) has these divergences, and twice its square is about the best weight.
    """
    variance = 1 / (2 * size)
    parts = min(2 * ceil(_CELLS / sqrt(variance)), _MOST_PARTS) if variance > 1 else _MOST_PARTS
    reach = ceil(parts * max(_DEVIATIONS * sqrt(variance), 4.0))
    if reach > _WIDEST:
        return 0.0, {}
    middle = log(2 * variance**2)
    found, wide = (_most(size, exp(middle), parts, reach), middle), 1.0 if variance < _ALIKE else 0.0
    while wide > _CLOSE:  # of large divergences another weight is better
        found = max(found, *((_most(size, exp(found[1] + side * wide), parts, reach), found[1] + side * wide) for side in (-1, 1)))
        wide /= 2
    least = found[0] * (1 - 1e-9)
    told = {"weight": rational_text(exp(found[1])), "least": rational_text(least), "parts": parts, "reach": reach}
    return (least, told) if least > 0 else (0.0, {})


def _most(size: float, weight: float, parts: int, reach: int) -> float:
    """The greatest `least` that a weight proves, in floats."""
    low, high = 0.0, 1.01 / (2 * size)
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (middle, high) if _proves(middle, size, weight, parts, reach) else (low, middle)
    return low


def _proves(least: float, size: float, weight: float, parts: int, reach: int) -> bool:
    def beside(y: Vectors) -> Vectors:
        return (2 * (y * y - least) - 1 / (2 * parts**2)) / weight + 2 - 2 * size

    top = float(beside(np.array([0.5 + reach / parts]))[0]) / 2
    if top <= 1:
        return False
    h = np.full(parts * (reach // parts + 2), np.arccosh(top))
    for k in reversed(range(0, reach, parts)):
        last = min(k + parts, reach)
        after = beside(0.5 + np.arange(k, last) / parts) + h[k + parts : last + parts] - np.exp(-h[k + parts : last + parts])
        x = np.where(after > 1, np.log(np.maximum(after, 1.0)), after)
        for _ in range(6):  # Newton, of x + e^x, which is convex
            x = x - (x + np.exp(x) - after) / (1 + np.exp(x))
        h[k:last] = x
    j = np.arange(parts // 2 + 1)
    near, far = h[j], h[parts - j]
    return bool((beside(0.5 - j / parts) + near + far - np.exp(-near) - np.exp(-far) >= 0).all())


def numbers_of(claim: Claim) -> tuple[float, float] | None:
    """The epsilon and the delta above 0 that a claim states; None where it does not."""
    if claim.epsilon is None or claim.delta is None or claim.delta == ZERO or symbols(claim.epsilon) | symbols(claim.delta):
        return None
    epsilon, delta = float(constant(claim.epsilon)), float(constant(claim.delta))
    return (epsilon, delta) if epsilon > 0 and 0 < delta < 1 else None


@lru_cache(64)
def with_delta(epsilon: float, delta: float) -> tuple[float, float, float]:
    """Reach and least of the dual function that proves the most, and the bound, which may be below 0."""
    q = exp(-epsilon)
    low, high = 0.3, min(_WIDEST, 4 + 2 * log(1 + 1 / delta) / epsilon)
    best = 0.0, 0.0, -np.inf
    for _ in range(_TURNS):
        reaches = np.linspace(low, high, 60)
        found = [_of_reach(q, delta, float(reach)) for reach in reaches]
        at = int(np.argmax([one[1] for one in found]))
        best = max(best, (float(reaches[at]), *found[at]), key=lambda one: one[2])
        low, high = float(reaches[max(at - 1, 0)]), float(reaches[min(at + 1, len(reaches) - 1)])
    return best[0], *_of_reach(q, delta, best[0], _FINE)


def _of_reach(q: float, delta: float, reach: float, count: int = 33) -> tuple[float, float]:
    breaks = [x for x in (reach % 1, -reach % 1) if x < 0.5]
    u = np.unique([*np.linspace(0, 0.5, count), *breaks])
    free = u * u + q * (_free(q, reach, 1 + u) + _free(q, reach, 1 - u))
    if count == _FINE:  # once more about where it is least
        near = u[int(np.argmin(free))] + np.linspace(-1, 1, count) / count
        u = np.append(u, near[(near >= 0) & (near <= 0.5)])
        free = u * u + q * (_free(q, reach, 1 + u) + _free(q, reach, 1 - u))
    least = (1 - q) * min(float(free.min()) / (1 + q), float(_free(q, reach, np.array([0.5]))[0]))
    return least, least - 2 * q * delta * (reach**2 - least) / (1 - q)


def _free(q: float, reach: float, u: Vectors) -> Vectors:
    """psi(u) + least/(1 - q), which does not depend on `least`."""
    steps = np.maximum(0, np.ceil(reach - u)).astype(int)
    i = np.arange(int(steps.max()) + 1)
    powers = q ** i.astype(float)
    sums = [np.concatenate([[0.0], np.cumsum(powers * i**k)]) for k in range(3)]
    return np.asarray(sums[0][steps] * u * u + 2 * sums[1][steps] * u + sums[2][steps] + q ** steps.astype(float) * reach**2 / (1 - q))
