"""Proposes the rule `mixture-closed-form`: what the other searches propose for the radial noise that the mixture is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpverify.errors import DpverifyError
from dpverify.model import Claim
from dpverify.rules import mixture_closed
from dpverify.search import concave_exponent, convex_exponent, divergence, modulus, point_witness, power_identity


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps of the radial rules wrapped in this one; the cells of `modulus` only where no exact rule applies."""
    try:
        radial = mixture_closed.radial(claim)
    except DpverifyError:
        return []
    found = [step for exact in (power_identity, concave_exponent, convex_exponent) for step in exact.propose(radial, digits)]
    if not radial.domains:
        found += [] if found else _found(modulus.propose, radial, digits)
        found += _found(point_witness.propose, radial, digits) + _found(divergence.propose, radial, digits)
    return [{"rule": mixture_closed.NAME, "evidence": step} for step in found if step["rule"] in mixture_closed.CHECKS]


def _found(search: Callable[[Claim, int], list[dict[str, Any]]], claim: Claim, digits: int) -> list[dict[str, Any]]:
    try:
        return search(claim, digits)
    except DpverifyError:
        return []
