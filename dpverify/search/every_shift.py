"""Cuts the shifts of noise on the line into cells, finest about the shift that loses most."""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpverify.trusted.language.errors import DpverifyError, Undecided
from dpverify.trusted.language.expr import ONE, div
from dpverify.trusted.language.model import Radial, Translation
from dpverify.trusted.numbers.balls import constant, rational
from dpverify.trusted.parts.one_pair import OnePair
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves import every_shift as rule
from dpverify.trusted.rules.curves import moved_density
from dpverify.trusted.rules.curves import shifts as moved
from dpverify.trusted.rules.curves.unimodal import Reading, in_pieces

_FIRST = 8
"""Cells on either side at first."""
_MOST_CELLS = 60
_GAP = Fraction(1, 10**6)
_TAIL = Fraction(1, 1 << 80)
_FARS = (4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 40, 60, 80, 100)
_FINE = {"point": 44, "cell": 1}
_LARGEST = 64
_HALVINGS = 16


def plan(run: Run, epsilon: float | None, delta: float | None) -> dict[str, Any]:
    """The step for the curve of one run that is sharpest at an epsilon, else about the one at which it passes delta.

    Raises Undecided for other noise, and where the density has no bounded variation.
    """
    noise = run.part.mechanism
    if not isinstance(noise, Radial | Translation) or (isinstance(noise, Translation) and noise.integers):
        raise Undecided("the noise has no density on the line.")
    reading = in_pieces(noise)
    reached = reach(run).upper
    length = div(reached, noise.scale if isinstance(noise, Radial) else ONE)
    if not constant(length) > 0:
        raise Undecided("the answers do not certainly move.")
    reading = reading.stretched(length)
    effort = moved.Effort(_far(reading), **_FINE)
    query = run.part.query
    if isinstance(run.part, OnePair):
        cuts, at = [Fraction(0 if reading.even else -1), Fraction(1)], Fraction(1)
    else:
        shifts = moved.divergences(reading, effort)
        if epsilon is None:
            epsilon = _passes(shifts, reading.even, delta or 1e-6)
        cuts, at = _cells(shifts, reading.even, Fraction(epsilon))
        if query is not None and query.adjacency not in ("l1", "l2"):
            at = Fraction(1)
    return {"rule": rule.NAME, "cuts": [str(cut) for cut in cuts], "at": str(at), "far": effort.far, **_FINE}


def _far(reading: Reading) -> int:
    """Where tails are to start: as soon as they have hardly any mass, else as far out as can be."""
    found: int | None = None
    for far in _FARS:
        try:
            density = moved_density.Density(reading, far)
        except DpverifyError:
            continue
        found = far
        if density.before.mass + density.after.mass <= density.total * rational(_TAIL):
            break
    if found is None:
        raise Undecided("the density has no bounded variation, or does not certainly fall towards infinity.")
    return found


def _cells(shifts: moved.Divergences, even: bool, epsilon: Fraction) -> tuple[list[Fraction], Fraction]:
    """Cuts such that no cell may hold much more than the greatest divergence at a cut; and the shift of that, without its sign."""
    with moved.whole():
        found = shifts.at(rational(epsilon).mid())
        edges = [Fraction(i, _FIRST) for i in range(0 if even else -_FIRST, _FIRST + 1)]
        heap = [(-_height(found, low, high), low, high) for low, high in pairwise(edges)]
        heapq.heapify(heap)
        while len(edges) < _MOST_CELLS:
            bound, low, high = heapq.heappop(heap)
            best = max(float(found.point(cut).lower()) for cut in edges)
            if -bound <= best + float(_GAP):
                break
            middle = (low + high) / 2
            edges.append(middle)
            for part in ((low, middle), (middle, high)):
                heapq.heappush(heap, (-_height(found, *part), *part))
        at = max(edges, key=lambda cut: (float(found.point(cut).lower()), abs(cut)))
    return sorted(edges), abs(at)


def _height(found: moved.Shifts, low: Fraction, high: Fraction) -> float:
    height = found.most(low, high)
    return float(height) if height.is_finite() else 1.0


def _passes(shifts: moved.Divergences, even: bool, delta: float) -> float:
    """About the epsilon at which the greatest divergence at a few shifts passes delta."""
    sides = (1,) if even else (1, -1)
    few = [Fraction(side * i, _FIRST) for i in range(1, _FIRST + 1) for side in sides]

    def above(epsilon: float) -> bool:
        with moved.whole():
            found = shifts.at(rational(Fraction(epsilon)).mid())
            shown = next((cut for cut in few if float(found.point(cut).mid()) > delta), None)
        if shown is not None:  # it is likely to show it the next time too
            few.sort(key=lambda cut: cut != shown)
        return shown is not None

    low, high = 0.0, 1.0
    while above(high) and high < _LARGEST:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return high
