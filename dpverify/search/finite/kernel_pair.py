"""Chooses two inputs of a kernel, and bins of its output on which the loss hardly varies."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from dpverify.search import numeric
from dpverify.search.finite import normaliser
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Num, format_expr
from dpverify.trusted.kernel.model import Kernel
from dpverify.trusted.theories.curves.rules import kernel_pair as rule

_INPUTS = 9
_POINTS = 4001
_BINS = 96
_FAR = 64.0
_FINE = 1 << 40
_NEAR = 1.0
"""An epsilon at which inputs are compared where none is claimed."""

Plan = dict[str, Any]


def plan(run: Run, premise: Plan, epsilon: float | None) -> Plan:
    """The step for the curve of a run of a kernel, given the one for its pure epsilon. Raises Undecided for other mechanisms."""
    claim = leaf(run)
    kernel, sensitivity = claim.mechanism, claim.sensitivity
    if not isinstance(kernel, Kernel):
        raise Undecided("the mechanism is no kernel.")
    low, high = (numeric.number(end) for end in kernel.input)
    reach = high - low if sensitivity is None else numeric.number(sensitivity)
    start, stop = (_end(end, far) for end, far in zip(kernel.output, (low - _FAR, high + _FAR), strict=True))
    if not (np.isfinite([low, high, reach]).all() and low < high and start < stop):
        raise Undecided("the intervals of the kernel have no numbers.")
    y = np.linspace(start, stop, _POINTS)
    middle = (y[1:] + y[:-1]) / 2
    density = numeric.vectorised(kernel.density, "y", "theta")
    factor = np.exp(_NEAR if epsilon is None else min(epsilon, 50.0))

    def masses(theta: float) -> Any:
        found = np.nan_to_num(density(middle, np.full_like(middle, theta)), posinf=0.0)
        return found / max(found.sum(), 1e-300)

    inputs = {theta: masses(float(theta)) for theta in _inputs(kernel, low, high)}
    pairs = [pair for pair in permutations(inputs, 2) if abs(float(pair[0] - pair[1])) <= reach]
    if not pairs:
        raise Undecided("no two inputs of a few are adjacent.")
    first, second = max(pairs, key=lambda pair: np.maximum(inputs[pair[0]] - factor * inputs[pair[1]], 0).sum())
    p, q = inputs[first], inputs[second]
    return {
        "rule": rule.NAME,
        "premise": premise,
        "theta": format_expr(Num(first)),
        "other": format_expr(Num(second)),
        "cuts": [str(cut) for cut in _cuts(y, p, q, factor)],
        "normaliser": normaliser.propose(kernel),
    }


def _end(end: Any, far: float) -> float:
    return far if end is None else numeric.number(end)


def _inputs(kernel: Kernel, low: float, high: float) -> list[Fraction]:
    """A few inputs, the ends among them where they are rational."""
    ends = [end.value if isinstance(end, Num) else None for end in kernel.input]
    inner = [Fraction(low + (high - low) * i / (_INPUTS - 1)).limit_denominator(10**6) for i in range(1, _INPUTS - 1)]
    return [end for end in (ends[0], *inner, ends[1]) if end is not None]


def _cuts(y: Any, p: Any, q: Any, factor: float) -> list[Fraction]:
    """Ends of bins of about equal shares of what the loss varies by and of the mass; and where the loss passes epsilon."""
    with np.errstate(all="ignore"):
        loss = np.clip(np.nan_to_num(np.log(p) - np.log(q)), -50, 50)
    varies = np.abs(np.diff(loss, prepend=loss[0])) * (p + q)
    weight = np.cumsum(np.sqrt(varies * (p + q)) + (p + q) / 8)
    shares = np.linspace(0, weight[-1], _BINS + 1)[1:-1]
    inner = list(y[1:][np.searchsorted(weight, shares)])
    gap = p - factor * q
    for i in np.flatnonzero(np.sign(gap[1:]) != np.sign(gap[:-1])):
        a, b = gap[i], gap[i + 1]
        inner.append(y[i + 1] + (y[1] - y[0]) * (a / (a - b) - 0.5))
    ends = [Fraction(float(end)).limit_denominator(_FINE) for end in (y[0], y[-1])]
    found = {Fraction(round(float(x) * _FINE), _FINE) for x in inner}
    return [ends[0], *sorted(x for x in found if ends[0] < x < ends[1]), ends[1]]
