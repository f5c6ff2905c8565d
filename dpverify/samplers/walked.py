"""Directions of noise in the norm of a polytope by walks, for polytopes whose facets are out of reach. Walk: not certified.

The polytope is first mapped to one of which the columns, or the rows of facets, have the unit matrix for their second moments: a long
and thin one is walked through no slower than a round one, and the uniform law is mapped to the uniform law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import DataError, NoSampler
from dpverify.samplers import walks
from dpverify.samplers.walks import LABEL, Body, Step
from dpverify.trusted.kernel.model import Norm

Array = NDArray[np.float64]

WALKS: Final[Mapping[str, Callable[[Body], Step]]] = {"hit-and-run": lambda body: walks.hit_and_run, "grid": walks.grid_walk}
"""How to walk, by name."""
CHAINS: Final = 4
LEAST: Final = 100
"""Points of each chain at least, and steps before the first of them."""
DEPENDENT: Final = "outputs of one run depend on each other: for data that are released, take one output of each run"


@dataclass(eq=False)
class Walking:
    """Walks in all norms of a mechanism that have a polytope for their unit ball. how: a name of `WALKS`.

    norms: how many there are. met: what the walks of the last draws tell of themselves, one after the other.
    """

    how: str
    norms: int = 0
    met: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.how not in WALKS:
            raise DataError(f"walk = {self.how!r} is not one of {', '.join(WALKS)}.")

    @property
    def told(self) -> tuple[str, ...]:
        """What is to be said beside every use of what was drawn."""
        return (LABEL, *self.met, walks.weakening("the walk's" if self.norms == 1 else "the sum of all walks'"), DEPENDENT)

    def directions(self, norm: Norm, dimension: int) -> tuple[Callable[[int, np.random.Generator], Array], str]:
        """So many directions of the norm of a polytope, by the cone measure if the walk has come to its limit, and in words."""
        body, back = _round(norm)
        step = WALKS[self.how](body)
        self.norms += 1
        number = self.norms

        def drawn(size: int, rng: np.random.Generator) -> Array:
            found = walks.walk(body, step, max(LEAST, ceil(size / CHAINS)), rng, chains=CHAINS)
            if number == 1:
                self.met.clear()
            self.met.append(f"{'' if self.norms == 1 else f'walk {number}, '}{found.measured}")
            kept = np.linspace(0, len(found.points) - 1, size).round().astype(int)
            return np.asarray(found.points[kept] / found.norms[kept, None] @ back)

        return drawn, f"directions of points of a walk, {self.how}, in the unit ball ({LABEL})"


def _round(norm: Norm) -> tuple[Body, Array]:
    """The polytope, mapped, and the matrix that takes its points, as rows, back. Raises NoSampler where it does not span the space."""
    given = walks.hull(norm.matrix).columns
    second = given.T @ given / len(given)
    if norm.kind == "columns":
        factor = np.linalg.cholesky(second)
        return walks.Hull(np.asarray(np.linalg.solve(factor, given.T).T)), np.asarray(factor.T)
    factor = np.asarray(np.linalg.inv(np.linalg.cholesky(second)).T)
    return walks.Facets(np.asarray(given @ factor)), np.asarray(factor.T)


def walking(how: str | None) -> Walking | None:
    """A walk by its name, if one is named. Raises DataError."""
    return None if how is None else Walking(how)


def require_walked(walk: Walking | None) -> None:
    """Raises NoSampler where a walk is asked for and there is nothing to walk in."""
    if walk is not None and not walk.norms:
        raise NoSampler("no noise here is in the norm of a polytope, by columns or facets: a walk has nothing to walk in. Leave it out.")
