"""The theorems of the theory, one a file: zero-concentrated, Gaussian and Renyi differential privacy, and what they imply of each other."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "added-measures":
            from dpverify.trusted.theories.divergences.rules import added_measures as rule
        case "best-of-measures":
            from dpverify.trusted.theories.divergences.rules import best_of_measures as rule
        case "finite-measures":
            from dpverify.trusted.theories.divergences.rules import finite_measures as rule
        case "gaussian-measures":
            from dpverify.trusted.theories.divergences.rules import gaussian_measures as rule
        case "implied-measures":
            from dpverify.trusted.theories.divergences.rules import implied_measures as rule
        case "laplace-measures":
            from dpverify.trusted.theories.divergences.rules import laplace_measures as rule
        case "measures-of-a-curve":
            from dpverify.trusted.theories.divergences.rules import measures_of_a_curve as rule
        case "measures-of-sums":
            from dpverify.trusted.theories.divergences.rules import measures_of_sums as rule
        case "measures-of-votes":
            from dpverify.trusted.theories.divergences.rules import measures_of_votes as rule
        case "sampled-measures":
            from dpverify.trusted.theories.divergences.rules import sampled_measures as rule
        case "selection-measures":
            from dpverify.trusted.theories.divergences.rules import selection_measures as rule
        case _:
            raise KeyError(name)
    return rule
