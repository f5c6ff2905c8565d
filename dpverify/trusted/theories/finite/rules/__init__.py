"""The theorems of the theory, one a file: finite mechanisms and one-parameter kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _mechanisms(name)
    if found is None:
        raise KeyError(name)
    return found


def _mechanisms(name: str) -> Theorem | None:
    match name:
        case "exponential-general":
            from dpverify.trusted.theories.finite.rules import exponential_general

            return exponential_general
        case "finite-table":
            from dpverify.trusted.theories.finite.rules import finite_table

            return finite_table
        case "kary-response":
            from dpverify.trusted.theories.finite.rules import kary_response

            return kary_response
        case "kernel-box":
            from dpverify.trusted.theories.finite.rules import kernel_box

            return kernel_box
        case "kernel-point":
            from dpverify.trusted.theories.finite.rules import kernel_point

            return kernel_point
    return None
