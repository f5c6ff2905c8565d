"""How far the counters of a stream may go."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, gcd, lcm

from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, div, mul, num, sub
from dpverify.trusted.language.model import Named, Stream
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.integers import is_whole
from dpverify.trusted.rules.selection.compared import Asked, greatest


def most_of(question: Asked, stream: Stream, limit: Named, name: str) -> Expr:
    """What a counter can reach: before the last step it is below its limit, and a multiple of what all that is added to it is one of.

    Raises Rejected, with the name of the rule that asks, where the counter may fall.
    """
    steps = [each.value for branch in stream.steps for each in branch.count if each.name == limit.name]
    for step in steps:
        if not certainly_le(ZERO, step, question.domains):
            raise Rejected(name, limit.name, "it is not certain that the counter never falls")
    largest = greatest(question, ZERO, *steps)
    assert not isinstance(largest, Infinite)
    # a counter whose limit is reached at the start pays nothing; so does one that never grows
    found = greatest(question, ZERO, add(_before(question, limit.value, steps), largest))
    assert not isinstance(found, Infinite)
    return found


def _before(question: Asked, limit: Expr, steps: Sequence[Expr]) -> Expr:
    """The most that a counter may be at below its limit, as far as that is known; the limit itself where it is not."""
    grown = [step for step in steps if step != ZERO]
    first = grown[0] if grown and certainly_lt(ZERO, grown[0], question.domains) else ONE
    sizes = [size.value for step in grown if isinstance(size := div(step, first), Num)]
    if grown and len(sizes) == len(grown):  # of some multiple of the first all are multiples
        unit = mul(num(Fraction(gcd(*(size.numerator for size in sizes)), lcm(*(size.denominator for size in sizes)))), first)
    elif all(is_whole(step, question.domains) for step in steps):
        unit = ONE
    else:
        return limit
    times = div(limit, unit)
    if isinstance(times, Num):
        return mul(unit, num(ceil(times.value) - 1))
    return sub(limit, unit) if is_whole(times, question.domains) else limit
