"""The theorems of the theory, one a file: mechanisms with answers in metric spaces."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "cell-response":
            from dpverify.trusted.theories.spaces.rules import cell_response as rule
        case "density-mechanism":
            from dpverify.trusted.theories.spaces.rules import density_mechanism as rule
        case "given-mechanism":
            from dpverify.trusted.theories.spaces.rules import given_mechanism as rule
        case "grid-packing":
            from dpverify.trusted.theories.spaces.rules import grid_packing as rule
        case "half-spaces":
            from dpverify.trusted.theories.spaces.rules import half_spaces as rule
        case "near-dual":
            from dpverify.trusted.theories.spaces.rules import near_dual as rule
        case "near-table":
            from dpverify.trusted.theories.spaces.rules import near_table as rule
        case "net-mechanism":
            from dpverify.trusted.theories.spaces.rules import net_mechanism as rule
        case "noise-near":
            from dpverify.trusted.theories.spaces.rules import noise_near as rule
        case "weighted-packing":
            from dpverify.trusted.theories.spaces.rules import weighted_packing as rule
        case _:
            raise KeyError(name)
    return rule
