"""The theorems of the theory, one a file: errors."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _e_to_l(name) or _n_to_v(name)
    if found is None:
        raise KeyError(name)
    return found


def _e_to_l(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "expected-loss":
            from dpverify.trusted.theories.utility.rules import expected_loss as found
        case "far-noise":
            from dpverify.trusted.theories.utility.rules import far_noise as found
        case "far-outputs":
            from dpverify.trusted.theories.utility.rules import far_outputs as found
        case "independent-columns":
            from dpverify.trusted.theories.utility.rules import independent_columns as found
        case "infinite-moments":
            from dpverify.trusted.theories.utility.rules import infinite_moments as found
        case "lattice-lower-bound":
            from dpverify.trusted.theories.utility.rules import lattice_lower_bound as found
        case "linear-map":
            from dpverify.trusted.theories.utility.rules import linear_map as found
        case "lines-lower-bound":
            from dpverify.trusted.theories.utility.rules import lines_lower_bound as found
        case "log-concave-noise":
            from dpverify.trusted.theories.utility.rules import log_concave_noise as found
        case "lp":
            from dpverify.trusted.theories.utility.rules import lp as found
    return found


def _n_to_v(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "noise-moments":
            from dpverify.trusted.theories.utility.rules import noise_moments as found
        case "noise-quantile":
            from dpverify.trusted.theories.utility.rules import noise_quantile as found
        case "polytope":
            from dpverify.trusted.theories.utility.rules import polytope as found
        case "polytope-tails":
            from dpverify.trusted.theories.utility.rules import polytope_tails as found
        case "prefix-errors":
            from dpverify.trusted.theories.utility.rules import prefix_errors as found
        case "radial-lower-bound":
            from dpverify.trusted.theories.utility.rules import radial_lower_bound as found
        case "randomized-response-estimate":
            from dpverify.trusted.theories.utility.rules import randomized_response_estimate as found
        case "root-of-squares":
            from dpverify.trusted.theories.utility.rules import root_of_squares as found
        case "shape-lower-bound":
            from dpverify.trusted.theories.utility.rules import shape_lower_bound as found
        case "simple-body":
            from dpverify.trusted.theories.utility.rules import simple_body as found
        case "union-bound":
            from dpverify.trusted.theories.utility.rules import union_bound as found
        case "volume-lower-bound":
            from dpverify.trusted.theories.utility.rules import volume_lower_bound as found
    return found
