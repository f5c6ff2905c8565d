"""What a claim in another measure asks for, and bounds on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, cast

from flint import arb

from dpverify.trusted.kernel.balls import exact, finite
from dpverify.trusted.kernel.bounds import Bound, Infinite, Quantity, Side
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, num
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.model import CLAIMED_MEASURES, Claim, Measure


def measure_of(claim: Claim, rule: str, open_ones: bool = False) -> Measure:
    """The measure that a claim is in. Raises Rejected for a claim in epsilon, and where parameters are left open but for `open_ones`."""
    if claim.measure is None or claim.measure.name not in CLAIMED_MEASURES:
        raise Rejected(rule, "the claim", "it is in no measure of privacy, or in epsilon and delta, and the rule is about another measure")
    wanted = Rejected(rule, "the parameters", "it wants a value for each; claim one value at a time")
    require(open_ones or not claim.domains, wanted)
    return claim.measure


def bound(
    claim: Claim,
    side: Side,
    value: Expr | Infinite,
    assumed: Iterable[str] = (),
    through: Iterable[str] = (),
    witness: Mapping[str, Any] | None = None,
    ordered: bool = False,
) -> Bound:
    """A bound on what a claim in a measure asks for."""
    assert claim.measure is not None
    quantity, listed = cast(Quantity, claim.measure.name), tuple(dict.fromkeys(assumed))
    return Bound(side, value, witness=witness, assumed=listed, quantity=quantity, through=tuple(dict.fromkeys(through)), ordered=ordered)


def premise_of(premise: Fact, claim: Claim, side: Side, rule: str) -> Bound:
    """The bound that a premise states of a claim in a measure, whatever value is claimed. Raises CertificateError, Rejected."""
    assert claim.measure is not None
    found = [b for b in as_bounds(premise.says) if b.quantity == claim.measure.name and b.side == side]
    if premise.about != claim or not found:
        raise CertificateError(f"{rule}: a premise is not about the part that it stands for, in the measure that is claimed.")
    return found[0]


def above(ball: arb) -> Num:
    """An exact number that is at least what a ball holds. Raises Undecided where that is not finite."""
    return num(exact(finite(ball).upper()))


def below(ball: arb) -> Num:
    """An exact number that is at most what a ball holds, and at least 0: no measure is less. Raises Undecided where it is not finite."""
    return num(max(exact(finite(ball).lower()), Fraction(0)))
