"""The theorems of the theory, one a file: delta as a function of epsilon."""

from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:  # noqa: C901 -- a table, with a row for each
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    rule: Theorem
    match name:
        case "correlated-gaussians":
            from dpverify.trusted.theories.curves.rules import correlated_gaussians as rule
        case "every-shift":
            from dpverify.trusted.theories.curves.rules import every_shift as rule
        case "finite-curve":
            from dpverify.trusted.theories.curves.rules import finite_curve as rule
        case "gaussian":
            from dpverify.trusted.theories.curves.rules import gaussian as rule
        case "gaussian-scale-mixture":
            from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture as rule
        case "kernel-pair":
            from dpverify.trusted.theories.curves.rules import kernel_pair as rule
        case "laplace":
            from dpverify.trusted.theories.curves.rules import laplace as rule
        case "lattice":
            from dpverify.trusted.theories.curves.rules import lattice as rule
        case "least-curve":
            from dpverify.trusted.theories.curves.rules import least_curve as rule
        case "line":
            from dpverify.trusted.theories.curves.rules import line as rule
        case "lipschitz-exponent":
            from dpverify.trusted.theories.curves.rules import lipschitz_exponent as rule
        case "optimal-composition":
            from dpverify.trusted.theories.curves.rules import optimal_composition as rule
        case "pure-guarantee":
            from dpverify.trusted.theories.curves.rules import pure_guarantee as rule
        case "radial-caps":
            from dpverify.trusted.theories.curves.rules import radial_caps as rule
        case "smooth-curve":
            from dpverify.trusted.theories.curves.rules import smooth_curve as rule
        case "student-t":
            from dpverify.trusted.theories.curves.rules import student_t as rule
        case "uniform-ball":
            from dpverify.trusted.theories.curves.rules import uniform_ball as rule
        case _:
            raise KeyError(name)
    return rule
