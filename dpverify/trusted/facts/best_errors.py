"""Of all that is proved of errors, what says most."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import Expr, symbols

Value = Expr | Infinite
Stated = tuple[str, ErrorBound]
"""A bound with the rule that it is by."""


def best(verdict: str, stated: Iterable[Stated], at_most: Callable[[Value, Value], bool]) -> tuple[Stated, ...]:
    """For each kind of error the best bound on each side, with its rule.

    at_most: the order of what is shown. Raises RuntimeError where a mechanism that is private as claimed does better than any can.
    """
    found: dict[Any, Stated] = {}
    for rule, bound in stated:
        key = (*bound.about, bound.side)
        value, known = bound.value, found[key][1].value if key in found else None
        if known is None or (at_most(value, known) if bound.side == "upper" else at_most(known, value)):
            found[key] = rule, bound
    for (measure, whose, coordinate, beta, side), (_, lower) in found.items():
        for own in ("this", "any") if side == "lower" else ():
            upper = found.get((measure, own, coordinate, beta, "upper"))
            related = whose == own or (whose == "any" and verdict == "PROVED")
            if related and upper is not None and _below(upper[1].value, lower.value):
                raise RuntimeError("the rules contradict each other: an error is below a lower bound on it")
    return tuple(found.values())


def _below(upper: Value, lower: Value) -> bool:
    """Whether an upper bound is certainly below a lower bound."""
    if isinstance(upper, Infinite):
        return False
    return isinstance(lower, Infinite) or (not symbols(upper) | symbols(lower) and certainly_lt(upper, lower))
