"""Chooses the orders, epsilons and corners by which guarantees become a pair. Nothing here is trusted: every choice is sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from math import exp, log, log1p
from typing import Any

from flint import arb

from dpverify.search.divergences.orders import order_for_delta, order_for_epsilon
from dpverify.search.numeric import number
from dpverify.search.proposal import bound, of_run
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import Num, add, mul, num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Guarantee, Measure, Mechanism
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.composition.rules import renyi_composition, stated_guarantee
from dpverify.trusted.theories.composition.rules import several_guarantees as guarantees

Plan = dict[str, Any]
Divergence = Callable[[Measure], Any]

SPREAD = tuple(10.0**-k for k in (0.1, 0.3, 0.6, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14))
"""The deltas for which a whole curve gets a point each."""
_GRID = [1 + Fraction(exp(step / 4)).limit_denominator(10**6) for step in range(-32, 49)]
"""Orders among which those for SPREAD are chosen."""
_CHOSEN_AT = 256
"""Bits at which the corners of a hull are chosen."""


def leaf_plan(run: Run, epsilon: float | None, delta: float | None) -> Plan:
    """Evidence for the curve of a guarantee. epsilon, delta: where it is wanted to be sharp."""
    known = leaf(run).mechanism
    assert isinstance(known, Guarantee)
    plan: Plan = {"rule": stated_guarantee.NAME}
    if known.measure in ("zcdp", "renyi"):
        plan["points"] = points([partial(conversions.of_guarantee, known)], [1], _orders([known]), epsilon, delta)
    elif len(known.rows) > 1:
        with suppress(DpverifyError):  # the rule says why
            plan["corners"] = corners([(row[0], row[1]) for row in known.rows])
    return plan


def composition_plan(runs: Sequence[Run], premises: Sequence[Plan | None], epsilon: float | None, delta: float | None) -> Plan:
    """Evidence for the sum of the divergences of runs. Raises Rejected where one has none, or where the stated orders are not the same."""
    divergences = [renyi_composition.of(run, _known(run, step))[0] for run, step in zip(runs, premises, strict=True)]
    mechanisms = [leaf(run).mechanism for run in runs]
    orders = _orders([known for known in mechanisms if isinstance(known, Guarantee)])
    plan: Plan = {"rule": renyi_composition.NAME, "points": points(divergences, [run.times for run in runs], orders, epsilon, delta)}
    if any(step is not None for step in premises):
        plan["premises"] = list(premises)
    return plan


def _known(run: Run, step: Plan | None) -> Fact | None:
    """The pure epsilon of a run, where a step proves it."""
    return None if step is None else bound(of_run(run), (), step)


def orders_of(mechanisms: Sequence[Mechanism]) -> list[Fraction] | None:
    """The orders that all stated Renyi divergences among some mechanisms share; None where any order will do. Raises Rejected."""
    return _orders([known for known in mechanisms if isinstance(known, Guarantee)])


def _orders(parts: Sequence[Guarantee]) -> list[Fraction] | None:
    """The orders that all stated Renyi divergences share; None where any order will do."""
    stated = [{row[0].value for row in part.rows if isinstance(row[0], Num)} for part in parts if part.measure == "renyi"]
    if not stated:
        return None
    shared = sorted(set.intersection(*stated))
    if not shared:
        raise Rejected(renyi_composition.NAME, "the orders", "the parts have no order in common")
    return shared


def points(
    divergences: Sequence[Divergence], times: Sequence[int], orders: list[Fraction] | None, epsilon: float | None, delta: float | None
) -> list[list[str]]:
    """An order and an epsilon for every delta of SPREAD, and for what is asked."""
    known: dict[float, float] = {}

    def total(order: float) -> float:
        if order not in known:
            exact = Fraction(order)
            known[order] = sum(count * number(at(Measure("renyi", None, exact))) for at, count in zip(divergences, times, strict=True))
        return known[order]

    grid = _GRID if orders is None else orders
    by_order = {}
    for wanted in SPREAD:
        order = min(grid, key=lambda a: _epsilon(total, float(a), wanted))
        by_order[Fraction(_epsilon(total, float(order), wanted))] = order
    if delta is not None and 0 < delta < 1:
        order = order_for_epsilon(total, delta) if orders is None else min(orders, key=lambda a: _epsilon(total, float(a), delta))
        by_order[Fraction(_epsilon(total, float(order), delta))] = order
    if epsilon is not None:
        order = order_for_delta(total, epsilon) if orders is None else min(orders, key=lambda a: _log_delta(total, float(a), epsilon))
        by_order[Fraction(epsilon)] = order
    listed = sorted(by_order.items())
    orders_of = [Measure("renyi", None, order) for _, order in listed]
    totals = [add(*(mul(num(n), at(measure)) for at, n in zip(divergences, times, strict=True))) for measure in orders_of]
    implied = [stated_guarantee.implied(conversions.Renyi(a, tau), Num(at)) for (at, a), tau in zip(listed, totals, strict=True)]
    kept = [listed[i] for i in corners(implied)] or listed
    return [[str(order), str(at)] for at, order in kept]


def corners(points: Sequence[guarantees.Point]) -> list[int]:
    """The guarantees that are corners of the lower hull of all and of their mirror images, by rising epsilon, as far as balls tell."""
    with precision(_CHOSEN_AT):
        right = [(constant(epsilon), constant(delta)) for epsilon, delta in points]
        every = right + [(-x, 1 - (1 - h) * (-x).exp()) for x, h in right]
        placed = [(x.exp(), h) for x, h in every]
        start, chain = (arb(0), arb(1)), list[int]()
        for i in sorted(range(len(every)), key=lambda i: every[i][0].mid()):
            if i >= len(right) and every[i][0].is_zero():
                continue  # its own mirror image
            while chain and not _turns(placed[chain[-2]] if len(chain) > 1 else start, placed[chain[-1]], placed[i]):
                chain.pop()
            chain.append(i)
        while chain and not placed[chain[-1]][1] < (placed[chain[-2]] if len(chain) > 1 else start)[1]:
            chain.pop()
        return [i for i in chain if i < len(right) and (every[i][0].is_zero() or i + len(right) in chain)]


def _turns(a: guarantees.Corner, b: guarantees.Corner, c: guarantees.Corner) -> bool:
    """Whether the line from a over b to c, in e^epsilon, certainly turns upward at b."""
    return bool((b[1] - a[1]) * (c[0] - b[0]) < (c[1] - b[1]) * (b[0] - a[0]))


def _epsilon(total: Callable[[float], float], order: float, delta: float) -> float:
    excess = order - 1
    return max(0.0, total(order) - (log(delta) + log(order)) / excess + log(excess / order))


def _log_delta(total: Callable[[float], float], order: float, epsilon: float) -> float:
    excess = order - 1
    return excess * (total(order) - epsilon) + excess * log(excess) - order * log1p(excess)
