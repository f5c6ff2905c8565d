"""The theorems of the theory, one a file: errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _claims(name) or _bodies(name) or _errors_e_to_l(name) or _errors_n_to_v(name)
    if found is None:
        raise KeyError(name)
    return found


def _claims(name: str) -> Theorem | None:
    match name:
        case "far-noise":
            from dpverify.trusted.theories.utility.rules import far_noise

            return far_noise
        case "far-outputs":
            from dpverify.trusted.theories.utility.rules import far_outputs

            return far_outputs
    return None


def _bodies(name: str) -> Theorem | None:
    match name:
        case "independent-columns":
            from dpverify.trusted.theories.utility.rules import independent_columns

            return independent_columns
        case "polytope":
            from dpverify.trusted.theories.utility.rules import polytope

            return polytope
        case "simple-body":
            from dpverify.trusted.theories.utility.rules import simple_body

            return simple_body
    return None


def _errors_e_to_l(name: str) -> Theorem | None:
    match name:
        case "expected-loss":
            from dpverify.trusted.theories.utility.rules import expected_loss

            return expected_loss
        case "infinite-moments":
            from dpverify.trusted.theories.utility.rules import infinite_moments

            return infinite_moments
        case "lattice-lower-bound":
            from dpverify.trusted.theories.utility.rules import lattice_lower_bound

            return lattice_lower_bound
        case "linear-map":
            from dpverify.trusted.theories.utility.rules import linear_map

            return linear_map
        case "lines-lower-bound":
            from dpverify.trusted.theories.utility.rules import lines_lower_bound

            return lines_lower_bound
        case "log-concave-noise":
            from dpverify.trusted.theories.utility.rules import log_concave_noise

            return log_concave_noise
        case "lp":
            from dpverify.trusted.theories.utility.rules import lp

            return lp
    return None


def _errors_n_to_v(name: str) -> Theorem | None:
    match name:
        case "noise-moments":
            from dpverify.trusted.theories.utility.rules import noise_moments

            return noise_moments
        case "noise-quantile":
            from dpverify.trusted.theories.utility.rules import noise_quantile

            return noise_quantile
        case "polytope-tails":
            from dpverify.trusted.theories.utility.rules import polytope_tails

            return polytope_tails
        case "radial-lower-bound":
            from dpverify.trusted.theories.utility.rules import radial_lower_bound

            return radial_lower_bound
        case "randomized-response-estimate":
            from dpverify.trusted.theories.utility.rules import randomized_response_estimate

            return randomized_response_estimate
        case "root-of-squares":
            from dpverify.trusted.theories.utility.rules import root_of_squares

            return root_of_squares
        case "union-bound":
            from dpverify.trusted.theories.utility.rules import union_bound

            return union_bound
        case "volume-lower-bound":
            from dpverify.trusted.theories.utility.rules import volume_lower_bound

            return volume_lower_bound
    return None
