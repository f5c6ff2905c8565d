"""The theorems of the theory, one a file: errors."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:  # noqa: C901 -- a table, with a row for each
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "expected-loss":
            from dpverify.trusted.theories.utility.rules import expected_loss as rule
        case "far-noise":
            from dpverify.trusted.theories.utility.rules import far_noise as rule
        case "far-outputs":
            from dpverify.trusted.theories.utility.rules import far_outputs as rule
        case "independent-columns":
            from dpverify.trusted.theories.utility.rules import independent_columns as rule
        case "infinite-moments":
            from dpverify.trusted.theories.utility.rules import infinite_moments as rule
        case "lattice-lower-bound":
            from dpverify.trusted.theories.utility.rules import lattice_lower_bound as rule
        case "linear-map":
            from dpverify.trusted.theories.utility.rules import linear_map as rule
        case "lines-lower-bound":
            from dpverify.trusted.theories.utility.rules import lines_lower_bound as rule
        case "log-concave-noise":
            from dpverify.trusted.theories.utility.rules import log_concave_noise as rule
        case "lp":
            from dpverify.trusted.theories.utility.rules import lp as rule
        case "noise-moments":
            from dpverify.trusted.theories.utility.rules import noise_moments as rule
        case "noise-quantile":
            from dpverify.trusted.theories.utility.rules import noise_quantile as rule
        case "polytope":
            from dpverify.trusted.theories.utility.rules import polytope as rule
        case "polytope-tails":
            from dpverify.trusted.theories.utility.rules import polytope_tails as rule
        case "prefix-errors":
            from dpverify.trusted.theories.utility.rules import prefix_errors as rule
        case "radial-lower-bound":
            from dpverify.trusted.theories.utility.rules import radial_lower_bound as rule
        case "randomized-response-estimate":
            from dpverify.trusted.theories.utility.rules import randomized_response_estimate as rule
        case "root-of-squares":
            from dpverify.trusted.theories.utility.rules import root_of_squares as rule
        case "shape-lower-bound":
            from dpverify.trusted.theories.utility.rules import shape_lower_bound as rule
        case "simple-body":
            from dpverify.trusted.theories.utility.rules import simple_body as rule
        case "union-bound":
            from dpverify.trusted.theories.utility.rules import union_bound as rule
        case "volume-lower-bound":
            from dpverify.trusted.theories.utility.rules import volume_lower_bound as rule
        case _:
            raise KeyError(name)
    return rule
