"""The one list of all rules by their names in certificates; a rule is loaded when its name is asked for."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dpverify.trusted.language.loading import note

if TYPE_CHECKING:
    from dpverify.trusted.facts.theorem import Rule, Theorem


_OF_THE_MECHANISM: Final = {
    "alignment": "selection.alignment",
    "combination": "composition.combination",
    "concave-exponent": "additive.concave_exponent",
    "convex-exponent": "additive.convex_exponent",
    "divergence": "additive.divergence",
    "equal-answers": "additive.equal_answers",
    "every-word": "selection.every_word",
    "exponential-general": "finite.exponential_general",
    "finite-table": "finite.finite",
    "kary-response": "finite.kary_response",
    "joint-moves": "composition.joint_moves",
    "kernel-box": "finite.kernel_box",
    "kernel-point": "finite.kernel_point",
    "log-concave-noisy-max": "selection.noisy_max",
    "log-concave-threshold": "selection.threshold",
    "mixture-closed-form": "additive.mixture_closed",
    "mixture-concave": "additive.mixture_concave",
    "modulus": "additive.modulus",
    "modulus-parts": "additive.modulus_parts",
    "point-witness": "additive.point_witness",
    "power-identity": "additive.power_identity",
    "product-lipschitz": "additive.product_lipschitz",
    "selection-moduli": "selection.moduli",
    "staircase": "additive.staircase",
    "survival": "selection.survival",
    "told-words": "selection.told_words",
    "two-candidates": "selection.two_candidates",
    "worst-output": "selection.worst_output",
    "worst-run": "selection.worst_run",
    "worst-words": "selection.worst_words",
}
_OF_THE_CLAIM: Final = {
    "cameron-martin": "additive.cameron_martin",
    "cell-response": "spaces.cell_response",
    "closed-epsilon": "composition.closed_epsilon",
    "closed-profile": "composition.closed_profile",
    "cosets": "additive.cosets",
    "density-mechanism": "spaces.density_mechanism",
    "each-noise": "selection.delta_each",
    "elliptical-process-unbounded": "additive.elliptical_process",
    "evaluations-epsilon": "additive.evaluations_epsilon",
    "given-mechanism": "spaces.given_mechanism",
    "grid-packing": "spaces.grid_packing",
    "half-spaces": "spaces.half_spaces",
    "one-sided": "composition.one_sided",
    "selection-event-at": "selection.delta_event_at",
    "near-dual": "spaces.near_dual",
    "near-table": "spaces.near_table",
    "far-outputs": "utility.far_outputs",
    "far-noise": "utility.far_noise",
    "net-mechanism": "spaces.net_mechanism",
    "noise-near": "spaces.noise_near",
    "orthogonal-laws": "additive.orthogonal_laws",
    "positivstellensatz": "inequalities.positivstellensatz",
    "privacy-profile": "composition.privacy_profile",
    "stated-epsilon": "guarantees.stated_epsilon",
    "weighted-packing": "spaces.weighted_packing",
}
_OF_CURVES: Final = {
    "bounded-range": "guarantees.bounded_range",
    "compared-gaussians": "selection.delta_release",
    "elliptical-process": "curves.elliptical_process",
    "every-shift": "curves.every_shift",
    "every-word-curve": "selection.delta_every_word",
    "finite-composition": "composition.finite_composition",
    "finite-curve": "curves.finite",
    "first-positive": "selection.delta_first_positive",
    "gaussian": "curves.gaussian",
    "gaussian-composition": "composition.gaussian_composition",
    "gaussian-scale-mixture": "curves.scale_mixture",
    "greatest-noise": "selection.delta_greatest",
    "group-privacy": "composition.group_privacy",
    "independent-coordinates": "composition.product",
    "joint-neighbours": "composition.joint_neighbours",
    "kernel-pair": "curves.kernel_pair",
    "laplace": "curves.laplace",
    "laplace-sums": "composition.laplace_sums",
    "lattice": "curves.lattice",
    "least-curve": "curves.least",
    "line": "curves.line",
    "lipschitz-exponent": "curves.gauge",
    "loss-distribution": "composition.loss_distribution",
    "optimal-composition": "curves.optimal_composition",
    "parallel-composition": "composition.parallel_composition",
    "poisson-subsampling": "composition.poisson_subsampling",
    "process-evaluations": "curves.process_evaluations",
    "pure-guarantee": "guarantees.pure_guarantee",
    "radial-caps": "curves.spherical_caps",
    "renyi-composition": "composition.renyi_composition",
    "sampling-without-replacement": "composition.sampling_without_replacement",
    "selection-event": "selection.delta_event",
    "single-part": "composition.single_part",
    "stated-guarantee": "guarantees.stated_guarantee",
    "uniform-ball": "curves.uniform_ball",
    "unseen-shifts": "selection.unseen_shifts",
}
_OF_BODIES: Final[Mapping[str, str]] = {
    "independent-columns": "utility.independent_columns",
    "polytope": "utility.polytope",
    "simple-body": "utility.simple_body",
}
"""Rules about the volume and the moments of convex bodies."""
_OF_ERRORS: Final[Mapping[str, str]] = {
    "expected-loss": "utility.expected_loss",
    "infinite-moments": "utility.infinite_moments",
    "lattice-lower-bound": "utility.lattice_lower_bound",
    "linear-map": "utility.linear_map",
    "lines-lower-bound": "utility.lines_lower_bound",
    "log-concave-noise": "utility.log_concave_noise",
    "lp": "utility.linear_program",
    "noise-moments": "utility.noise_moments",
    "noise-quantile": "utility.noise_quantile",
    "polytope-tails": "utility.polytope_tails",
    "randomized-response-estimate": "utility.randomized_response",
    "radial-lower-bound": "utility.radial_lower_bound",
    "root-of-squares": "utility.root_of_squares",
    "union-bound": "utility.union_bound",
    "volume-lower-bound": "utility.volume_lower_bound",
}
"""Rules about errors."""
_OF_UTILITY: Final = {**_OF_BODIES, **_OF_ERRORS}
_IN_MEASURES: Final[Mapping[str, str]] = {
    "added-measures": "measures.added",
    "discrete-gaussian-measures": "measures.discrete_gaussian",
    "finite-measures": "measures.finite",
    "gaussian-measures": "measures.gaussian",
    "implied-measures": "measures.implied",
    "laplace-measures": "measures.laplace",
    "measures-of-a-curve": "measures.of_a_curve",
    "parallel-measures": "measures.parallel",
    "sampled-measures": "measures.sampled",
    "selection-measures": "measures.selections",
}
"""Rules about claims in zCDP, GDP and Renyi divergences."""

_BESIDE: Final = {"post-processing": "composition.post_processing", "student-t": "curves.t_noise"}
"""Theorems that others go through, which no line names."""


class _Loaded(UserDict[str, Any]):
    """Modules of the folder of the rules by names of theorems, made from their places there; each is imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        place = f"dpverify.trusted.rules.{self.data[name]}"
        note((place,))
        return import_module(place)


RULES: Final[Mapping[str, Rule]] = _Loaded({**_OF_THE_MECHANISM, **_OF_THE_CLAIM, **_OF_UTILITY, **_IN_MEASURES})
"""Every rule that a step may name."""

OF_THE_MECHANISM: Final = frozenset(_OF_THE_MECHANISM)
"""The rules that speak of a mechanism at its sensitivity, whatever epsilon and delta are claimed: they are not shown these."""

OF_BODIES: Final = frozenset(_OF_BODIES)
"""The rules that speak of a convex body of the mechanism's noise or of its query: they are not shown what is claimed."""

IN_MEASURES: Final = frozenset(_IN_MEASURES)
"""The rules about the tight value in the measure that is claimed, of the whole or of a part."""

OF_CURVES: Final = frozenset(_OF_CURVES)
"""The rules that speak of a curve: of any part, not of what is claimed."""

ANYWHERE: Final = OF_BODIES.union(
    OF_THE_MECHANISM - {"combination", "joint-moves"},
    ("cosets", "elliptical-process-unbounded", "evaluations-epsilon", "orthogonal-laws", "stated-epsilon"),
)
"""The rules about the pure epsilon of a single mechanism, or about its bodies: of any part too."""

CURVES: Final[Mapping[str, Theorem]] = _Loaded({**_OF_CURVES, **_BESIDE})
"""Every theorem about curves."""

PLACES: Final[Mapping[str, str]] = {**_OF_CURVES, **_BESIDE, **_OF_THE_MECHANISM, **_OF_THE_CLAIM, **_OF_UTILITY, **_IN_MEASURES}
"""The module of every theorem, in the folder of the rules."""

EXPLAINED: Final[Mapping[str, Theorem]] = _Loaded(PLACES)
"""Every theorem that a judgement may rest on: the rules, and those about curves that they go through."""
