"""The theorems of the theory, one a file: mechanisms with answers in metric spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _claims(name)
    if found is None:
        raise KeyError(name)
    return found


def _claims(name: str) -> Theorem | None:
    match name:
        case "cell-response":
            from dpverify.trusted.theories.spaces.rules import cell_response

            return cell_response
        case "density-mechanism":
            from dpverify.trusted.theories.spaces.rules import density_mechanism

            return density_mechanism
        case "given-mechanism":
            from dpverify.trusted.theories.spaces.rules import given_mechanism

            return given_mechanism
        case "grid-packing":
            from dpverify.trusted.theories.spaces.rules import grid_packing

            return grid_packing
        case "half-spaces":
            from dpverify.trusted.theories.spaces.rules import half_spaces

            return half_spaces
        case "near-dual":
            from dpverify.trusted.theories.spaces.rules import near_dual

            return near_dual
        case "near-table":
            from dpverify.trusted.theories.spaces.rules import near_table

            return near_table
        case "net-mechanism":
            from dpverify.trusted.theories.spaces.rules import net_mechanism

            return net_mechanism
        case "noise-near":
            from dpverify.trusted.theories.spaces.rules import noise_near

            return noise_near
        case "weighted-packing":
            from dpverify.trusted.theories.spaces.rules import weighted_packing

            return weighted_packing
    return None
