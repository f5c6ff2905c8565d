"""Which searches are for which kind of mechanism: for the pure epsilon of one by itself, and for the curve of noise."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from dpverify.search.proposal import Premise, Proposal, Steps, bound
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ZERO, Expr
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    AboveThreshold,
    Claim,
    CorrelatedNoise,
    EllipticalProcess,
    Exponential,
    Guarantee,
    KaryResponse,
    Kernel,
    Leaf,
    Mixture,
    Noise,
    NoisyKeys,
    NoisyMax,
    NoisyVotes,
    Product,
    Radial,
    Sampled,
    Shuffle,
    SmoothSensitivity,
    Space,
    Staircase,
    Stream,
    Sum,
    Table,
    Translation,
)
from dpverify.trusted.kernel.proof import Proof


def curve_rules(noise: Noise) -> tuple[str, ...]:
    """Rules for the curve of additive noise, the sharpest first."""
    match noise:
        case Radial():
            one = ("gaussian", "laplace", "line", "radial-caps", "uniform-ball")
            return *one, "every-shift", "gaussian-scale-mixture", "lipschitz-exponent"
        case Translation():
            return "gaussian", "laplace", "lattice", "line", "every-shift"
        case Product():
            return "gaussian", "laplace", "independent-coordinates"
        case Mixture():
            return ("gaussian-scale-mixture",)
        case Staircase():
            return ("lattice",)
        case Sum():
            return "gaussian", "lattice"
        case EllipticalProcess():
            return "elliptical-process", "process-evaluations"
        case never:
            assert_never(never)


def extend(proposal: Proposal, claim: Claim, mechanism: Leaf, digits: int, known: Premise) -> None:
    """Add evidence for bounds on the pure epsilon of a claim's mechanism. known: of the noises that a mechanism is made from."""
    match mechanism:
        case Radial() | Translation() | Product():
            _additive(proposal, claim, digits)
        case Mixture():
            from dpverify.search.additive import mixture_closed_form as mixture_closed
            from dpverify.search.additive import mixture_concave

            if not proposal.extend(mixture_closed.propose, claim, digits):
                proposal.extend(mixture_concave.propose, claim, digits)
        case Sum():
            from dpverify.search.additive import sum_slopes

            proposal.extend(sum_slopes.propose, claim, digits)
        case Table() | Exponential():
            from dpverify.search.additive import exponential
            from dpverify.search.finite import finite_table as table

            proposal.extend(table.propose, claim, digits)
            proposal.extend(exponential.propose, claim, digits)
        case KaryResponse():
            from dpverify.search.finite import kary_response

            proposal.extend(kary_response.propose, claim, digits)
        case Staircase():
            from dpverify.search.additive import staircase

            proposal.extend(staircase.propose, claim, digits)
        case Kernel():
            from dpverify.search.finite import kernel_box

            proposal.extend(kernel_box.propose, claim, digits)
        case EllipticalProcess():
            from dpverify.search.processes import elliptical_process

            proposal.extend(elliptical_process.propose, claim, digits)
        case NoisyMax() | AboveThreshold():
            from dpverify.search.selection import bounds as selection

            selection.extend(proposal, claim, digits, known)
        case Stream():
            from dpverify.search.selection import streams

            streams.extend(proposal, claim, digits, known)
        case NoisyKeys():
            alone = "a new key may be told, which was never looked at before: no epsilon holds alone. Claim a delta."
            proposal.reasons += [alone] * (claim.delta == ZERO)
        case NoisyVotes():
            from dpverify.search.selection import votes

            proposal.extend(votes.propose, claim, digits)
        case Shuffle():
            from dpverify.search.composition import shuffling

            if claim.delta == ZERO:
                proposal.extend(partial(shuffling.pure, known=known), claim, digits)
        case CorrelatedNoise():
            alone = "Gaussian noise loses more than any epsilon at times, correlated or not. Claim a delta."
            proposal.reasons += [alone] * (claim.delta == ZERO)
        case SmoothSensitivity():
            from dpverify.search.additive import smooth

            proposal.extend(smooth.propose, claim, digits)
        case Guarantee():
            from dpverify.search.composition import stated_epsilon

            proposal.extend(stated_epsilon.propose, claim, digits)
        case Space():
            from dpverify.search.spaces import bounds as spaces

            proposal.reasons += spaces.extend(proposal, claim, digits)
        case Sampled():
            proposal.reasons.append("nothing is declared, only a sampled implementation: declare its density, or audit it.")
        case never:
            assert_never(never)


def _additive(proposal: Proposal, claim: Claim, digits: int) -> None:
    exact = False
    for search in (_power_identity, _concave_exponent, _cosets, _bounded_convex, _divergence, _convex_exponent):
        found = proposal.extend(search, claim, digits)
        if found and search in (_cosets, _divergence):
            return  # no epsilon is finite: there is no upper bound to look for
        exact = found or exact
        if any(step["evidence"].get("side", "upper") == "upper" for step in proposal.steps):
            break  # its value is exact: no other can be better
    known = _known(proposal, claim) if exact else None
    if known is not None and (claim.epsilon is None or certainly_le(known, claim.epsilon, {})):
        return  # nothing is to be refuted, and no pair of points loses more
    from dpverify.search.additive import point_witness

    proposal.extend(partial(point_witness.propose, known=known), claim, digits)
    whole = known is None and isinstance(claim.mechanism, Translation) and claim.mechanism.integers  # bounds on the line need not be met
    if not ((exact and not whole) or claim.domains or any(step["evidence"].get("value") == "inf" for step in proposal.steps)):
        if isinstance(claim.mechanism, Product):
            from dpverify.search.additive import product_lipschitz

            proposal.extend(product_lipschitz.propose, claim, digits)
        else:
            from dpverify.search.additive import modulus, stationary

            if not proposal.extend(partial(modulus.propose, ask=stationary.closed_forms), claim, digits):
                from dpverify.search.additive import modulus_parts

                proposal.extend(modulus_parts.propose, claim, digits)
        from dpverify.search.additive import attained

        proposal.steps += attained.propose(claim, proposal.steps)


def _power_identity(claim: Claim, digits: int) -> Steps:
    from dpverify.search.additive import power_identity

    return power_identity.propose(claim, digits)


def _concave_exponent(claim: Claim, digits: int) -> Steps:
    from dpverify.search.additive import concave_exponent

    return concave_exponent.propose(claim, digits)


def _cosets(claim: Claim, digits: int) -> Steps:
    from dpverify.search.additive import cosets

    return cosets.propose(claim, digits)


def _divergence(claim: Claim, digits: int) -> Steps:
    from dpverify.search.additive import divergence

    return divergence.propose(claim, digits)


def _bounded_convex(claim: Claim, digits: int) -> Steps:
    """The steps of a convex exponent that bound epsilon from above: no end is then looked at for a loss without bound."""
    steps = _convex_exponent(claim, digits)
    return steps if any(step["evidence"].get("side", "upper") == "upper" for step in steps) else []


def _convex_exponent(claim: Claim, digits: int) -> Steps:
    from dpverify.search.additive import convex_exponent

    return convex_exponent.propose(claim, digits)


def _known(proposal: Proposal, claim: Claim) -> Expr | None:
    """The finite tight epsilon of a claim without parameters, where steps of both sides prove it."""
    if claim.domains:
        return None
    with precision(proposal.prec):
        proof = Proof(claim)
        says = [one for step in proposal.steps for one in as_bounds(bound(proof, (), step).says)]
    uppers = [one.value for one in says if one.side == "upper" and not isinstance(one.value, Infinite)]
    return uppers[0] if uppers and {one.side for one in says} == {"upper", "lower"} else None
