"""The theorems of the theory, one a file: finite mechanisms and one-parameter kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "exponential-general":
            from dpverify.trusted.theories.finite.rules import exponential_general as rule
        case "finite-table":
            from dpverify.trusted.theories.finite.rules import finite_table as rule
        case "kary-response":
            from dpverify.trusted.theories.finite.rules import kary_response as rule
        case "kernel-box":
            from dpverify.trusted.theories.finite.rules import kernel_box as rule
        case "kernel-point":
            from dpverify.trusted.theories.finite.rules import kernel_point as rule
        case _:
            raise KeyError(name)
    return rule
