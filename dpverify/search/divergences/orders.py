"""Orders of Renyi divergences for the conversions of `conversions`. Nothing here is trusted: every order above 1 is sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from math import exp, inf, isfinite, log, log1p, sqrt
from typing import Any, Final

from dpverify.search.numeric import number
from dpverify.search.processes import norms as processes
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, num
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Mixture
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules.privacy_measures import Renyi, renyi_of_zcdp
from dpverify.trusted.theories.processes.norms import is_finite
from dpverify.trusted.theories.processes.rules import cameron_martin

LEAST, MOST = -30.0, 30.0
"""The range of log(order - 1) that is looked through."""
STEPS = 240


def order_for_epsilon(divergence: Callable[[float], float], delta: float) -> Fraction:
    """The order at which the bound on epsilon at `delta` is least; divergence: of an order, in nats."""

    def bound(excess: float) -> float:
        return divergence(1 + excess) - (log(delta) + log1p(excess)) / excess + log(excess) - log1p(excess)

    return _order(bound)


def order_for_delta(divergence: Callable[[float], float], epsilon: float) -> Fraction:
    """The order at which the bound on delta at `epsilon` is least; divergence: of an order, in nats."""

    def bound(excess: float) -> float:
        return excess * (divergence(1 + excess) - epsilon) + excess * log(excess) - (1 + excess) * log1p(excess)

    return _order(bound)


def zcdp_order_for_epsilon(rho: float, delta: float) -> Fraction:
    """The order at which a rho-zCDP mechanism's bound on epsilon at `delta` is least."""
    return order_for_epsilon(lambda order: order * rho, delta)


def zcdp_order_for_delta(rho: float, epsilon: float) -> Fraction:
    """The order at which a rho-zCDP mechanism's bound on delta at `epsilon` is least."""
    return order_for_delta(lambda order: order * rho, epsilon)


def zcdp_points(rho: Expr, epsilons: Sequence[Fraction]) -> list[tuple[Renyi, Expr]]:
    """The best order at each epsilon, as `stated_guarantee.renyi_pair` takes them."""
    size = number(rho)
    return [(renyi_of_zcdp(rho, zcdp_order_for_delta(size, float(epsilon))), num(epsilon)) for epsilon in epsilons]


def _order(bound: Callable[[float], float]) -> Fraction:
    """1 plus the least point of a function of order - 1, found on a grid of logarithms and refined by golden sections."""

    def value(logarithm: float) -> float:
        try:
            found = bound(exp(logarithm))
        except (OverflowError, ValueError, ZeroDivisionError):
            return inf
        return found if isfinite(found) else inf

    width = (MOST - LEAST) / STEPS
    best = min((LEAST + width * i for i in range(STEPS + 1)), key=value)
    low, high = best - width, best + width
    ratio = (sqrt(5) - 1) / 2
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if value(left) <= value(right):
            high = right
        else:
            low = left
    excess = exp((low + high) / 2)
    return 1 + Fraction(excess).limit_denominator(10**6 if excess > 1e-3 else int(1e6 / excess))


_FEW: Final = 6
"""Digits of a norm that a loose bound needs."""


def propose(claim: Claim) -> list[dict[str, Any]]:
    """A step for Theorem 5 of Reimherr & Awan; none where it says nothing."""
    if isinstance(claim.mechanism, Mixture | EllipticalProcess) and claim.epsilon is not None:
        with suppress(DpverifyError):
            evidence = told(claim.mechanism)
            Proof(claim).infer(cameron_martin.NAME, (), evidence)
            return [{"rule": cameron_martin.NAME, "evidence": evidence}]
    return []


def told(noise: Mixture | EllipticalProcess) -> dict[str, Any]:
    """How the norms of declared differences are derived."""
    if not isinstance(noise, EllipticalProcess) or not noise.differences or is_finite(noise):
        return {}
    return {"sensitivity": processes.derivations(noise, _FEW)}

