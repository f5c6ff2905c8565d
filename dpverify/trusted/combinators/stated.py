"""Guarantees as they are stated: their form, and what they imply for inputs several steps apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dpverify.trusted.kernel.compare import NO_DOMAINS, certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, call, div, format_expr, mul, num, power, sub, symbols
from dpverify.trusted.kernel.model import MEASURES, Domain, Filter, Guarantee

WHAT: Final = "stated-guarantee"
STATED: Final = "the mechanism has the guarantee that is stated of it, for all neighbours and in both orders"
FILTERED: Final = "no part is begun that might exceed the budget, whatever was told before, and each has what it is charged for"
ANY_PARTS: Final = "any parts within the budget may be chosen, the worst among them"
STATED_ONE_SIDED: Final = "the mechanism has the guarantee that is stated of it, for all neighbours in the order that is stated"


def check(known: Guarantee, order: str = "") -> None:
    """Raises Rejected for a guarantee of no known form. The ranges of its numbers are checked where they are used.

    order: the one order of neighbours that is asked about; without it a guarantee of one order alone is of no use.
    """
    if known.order not in ("", order):
        raise Rejected(WHAT, "the guarantee", "it is of one order of neighbours alone, and the other is needed too")
    width = MEASURES.get(known.measure)
    single = width == 1
    if width is None or not known.rows or any(len(row) != width for row in known.rows) or (single and len(known.rows) != 1):
        raise Rejected(WHAT, "the guarantee", f"it is not of the form of one of {', '.join(MEASURES)}")


def grounds(known: Guarantee) -> tuple[str, ...]:
    """What an upper bound by a guarantee takes for granted."""
    if isinstance(known, Filter):
        return (FILTERED,)
    return (STATED_ONE_SIDED if known.order else STATED,)


def theorem_of(known: Guarantee) -> tuple[str, ...]:
    """The theorem by which a mechanism has a guarantee, where there is one."""
    return ("privacy-filter",) * isinstance(known, Filter)


def at_distance(known: Guarantee, k: Expr, domains: Mapping[str, Domain] = NO_DOMAINS) -> Guarantee:
    """What a guarantee implies for inputs k steps between neighbours apart, k an integer of at least 1.

    Bounded range: the loss over k steps is a sum of k losses, each within an interval of length eta. Raises Rejected for Renyi
    divergences, and where nothing is left.
    """
    check(known)
    if k == ONE:
        return known
    if known.measure == "renyi":
        raise Rejected(WHAT, "the guarantee", "Renyi divergences over several steps are not bounded here; take the rule group-privacy")
    if known.measure == "approximate":
        rows = [(mul(k, epsilon), grown(epsilon, delta, k)) for epsilon, delta in known.rows]
        kept = tuple(row for row in rows if certainly_le(row[1], ONE, domains))
        if not kept:
            raise Rejected(WHAT, "the guarantee", f"over {format_expr(k)} steps its delta is above 1")
        return replace(known, rows=kept)
    factor = power(k, num(2)) if known.measure == "zcdp" else k
    return replace(known, rows=((mul(factor, known.rows[0][0]),),))


def grown(epsilon: Expr, delta: Expr, k: Expr) -> Expr:
    """delta (e^(k eps) - 1)/(e^eps - 1) (theory#group-privacy)."""
    if delta == ZERO:
        return ZERO
    if not symbols(epsilon) and certainly_equal(epsilon, ZERO):  # the quotient would be 0/0
        return mul(k, delta)
    return mul(delta, div(sub(call("exp", mul(k, epsilon)), ONE), sub(call("exp", epsilon), ONE)))


def pure_epsilon(known: Guarantee, domains: Mapping[str, Domain] = NO_DOMAINS) -> Expr | None:
    """The least pure epsilon that a guarantee implies; None where it implies none."""
    check(known)
    if known.measure == "bounded_range":
        return known.rows[0][0]
    if known.measure != "approximate":
        return None
    best = None
    for epsilon, delta in known.rows:
        if certainly_equal(delta, ZERO, domains) and (best is None or certainly_le(epsilon, best, domains)):
            best = epsilon
    return best
