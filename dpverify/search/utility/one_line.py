"""In floats: the least mean square of an error along one line of neighbours, and the dual function that proves it with a delta."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, log
from typing import Final

import numpy as np

from dpverify.search.utility.offers import Vectors
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ZERO, Expr, symbols
from dpverify.trusted.kernel.model import Claim

_LARGEST: Final = 700.0
"""Beyond it, an exponential is no float."""
_WIDEST: Final = 20_000.0
"""Steps to where a dual function is constant, at most."""
_TURNS: Final = 6
_FINE: Final = 1001


def by_divergence(claim: Claim) -> tuple[float, dict[str, str]]:
    """The bound in another measure than epsilon, 0 where there is none, and what a rule is told of it: an order, or nothing."""
    measure = claim.measure
    if measure is None or not isinstance(measure.value, Expr) or symbols(measure.value):
        return 0.0, {}
    value, most = float(constant(measure.value)), float("inf") if measure.at is None else float(measure.at)
    if value <= 0 or measure.name not in ("zcdp", "gdp", "renyi"):
        return 0.0, {}
    orders = [Fraction(1)] if measure.name != "renyi" else [Fraction(k, 8) for k in range(8, 161) if k / 8 <= most]
    found = [(_by_order(float(order), _divergence(measure.name, value, float(order))), {"order": str(order)}) for order in orders]
    if most >= 2 and (size := _divergence(measure.name, value, 2.0)) < _LARGEST:
        found.append((1 / expm1(size), {}))
    return max(found, key=lambda one: one[0], default=(0.0, {}))


def _divergence(name: str, value: float, order: float) -> float:
    return {"zcdp": order * value, "gdp": order * value**2 / 2, "renyi": value}[name]


def _by_order(order: float, size: float) -> float:
    if order == 1:
        return 1 / (2 * size) - 0.25
    exponent = (order - 1) * size
    return order * (order - 1) / (2 * expm1(exponent)) - 0.25 if exponent < _LARGEST else -0.25


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
