"""What each part of a composition spends by itself, and the total, in words for readers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, Expr, add, format_expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Compose, Part, kind_of, once
from dpverify.trusted.theories.composition.combined_values import Values
from dpverify.trusted.theories.composition.rules import combination, one_sided

MOST_SHOWN: Final = 20
_DIGITS: Final = 6


def spent(claim: Claim, facts: Sequence[Fact]) -> dict[str, str]:
    """The sums that the lines of a proof go by."""
    shown: dict[str, str] = {}
    for fact in facts:
        with suppress(DpverifyError), precision(fact.prec):
            if fact.rule == combination.NAME and not fact.place and "part" in fact.parameters:
                shown |= _pure(claim, fact)
            elif "spent" in fact.parameters and not fact.place:
                shown |= _both(claim, fact)
    return shown


def _pure(claim: Claim, fact: Fact) -> dict[str, str]:
    """Of pure epsilons, from above."""
    mechanism = claim.mechanism
    if not isinstance(mechanism, Compose) or len(mechanism.parts) > MOST_SHOWN or fact.parameters.get("side") != "upper":
        return {}
    values = Values(claim.domains, "upper", fact.premises)
    losses = [values.of(part, ONE, evidence) for part, evidence in zip(mechanism.parts, fact.parameters["part"]["parts"], strict=True)]
    exprs = [value for value in losses if not isinstance(value, Infinite)]
    if len(exprs) < len(losses):
        return {}
    shown = {
        f"part {i} ({_title(part)})": f"epsilon {format_expr(value)}"
        for i, (part, value) in enumerate(zip(mechanism.parts, exprs, strict=True), 1)
    }
    return {**shown, "basic composition": f"epsilon {format_expr(add(*exprs))}"}


def _title(part: Part) -> str:
    inner, times = once(part)
    return kind_of(inner.mechanism) + ("" if times == ONE else f" x {format_expr(times)}")


def _both(claim: Claim, fact: Fact) -> dict[str, str]:
    """Of epsilons and deltas."""
    values, root = one_sided.read(claim, fact.parameters, fact.premises)
    total, shown = values.asked(root, forward=True), dict[str, str]()
    listed = merged(root)
    for number, run in enumerate(listed, 1):
        times = "" if run.times == 1 else f" x {run.times}"
        shown[f"part {number} ({kind_of(run.part.mechanism)}{times})"] = _guarantee(values.of(run.part, True)) + (" each" if times else "")
    return {**(shown if len(listed) <= MOST_SHOWN else {}), "basic composition": f"{_guarantee(total)} (bound)"}


def _guarantee(loss: one_sided.Loss) -> str:
    epsilon, delta = loss
    return f"epsilon {'infinite' if isinstance(epsilon, Infinite) else _decimal(epsilon)}, delta {_decimal(delta)}"


def _decimal(value: Expr) -> str:
    """A decimal that is exact where it is short, else rounded up."""
    for digits in (_DIGITS, 3 * _DIGITS):
        low, high = decimal_bounds(value, digits)
        if low == high:
            break
    return high.rstrip("0").removesuffix(".") if "." in high and "e" not in high else high
