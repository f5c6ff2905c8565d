"""The theorems of the theory, one a file: delta as a function of epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _curves_e_to_l(name) or _curves_l_to_u(name) or _others(name)
    if found is None:
        raise KeyError(name)
    return found


def _curves_e_to_l(name: str) -> Theorem | None:
    match name:
        case "every-shift":
            from dpverify.trusted.theories.curves.rules import every_shift

            return every_shift
        case "finite-curve":
            from dpverify.trusted.theories.curves.rules import finite_curve

            return finite_curve
        case "gaussian":
            from dpverify.trusted.theories.curves.rules import gaussian

            return gaussian
        case "gaussian-scale-mixture":
            from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture

            return gaussian_scale_mixture
        case "kernel-pair":
            from dpverify.trusted.theories.curves.rules import kernel_pair

            return kernel_pair
        case "laplace":
            from dpverify.trusted.theories.curves.rules import laplace

            return laplace
        case "lattice":
            from dpverify.trusted.theories.curves.rules import lattice

            return lattice
    return None


def _curves_l_to_u(name: str) -> Theorem | None:
    match name:
        case "least-curve":
            from dpverify.trusted.theories.curves.rules import least_curve

            return least_curve
        case "line":
            from dpverify.trusted.theories.curves.rules import line

            return line
        case "lipschitz-exponent":
            from dpverify.trusted.theories.curves.rules import lipschitz_exponent

            return lipschitz_exponent
        case "optimal-composition":
            from dpverify.trusted.theories.curves.rules import optimal_composition

            return optimal_composition
        case "pure-guarantee":
            from dpverify.trusted.theories.curves.rules import pure_guarantee

            return pure_guarantee
        case "radial-caps":
            from dpverify.trusted.theories.curves.rules import radial_caps

            return radial_caps
        case "uniform-ball":
            from dpverify.trusted.theories.curves.rules import uniform_ball

            return uniform_ball
    return None


def _others(name: str) -> Theorem | None:
    match name:
        case "student-t":
            from dpverify.trusted.theories.curves.rules import student_t

            return student_t
    return None
