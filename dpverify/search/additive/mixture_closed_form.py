"""Proposes the rule `mixture-closed-form`: what the other searches propose for the radial noise that the mixture is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpverify.search.additive import concave_exponent, convex_exponent, divergence, mixtures, modulus, point_witness, power_identity
from dpverify.trusted.combinators.closed_forms import radial
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import Claim, Mixture
from dpverify.trusted.kernel.registry import ANYWHERE
from dpverify.trusted.theories.additive.rules import mixture_closed_form as mixture_closed


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps of the radial rules wrapped in this one; the cells of `modulus` only where no exact rule applies."""
    try:
        noise = radial(claim)
    except DpverifyError:
        return []
    assert isinstance(claim.mechanism, Mixture)
    scale = mixtures.scale_of(claim.mechanism, dict(claim.domains))
    if scale is None:
        return []
    # first the witnesses with an event, which a refutation shows before the others
    steps = [] if noise.domains else _found(divergence.propose, noise, digits) + _found(point_witness.propose, noise, digits)
    exact = [step for rule in (power_identity, concave_exponent, convex_exponent) for step in rule.propose(noise, digits)]
    steps += exact if exact or noise.domains else _found(modulus.propose, noise, digits)
    shared = {"scale": format_expr(scale)}
    return [{"rule": mixture_closed.NAME, "evidence": shared, "inner": step} for step in steps if step["rule"] in ANYWHERE]


def _found(search: Callable[[Claim, int], list[dict[str, Any]]], claim: Claim, digits: int) -> list[dict[str, Any]]:
    try:
        return search(claim, digits)
    except DpverifyError:
        return []
