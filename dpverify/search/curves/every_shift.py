"""Cuts the shifts of noise on the line into cells, finest about the shift that loses most, which floats show first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from flint import arb, ctx

from dpverify.search.later import Later
from dpverify.search.numeric import vectorised
from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts.evaluate import SPARE
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, div
from dpverify.trusted.kernel.model import Radial, Translation
from dpverify.trusted.theories.curves import shifts as moved
from dpverify.trusted.theories.curves.rules import every_shift as rule
from dpverify.trusted.theories.curves.unimodal import Reading, in_pieces

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

_FARS: Final = (4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 40, 60, 80, 100)
_TAIL: Final = Fraction(1, 1 << 80)
_FINE: Final = {"point": 44, "cell": 3}
_FIRST, _WIDEST, _LEAST = Fraction(1, 64), Fraction(1, 8), Fraction(1, 1 << 13)
"""Half of the width of the cell about the worst shift that is tried first, and the greatest and the least width of others."""
_MOST_TRIED: Final = 300
_SHARP, _ROUGH = 2e-7, 0.02
"""By which share the bound over all cells may be above what the worst shift has."""
_ABOVE: Final = 1e-6
"""By which share an upper bound on epsilon may be above what the worst shift has, so that the cells need not be as sharp as it."""
_LARGEST: Final = 64.0
_POINTS, _SHIFTS = 3000, 64
_NEAR: Final = Fraction(1, 512)


@dataclass(frozen=True, slots=True)
class _Sought:
    """The plan, and epsilons just above and below where the curve passes a delta, where one is asked for."""

    plan: dict[str, Any]
    upper: Fraction | None = None
    lower: Fraction | None = None


def plan(run: Run, epsilon: float | None, delta: float | None, rough: bool = False) -> dict[str, Any]:
    """The step for the curve of one run that is sharpest at an epsilon, else about the one at which it passes delta.

    rough: it is asked at many epsilons. Raises Undecided for other noise, and where the density has no bounded variation.
    """
    return _sought(run, epsilon, delta, rough, ctx.prec).plan


def passes(run: Run, delta: float) -> dict[str, str]:
    """Where the curve passes a delta, as a proof says it: both sides to be proved yet."""
    found = _sought(run, None, delta, False, ctx.prec)
    return {side: str(at) for side, at in (("upper", found.upper), ("lower", found.lower)) if at is not None}


@lru_cache(maxsize=16)
def _sought(run: Run, epsilon: float | None, delta: float | None, rough: bool, _: int) -> _Sought:
    noise, reached = run.part.mechanism, reach(run).upper
    if not isinstance(noise, Radial | Translation) or (isinstance(noise, Translation) and noise.integers):
        raise Undecided("the noise has no density on the line.")
    length = div(reached, noise.scale if isinstance(noise, Radial) else ONE)
    if not constant(length) > 0:
        raise Undecided("the answers do not certainly move.")
    reading = in_pieces(noise).stretched(length)
    effort = moved.Effort(_far(reading), **_FINE)
    step: dict[str, Any] = {"rule": rule.NAME, "far": effort.far, **_FINE}
    if isinstance(run.part, OnePair):
        return _Sought({**step, "cuts": ["0" if reading.even else "-1", "1"], "at": "1"})
    shifts, floats, query = moved.divergences(reading, effort), _Floats(reading, effort.far), run.part.query
    about = floats.passes(delta or 1e-6) if epsilon is None else epsilon
    with moved.whole():
        top = _sharpened(shifts.at(rational(Fraction(about)).mid()), floats.worst(about), reading.even)
    shown = abs(top) if query is None or query.adjacency in ("l1", "l2") else Fraction(1)
    upper = lower = None
    if epsilon is not None:
        at = _at(Fraction(epsilon).limit_denominator(10**9))
    else:
        root = _root(lambda eps: _reached(shifts, eps, top), delta or 1e-6, about)
        upper, at = _above(root)
        both = (shown, -shown)
        seen = root if shown == abs(top) else _root(lambda eps: max(_reached(shifts, eps, at) for at in both), delta or 1e-6, root)
        lower = Fraction(math.floor(seen * (1 - 1e-9) * 2**48), 2**48)
    with moved.whole():
        found = shifts.at(at)
        best = float(found.over(top, top).upper())
        target = best * (1 + (_ROUGH if rough else _SHARP))
        if delta is not None and best < delta and not rough:
            target = delta if epsilon is None else min(delta, target)
        cuts = _cells(found, reading.even, top, target)
    return _Sought({**step, "cuts": [str(cut) for cut in cuts], "at": str(shown)}, upper, lower)


def _at(epsilon: Fraction) -> arb:
    """The exact epsilon at which a profile is looked at for this one."""
    ball = rational(epsilon)
    if ball.is_exact():
        return ball
    with precision(ctx.prec + SPARE):
        return ball.lower()


def _above(root: float) -> tuple[Fraction, arb]:
    upper = Fraction(math.ceil(root * (1 + _ABOVE) * 2**48), 2**48)
    return upper, _at(upper)


def _reached(shifts: moved.Divergences, epsilon: float, shift: Fraction) -> float:
    with moved.whole():
        return float(shifts.at(rational(Fraction(epsilon)).mid()).over(shift, shift).mid())


def _root(at: Callable[[float], float], level: float, about: float) -> float:
    """Where a falling function of epsilon passes a level, by secants of its logarithm from a place that is near."""
    before, root = about, about * (1 + 1e-4) + 1e-6
    height = at(before)
    for _ in range(8):
        here = at(root)
        if not (height > 0 and here > 0) or height == here:
            break
        before, height, root = root, here, root + math.log(here / level) * (root - before) / (math.log(height) - math.log(here))
        root = max(root, 0.0)
        if abs(root - before) <= 1e-13 * root:
            break
    return root


def _sharpened(found: moved.Shifts, near: float, even: bool) -> Fraction:
    """The shift that loses most, by a parabola through three near it."""
    middle = Fraction(near).limit_denominator(1 << 16)
    one = Fraction(1)
    middle = min(max(middle, -one + _NEAR), one - _NEAR)
    heights = [float(found.over(at, at).mid()) for at in (middle - _NEAR, middle, middle + _NEAR)]
    bend = heights[0] - 2 * heights[1] + heights[2]
    step = (heights[0] - heights[2]) / bend / 2 if bend < 0 else math.copysign(1, heights[2] - heights[0])
    moved_by = Fraction(round(min(max(step, -1.0), 1.0) * (1 << 20)), 1 << 20)
    places = [middle + _NEAR * moved_by, middle, one] + ([] if even else [-one])
    heights = [float(found.over(at, at).lower()) for at in places]
    return max(zip(heights, map(abs, places), places, strict=True))[2]


def _cells(found: moved.Shifts, even: bool, top: Fraction, target: float) -> list[Fraction]:
    """Cuts of cells none of which holds more than a target, where so few cells do: from the worst shift outwards."""
    first, last, tried = Fraction(0 if even else -1), Fraction(1), 0

    def fits(low: Fraction, high: Fraction) -> bool:
        nonlocal tried
        tried += 1
        return float(found.over(low, high).upper()) <= target

    def onwards(start: Fraction, end: Fraction, width: Fraction) -> Iterator[Fraction]:
        rises = False
        while start != end:
            width = min(width, abs(end - start), _WIDEST)
            there = start + width if end > start else start - width
            if tried < _MOST_TRIED and width > _LEAST and not fits(min(start, there), max(start, there)):
                width, rises = width / 2, False
                continue
            yield there
            start, width, rises = there, 2 * width if rises else width, not rises

    width = _FIRST
    while width > _LEAST and not fits(max(top - width, first), min(top + width, last)):
        width /= 2
    low, high = max(top - width, first), min(top + width, last)
    return [*reversed(list(onwards(low, first, width))), low, high, *onwards(high, last, width)]


def _far(reading: Reading) -> int:
    """Where tails are to start: as soon as they have hardly any mass, else as far out as can be."""
    found: int | None = None
    for far in _FARS:
        try:
            with moved.whole():
                density = moved.divergences(reading, moved.Effort(far, **_FINE)).density()
        except DpverifyError:
            continue
        found = far
        if density.before.mass + density.after.mass <= density.total * rational(_TAIL):
            break
    if found is None:
        raise Undecided("the density has no bounded variation, or does not certainly fall towards infinity.")
    return found


class _Floats:
    """The divergences at many shifts, by sums on a grid of floats: where to look."""

    def __init__(self, reading: Reading, far: int) -> None:
        pieces = [(p.lower, p.upper, vectorised(p.density, "z")) for p in reading.parts]

        def density(z: Any) -> Any:
            found = np.zeros(z.shape)
            for low, high, function in pieces:
                inside = (z >= (-math.inf if low is None else float(low))) & (z < (math.inf if high is None else float(high)))
                found[inside] = np.nan_to_num(function(z[inside]), posinf=0.0)
            return found

        wide = np.sinh(np.linspace(-1, 1, _POINTS) * math.asinh(2.0 ** min(far, 60)))
        summed = np.cumsum(density(wide) * np.gradient(wide))
        inner = wide[(summed > 1e-9 * summed[-1]) & (summed < (1 - 1e-9) * summed[-1])]
        low, high = (inner[0] - 1, inner[-1] + 1) if inner.size else (-4, 4)
        points = np.unique(np.concatenate([wide, np.linspace(low, high, _POINTS)]))
        self._density, self._points, self._weights, self._here = density, points, np.gradient(points), density(points)
        self._total = float(self._here @ self._weights)
        ends = np.arange(0 if reading.even else -_SHIFTS, _SHIFTS + 1)
        self._shifts = ends[ends != 0] / _SHIFTS
        self._there = self._moved(self._shifts)

    def _moved(self, shifts: Any) -> Any:
        return self._density(self._points[None, :] - shifts[:, None])

    def _at(self, epsilon: float, there: Any = None) -> Any:
        factor = math.exp(min(epsilon, _LARGEST))
        return np.maximum(self._here - factor * (self._there if there is None else there), 0) @ self._weights / self._total

    def worst(self, epsilon: float) -> float:
        """About the shift that loses most."""
        coarse = float(self._shifts[int(np.argmax(self._at(epsilon)))])
        near = np.clip(coarse + np.linspace(-1, 1, _SHIFTS + 1) / _SHIFTS, -1, 1)
        return float(near[int(np.argmax(self._at(epsilon, self._moved(near))))])

    def passes(self, delta: float) -> float:
        """About the epsilon at which the greatest divergence passes delta."""
        low, high = 0.0, 1.0
        while self._at(high).max() > delta and high < _LARGEST:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._at(middle).max() > delta else (low, middle)
        return high
