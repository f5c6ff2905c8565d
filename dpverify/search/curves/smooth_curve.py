"""Chooses the cells of scales, and the pair, for the curve of noise whose scale depends on the data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.expr import ONE, ZERO
from dpverify.trusted.kernel.model import SmoothSensitivity
from dpverify.trusted.theories.curves.rules import smooth_curve as rule

Plan = dict[str, Any]
_BITS: Final = 64
_SHARES: Final = 16
_TOWARDS_ONE: Final = [Fraction(0), *(1 - Fraction(1, 2**n) for n in range(1, 6)), Fraction(1)]
"""Cells of a part of a composition, of whose curve many values are asked: the greatest change of the scale matters most."""
_NEAR: Final = 1.0
"""An epsilon at which scales are compared where none is claimed."""
_CLOSE: Final = 2.0**-7
"""By how much, of the greatest divergence, a cell may be above it."""
_MOST: Final = 160
_HALVINGS: Final = 40


def plan(run: Run, epsilon: float | None, delta: float | None, inside: bool) -> Plan:
    """The step for the curve of one run, sharpest at the claimed epsilon, or where the claimed delta is met. Raises Undecided."""
    mechanism = run.part.mechanism
    assert isinstance(mechanism, SmoothSensitivity)
    moved, shares = run.part.sensitivity or ONE, [Fraction(i, _SHARES) for i in range(_SHARES + 1)]
    with precision(_BITS):
        if mechanism.scale_bound == ZERO:
            return {"rule": rule.NAME, "cuts": ["0", "1"], "at": "0"}
        pairs = {share: rule.below(mechanism, moved, share) for share in shares}

        def greatest(at: float) -> tuple[float, Fraction]:
            return max((float(pair.worst(rational(Fraction(at))).mid()), share) for share, pair in pairs.items())

        at = epsilon if epsilon is not None else _NEAR if not delta else _met(lambda x: greatest(x)[0], delta)
        level, best = greatest(at)
        cuts = _TOWARDS_ONE if inside else _cells(lambda low, high: _bound(mechanism, moved, (low, high), at), level)
    return {"rule": rule.NAME, "cuts": [str(cut) for cut in cuts], "at": str(best)}


def _met(divergence: Callable[[float], float], delta: float) -> float:
    """About the epsilon at which a divergence that falls is a delta."""
    low, high = 0.0, 1.0
    while divergence(high) > delta and high < 1e6:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(middle) > delta else (low, middle)
    return (low + high) / 2


def _cells(bound: Callable[[Fraction, Fraction], float], level: float) -> list[Fraction]:
    """Ends of cells, halved where their bound is greatest, until none is much above a level."""
    known = {cell: bound(*cell) for cell in pairwise((Fraction(0), Fraction(1)))}
    while len(known) < _MOST:
        (low, high), most = max(known.items(), key=lambda one: one[1])
        if most <= level * (1 + _CLOSE):
            break
        del known[low, high]
        middle = (low + high) / 2
        known |= {cell: bound(*cell) for cell in ((low, middle), (middle, high))}
    return sorted({end for cell in known for end in cell})


def _bound(mechanism: SmoothSensitivity, moved: Any, cell: tuple[Fraction, Fraction], epsilon: float) -> float:
    """The bound on a cell."""
    width = constant(mechanism.scale_bound) * rational(cell[1] - cell[0])
    at = rational(Fraction(epsilon)) - width
    narrow, wide = (rule.of_share(mechanism, moved, share) for share in cell)
    return float(narrow.excess(at, False).max(width.exp() * wide.excess(at, True)).mid())
