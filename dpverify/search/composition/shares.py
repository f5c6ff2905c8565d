"""Shares of a budget for the parts of a composition, in short decimals that a reader can add."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dpverify.search.composition.budgets import MOST_SHOWN
from dpverify.search.composition.plans import single
from dpverify.search.proposal import Steps, bound
from dpverify.trusted.combinators.one_pair import is_told
from dpverify.trusted.combinators.runs import Run, whole
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.facts.premises import curve_of
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Compose, Guarantee, Part, PostProcess, Repeat, parts_of
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.theories.composition.rules import one_sided as rule

_DIGITS = 6
_LARGEST = Fraction(256)
_STEPS = 40


Share = dict[str, Any]


def propose(proof: Proof, runs: Sequence[Run], plan: Callable[[Run], Share], pure: Callable[[Run], Share | None], delta: Fraction) -> Steps:
    """A step for the rule one-sided at a delta above 0; none where a part has no share, or stands in a group or behind a map of the data.

    plan, pure: of the curve of a run, and of its pure epsilon, where it has one. Equal shares of delta for the others.
    """
    alone = all(run.factor == ONE and not run.own and not run.mapped for run in runs)
    if not alone or len(runs) > MOST_SHOWN or sum(run.times for run in runs) < 2 or proof.claim.order:
        return []
    parts = dict[Part, Place]()
    for part, place in _parts((), whole(proof.claim).part):
        parts.setdefault(part, place)
    if not all(run.part in parts for run in runs):  # one stands in a group of one
        return []
    known = {part: None if is_told(part) or _stated(part) else pure(Run(part)) for part in parts}
    left = [run.times for run in runs if known[run.part] is None and not _stated(run.part)]
    share = _rounded(delta / sum(left), ROUND_FLOOR) if left else Fraction(0)
    spent: Share = {}
    premises: list[Fact] = []
    told = (part for part in parts if not _stated(part))
    for number, part in enumerate(told):
        place, step = parts[part], known[part]
        if step is not None:
            premises.append(bound(proof, place, step))
            continue
        premises.append(single(proof, place, plan(Run(part))))
        upper = curve_of(premises[-1], Run(part), rule.NAME).upper
        epsilon = None if upper is None else _least(upper, share)
        if epsilon is None:
            return []
        spent[str(number)] = {"epsilon": str(epsilon), "delta": str(share)}
    return [{"rule": rule.NAME, "evidence": {"side": "upper", "spent": spent}, "premises": premises}]


def _parts(place: Place, part: Part) -> Iterator[tuple[Part, Place]]:
    """The parts that are added up, each with where it stands."""
    if not isinstance(part.mechanism, Compose | Repeat | PostProcess):
        yield part, place
        return
    for number, inner in enumerate(parts_of(part.mechanism)):
        yield from _parts((*place, {"part": number}), inner)


def _stated(part: Part) -> bool:
    """Whether a part has one (epsilon, delta) that is stated of it."""
    known = part.mechanism
    return isinstance(known, Guarantee) and known.measure == "approximate" and len(known.rows) == 1


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
