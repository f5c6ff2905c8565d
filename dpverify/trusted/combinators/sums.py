"""Sums of independent noises: which noises are added, and what is known of a sum whatever they are.

Noise that is added to a sum is a map of the output, so that a sum of fewer noises loses as much or more. What is claimed of a sum with
dropouts is decided by the sums of as few noises as may be left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Final

from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, format_expr, mul, num
from dpverify.trusted.kernel.model import OnLine, Sum, Summand, Translation

WHAT: Final = "the sum"
_MOST_TIMES: Final = 10**6
_MOST_WAYS: Final = 64
"""The most ways to leave noises out that are looked at."""


def number(expr: Expr, least: int) -> int:
    """A count that is a number. Raises Rejected."""
    if not isinstance(expr, Num) or expr.value.denominator != 1 or not least <= expr.value <= _MOST_TIMES:
        raise Rejected(WHAT, "times", f"{format_expr(expr)} is no integer from {least} to {_MOST_TIMES}, as a sum wants its counts")
    return int(expr.value)


def added(noise: OnLine, times: int = 1) -> Iterator[tuple[OnLine, int]]:
    """The noises that a sum without dropouts is of, with how many there are of each."""
    if not isinstance(noise, Sum):
        yield noise, times
        return
    if noise.dropouts != ZERO:
        raise Rejected(WHAT, "dropouts", "it stands where one law is wanted, and has several")
    for part in noise.parts:
        yield from added(part.noise, times * number(part.times, 1))


def least(noise: Sum) -> tuple[Sum, ...]:
    """The sums of as few noises as may be left, each without dropouts. Raises Rejected where these are not known, or too many."""
    counts = Counter[OnLine]()
    for part in noise.parts:
        counts[part.noise] += number(part.times, 1)
    missing = number(noise.dropouts, 0)
    ways = [range(min(missing, times) + 1) for times in counts.values()]
    require(prod(map(len, ways)) <= _MOST_WAYS or missing == 0, Rejected(WHAT, "dropouts", "noises of too many laws may be left out"))
    found = []
    for out in product(*ways):
        if sum(out) == missing:
            kept = [(law, times - less) for (law, times), less in zip(counts.items(), out, strict=True) if times > less]
            found.append(Sum(tuple(Summand(law, num(times)) for law, times in kept)))
    require(bool(found) and all(one.parts for one in found), Rejected(WHAT, "dropouts", "no noise may be left"))
    return tuple(found)


def support(noise: OnLine) -> tuple[Expr | None, Expr | None]:
    """Where noise lives: between these ends, of a sum the sums of the ends of its noises; None where there is no end."""
    if not isinstance(noise, Sum):
        return noise.support if isinstance(noise, Translation) else (None, None)
    sides = list[Expr | None]()
    for side in (0, 1):
        ends = [(support(one)[side], times) for one, times in added(noise)]
        known = [mul(num(times), end) for end, times in ends if end is not None]
        sides.append(add(*known) if len(known) == len(ends) else None)
    return sides[0], sides[1]
