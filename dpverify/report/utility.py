"""What a claim with utility = true asks for, as the JSON of the contract and as lines for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpverify.search.utility import lacking
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.facts.errors import EUCLIDEAN, ErrorBound, Measure
from dpverify.trusted.kernel import Judgement
from dpverify.trusted.language.expr import Expr, format_expr
from dpverify.trusted.language.model import Claim

Decimals = Callable[[Expr | Infinite | None, int], str | None]
"""A bound as a decimal, rounded down (0) or up (1)."""

NECESSARY: Final[dict[Measure, str]] = {"expected_l2": "necessary_l2", "rms_l2": "necessary_rms_l2"}


def record(claim: Claim, judgement: Judgement | None, decimal: Decimals) -> dict[str, Any]:
    """Each error with what encloses it, or with the reason why nothing does; never null."""
    errors = () if judgement is None else judgement.errors
    found: dict[str, Any] = {measure: _enclosed(claim, errors, measure, decimal) for measure in EUCLIDEAN}
    for measure, name in NECESSARY.items():
        found[name] = _least(claim, errors, measure, decimal)
    found["coordinates"] = [
        {"coordinate": one} | {measure: _enclosed(claim, errors, measure, decimal, one) for measure in _COORDINATE}
        for one in sorted({bound.coordinate for _, bound in errors if bound.coordinate is not None})
    ]
    if claim.loss:
        found["expected_loss"] = _enclosed(claim, errors, "expected_loss", decimal)
        found["necessary_loss"] = _least(claim, errors, "expected_loss", decimal)
    if claim.beta is not None:
        found["exceeded"] = {"beta": format_expr(claim.beta)} | _enclosed(claim, errors, "exceeded", decimal)
    return found


_COORDINATE: Final[tuple[Measure, ...]] = ("expected_absolute", "rms")


def _enclosed(
    claim: Claim, errors: tuple[tuple[str, ErrorBound], ...], measure: Measure, decimal: Decimals, coordinate: int | None = None
) -> dict[str, Any]:
    sides = {bound.side: bound for _, bound in errors if (bound.measure, bound.whose, bound.coordinate) == (measure, "this", coordinate)}
    if not sides:
        return {"reason": lacking(claim, measure)}
    return {
        "lower": decimal(sides["lower"].value, 0) if "lower" in sides else None,
        "upper": decimal(sides["upper"].value, 1) if "upper" in sides else None,
    }


def _least(claim: Claim, errors: tuple[tuple[str, ErrorBound], ...], measure: Measure, decimal: Decimals) -> dict[str, Any]:
    for rule, bound in errors:
        if (bound.measure, bound.whose, bound.side) == (measure, "any", "lower"):
            return {"lower": decimal(bound.value, 0), "rule": rule, "assumptions": list(bound.assumed)}
    return {"reason": lacking(claim, "necessary_l2")}
