"""The theorems of the theory, one a file: combinators."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "best-of":
            from dpverify.trusted.theories.composition.rules import best_of as rule
        case "best-of-renyi":
            from dpverify.trusted.theories.composition.rules import best_of_renyi as rule
        case "bounded-range":
            from dpverify.trusted.theories.composition.rules import bounded_range as rule
        case "closed-epsilon":
            from dpverify.trusted.theories.composition.rules import closed_epsilon as rule
        case "closed-profile":
            from dpverify.trusted.theories.composition.rules import closed_profile as rule
        case "combination":
            from dpverify.trusted.theories.composition.rules import combination as rule
        case "finite-composition":
            from dpverify.trusted.theories.composition.rules import finite_composition as rule
        case "gaussian-composition":
            from dpverify.trusted.theories.composition.rules import gaussian_composition as rule
        case "group-privacy":
            from dpverify.trusted.theories.composition.rules import group_privacy as rule
        case "independent-coordinates":
            from dpverify.trusted.theories.composition.rules import independent_coordinates as rule
        case "joint-moves":
            from dpverify.trusted.theories.composition.rules import joint_moves as rule
        case "joint-neighbours":
            from dpverify.trusted.theories.composition.rules import joint_neighbours as rule
        case "laplace-sums":
            from dpverify.trusted.theories.composition.rules import laplace_sums as rule
        case "least-noise":
            from dpverify.trusted.theories.composition.rules import least_noise as rule
        case _:
            return _from_loss_distribution_on(name)
    return rule


def _from_loss_distribution_on(name: str) -> Theorem:
    rule: Theorem
    match name:
        case "loss-distribution":
            from dpverify.trusted.theories.composition.rules import loss_distribution as rule
        case "one-sided":
            from dpverify.trusted.theories.composition.rules import one_sided as rule
        case "parallel-composition":
            from dpverify.trusted.theories.composition.rules import parallel_composition as rule
        case "poisson-subsampling":
            from dpverify.trusted.theories.composition.rules import poisson_subsampling as rule
        case "post-processing":
            from dpverify.trusted.theories.composition.rules import post_processing as rule
        case "privacy-blanket":
            from dpverify.trusted.theories.composition.rules import privacy_blanket as rule
        case "privacy-filter":
            from dpverify.trusted.theories.composition.rules import privacy_filter as rule
        case "privacy-profile":
            from dpverify.trusted.theories.composition.rules import privacy_profile as rule
        case "renyi-composition":
            from dpverify.trusted.theories.composition.rules import renyi_composition as rule
        case _:
            return _from_sampling_on(name)
    return rule


def _from_sampling_on(name: str) -> Theorem:
    rule: Theorem
    match name:
        case "sampling-without-replacement":
            from dpverify.trusted.theories.composition.rules import sampling_without_replacement as rule
        case "shuffled-bits":
            from dpverify.trusted.theories.composition.rules import shuffled_bits as rule
        case "shuffled-epsilon":
            from dpverify.trusted.theories.composition.rules import shuffled_epsilon as rule
        case "shuffled-histograms":
            from dpverify.trusted.theories.composition.rules import shuffled_histograms as rule
        case "shuffling":
            from dpverify.trusted.theories.composition.rules import shuffling as rule
        case "single-part":
            from dpverify.trusted.theories.composition.rules import single_part as rule
        case "stated-epsilon":
            from dpverify.trusted.theories.composition.rules import stated_epsilon as rule
        case "stated-guarantee":
            from dpverify.trusted.theories.composition.rules import stated_guarantee as rule
        case _:
            raise KeyError(name)
    return rule
