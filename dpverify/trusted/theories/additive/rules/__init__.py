"""The theorems of the theory, one a file: additive noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "concave-exponent":
            from dpverify.trusted.theories.additive.rules import concave_exponent as rule
        case "convex-exponent":
            from dpverify.trusted.theories.additive.rules import convex_exponent as rule
        case "cosets":
            from dpverify.trusted.theories.additive.rules import cosets as rule
        case "divergence":
            from dpverify.trusted.theories.additive.rules import divergence as rule
        case "equal-answers":
            from dpverify.trusted.theories.additive.rules import equal_answers as rule
        case "mixture-closed-form":
            from dpverify.trusted.theories.additive.rules import mixture_closed_form as rule
        case "mixture-concave":
            from dpverify.trusted.theories.additive.rules import mixture_concave as rule
        case "modulus":
            from dpverify.trusted.theories.additive.rules import modulus as rule
        case "modulus-parts":
            from dpverify.trusted.theories.additive.rules import modulus_parts as rule
        case "point-witness":
            from dpverify.trusted.theories.additive.rules import point_witness as rule
        case "power-identity":
            from dpverify.trusted.theories.additive.rules import power_identity as rule
        case "product-lipschitz":
            from dpverify.trusted.theories.additive.rules import product_lipschitz as rule
        case "smooth-box":
            from dpverify.trusted.theories.additive.rules import smooth_box as rule
        case "smooth-point":
            from dpverify.trusted.theories.additive.rules import smooth_point as rule
        case "smooth-power":
            from dpverify.trusted.theories.additive.rules import smooth_power as rule
        case "staircase":
            from dpverify.trusted.theories.additive.rules import staircase as rule
        case _:
            raise KeyError(name)
    return rule
