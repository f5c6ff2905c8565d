"""The one list of all rules: what the kernel accepts, and nothing else is ever looked up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from dpverify.trusted.curve_registry import CURVES, Theorem
from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.model import Claim, Source
from dpverify.trusted.rules.additive import (
    cameron_martin,
    concave_exponent,
    convex_exponent,
    cosets,
    divergence,
    elliptical_process,
    equal_answers,
    mixture_closed,
    mixture_concave,
    modulus,
    point_witness,
    power_identity,
    product_lipschitz,
    staircase,
)
from dpverify.trusted.rules.composition import basic_composition, closed_profile, combination, measures, privacy_profile
from dpverify.trusted.rules.finite import exponential_general, finite, kernel_box, kernel_point, selection
from dpverify.trusted.rules.guarantees import stated_epsilon
from dpverify.trusted.rules.inequalities import positivstellensatz


class Rule(Protocol):
    """What every rule module holds; see the package's docstring."""

    @property
    def NAME(self) -> str: ...
    @property
    def STATEMENT(self) -> str: ...
    @property
    def CHECKED(self) -> tuple[str, ...]: ...
    @property
    def ASSUMED(self) -> tuple[str, ...]: ...
    @property
    def SOURCE(self) -> Source: ...

    def check(self, claim: Claim, evidence: Mapping[str, Any]) -> Bound | tuple[Bound, ...]:
        """The bounds that the rule proves for this claim from this evidence. Raises Rejected or Undecided."""
        ...


_RULES: Final[tuple[Rule, ...]] = (
    basic_composition,
    cameron_martin,
    closed_profile,
    combination,
    concave_exponent,
    convex_exponent,
    cosets,
    divergence,
    elliptical_process,
    equal_answers,
    exponential_general,
    finite,
    kernel_box,
    kernel_point,
    measures,
    mixture_closed,
    mixture_concave,
    modulus,
    point_witness,
    power_identity,
    privacy_profile,
    product_lipschitz,
    positivstellensatz,
    selection,
    staircase,
    stated_epsilon,
)

TABLE: Final[Mapping[str, Rule]] = {rule.NAME: rule for rule in _RULES}
"""Every rule by its name in certificates."""

OF_THE_MECHANISM: Final = frozenset(
    rule.NAME
    for rule in (
        combination,
        concave_exponent,
        convex_exponent,
        divergence,
        equal_answers,
        exponential_general,
        finite,
        kernel_box,
        kernel_point,
        mixture_closed,
        mixture_concave,
        modulus,
        point_witness,
        power_identity,
        product_lipschitz,
        selection,
        staircase,
    )
)
"""The rules that speak of a mechanism at its sensitivity, whatever epsilon and delta are claimed: they are not shown these."""

EXPLAINED: Final[Mapping[str, Theorem]] = {**CURVES, **TABLE}
"""Every theorem that a judgement may rest on: the rules, and those about curves that they go through."""
