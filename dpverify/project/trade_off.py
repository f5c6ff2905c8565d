"""The trade-off between nearness and privacy: the least epsilon of any mechanism whose answers are within gamma, for many gamma.

Source: Kleinberg & Ligett 2010, Definition 2.3. It does not rise in gamma, so that between two numbers it is below what bounds it from
above at the lesser, and above what bounds it from below at the greater.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpverify.errors import SpecError
from dpverify.search.numeric import number
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, format_expr, num, parse, symbols
from dpverify.trusted.kernel.model import Claim, Space
from dpverify.trusted.kernel.well_formed import expressions


@dataclass(frozen=True, slots=True)
class Point:
    """One gamma: bounds on the least epsilon, each by what is proved here or at another gamma; None where there is no upper one.

    verified: what is proved at this gamma itself, with its certificate.
    """

    within: Expr
    lower: Expr | Infinite
    upper: Expr | None
    verified: Verified


@dataclass(frozen=True, slots=True)
class TradeOff:
    """The least epsilon against gamma, enclosed at some gamma in rising order."""

    claim: Claim
    points: tuple[Point, ...]

    def between(self, within: Any) -> tuple[Expr | Infinite, Expr | None]:
        """Bounds on the least epsilon at any gamma: those of the points on both sides of it. Raises SpecError for what is no number."""
        near = _number(within)
        lower: Expr | Infinite = ZERO
        upper = None
        for point in self.points:
            if certainly_le(point.within, near):
                upper = point.upper if point.upper is not None else upper
        for point in reversed(self.points):
            if certainly_le(near, point.within):
                lower = point.lower
        return lower, upper

    def json(self) -> dict[str, Any]:
        """The table as a JSON value: exact numbers as text, null for an infinite or unknown bound from above."""
        rows = [{"within": format_expr(p.within), "lower": _text(p.lower), "upper": _text(p.upper)} for p in self.points]
        return {"beta": None if self.claim.beta is None else format_expr(self.claim.beta), "points": rows}

    def __str__(self) -> str:
        """The table for people, with six digits."""
        lines = [f"{'within':>12} {'epsilon from':>14} {'to':>14}"]
        lines += [f"{_short(p.within):>12} {_short(p.lower):>14} {_short(p.upper):>14}" for p in self.points]
        return "\n".join(lines)


def trade_off(claim: Claim, within: Iterable[Any], digits: int = 20) -> TradeOff:
    """The least epsilon of any mechanism as near as each of some numbers, for the space and the beta of a claim.

    within: integers, fractions, or expressions as text. Raises SpecError for a claim about no space, and for what is no positive number.
    """
    if not isinstance(claim.mechanism, Space) or claim.beta is None:
        raise SpecError("a trade-off is that of a claim about a space, with its beta.")
    if not (certainly_lt(ZERO, claim.beta) and certainly_lt(claim.beta, ONE)):
        raise SpecError(f"beta = {format_expr(claim.beta)} is not certainly a number between 0 and 1. Give it a value.")
    if free := frozenset().union(*map(symbols, expressions(claim.mechanism))) & {name for name, _ in claim.domains}:
        raise SpecError(f"{min(free)} of the space ranges over a domain, and a table is of one space. Give it a value.")
    near = [_number(value) for value in within]
    found: list[tuple[Expr, Verified]] = []
    for value in near:
        place = next((i for i, (other, _) in enumerate(found) if certainly_lt(value, other)), len(found))
        asked = replace(claim, epsilon=None, within=value, domains=())
        found.insert(place, (value, verify(asked, digits)))
    return TradeOff(claim, _monotone(found))


def _monotone(found: list[tuple[Expr, Verified]]) -> tuple[Point, ...]:
    """The points, each with the best bound that is proved at it or, from above, at a lesser gamma, from below at a greater one."""
    uppers: list[Expr | None] = []
    for _, verified in found:
        upper = verified.judgement.upper
        own, before = None if isinstance(upper, Infinite) else upper, uppers[-1] if uppers else None
        uppers.append(before if own is None or (before is not None and certainly_le(before, own)) else own)
    lowers: list[Expr | Infinite] = []
    for _, verified in reversed(found):
        own_lower, after = verified.judgement.lower, lowers[-1] if lowers else ZERO
        if isinstance(after, Infinite) or isinstance(own_lower, Infinite):
            lowers.append(INFINITE)
        else:
            lowers.append(after if own_lower is None or certainly_le(own_lower, after) else own_lower)
    return tuple(Point(w, low, up, v) for (w, v), low, up in zip(found, reversed(lowers), uppers, strict=True))


def _number(value: Any) -> Expr:
    try:
        found = parse(value) if isinstance(value, str) else num(value) if isinstance(value, int | Fraction) else ZERO
    except ExprError:
        found = ZERO
    if certainly_lt(ZERO, found):
        return found
    raise SpecError(f"within = {value!r} is not a positive number. Write an integer, a fraction, or an expression as text.")


def _text(value: Expr | Infinite | None) -> str | None:
    return None if value is None else "inf" if isinstance(value, Infinite) else format_expr(value)


def _short(value: Expr | Infinite | None) -> str:
    if value is None or isinstance(value, Infinite):
        return "unknown" if value is None else "infinite"
    return str(value.value) if isinstance(value, Num) and value.value.denominator < 10**4 else f"{number(value):.6g}"
