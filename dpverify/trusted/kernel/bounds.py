"""Bounds: what rules prove of a tight epsilon, a tight delta, or the tight value in another measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dpverify.trusted.kernel.errors import certify
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Claim

Parameters = Mapping[str, Any]
"""What a rule is told by the line that names it."""
Side = Literal["upper", "lower"]
Quantity = Literal["pure", "epsilon", "delta", "zcdp", "gdp", "renyi", "beta"]


@dataclass(frozen=True, slots=True)
class Infinite:
    """The bound that no finite epsilon meets."""


INFINITE = Infinite()


@dataclass(frozen=True, slots=True)
class Bound:
    """What a rule has proved of the tight epsilon, or of the tight delta.

    side "upper": tight epsilon <= value. side "lower": tight epsilon >= value (for every parameter of the
    claim's domains unless `at` fixes them). value: an exact closed form, a dyadic rational, or INFINITE.
    quantity "pure": the tight epsilon at delta = 0; "epsilon": the one at the claimed delta; "delta": the tight delta
    at the claimed epsilon; "zcdp", "gdp", "renyi": the tight value in the measure that is claimed; "beta": the
    probability of answers that are further from the truth than the claim's `within`, on the worst data.
    ordered: of a lower bound, whether it is of the order of neighbours that the claim is about, where that is one alone.
    witness: for a lower bound the pair and the event S with P(S) and Q(S) enclosed, for readers.
    at: exact values of the parameters for which a lower bound of an all-parameter claim holds.
    assumed: hypotheses beyond the rule's ASSUMED that this use of it rests on.
    also: further facts worth showing (a general bound beside the exact value), text to text.
    through: the names of the curve rules that it rests on.
    """

    side: Side
    value: Expr | Infinite
    witness: Mapping[str, Any] | None = None
    at: Mapping[str, Expr] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    quantity: Quantity = "pure"
    through: tuple[str, ...] = ()
    ordered: bool = False


def sided(claim: Claim, evidence: Mapping[str, Any], rule: str) -> tuple[Side, Claim, Mapping[str, Expr]]:
    """Which bound is asked for, and of what: a lower one may put parameters at the values under "at". Raises Rejected, CertificateError.

    evidence: "side", "upper" by default, and "at".
    """
    side: Side = evidence.get("side", "upper")
    certify(side in ("upper", "lower"), f"{rule}: 'side' is {side!r}, not upper or lower.")
    certify(not (side == "upper" and "at" in evidence), f"{rule}: an upper bound holds for all parameters; it has no 'at'.")
    if "at" not in evidence:
        return side, claim, {}
    from dpverify.trusted.combinators.parameters import fixed

    return side, *fixed(claim, evidence, rule)
