"""The greatest of expressions over the domains of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import Expr, call
from dpverify.trusted.kernel.model import Domain


def greatest(values: Sequence[Expr], domains: Mapping[str, Domain]) -> Expr:
    """The maximum, as one of the values where the order is certain."""
    best = values[0]
    for other in values[1:]:
        if certainly_le(best, other, domains):
            best = other
        elif not certainly_le(other, best, domains):
            best = call("max", best, other)
    return best
