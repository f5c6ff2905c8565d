"""The theorems of the theory, one a file: noise on functions."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "cameron-martin":
            from dpverify.trusted.theories.processes.rules import cameron_martin as rule
        case "elliptical-process":
            from dpverify.trusted.theories.processes.rules import elliptical_process as rule
        case "elliptical-process-unbounded":
            from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as rule
        case "evaluations-epsilon":
            from dpverify.trusted.theories.processes.rules import evaluations_epsilon as rule
        case "orthogonal-laws":
            from dpverify.trusted.theories.processes.rules import orthogonal_laws as rule
        case "process-evaluations":
            from dpverify.trusted.theories.processes.rules import process_evaluations as rule
        case _:
            raise KeyError(name)
    return rule
