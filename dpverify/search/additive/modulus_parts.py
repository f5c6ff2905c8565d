"""Finds evidence for the supremum rule by parts: ends, and a tree of cuts of the strip of all pairs of points within the sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any, Final, NamedTuple

from flint import arb

from dpverify.search.additive import sensitivity
from dpverify.search.additive.kinks import kinks
from dpverify.search.additive.modulus import NotFound, Search, bits_for, bound_of
from dpverify.search.finite import kernel_box
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, num
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.periods import quasi_period
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.rules import modulus_parts
from dpverify.trusted.theories.finite.part_slopes import at

REACHES: Final = (Fraction(16), Fraction(32), Fraction(64))
"""Where ends are taken to begin while the greatest loss is looked for: the first of these, but where they have waves."""
_AS_LOW: Final = arb(2) ** -40
_MOST_STARTS: Final = 24


def propose(claim: Claim, digits: int = 20) -> list[dict[str, Any]]:
    """One step for the rule. Raises NotFound with what stopped the search, Rejected where the rule does not apply."""
    with precision(bits_for(digits)):
        gauge = sensitivity.propose(claim)
        line = Line.of(claim, {"sensitivity": gauge}, points=True)
        search = Search(line, digits, sorted(kinks(line.h, line.name)))
        lengths = {outward: length for outward in ((1,) if line.half else (1, -1)) if (length := _period(search, outward)) is not None}
        starts = {outward: _repeating(search, outward, length) for outward, length in lengths.items()}
        for reach in REACHES if None in starts.values() else REACHES[:1]:
            found = _within(_Sides(claim, search, lengths, starts, reach))
            if found is not None:
                return [{"rule": modulus_parts.NAME, "evidence": found | ({"sensitivity": gauge} if gauge else {})}]
        raise NotFound("the pairs of points within the sensitivity were not bounded.")


def _period(search: Search, outward: int) -> Fraction | None:
    """The length after which the floors of h repeat on a side, on the integers a whole one; None where there are none."""
    length = search.wave(outward)
    return length if length is None or not search.line.whole else Fraction(length.numerator)


def _repeating(search: Search, outward: int, length: Fraction) -> Fraction | None:
    """The point nearest to 0 from which on h repeats with a rise on a side, None where there is none."""
    line = search.line
    fixed = {abs(k) for k in kinks(line.h, line.name, levels=())}
    for start in sorted({*fixed, Fraction(0)})[:_MOST_STARTS]:
        h = line.smooth(*((outward * start, None) if outward > 0 else (None, outward * start)))
        if quasi_period(h, line.name, length) is not None:
            return outward * start
    return None


@dataclass(frozen=True)
class _Sides:
    """What is known of the sides of a line, 1 the right one and -1 the left one: how long waves are, and from where on h repeats.

    reach: where other sides begin.
    """

    claim: Claim
    search: Search
    lengths: Mapping[int, Fraction]
    repeating: Mapping[int, Fraction | None]
    reach: Fraction

    @property
    def line(self) -> Line:
        return self.search.line

    @property
    def outward(self) -> tuple[int, ...]:
        """The sides that the line has."""
        return (1,) if self.line.half else (1, -1)

    def start(self, outward: int) -> Fraction:
        """Where a side begins."""
        known = self.repeating.get(outward)
        return outward * self.reach if known is None else known

    def strip(self, starts: Mapping[int, Fraction]) -> modulus_parts.Strip:
        """The pairs that are on no side."""
        return modulus_parts.strip(self.line, starts.get(-1), starts[1])

    def waves(self) -> dict[int, modulus_parts.Strip]:
        """The strips of the sides with floors."""
        return {outward: modulus_parts.waves(self.line, self.start(outward), outward, length) for outward, length in self.lengths.items()}


def _within(sides: _Sides) -> dict[str, Any] | None:
    """Evidence with sides at a reach; None where waves there are above all else, unless they are no lower at the last reach."""
    search, waves = sides.search, sides.waves()
    near_by = _greatest(sides.strip({outward: sides.start(outward) for outward in sides.outward}), search.digits)
    above = [found for strip in waves.values() if not (found := _greatest(strip, search.digits)).height <= near_by.height]
    if above and None in sides.repeating.values():
        further = (_greatest(strip, search.digits).height for strip in replace(sides, reach=REACHES[-1]).waves().values())
        if max(found.height for found in above) > max(further) + _AS_LOW:
            return None
    candidates = [(found.height, found.value) for found in (near_by, *above)]
    if set(waves) != set(sides.outward):
        candidates += search.at_infinity()
    for bound in _bounds(sides.claim, bound_of(candidates, search.digits), search.digits):
        ends = {outward: _end(search, outward, bound) for outward in sides.outward if outward not in waves}
        starts = {outward: ends[outward].boundary() if outward in ends else sides.start(outward) for outward in sides.outward}
        trees = {outward: _tree(strip, bound, search.digits) for outward, strip in (waves | {0: sides.strip(starts)}).items()}
        shown = {side: tree for side, tree in trees.items() if tree is not None}
        if len(shown) < len(trees):
            continue
        told: dict[int, Any] = {outward: str(end.start) for outward, end in ends.items()}
        for outward, length in sides.lengths.items():
            told[outward] = {"start": str(starts[outward]), "period": str(length), **shown[outward]}
        return {"bound": format_expr(bound), **shown[0], "far": told[1], **({"near": told[-1]} if -1 in told else {})}
    return None


def _end(search: Search, outward: int, bound: Expr) -> End:
    """A side without floors."""
    if outward > 0:
        return search.far_end(bound)
    near = search.near_end(bound)
    assert near is not None
    return near


class _Top(NamedTuple):
    """About the greatest loss on a strip, and what it is exactly where that is known."""

    height: arb
    value: Expr | None


def _greatest(strip: modulus_parts.Strip, digits: int) -> _Top:
    if strip.line.whole:
        top = _of_integers(strip)
        return _Top(constant(top), top)
    best = kernel_box.greatest(strip.region, strip.loss, digits)
    top = at(best.loss, best.point)
    return _Top(constant(top), top if best.exact else None)


def _tree(strip: modulus_parts.Strip, bound: Expr, digits: int) -> dict[str, Any] | None:
    """What shows that the loss on a strip is at most the bound, None where it is not found."""
    if strip.line.whole:
        with suppress(Rejected):
            strip.check(bound, None)
            return {}
        return None
    point = kernel_box.greatest(strip.region, strip.loss, digits).point
    tree = kernel_box.tree_for(strip.region, strip.loss, bound, point, digits)
    return None if tree is None else {"tree": tree}


def _of_integers(strip: modulus_parts.Strip) -> Expr:
    """The greatest loss between integers in the strip, as far as balls tell, and the one nearest to 0 of those alike."""
    low, high, most = (floor(x) for x in (strip.low, strip.high, strip.line.far(Fraction(0))))
    near = sorted(product(range(low, high + 1), range(-most, most + 1)), key=lambda pair: abs(pair[0]) + abs(sum(pair)))
    losses = [strip.at(num(a), num(s)) for a, s in near]
    balls = [constant(loss) for loss in losses]
    if not all(ball.is_finite() for ball in balls):
        raise NotFound("the density is not certainly positive at every integer.")
    return losses[max(range(len(losses)), key=lambda i: float(balls[i].mid()))]


def _bounds(claim: Claim, least: Expr, digits: int) -> Iterator[Expr]:
    """Values to prove, the sharpest first, and last the claimed one."""
    yield least
    for places in (digits, 9, 4):
        scale = 10**places
        yield Num(Fraction(int(exact((constant(least) * scale).upper().ceil())) + 1, scale))
    if claim.epsilon is not None and constant(least) < constant(claim.epsilon):
        yield claim.epsilon
