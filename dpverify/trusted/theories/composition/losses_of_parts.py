"""Sums and maxima of what parts lose, which may be infinite; what rows and samples lose in one order of the neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.expr import ONE, Expr, add, call, mul, neg, sub
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.order.greatest import greatest

if TYPE_CHECKING:
    from dpverify.trusted.theories.finite.tables import Finite

Value = Expr | Infinite


def times_over(times: Expr, value: Value) -> Value:
    """A value so many times."""
    return value if isinstance(value, Infinite) else mul(times, value)


def total(values: Sequence[Value]) -> Value:
    """The sum."""
    exprs = [value for value in values if not isinstance(value, Infinite)]
    return add(*exprs) if len(exprs) == len(values) else INFINITE


def worst(values: Sequence[Value], domains: Mapping[str, Domain]) -> Value:
    """The greatest."""
    exprs = [value for value in dict.fromkeys(values) if not isinstance(value, Infinite)]
    return INFINITE if INFINITE in values else greatest(exprs, domains)


def of_rows(table: Finite, a: int, b: int) -> tuple[Value, int]:
    """The greatest log-ratio of one row over another, and an output that has it."""
    losses = dict[Expr, int]()
    for y in range(len(table.weights[a])):
        if not table.is_zero(a, y):
            if table.is_zero(b, y):
                return INFINITE, y
            losses.setdefault(table.loss((a, b, y)), y)
    most = greatest(list(losses), table.domains)
    return most, losses.get(most, 0)


def sampled(epsilon: Value, rate: Expr, first: bool) -> Value:
    """The epsilon of a Poisson sample in the order with the record first, or with it second (theory#combination)."""
    if rate == ONE:
        return epsilon
    if isinstance(epsilon, Infinite):
        return epsilon if first else neg(call("log", sub(ONE, rate)))
    if first:
        return call("log", add(ONE, mul(rate, sub(call("exp", epsilon), ONE))))
    return neg(call("log", add(ONE, neg(rate), mul(rate, call("exp", neg(epsilon))))))
