"""Finite mechanisms: the mean of a stated loss, exactly.

Theorem: A finite mechanism has on the input x the mean loss sum over y of P[x, y] l(x, y); what is stated of it is the greatest of these,
or their mean under the stated prior.

Checked:
- every row holds non-negative numbers that sum to 1
- the loss has an entry for every input and output, the prior for every input, at least 0 and with the sum 1

Source: docs/theory/optimum.md#expected-loss
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, add, call, mul
from dpverify.trusted.kernel.model import Claim, Vector
from dpverify.trusted.theories.finite.tables import Finite, finite

NAME: Final = "expected-loss"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[ErrorBound, ...]:
    """The exact value, from above and from below; there is nothing to be told. Raises Rejected."""
    require(not claim.domains, Rejected(NAME, "the claim", "it ranges over parameters; give them values"))
    require(bool(claim.loss), Rejected(NAME, "the claim", "it states no losses"))
    table = finite(claim)
    means = [_mean(table, x, row) for x, row in enumerate(claim.loss)]
    if claim.prior:
        value = add(*(mul(Num(weight), mean) for weight, mean in zip(claim.prior, means, strict=True)))
    else:
        value = call("max", *dict.fromkeys(means))
    return ErrorBound("expected_loss", "this", "upper", value), ErrorBound("expected_loss", "this", "lower", value)


def _mean(table: Finite, x: int, losses: Vector) -> Expr:
    return add(*(mul(table.probability(x, y), Num(loss)) for y, loss in enumerate(losses)))
