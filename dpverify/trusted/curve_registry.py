"""The one list of the theorems about curves, by their names in certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from dpverify.trusted.language.model import Source
from dpverify.trusted.rules.composition import (
    finite_composition,
    finite_losses,
    gaussian_composition,
    group_privacy,
    laplace_sums,
    losses,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    product,
    renyi_composition,
    sampling_without_replacement,
)
from dpverify.trusted.rules.curves import (
    elliptical_process,
    finite,
    gauge,
    gaussian,
    laplace,
    lattice,
    line,
    optimal_composition,
    scale_mixture,
    spherical_caps,
    t_noise,
    uniform_ball,
)
from dpverify.trusted.rules.guarantees import pure_guarantee, stated_guarantee


class Theorem(Protocol):
    """What every module about a theorem holds; see the package's docstring."""

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


_THEOREMS: Final[tuple[Theorem, ...]] = (
    spherical_caps,
    elliptical_process,
    finite,
    finite_composition,
    finite_losses,
    gauge,
    gaussian_composition,
    group_privacy,
    laplace,
    laplace_sums,
    lattice,
    line,
    losses,
    gaussian,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    product,
    optimal_composition,
    pure_guarantee,
    renyi_composition,
    sampling_without_replacement,
    scale_mixture,
    uniform_ball,
    stated_guarantee,
    t_noise,
)

CURVES: Final[Mapping[str, Theorem]] = {theorem.NAME: theorem for theorem in _THEOREMS}
"""Every theorem about curves by its name."""
