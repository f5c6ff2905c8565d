"""The theorems of the theory, one a file: additive noise."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _c_to_e(name) or _m_to_s(name)
    if found is None:
        raise KeyError(name)
    return found


def _c_to_e(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "concave-exponent":
            from dpverify.trusted.theories.additive.rules import concave_exponent as found
        case "convex-exponent":
            from dpverify.trusted.theories.additive.rules import convex_exponent as found
        case "cosets":
            from dpverify.trusted.theories.additive.rules import cosets as found
        case "divergence":
            from dpverify.trusted.theories.additive.rules import divergence as found
        case "equal-answers":
            from dpverify.trusted.theories.additive.rules import equal_answers as found
    return found


def _m_to_s(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "mixture-closed-form":
            from dpverify.trusted.theories.additive.rules import mixture_closed_form as found
        case "mixture-concave":
            from dpverify.trusted.theories.additive.rules import mixture_concave as found
        case "modulus":
            from dpverify.trusted.theories.additive.rules import modulus as found
        case "modulus-parts":
            from dpverify.trusted.theories.additive.rules import modulus_parts as found
        case "point-witness":
            from dpverify.trusted.theories.additive.rules import point_witness as found
        case "power-identity":
            from dpverify.trusted.theories.additive.rules import power_identity as found
        case "product-lipschitz":
            from dpverify.trusted.theories.additive.rules import product_lipschitz as found
        case "smooth-box":
            from dpverify.trusted.theories.additive.rules import smooth_box as found
        case "smooth-point":
            from dpverify.trusted.theories.additive.rules import smooth_point as found
        case "smooth-power":
            from dpverify.trusted.theories.additive.rules import smooth_power as found
        case "staircase":
            from dpverify.trusted.theories.additive.rules import staircase as found
        case "sum-slopes":
            from dpverify.trusted.theories.additive.rules import sum_slopes as found
    return found
