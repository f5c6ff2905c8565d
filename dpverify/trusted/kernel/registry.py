"""The one list of all rules by their names in certificates; a rule is loaded when its name is asked for."""

from collections import UserDict
from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.theorem import Rule, Theorem

Names = Mapping[str, str]
"""Names of theorems, by the theory that holds them."""

_OF_THE_MECHANISM: Final[Names] = {
    "additive": "concave-exponent convex-exponent divergence equal-answers mixture-closed-form mixture-concave modulus modulus-parts "
    "point-witness power-identity product-lipschitz smooth-box smooth-point smooth-power staircase sum-slopes",
    "composition": "combination joint-moves shuffled-epsilon",
    "finite": "exponential-general finite-table kary-response kernel-box kernel-point",
    "selection": "alignment every-word log-concave-noisy-max log-concave-threshold selection-moduli survival told-words "
    "two-candidates worst-output worst-run worst-words",
}
_OF_THE_CLAIM: Final[Names] = {
    "additive": "cosets",
    "composition": "closed-epsilon closed-profile least-noise one-sided privacy-profile stated-epsilon",
    "processes": "cameron-martin elliptical-process-unbounded evaluations-epsilon orthogonal-laws",
    "selection": "each-noise selection-event-at votes-epsilon",
    "spaces": "cell-response density-mechanism given-mechanism grid-packing half-spaces near-dual near-table net-mechanism noise-near "
    "weighted-packing",
    "utility": "far-noise far-outputs",
}
_OF_CURVES: Final[Names] = {
    "composition": "best-of-renyi bounded-range finite-composition gaussian-composition group-privacy independent-coordinates "
    "joint-neighbours laplace-sums loss-distribution parallel-composition poisson-subsampling privacy-blanket renyi-composition "
    "sampling-without-replacement shuffled-bits shuffled-histograms shuffling single-part stated-guarantee",
    "curves": "correlated-gaussians every-shift finite-curve gaussian gaussian-scale-mixture kernel-pair laplace lattice least-curve line "
    "lipschitz-exponent optimal-composition pure-guarantee radial-caps smooth-curve uniform-ball",
    "processes": "elliptical-process process-evaluations",
    "selection": "compared-gaussians every-word-curve first-positive greatest-noise noisy-keys noisy-votes selection-event told-sums "
    "unseen-shifts",
}
_OF_BODIES: Final[Names] = {"utility": "independent-columns polytope simple-body"}
"""Rules about the volume and the moments of convex bodies."""
_OF_ERRORS: Final[Names] = {
    "utility": "expected-loss infinite-moments lattice-lower-bound linear-map lines-lower-bound log-concave-noise lp noise-moments "
    "noise-quantile polytope-tails prefix-errors radial-lower-bound randomized-response-estimate root-of-squares shape-lower-bound "
    "union-bound volume-lower-bound"
}
"""Rules about errors."""
_IN_MEASURES: Final[Names] = {
    "divergences": "added-measures best-of-measures finite-measures gaussian-measures implied-measures laplace-measures "
    "measures-of-a-curve measures-of-sums measures-of-votes sampled-measures selection-measures"
}
"""Rules about claims in zCDP, GDP and Renyi divergences."""

_BESIDE: Final[Names] = {"composition": "best-of post-processing privacy-filter", "curves": "student-t"}
"""Theorems that others go through, which no line names."""


def _held(*tables: Names) -> dict[str, str]:
    """The theory of each name."""
    return {name: theory for table in tables for theory, names in table.items() for name in names.split()}


class _Loaded(UserDict[str, Any]):
    """Theorems by their names, made from the theories that hold them; each is imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        return _theorem(self.data[name], name)


def _theorem(theory: str, name: str) -> Theorem:
    """The theorem of a name. Raises KeyError."""
    match theory:
        case "additive":
            from dpverify.trusted.theories.additive.rules import theorem
        case "composition":
            from dpverify.trusted.theories.composition.rules import theorem
        case "curves":
            from dpverify.trusted.theories.curves.rules import theorem
        case "divergences":
            from dpverify.trusted.theories.divergences.rules import theorem
        case "finite":
            from dpverify.trusted.theories.finite.rules import theorem
        case "processes":
            from dpverify.trusted.theories.processes.rules import theorem
        case "selection":
            from dpverify.trusted.theories.selection.rules import theorem
        case "spaces":
            from dpverify.trusted.theories.spaces.rules import theorem
        case "utility":
            from dpverify.trusted.theories.utility.rules import theorem
        case _:
            raise KeyError(theory)
    return theorem(name)


RULES: Final[Mapping[str, Rule]] = _Loaded(_held(_OF_THE_MECHANISM, _OF_THE_CLAIM, _OF_BODIES, _OF_ERRORS, _IN_MEASURES))
"""Every rule that a step may name."""

OF_THE_MECHANISM: Final = frozenset(_held(_OF_THE_MECHANISM))
"""The rules that speak of a mechanism at its sensitivity, whatever epsilon and delta are claimed: they are not shown these."""

OF_BODIES: Final = frozenset(_held(_OF_BODIES))
"""The rules that speak of a convex body of the mechanism's noise or of its query: they are not shown what is claimed."""

IN_MEASURES: Final = frozenset(_held(_IN_MEASURES))
"""The rules about the tight value in the measure that is claimed, of the whole or of a part."""

OF_CURVES: Final = frozenset(_held(_OF_CURVES))
"""The rules that speak of a curve: of any part, not of what is claimed."""

ANYWHERE: Final = OF_BODIES.union(
    OF_THE_MECHANISM - {"joint-moves"},
    ("cosets", "elliptical-process-unbounded", "evaluations-epsilon", "orthogonal-laws", "stated-epsilon"),
)
"""The rules about the pure epsilon of a mechanism, or about its bodies: of any part too."""

CURVES: Final[Mapping[str, Theorem]] = _Loaded(_held(_OF_CURVES, _BESIDE))
"""Every theorem about curves."""

THEORIES: Final = _held(_OF_THE_MECHANISM, _OF_THE_CLAIM, _OF_CURVES, _OF_BODIES, _OF_ERRORS, _IN_MEASURES, _BESIDE)
"""The theory that holds each theorem."""

EXPLAINED: Final[Mapping[str, Theorem]] = _Loaded(THEORIES)
"""Every theorem that a judgement may rest on: the rules, and those about curves that they go through."""
