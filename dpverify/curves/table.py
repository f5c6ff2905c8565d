"""The one list of the theorems about curves, by their names in certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from dpverify.curves import (
    caps,
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
    normal,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    product,
    pure,
    pure_guarantee,
    renyi_composition,
    sampling_without_replacement,
    scale_mixture,
    stated_guarantee,
    t_noise,
    uniform_ball,
)
from dpverify.model import Source


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
    caps,
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
    normal,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    product,
    pure,
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
