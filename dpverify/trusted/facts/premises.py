"""What premises state: the curve, the body or the bound that a rule wants of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpverify.trusted.facts.bodies import Body, BodyOf
from dpverify.trusted.kernel.bounds import Bound, Infinite, Side
from dpverify.trusted.kernel.errors import CertificateError, Rejected, certify
from dpverify.trusted.kernel.expr import ZERO, Expr, symbols
from dpverify.trusted.kernel.fact import Fact, as_bounds, unasked
from dpverify.trusted.kernel.model import ONE_WAY, Claim

if TYPE_CHECKING:
    from dpverify.trusted.combinators.runs import Run
    from dpverify.trusted.facts.pairs import Curve


def body_of(premise: Fact, claim: Claim, of: BodyOf, rule: str) -> Body:
    """The convex body that a premise speaks of, which is one of the claim's. Raises CertificateError where it states something else."""
    if not isinstance(premise.says, Body) or premise.about != unasked(claim) or premise.says.of != of:
        raise CertificateError(f"{rule}: a premise is not about the body that it stands for.")
    return premise.says


def curve_of(premise: Fact, run: Run, rule: str) -> Curve:
    """The curve that a premise states of a run. Raises CertificateError where it states something else."""
    if isinstance(premise.says, tuple | Body) or premise.about != run:
        raise CertificateError(f"{rule}: a premise is not about the curve of the part that it stands for.")
    return premise.says


def curves_of(premises: Sequence[Fact], runs: Sequence[Run], rule: str) -> list[Curve]:
    """The curves that premises state of runs, one each. Raises CertificateError."""
    if len(premises) != len(runs):
        raise CertificateError(f"{rule}: it wants one premise for each part, {len(runs)} in all, and has {len(premises)}.")
    return [curve_of(premise, run, rule) for premise, run in zip(premises, runs, strict=True)]


def bound_of(premise: Fact, claim: Claim, side: Side, rule: str) -> Bound:
    """The bound on one side of the pure epsilon that a premise states of a claim, for all parameters. Raises CertificateError, Rejected."""
    certify(premise.about == claim, f"{rule}: a premise is not about the pure epsilon of the part that it stands for.")
    found = [bound for bound in as_bounds(premise.says) if bound.quantity == "pure" and bound.side == side and not bound.at]
    if not found:
        raise Rejected(rule, premise.rule, f"it does not prove {'an upper' if side == 'upper' else 'a lower'} bound for all parameters")
    return found[0]


def pure_of(premise: Fact, claim: Claim, rule: str) -> tuple[Expr, tuple[str, ...]]:
    """A finite upper bound on the pure epsilon of a claim, and what it takes for granted. Raises CertificateError, Rejected."""
    found = bound_of(premise, claim, "upper", rule)
    if getattr(claim.mechanism, "neighbours", "") in ONE_WAY:
        raise Rejected(rule, "the neighbours", "a bound for one order of the data alone says nothing of the other")
    if isinstance(found.value, Infinite):
        raise Rejected(rule, "the part", "it has no finite epsilon")
    return found.value, (*premise.assumed, *found.assumed)


def epsilon_of(claim: Claim, premises: Sequence[Fact], rule: str) -> tuple[Expr, tuple[str, ...]]:
    """The epsilon that any mechanism is to have: the claimed one, or an upper bound on the tight one, and what that rests on.

    Raises Rejected where the claim states none and no premise bounds it, or is in another measure, of which the epsilon of one mechanism
    says nothing; CertificateError for a premise where it states one.
    """
    if claim.measure is not None:
        raise Rejected(rule, claim.measure.name, "the bound is about epsilon, and the claim is in another measure")
    if claim.epsilon is not None:
        certify(not premises, f"{rule}: the claim states an epsilon, so that no premise is to bound it.")
        return claim.epsilon, ()
    for premise in premises:
        for bound in as_bounds(premise.says):
            pure = bound.quantity == "pure" and premise.about in (claim, unasked(claim))
            asked = bound.quantity == "epsilon" and premise.about == claim and claim.delta != ZERO
            if (pure or asked) and bound.side == "upper" and not bound.at and isinstance(bound.value, Expr) and not symbols(bound.value):
                return bound.value, (*premise.assumed, *bound.assumed)
    raise Rejected(rule, "epsilon", "the claim asks for the tight one, and no premise bounds it from above")


def through_of(premise: Fact) -> tuple[str, ...]:
    """The names of the rules that a bound rests on, its own first."""
    return (premise.rule, *(name for bound in as_bounds(premise.says) for name in bound.through))
