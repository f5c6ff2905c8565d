"""Shares of a budget for the parts of a composition, in short decimals that a reader can add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dpverify.search.budgets import MOST_SHOWN
from dpverify.search.plans import single
from dpverify.search.proposal import bound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.facts.premises import curve_of
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.proof import Proof
from dpverify.trusted.rules.composition import basic_composition as rule

_DIGITS = 6
_LARGEST = Fraction(256)
_STEPS = 40


Share = dict[str, Any]


def propose(proof: Proof, runs: Sequence[Run], plans: Sequence[Share], pure: Sequence[Share | None], delta: Fraction) -> list[Share]:
    """A step for the rule basic-composition at a delta above 0; none where a part has no share.

    plans: of every run's curve. pure: the step for its pure epsilon, where it has one. Equal shares of delta for the others.
    """
    if len(runs) > MOST_SHOWN or sum(run.times for run in runs) < 2:
        return []
    count = sum(run.times for run, premise in zip(runs, pure, strict=True) if premise is None)
    share = _rounded(delta / count, ROUND_FLOOR) if count else Fraction(0)
    spent: list[Share | None] = []
    premises: list[Fact] = []
    for number, (run, plan, premise) in enumerate(zip(runs, plans, pure, strict=True)):
        if premise is not None:
            premises.append(bound(proof, (number,), premise))
            spent.append(None)
            continue
        premises.append(single(proof, (number,), plan))
        upper = curve_of(premises[-1], replace(run, times=1), rule.NAME).upper
        epsilon = None if upper is None else _least(upper, share)
        if epsilon is None:
            return []
        spent.append({"epsilon": str(epsilon), "delta": str(share)})
    return [{"rule": rule.NAME, "evidence": {"spent": spent}, "premises": premises}]


def _least(pair: Pair, delta: Fraction) -> Fraction | None:
    """About the least epsilon, rounded up to a short decimal, at which a profile is certainly at most delta."""

    def holds(epsilon: Fraction) -> bool:
        return bool(pair.worst(rational(epsilon)) <= rational(delta))

    if holds(Fraction(0)):
        return Fraction(0)
    high = Fraction(1)
    while not holds(high):
        high *= 4
        if high > _LARGEST:
            return None
    low = Fraction(0)
    for _ in range(_STEPS):
        if high - low <= high / 10 ** (_DIGITS + 1):
            break
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    for near in (_rounded(low, ROUND_FLOOR), _rounded(low, ROUND_CEILING), _rounded(high, ROUND_CEILING)):
        if near > 0 and holds(near):
            return near
    return None


def _rounded(value: Fraction, rounding: str) -> Fraction:
    context = Context(prec=_DIGITS, rounding=rounding)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
