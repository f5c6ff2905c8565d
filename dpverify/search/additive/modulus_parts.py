"""Finds evidence for the supremum rule by parts: ends, and a tree of cuts of the strip of all pairs of points within the sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, Final

from flint import arb

from dpverify.search.additive import sensitivity
from dpverify.search.additive.modulus import NotFound, Search, bits_for, bound_of, kinks, side_text
from dpverify.search.finite import kernel_box
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, num, sub, substitute
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.rules import modulus_parts
from dpverify.trusted.theories.additive.sides import Period, Side
from dpverify.trusted.theories.finite.part_slopes import at

REACHES = (Fraction(16), Fraction(32), Fraction(64))
"""Where ends that do not repeat are taken to begin while the greatest loss is looked for: the first of these, but where they have waves."""
SIDES: Final = ("+inf", "-inf")


def propose(claim: Claim, digits: int = 20) -> list[dict[str, Any]]:
    """One step for the rule. Raises NotFound with what stopped the search, Rejected where the rule does not apply."""
    with precision(bits_for(digits)):
        gauge = sensitivity.propose(claim)
        line = Line.of(claim, {"sensitivity": gauge}, points=True)
        search = Search(line, digits, sorted(kinks(line.h, line.name)))
        periods = search.period(1), None if line.half else search.period(-1)
        sides = ((1, "+inf"), (-1, "-inf"))[: 1 if line.half else 2]
        lengths = {side: search.wave(outward) for (outward, side), known in zip(sides, periods, strict=False) if known is None}
        wavy = {side: length for side, length in lengths.items() if length is not None and not line.whole}
        for reach in REACHES if wavy else REACHES[:1]:
            found = _within(_Sides(claim, search, periods, wavy, reach), reach == REACHES[-1])
            if found is not None:
                return [{"rule": modulus_parts.NAME, "evidence": found | ({"sensitivity": gauge} if gauge else {})}]
        raise NotFound("the pairs of points within the sensitivity were not bounded.")


@dataclass(frozen=True)
class _Sides:
    """What is known of both sides of a line, the right one first: where h repeats, and the lengths of waves on ends that start at a reach."""

    claim: Claim
    search: Search
    periods: tuple[Side | None, Side | None]
    wavy: Mapping[str, Fraction]
    reach: Fraction

    @property
    def first(self) -> tuple[Side | None, Side]:
        """The sides as far as they are known before a bound is, the left one first."""
        last, first = (known or End(side, self.reach) for known, side in zip(self.periods, SIDES, strict=True))
        return None if self.search.line.half else first, last

    def ended(self, bound: Expr) -> tuple[Side | None, Side]:
        """The sides for a bound; those with waves as they are."""
        (near, far), search = self.first, self.search
        if self.periods[0] is None and "+inf" not in self.wavy:
            far = search.far_end(bound)
        if self.periods[1] is None and "-inf" not in self.wavy and not search.line.half:
            near = search.near_end(bound)
        return near, far

    def text(self, side: Side, bound: Expr) -> Any:
        """A side as evidence writes it, None where its waves are not within the bound."""
        if isinstance(side, Period) or side.side not in self.wavy:
            return side_text(side)
        length, start = self.wavy[side.side], side.boundary()
        strip = modulus_parts.waves(self.search.line, side, length)
        tree = kernel_box.tree_for(*strip, bound, kernel_box.greatest(*strip, self.search.digits).point, self.search.digits)
        return None if tree is None else {"start": str(start), "period": str(length), "tree": tree}

    def heights(self) -> Iterator[tuple[arb, None]]:
        """About the greatest losses on the ends with waves."""
        for side in self.first:
            if isinstance(side, End) and side.side in self.wavy:
                best = kernel_box.greatest(*modulus_parts.waves(self.search.line, side, self.wavy[side.side]), self.search.digits)
                yield constant(at(best.loss, best.point)), None


def _within(sides: _Sides, last: bool) -> dict[str, Any] | None:
    """Evidence with sides at a reach; None where waves there are above all else, unless it is the last reach."""
    search, line, digits = sides.search, sides.search.line, sides.search.digits
    if line.whole:
        top, exact_top = _of_integers(line, *sides.first), True
    else:
        best = kernel_box.greatest(*modulus_parts.strip(line, *sides.first), digits)
        top, exact_top = at(best.loss, best.point), best.exact
    candidates: list[tuple[arb, Expr | None]] = [(constant(top), top if exact_top else None)]
    if sides.wavy:
        above = list(sides.heights())
        candidates += above if last else []
        if not last and any(height > candidates[0][0] for height, _ in above):
            return None
    elif None in sides.periods[: 1 if line.half else 2]:
        candidates += search.at_infinity()
    for bound in _bounds(sides.claim, bound_of(candidates, digits), digits):
        near, far = sides.ended(bound)
        written = {"bound": format_expr(bound), "near": near and sides.text(near, bound), "far": sides.text(far, bound)}
        if line.whole:
            with suppress(Rejected):
                modulus_parts.check(sides.claim, written)
                return written
            continue
        region, loss = modulus_parts.strip(line, near, far)
        tree = kernel_box.tree_for(region, loss, bound, best.point, digits)
        if tree is not None and written["far"] is not None and (near is None or written["near"] is not None):
            return {key: value for key, value in written.items() if value is not None} | {"tree": tree}
    return None


def _of_integers(line: Line, near: Side | None, far: Side) -> Expr:
    """The greatest loss between integers in the strip, as far as balls tell."""
    low, high, most = (floor(x) for x in modulus_parts.reaches(line, near, far))
    heights = {n: substitute(line.h, {line.name: num(n)}) for n in range(low - most, high + most + 1)}
    balls = {n: constant(height) for n, height in heights.items()}
    if not all(ball.is_finite() for ball in balls.values()):
        raise NotFound("the density is not certainly positive at every integer.")
    pairs = ((balls[b] - balls[a], -abs(a) - abs(b), a, b) for a in range(low, high + 1) for b in range(a - most, a + most + 1))
    *_, a, b = max(pairs, key=lambda pair: (float(pair[0].mid()), pair[1]))
    return sub(heights[b], heights[a])


def _bounds(claim: Claim, least: Expr, digits: int) -> Iterator[Expr]:
    """Values to prove, the sharpest first, and last the claimed one."""
    yield least
    for places in (digits, 9, 4):
        scale = 10**places
        yield Num(Fraction(int(exact((constant(least) * scale).upper().ceil())) + 1, scale))
    if claim.epsilon is not None and constant(least) < constant(claim.epsilon):
        yield claim.epsilon
