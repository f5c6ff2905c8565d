"""The trade-off between nearness and privacy in Python: trade_off."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpverify.api.digits import checked
from dpverify.catalogue import Stated
from dpverify.catalogue.inline import Noise, nothing_beside, stated
from dpverify.errors import SpecError
from dpverify.project import trade_off as curves
from dpverify.trusted.kernel.model import Claim


def trade_off(of: Noise | Claim | Stated, within: Iterable[Any], digits: int = 20, **claim: Any) -> curves.TradeOff:
    """The least epsilon of any mechanism whose answers are near the truth, for many nearnesses, between proved bounds.

    of: a metric space, as dpverify.space declares one, with beta beside it, the probability with which answers may be further; or a claim
    about one. within: how near, integers, fractions, decimals or expressions as text. What is found prints as a table; its `points` have
    the bounds with what is proved of each, `between(x)` those at any other nearness, and `json()` all as a JSON value.
    Raises SpecError for what is no claim about a space, and for what is no positive number.
    """
    checked(digits)
    near = [Fraction(value) if isinstance(value, Decimal) and value.is_finite() else value for value in within]
    if not near:
        raise SpecError("trade_off: within is empty. Give the nearnesses that are asked for, such as [1, 2, 4].")
    if isinstance(of, Claim | Stated):
        nothing_beside(claim)
        return curves.trade_off(of.claim if isinstance(of, Stated) else of, near, digits)
    return curves.trade_off(stated(of, {"epsilon": "tight", **claim, "within": near[0]}).claim, near, digits)
