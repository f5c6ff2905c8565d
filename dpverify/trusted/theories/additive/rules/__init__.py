"""The theorems of the theory, one a file: additive noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _mechanisms_c_to_m(name) or _mechanisms_m_to_s(name) or _claims(name)
    if found is None:
        raise KeyError(name)
    return found


def _mechanisms_c_to_m(name: str) -> Theorem | None:
    match name:
        case "concave-exponent":
            from dpverify.trusted.theories.additive.rules import concave_exponent

            return concave_exponent
        case "convex-exponent":
            from dpverify.trusted.theories.additive.rules import convex_exponent

            return convex_exponent
        case "divergence":
            from dpverify.trusted.theories.additive.rules import divergence

            return divergence
        case "equal-answers":
            from dpverify.trusted.theories.additive.rules import equal_answers

            return equal_answers
        case "mixture-closed-form":
            from dpverify.trusted.theories.additive.rules import mixture_closed_form

            return mixture_closed_form
        case "mixture-concave":
            from dpverify.trusted.theories.additive.rules import mixture_concave

            return mixture_concave
    return None


def _mechanisms_m_to_s(name: str) -> Theorem | None:
    match name:
        case "modulus":
            from dpverify.trusted.theories.additive.rules import modulus

            return modulus
        case "modulus-parts":
            from dpverify.trusted.theories.additive.rules import modulus_parts

            return modulus_parts
        case "point-witness":
            from dpverify.trusted.theories.additive.rules import point_witness

            return point_witness
        case "power-identity":
            from dpverify.trusted.theories.additive.rules import power_identity

            return power_identity
        case "product-lipschitz":
            from dpverify.trusted.theories.additive.rules import product_lipschitz

            return product_lipschitz
        case "staircase":
            from dpverify.trusted.theories.additive.rules import staircase

            return staircase
    return None


def _claims(name: str) -> Theorem | None:
    match name:
        case "cosets":
            from dpverify.trusted.theories.additive.rules import cosets

            return cosets
    return None
