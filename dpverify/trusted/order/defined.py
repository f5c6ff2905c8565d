"""Whether a closed form has a value."""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import Expr, substitute
from dpverify.trusted.language.model import Domain
from dpverify.trusted.order.compare import certainly_le


def has_value(expr: Expr, at: Mapping[str, Expr], domains: Mapping[str, Domain]) -> bool:
    """Whether an expression certainly has one at these values of some parameters, for all values of the others in their domains."""
    try:
        there = substitute(expr, at)
    except ExprError:  # a division by zero, say
        return False
    return certainly_le(there, there, domains)
