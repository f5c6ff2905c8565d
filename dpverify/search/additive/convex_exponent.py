"""Proposes the rule `convex-exponent`, which needs no evidence but the side."""

from __future__ import annotations

from typing import Any

from dpverify.search.additive import closed_form
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.additive.rules import convex_exponent


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps of both sides, where the rule applies. Its value is exact, whatever the digits."""
    return closed_form.steps(convex_exponent.NAME, convex_exponent.check, claim)
