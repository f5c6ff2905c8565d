"""The theorems of the theory, one a file: combinators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _mechanisms(name) or _claims(name) or _curves_b_to_l(name) or _curves_l_to_s(name) or _others(name)
    if found is None:
        raise KeyError(name)
    return found


def _mechanisms(name: str) -> Theorem | None:
    match name:
        case "combination":
            from dpverify.trusted.theories.composition.rules import combination

            return combination
        case "joint-moves":
            from dpverify.trusted.theories.composition.rules import joint_moves

            return joint_moves
    return None


def _claims(name: str) -> Theorem | None:
    match name:
        case "closed-epsilon":
            from dpverify.trusted.theories.composition.rules import closed_epsilon

            return closed_epsilon
        case "closed-profile":
            from dpverify.trusted.theories.composition.rules import closed_profile

            return closed_profile
        case "one-sided":
            from dpverify.trusted.theories.composition.rules import one_sided

            return one_sided
        case "positivstellensatz":
            from dpverify.trusted.theories.composition.rules import positivstellensatz

            return positivstellensatz
        case "privacy-profile":
            from dpverify.trusted.theories.composition.rules import privacy_profile

            return privacy_profile
        case "stated-epsilon":
            from dpverify.trusted.theories.composition.rules import stated_epsilon

            return stated_epsilon
    return None


def _curves_b_to_l(name: str) -> Theorem | None:
    match name:
        case "bounded-range":
            from dpverify.trusted.theories.composition.rules import bounded_range

            return bounded_range
        case "finite-composition":
            from dpverify.trusted.theories.composition.rules import finite_composition

            return finite_composition
        case "gaussian-composition":
            from dpverify.trusted.theories.composition.rules import gaussian_composition

            return gaussian_composition
        case "group-privacy":
            from dpverify.trusted.theories.composition.rules import group_privacy

            return group_privacy
        case "independent-coordinates":
            from dpverify.trusted.theories.composition.rules import independent_coordinates

            return independent_coordinates
        case "joint-neighbours":
            from dpverify.trusted.theories.composition.rules import joint_neighbours

            return joint_neighbours
        case "laplace-sums":
            from dpverify.trusted.theories.composition.rules import laplace_sums

            return laplace_sums
    return None


def _curves_l_to_s(name: str) -> Theorem | None:
    match name:
        case "loss-distribution":
            from dpverify.trusted.theories.composition.rules import loss_distribution

            return loss_distribution
        case "parallel-composition":
            from dpverify.trusted.theories.composition.rules import parallel_composition

            return parallel_composition
        case "poisson-subsampling":
            from dpverify.trusted.theories.composition.rules import poisson_subsampling

            return poisson_subsampling
        case "renyi-composition":
            from dpverify.trusted.theories.composition.rules import renyi_composition

            return renyi_composition
        case "sampling-without-replacement":
            from dpverify.trusted.theories.composition.rules import sampling_without_replacement

            return sampling_without_replacement
        case "single-part":
            from dpverify.trusted.theories.composition.rules import single_part

            return single_part
        case "stated-guarantee":
            from dpverify.trusted.theories.composition.rules import stated_guarantee

            return stated_guarantee
    return None


def _others(name: str) -> Theorem | None:
    match name:
        case "post-processing":
            from dpverify.trusted.theories.composition.rules import post_processing

            return post_processing
    return None
