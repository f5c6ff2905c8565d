"""The theorems of the theory, one a file: zero-concentrated, Gaussian and Renyi differential privacy, and what they imply of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _divergences(name)
    if found is None:
        raise KeyError(name)
    return found


def _divergences(name: str) -> Theorem | None:
    match name:
        case "added-measures":
            from dpverify.trusted.theories.divergences.rules import added_measures

            return added_measures
        case "discrete-gaussian-measures":
            from dpverify.trusted.theories.divergences.rules import discrete_gaussian_measures

            return discrete_gaussian_measures
        case "finite-measures":
            from dpverify.trusted.theories.divergences.rules import finite_measures

            return finite_measures
        case "gaussian-measures":
            from dpverify.trusted.theories.divergences.rules import gaussian_measures

            return gaussian_measures
        case "implied-measures":
            from dpverify.trusted.theories.divergences.rules import implied_measures

            return implied_measures
        case "laplace-measures":
            from dpverify.trusted.theories.divergences.rules import laplace_measures

            return laplace_measures
        case "measures-of-a-curve":
            from dpverify.trusted.theories.divergences.rules import measures_of_a_curve

            return measures_of_a_curve
        case "parallel-measures":
            from dpverify.trusted.theories.divergences.rules import parallel_measures

            return parallel_measures
        case "sampled-measures":
            from dpverify.trusted.theories.divergences.rules import sampled_measures

            return sampled_measures
        case "selection-measures":
            from dpverify.trusted.theories.divergences.rules import selection_measures

            return selection_measures
    return None
