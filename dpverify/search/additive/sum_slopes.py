"""Proposes the rule `sum-slopes`, which needs no evidence but the side, and the cosets of a query off the integers."""

from __future__ import annotations

from typing import Any

from dpverify.search.additive import closed_form, cosets
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.additive.rules import sum_slopes as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps of both sides, where the rule applies. Its value is exact, whatever the digits."""
    return cosets.propose(claim, digits) or closed_form.steps(rule.NAME, rule.check, claim)
