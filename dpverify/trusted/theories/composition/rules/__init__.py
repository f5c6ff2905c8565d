"""The theorems of the theory, one a file: combinators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _b_to_g(name) or _i_to_p(name) or _p_to_s(name)
    if found is None:
        raise KeyError(name)
    return found


def _b_to_g(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "best-of":
            from dpverify.trusted.theories.composition.rules import best_of as found
        case "best-of-renyi":
            from dpverify.trusted.theories.composition.rules import best_of_renyi as found
        case "bounded-range":
            from dpverify.trusted.theories.composition.rules import bounded_range as found
        case "closed-epsilon":
            from dpverify.trusted.theories.composition.rules import closed_epsilon as found
        case "closed-profile":
            from dpverify.trusted.theories.composition.rules import closed_profile as found
        case "combination":
            from dpverify.trusted.theories.composition.rules import combination as found
        case "finite-composition":
            from dpverify.trusted.theories.composition.rules import finite_composition as found
        case "gaussian-composition":
            from dpverify.trusted.theories.composition.rules import gaussian_composition as found
        case "group-privacy":
            from dpverify.trusted.theories.composition.rules import group_privacy as found
    return found


def _i_to_p(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "independent-coordinates":
            from dpverify.trusted.theories.composition.rules import independent_coordinates as found
        case "joint-moves":
            from dpverify.trusted.theories.composition.rules import joint_moves as found
        case "joint-neighbours":
            from dpverify.trusted.theories.composition.rules import joint_neighbours as found
        case "laplace-sums":
            from dpverify.trusted.theories.composition.rules import laplace_sums as found
        case "least-noise":
            from dpverify.trusted.theories.composition.rules import least_noise as found
        case "loss-distribution":
            from dpverify.trusted.theories.composition.rules import loss_distribution as found
        case "one-sided":
            from dpverify.trusted.theories.composition.rules import one_sided as found
        case "parallel-composition":
            from dpverify.trusted.theories.composition.rules import parallel_composition as found
        case "poisson-subsampling":
            from dpverify.trusted.theories.composition.rules import poisson_subsampling as found
    return found


def _p_to_s(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "post-processing":
            from dpverify.trusted.theories.composition.rules import post_processing as found
        case "privacy-filter":
            from dpverify.trusted.theories.composition.rules import privacy_filter as found
        case "privacy-profile":
            from dpverify.trusted.theories.composition.rules import privacy_profile as found
        case "renyi-composition":
            from dpverify.trusted.theories.composition.rules import renyi_composition as found
        case "sampling-without-replacement":
            from dpverify.trusted.theories.composition.rules import sampling_without_replacement as found
        case "shuffled-histograms":
            from dpverify.trusted.theories.composition.rules import shuffled_histograms as found
        case "shuffling":
            from dpverify.trusted.theories.composition.rules import shuffling as found
        case "single-part":
            from dpverify.trusted.theories.composition.rules import single_part as found
        case "stated-epsilon":
            from dpverify.trusted.theories.composition.rules import stated_epsilon as found
        case "stated-guarantee":
            from dpverify.trusted.theories.composition.rules import stated_guarantee as found
    return found
