"""Finds evidence for the modulus rule: where the loss is greatest, a bound just above it, cells and ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from dpverify.search.additive import sensitivity
from dpverify.search.additive.kinks import kinks, shorten
from dpverify.search.additive.stationary import Peak
from dpverify.search.numeric import number, vectorised, written
from dpverify.trusted.kernel.balls import constant, exact, precision, rational, value
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Undecided
from dpverify.trusted.kernel.expr import (
    Expr,
    Num,
    add,
    format_expr,
    mul,
    neg,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.periods import step_period
from dpverify.trusted.theories.additive import cells, sides
from dpverify.trusted.theories.additive import cells as turns
from dpverify.trusted.theories.additive.axis import Line, direction
from dpverify.trusted.theories.additive.rules import modulus

STARTS = tuple(Fraction(2) ** k for k in (4, 6, 8, 10, 13, 16, 20, 26, 34, 50, 70, 90, 120, 160, 200, 260, 330))
MOST_CELLS = 1500
MOST_STARTS = 24


Ask = Callable[[Sequence[Peak]], list[tuple[Peak, Expr, Expr]]]
"""Finds closed forms: of peaks of the loss their points and values, as far as it can."""

_JUMP = arb(2) ** -20  # wider values come from a jump, whose sides are looked at on their own


class NotFound(DpverifyError):
    """No evidence: the message says what stopped the search and what would help."""


def bits_for(digits: int) -> int:
    """Working precision for an enclosure to `digits` decimal digits."""
    return int(3.4 * digits) + 80


@dataclass(slots=True)
class Search:
    """Where a line's loss is looked at: its kinks, and the peaks that were found."""

    line: Line
    digits: int
    kinks: list[Fraction] = field(default_factory=list)
    tangents: dict[int, list[Fraction]] = field(default_factory=lambda: {1: [], -1: []})
    peaks: list[tuple[int, Fraction, arb]] = field(default_factory=list)
    summits: dict[tuple[int, Fraction], Expr] = field(default_factory=dict)
    cells: int = 0

    # where to look

    def cuts(self, first: Fraction, last: Fraction) -> list[Fraction]:
        """Points where the loss has kinks, within (first, last)."""
        shift = self.line.shift
        if isinstance(shift, Num):
            moved = [k - shift.value for k in self.kinks]
        else:
            low = exact(constant(shift).mid())
            moved = [k - low + e for k in self.kinks for e in (Fraction(-1, 2**60), Fraction(1, 2**60))]
        return sorted({c for c in (*self.kinks, *moved) if first < c < last})

    def grid(self) -> np.ndarray[Any, Any]:
        """Points worth looking at: many scales around 0 and the sensitivity, and the kinks."""
        scale = max(abs(number(self.line.shift)), 1e-12)
        scales = (np.geomspace(1e-9, 1e9, 361), np.geomspace(1e-3, 1e4, 400) * scale, np.linspace(0, 8, 97) * scale)
        at_kinks = np.array([float(k) for k in self.kinks])
        points = np.concatenate([*scales, at_kinks, at_kinks - scale])
        return np.unique(points[points >= 0]) if self.line.half else np.unique(np.concatenate([-points, points]))

    def maxima(self, sign: int) -> Iterator[tuple[arb, Expr | None]]:
        """Values of the loss at its likely maxima; with an exact expression where the point is a cut."""
        line = self.line
        h = vectorised(line.h, line.name)
        points = self.grid()
        loss = sign * (h(points + number(line.shift)) - h(points))
        loss[~np.isfinite(loss)] = -np.inf
        order = [i for i in range(1, len(points) - 1) if loss[i] >= loss[i - 1] and loss[i] >= loss[i + 1] and np.isfinite(loss[i])]
        order = sorted(order, key=lambda i: -loss[i])[:6]
        top = max((loss[i] for i in order), default=-np.inf)
        for i in order:
            if loss[i] < top - 1e-6 * abs(top) - 1e-9:
                continue
            found = self._newton(sign, Fraction(float(points[i])), Fraction(float(points[i - 1])), Fraction(float(points[i + 1])))
            if found is not None:
                self.tangents[sign].append(found[0])
                self.peaks.append((sign, *found))
                yield found[1], None
        ends = [Fraction(0)] if line.half else []
        rational_shift = isinstance(line.shift, Num)
        for cut in sorted({*ends, *(self.cuts(-(Fraction(2) ** 400), Fraction(2) ** 400) if rational_shift else [])}):
            if line.half and cut < 0:
                continue
            for low, high in ((cut - Fraction(1, 2**40), cut), (cut, cut + Fraction(1, 2**40))):
                if line.half and low < 0:
                    continue
                try:
                    at = substitute(line.loss(low, high, sign).expr, {line.name: Num(cut)})
                    ball = constant(at)
                except (ExprError, Undecided):
                    continue
                if ball.is_finite() and not symbols(at):
                    yield ball, at

    def closed(self, ask: Ask, least: arb) -> Iterator[tuple[arb, Expr]]:
        """Closed forms of the peaks that may be at least so high; their points are kept for the cells."""
        asked = {}
        for sign, near, height in self.peaks:
            if not height < least:
                cuts = self.cuts(-abs(near) - 1, abs(near) + 1)
                low = max([Fraction(0) if self.line.half else near - 1, *(c for c in cuts if c < near)])
                high = min([near + 1, *(c for c in cuts if c > near)])
                asked[Peak(self.line.loss(low, high, sign).expr, self.line.name, self.line.shift, near)] = sign
        for peak, point, height_there in ask(list(asked)):
            self.summits[asked[peak], peak.near] = point
            yield constant(height_there), height_there

    def _newton(self, sign: int, start: Fraction, low: Fraction, high: Fraction) -> tuple[Fraction, arb] | None:
        """A point where the loss is stationary to working precision, from a float guess between low and high."""
        cuts = self.cuts(low, high)
        low = max([low, *(c for c in cuts if c <= start)])
        high = min([high, *(c for c in cuts if c > start)])
        phi = self.line.loss(low, high, sign)
        if phi.is_constant():
            return None
        x = rational(start)
        for _ in range(60):
            point = phi.jet(x.mid())
            if not (point.d1.is_finite() and point.d2.is_finite()) or point.d2.contains(0):
                return None
            step = (point.d1 / point.d2).mid()
            following = (x - step).mid()
            if not rational(low) <= following or not following <= rational(high):
                side = low if step > 0 else high
                following = ((x + rational(side)) / 2).mid()
            if abs(following - x) <= abs(x) * arb(2) ** (-(bits_for(self.digits) - 30)):
                x = following
                break
            x = following
        at = exact(x)
        # a short point keeps evidence small; the loss is flat to second order there
        short = shorten(at, bits_for(self.digits) * 6 // 10)
        best = phi.jet(rational(short))
        return (short, best.v) if best.v.is_finite() else None

    def at_infinity(self) -> Iterator[tuple[arb, Expr]]:
        """The limit of the loss at each infinite end, times the shift, from the sharp slope of h."""
        for side in ("+inf",) if self.line.half else ("+inf", "-inf"):
            for start in STARTS:
                try:
                    end = End(side, start)  # type: ignore[arg-type]
                    slope, germ = self.line.slope_at(end)
                    if not germ.k.is_zero() and germ.direction() > 0:
                        raise NotFound("the loss has no bounded enclosure near infinity; a form whose parts each have a limit would help.")
                except Undecided:
                    continue
                limit = slope
                if not germ.k.is_zero() and germ.direction() == 0:
                    nearest = germ.k.hi if side == "+inf" else germ.k.lo
                    limit = add(slope, Num(exact(nearest)))
                    if start < 2**160 and exact(nearest).denominator.bit_length() > 60:
                        continue
                value = mul(self.line.shift, limit if side == "+inf" else neg(limit))
                yield constant(value), value
                break

    def wave(self, outward: int) -> Fraction | None:
        """The length after which the floors of h repeat far out on a side, None where there are none."""
        ends = (Fraction(10**6), None) if outward > 0 else (None, Fraction(-(10**6)))
        return step_period(self.line.smooth(*ends), self.line.name)

    # covering

    def far_end(self, bound: Expr) -> End:
        line = self.line
        least = max([abs(k) for k in self.kinks] + [Fraction(16)])
        reason = ""
        for start in STARTS:
            if start <= least:
                continue
            end = End("+inf", start)
            try:
                if sides.end_direction(line, end) != 1:
                    reason = "h = -log(density) does not certainly rise towards infinity"
                elif not sides.end_integrable(line, end):
                    reason = "the density is not certainly integrable at infinity"
                elif not sides.end_holds(line, end, bound):
                    reason = "the loss is not certainly below the bound near infinity"
                else:
                    return end
            except Undecided as error:
                reason = str(error)
        raise NotFound(f"{reason}.")

    def near_end(self, bound: Expr) -> End | None:
        line = self.line
        if line.half:
            at_zero = line.jet(line.smooth(Fraction(0), Fraction(1, 2**40)), arb(0))
            if at_zero.v.is_finite() and at_zero.d1.is_finite() and at_zero.d2.is_finite():
                return None
        reach = [abs(1 / k) if line.half else abs(k) for k in self.kinks if k != 0]
        least = max([*reach, Fraction(16)])
        reason = ""
        for start in STARTS:
            if start < least:
                continue
            end = End("right" if line.half else "-inf", start)
            try:
                sign = sides.end_direction(line, end)
                if sign == 0 or (not line.half and sign > 0):
                    reason = f"h = -log(density) is not certainly monotone near {'0' if line.half else 'minus infinity'}"
                elif not sides.end_integrable(line, end):
                    reason = f"the density is not certainly integrable near {'0' if line.half else 'minus infinity'}"
                elif line.half and not sides.start_holds(line, end, bound, 1):
                    reason = "the loss is not certainly below the bound near 0"
                elif not line.half and not sides.end_holds(line, end, bound):
                    reason = "the loss is not certainly below the bound near minus infinity"
                else:
                    return end
            except Undecided as error:
                reason = str(error)
        raise NotFound(f"{reason}.")

    def turning(self, first: Fraction, last: Fraction) -> list[Fraction]:
        """Points where h seems to turn, to about 2^-60."""
        line = self.line
        h = vectorised(line.h, line.name)
        points = self.grid()
        points = points[(points > float(first)) & (points < float(last))]
        values = h(points)
        found = []
        for i in range(1, len(points) - 1):
            if (values[i] - values[i - 1]) * (values[i + 1] - values[i]) < 0 and abs(values[i]) < 1e300:
                low, high = Fraction(float(points[i - 1])), Fraction(float(points[i + 1]))
                if any(low <= k <= high for k in self.kinks):
                    continue
                smooth = line.smooth(low, high)
                sign_low = bool(line.jet(smooth, rational(low)).d1 > 0)
                for _ in range(80):
                    middle = shorten((low + high) / 2, 90)
                    if not low < middle < high:
                        break
                    if bool(line.jet(smooth, rational(middle)).d1 > 0) == sign_low:
                        low = middle
                    else:
                        high = middle
                found.append(shorten((low + high) / 2, 80))
        return found

    def pieces(self, first: Fraction, last: Fraction, radius: Fraction) -> list[tuple[Fraction, str]]:
        """Pieces that rise, fall, or are turns of the given radius."""
        turning = self.turning(first, last)
        marks: list[tuple[Fraction, Fraction]] = []
        for t in turning:
            low, high = max(t - radius, first), min(t + radius, last)
            if marks and low <= marks[-1][1]:
                marks[-1] = (marks[-1][0], max(high, marks[-1][1]))
            else:
                marks.append((low, high))
        result: list[tuple[Fraction, str]] = []
        position, flat = first, 1 if self.line.half else -1
        for low, high in [*marks, (last, last)]:
            cuts = [position, *(k for k in self.kinks if position < k < low), low]
            for a, b in itertools.pairwise(cuts):
                if a < b:
                    flat = self._flat(a, b, flat)
                    result.extend(self._directions(a, b, radius, flat))
            if high > low:
                result.append((low, "turn"))
            position = high
        return result

    def _flat(self, lower: Fraction, upper: Fraction, before: int) -> int:
        """Which way a constant h on this piece is to be taken: that of the step at its upper end, else that of the piece before."""
        following = min((k for k in self.kinks if k > upper), default=upper + 1)
        here, there = vectorised(self.line.h, self.line.name)(np.array([float(lower + upper) / 2, float(upper + following) / 2]))
        return 1 if there > here else -1 if there < here else before

    def _directions(self, lower: Fraction, upper: Fraction, radius: Fraction, flat: int) -> Iterator[tuple[Fraction, str]]:
        stack = [(lower, upper)]
        while stack:
            a, b = stack.pop()
            self._count()
            sign = direction(self.line, a, b, flat)
            if sign:
                yield a, "up" if sign > 0 else "down"
            elif b - a < radius:
                yield a, "turn"
            else:
                middle = _middle(a, b)
                stack += [(middle, b), (a, middle)]

    def cover(self, sign: int, first: Fraction, last: Fraction, bound: Expr) -> dict[str, Any]:
        """Cells on [first, last] on which the rule accepts the bound."""
        line = self.line
        result: list[list[str]] = []
        cuts = [first, *sorted({*self.cuts(first, last), *(t for t in self.tangents[sign] if first < t < last)}), last]
        for lower, upper in itertools.pairwise(cuts):
            stack = [(lower, upper)]
            while stack:
                a, b = stack.pop()
                self._count()
                tangent = next((t for t in self.tangents[sign] if a <= t <= b), None)
                middle = (a + b) / 2 if tangent is None else tangent
                cell = cells.Cell(line, a, b, sign, bound, middle)
                summit = None if tangent is None else self.summits.get((sign, tangent))
                if summit is not None and _is_summit(cell, summit):
                    result.append([written(a), "summit", format_expr(summit)])
                    continue
                way = _way(cell)
                if way is not None:
                    result.append([written(a), way] if tangent is None or way not in _ABOUT else [written(a), way, written(tangent)])
                    continue
                if b - a < Fraction(1, 2**200) * max(abs(a), Fraction(1, 2**60)):
                    where = f"the loss near {float(a):.6g}"
                    raise NotFound(f"{where} is too close to the bound to be certain; a rule for exact suprema would help.")
                split = _middle(a, b)
                stack += [(split, b), (a, split)]
        return {"cells": result, "stop": written(last)}

    def _count(self) -> None:
        self.cells += 1
        if self.cells > MOST_CELLS:
            raise NotFound(f"more than {MOST_CELLS} cells would be needed; the density is too rough for this search.")


_ABOUT = ("mean", "taylor")
"""The ways that look at a point of the cell."""


def _is_summit(cell: cells.Cell, at: Expr) -> bool:
    with suppress(Undecided, ExprError):
        return cells.summit(cell, at)
    return False


def _way(cell: cells.Cell) -> str | None:
    """The first way in which the bound is certain on a cell."""
    for name, holds in cells.WAYS.items():
        with suppress(Undecided):
            if holds(cell):
                return name
    return None


def _middle(a: Fraction, b: Fraction) -> Fraction:
    """A cut between a and b: geometric where they are far apart on one side of 0, else the midpoint."""
    if a > 0 and b > 4 * a:
        return _geometric(a, b)
    if b < 0 and a < 4 * b:
        return -_geometric(-b, -a)
    if a == 0 and b > 1:
        return Fraction(1, 2) if b <= 4 else Fraction(2) ** ((b.numerator // b.denominator).bit_length() // 2)
    if b == 0 and a < -1:
        return -_middle(Fraction(0), -a)
    if a < 0 < b:
        return Fraction(0)
    return shorten((a + b) / 2, 40) if a < shorten((a + b) / 2, 40) < b else (a + b) / 2


def _geometric(a: Fraction, b: Fraction) -> Fraction:
    low = a.numerator.bit_length() - a.denominator.bit_length()
    high = b.numerator.bit_length() - b.denominator.bit_length()
    middle = Fraction(2) ** ((low + high) // 2)
    return middle if a < middle < b else (a + b) / 2


def propose(claim: Claim, digits: int = 20, ask: Ask | None = None) -> list[dict[str, Any]]:
    """One step for the modulus rule; `ask` may know closed forms of peaks.

    Raises NotFound with what stopped the search, Rejected where the rule does not apply.
    """
    with precision(bits_for(digits)), np.errstate(all="ignore"):  # floats only say where to look
        gauge = sensitivity.propose(claim)
        line = Line.of(claim, {"sensitivity": gauge})
        between = sorted(kinks(line.h, line.name))
        if line.half:
            between = [k for k in between if k > 0]
        try:
            evidence = _evidence(Search(line, digits, between), ask)
        except NotFound:
            if ask is None:
                raise
            evidence = _evidence(Search(line, digits, between), None)  # a bound that is not met may be easier than one that is
        if gauge:
            evidence["sensitivity"] = gauge
        return [{"rule": modulus.NAME, "evidence": evidence}]


def _evidence(search: Search, ask: Ask | None) -> dict[str, Any]:
    line = search.line
    if any(search.wave(outward) is not None for outward in ((1,) if line.half else (1, -1))):
        raise NotFound("the density has infinitely many steps.")
    candidates: list[tuple[arb, Expr | None]] = list(search.maxima(1))
    candidates += search.at_infinity()
    turning = search.turning(Fraction(0) if line.half else -(Fraction(2) ** 40), Fraction(2) ** 40)
    monotone = line.half and not turning and not search.kinks
    if not monotone:
        candidates += list(search.maxima(-1))
        candidates += list(_turn_values(search, turning))
    bound = bound_of(candidates, search.digits)
    if ask is not None and not any(expr == bound for _, expr in candidates):
        candidates += search.closed(ask, constant(bound) * (1 - arb(10) ** -search.digits))
        bound = bound_of(candidates, search.digits)
    far, near = search.far_end(bound), search.near_end(bound)
    radius = Fraction(1, 64)
    first = Fraction(0) if near is None else near.boundary()
    last = far.boundary()
    refused: DpverifyError | None = None
    for _ in range(8):
        pieces = search.pieces(first, last, radius)
        try:
            rising_only = turns.check_pieces(line, near, far, pieces, bound)
            break
        except DpverifyError as error:
            refused = error
        radius /= 2**7
    else:
        raise NotFound(f"the turning points of the density: {refused}")
    evidence: dict[str, Any] = {
        "bound": format_expr(bound),
        "far": written(far.start),
        "pieces": [[written(cut), kind] for cut, kind in pieces],
    }
    begins = first
    if near is not None:
        evidence["near"] = written(near.start)
        if not line.half:
            begins = _floor_dyadic(first - exact(line.step.upper()))
    for sign, key in ((1, "rise"),) if rising_only else ((1, "rise"), (-1, "fall")):
        evidence[key] = search.cover(sign, begins, last, bound)
    return evidence


def _floor_dyadic(x: Fraction) -> Fraction:
    """A number with few bits at or below x."""
    return Fraction((x * 16).__floor__(), 16)


def _turn_values(search: Search, turning: Sequence[Fraction]) -> Iterator[tuple[arb, Expr | None]]:
    line = search.line
    points = sorted({*turning, *search.kinks, *([Fraction(0)] if line.half else [])})
    step = constant(line.shift)
    values = []
    for p in points:
        ball = value(line.h, {line.name: rational(p)})
        if ball.is_finite() and ball.rad() < _JUMP:
            values.append((p, ball))
    for (p, up), (q, down) in itertools.permutations(values, 2):
        if rational(abs(p - q)) <= step:
            yield up - down, None


def bound_of(candidates: Sequence[tuple[arb, Expr | None]], digits: int) -> Expr:
    """The greatest candidate: as it is where it is exact, else a dyadic just above it."""
    if not candidates:
        raise NotFound("the loss has no finite value anywhere that was tried.")
    top = max((ball.upper() for ball, _ in candidates), key=lambda b: b)
    slack = abs(top) * arb(10) ** (-(digits + 4))
    forms = [expr for ball, expr in candidates if expr is not None and ball + slack >= top]
    for expr in sorted(forms, key=lambda e: len(format_expr(e))):
        if not any(ball > constant(expr) for ball, _ in candidates) and all(certainly_le(other, expr) for other in forms):
            return expr
    return Num(shorten(exact((top + slack).upper()), int(3.33 * digits) + 20) + exact(slack.upper()))
