"""The theorems of the theory, one a file: noise on functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _claims(name) or _curves(name)
    if found is None:
        raise KeyError(name)
    return found


def _claims(name: str) -> Theorem | None:
    match name:
        case "cameron-martin":
            from dpverify.trusted.theories.processes.rules import cameron_martin

            return cameron_martin
        case "elliptical-process-unbounded":
            from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded

            return elliptical_process_unbounded
        case "evaluations-epsilon":
            from dpverify.trusted.theories.processes.rules import evaluations_epsilon

            return evaluations_epsilon
        case "orthogonal-laws":
            from dpverify.trusted.theories.processes.rules import orthogonal_laws

            return orthogonal_laws
    return None


def _curves(name: str) -> Theorem | None:
    match name:
        case "elliptical-process":
            from dpverify.trusted.theories.processes.rules import elliptical_process

            return elliptical_process
        case "process-evaluations":
            from dpverify.trusted.theories.processes.rules import process_evaluations

            return process_evaluations
    return None
