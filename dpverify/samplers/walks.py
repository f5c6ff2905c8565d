"""Random walks in a convex body, for polytopes whose facets are out of reach of an exact sampler. Walk: not certified.

The body is known by an oracle: whether a point is in it, and how far it reaches along a line. For the hull of columns both are linear
programs. `hit_and_run` goes to a uniform point of a random chord; `grid_walk` is the lazy walk on a grid that Hardt and Talwar analyse
(2010, Section 8). Both have the uniform law of the body as their limit, and no number of steps is known here after which they are near
to it. What can be looked at is told: whether chains agree (R-hat), how many independent points they are worth, and whether the d-th power
of the norm is uniform on [0, 1], as it is under the limit. None of these proves anything: see `weakened` for what closeness would give
(theory#near-draws).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from dpverify.errors import DataError, NoSampler
from dpverify.samplers.polytope import Polytope
from dpverify.trusted.kernel.model import Matrix

Array = NDArray[np.float64]

LABEL: Final = "walk: not certified"
_INSIDE: Final = 1e-9


class Body(Protocol):
    """A symmetric convex body that spans R^d, as an oracle; points are rows."""

    @property
    def dimension(self) -> int:
        """d."""

    def norm(self, points: Array) -> Array:
        """The norm whose unit ball the body is, of each point."""

    def reach(self, points: Array, directions: Array) -> tuple[Array, Array]:
        """The least and the greatest t with point + t direction in the body, for each."""


@dataclass(frozen=True)
class Hull:
    """The hull of + and - columns, by linear programs: the norm of x is the least sum of |w| over all w with F w = x.

    columns: as rows.
    """

    columns: Array

    @property
    def dimension(self) -> int:
        """How many numbers a column has."""
        return int(self.columns.shape[1])

    def norm(self, points: Array) -> Array:
        """One linear program for each point."""
        both, costs = np.concatenate((self.columns, -self.columns)).T, np.ones(2 * len(self.columns))
        return np.array([_solved(costs, A_eq=both, b_eq=point).fun for point in points])

    def reach(self, points: Array, directions: Array) -> tuple[Array, Array]:
        """Two linear programs for each point."""
        count = 2 * len(self.columns)
        both = np.concatenate((self.columns, -self.columns)).T
        most, bounds = np.append(np.ones(count), 0.0)[None], [(0, None)] * count + [(None, None)]
        ends = []
        for point, direction in zip(points, directions, strict=True):
            equal = np.hstack((both, -direction[:, None]))
            for sign in (1.0, -1.0):
                costs = np.append(np.zeros(count), sign)
                ends.append(_solved(costs, A_ub=most, b_ub=np.ones(1), A_eq=equal, b_eq=point, bounds=bounds).x[-1])
        return np.array(ends[::2]), np.array(ends[1::2])


def _solved(costs: Array, **given: Any) -> Any:
    """A linear program's solution. Raises NoSampler where there is none."""
    found = linprog(costs, method="highs", **given)
    if found.status != 0:
        raise NoSampler(f"the linear program of the walk has no solution: {found.message}")
    return found


@dataclass(frozen=True, slots=True)
class Facets:
    """The points x with |<a, x>| <= 1 for every row a."""

    rows: Array

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""
        return int(self.rows.shape[1])

    def norm(self, points: Array) -> Array:
        """The largest |<a, x>|."""
        return np.asarray(np.abs(points @ self.rows.T).max(axis=1))

    def reach(self, points: Array, directions: Array) -> tuple[Array, Array]:
        """Where the line leaves the first facet, on either side."""
        at, along = points @ self.rows.T, directions @ self.rows.T
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(along != 0, (np.sign(along) - at) / along, inf)
            behind = np.where(along != 0, (-np.sign(along) - at) / along, -inf)
        return behind.max(axis=1), ahead.min(axis=1)


def hull(columns: Matrix) -> Hull:
    """The hull of + and - the columns, given as rows. Raises NoSampler where they do not span R^d."""
    found = np.array([[float(entry) for entry in column] for column in columns])
    if np.linalg.matrix_rank(found) < found.shape[1]:
        raise NoSampler("the columns do not span the space: walk in their span.")
    return Hull(found)


def facets(polytope: Polytope) -> Facets:
    """The body of a polytope whose facets are known, which spans R^d."""
    return Facets(np.asarray(polytope.normals @ np.linalg.pinv(polytope.basis).T))


# -- the walks ---------------------------------------------------------------------------------------------------

Step = Callable[[Body, Array, np.random.Generator], Array]
"""One step of many chains, whose points are rows."""


def hit_and_run(body: Body, points: Array, rng: np.random.Generator) -> Array:
    """To a uniform point of the chord in a uniform direction."""
    directions = rng.standard_normal(points.shape)
    behind, ahead = body.reach(points, directions)
    return np.asarray(points + directions * rng.uniform(behind, ahead)[:, None])


@dataclass(frozen=True, slots=True)
class GridWalk:
    """The lazy walk on a grid: half the time it stays, else it goes to a neighbour on the grid if that is in the body.

    axes: a basis, as rows, each as long as a side of the grid's cells; `grid` makes them.
    """

    axes: Array

    def __call__(self, body: Body, points: Array, rng: np.random.Generator) -> Array:
        """One step: one question to the oracle for each chain that moves."""
        moving = np.flatnonzero(rng.integers(2, size=len(points)))
        chosen, signs = rng.integers(len(self.axes), size=len(moving)), 2.0 * rng.integers(2, size=len(moving)) - 1
        there = points[moving] + signs[:, None] * self.axes[chosen]
        inside = body.norm(there) <= 1 + _INSIDE
        points = points.copy()
        points[moving[inside]] = there[inside]
        return points

    def spread(self, points: Array, rng: np.random.Generator) -> Array:
        """Points of the grid moved to a uniform point of their cells, so that all of the body is met (HT, Appendix A)."""
        return np.asarray(points + rng.uniform(-0.5, 0.5, points.shape) @ self.axes)


def grid_walk(body: Body, cells: int | None = None) -> GridWalk:
    """The walk on a grid whose axes reach the body's boundary after so many cells, the dimension where nothing is said."""
    axes = np.eye(body.dimension)
    _, ahead = body.reach(np.zeros_like(axes), axes)
    return GridWalk(axes * ahead[:, None] / (cells or body.dimension))


@dataclass(frozen=True)
class Walked:
    """What chains have met, and what they tell of themselves.

    chains: shape (chains, points, d). body: where they walked.
    """

    chains: Array
    body: Body

    @property
    def points(self) -> Array:
        """All points, as rows. They are not independent."""
        return self.chains.reshape(-1, self.body.dimension)

    @cached_property
    def norms(self) -> Array:
        """The norm of each point."""
        return self.body.norm(self.points)

    @cached_property
    def _powers(self) -> Array:
        """The d-th power of the norm of each point: uniform on [0, 1] under the uniform law of the body."""
        return np.asarray(self.norms**self.body.dimension).reshape(self.chains.shape[:2])

    @cached_property
    def _looked_at(self) -> list[Array]:
        """The numbers whose chains are compared: every coordinate, and the power of the norm."""
        return [*np.moveaxis(self.chains, 2, 0), self._powers]

    @cached_property
    def r_hat(self) -> float:
        """The greatest split R-hat: 1 where halves of chains agree, and above 1.01 where they have not yet met the same law."""
        return max(map(r_hat, self._looked_at))

    @cached_property
    def effective(self) -> float:
        """How many independent points they are worth, at least, for the means of what is looked at."""
        return min(map(effective, self._looked_at))

    @cached_property
    def uniformity(self) -> float:
        """The p-value of Kolmogorov's test that powers of the norm are uniform, on as many points as are worth independent ones."""
        from scipy.stats import kstest  # takes long to load, and few samplers walk

        step = max(1, int(np.ceil(self._powers.size / self.effective)))
        return float(kstest(self._powers.ravel()[::step], "uniform").pvalue)

    @property
    def measured(self) -> str:
        """What the chains tell of themselves, in words."""
        return (
            f"R-hat {self.r_hat:.4f}, worth {self.effective:.0f} independent points, p = {self.uniformity:.2g} that powers of the norm "
            "are uniform"
        )

    @property
    def told(self) -> tuple[str, ...]:
        """What is to be said beside every use of the points."""
        return LABEL, self.measured, weakening("the walk's")


def weakening(whose: str) -> str:
    """What holds of a walk in place of what is claimed. whose: unknown distance it is."""
    return (
        f"a claim of (epsilon, delta) for the exact noise holds for the walk only as (epsilon, delta + (1 + e^epsilon) tau), where tau is "
        f"{whose} unknown distance from the uniform law in total variation"
    )


def walk(
    body: Body, step: Step, points: int, rng: np.random.Generator, *, chains: int = 4, thin: int = 1, burn: int | None = None
) -> Walked:
    """So many points of each of some chains that begin at 0, after `burn` steps, one point every `thin` steps.

    burn: as many as there are between the first point and the last, where nothing is said.
    """
    if points < 4 or chains < 1 or thin < 1:
        raise DataError("a walk takes at least one chain of at least four points, one a step at most.")
    here = np.zeros((chains, body.dimension))
    for _ in range(points * thin if burn is None else burn):
        here = step(body, here, rng)
    found = np.empty((chains, points, body.dimension))
    for i in range(points):
        for _ in range(thin):
            here = step(body, here, rng)
        found[:, i] = step.spread(here, rng) if isinstance(step, GridWalk) else here
    return Walked(found, body)


# -- what chains tell --------------------------------------------------------------------------------------------


def r_hat(values: Array) -> float:
    """The split R-hat of chains of numbers, shape (chains, points): Gelman & Rubin 1992, on halves of chains."""
    half = values.shape[1] // 2
    parts = np.concatenate((values[:, :half], values[:, -half:]))
    within, between = parts.var(axis=1, ddof=1).mean(), parts.mean(axis=1).var(ddof=1)
    return float(np.sqrt((half - 1) / half + between / within)) if within > 0 else inf


def effective(values: Array) -> float:
    """The effective sample size of chains of numbers, shape (chains, points), by Geyer's initial monotone sequence."""
    chains, points = values.shape
    centred = values - values.mean(axis=1, keepdims=True)
    transformed = np.fft.rfft(centred, 2 * points, axis=1)
    autocovariance = np.fft.irfft(np.abs(transformed) ** 2, axis=1)[:, :points].mean(axis=0) / points
    within = autocovariance[0] * points / (points - 1)
    between = values.mean(axis=1).var(ddof=1) if chains > 1 else 0.0
    whole = within * (points - 1) / points + between
    if not whole > 0:
        return 0.0
    correlation = 1 - (within - autocovariance) / whole
    pairs = correlation[: points // 2 * 2].reshape(-1, 2).sum(axis=1)
    ended = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: ended[0] if len(ended) else None])
    return float(min(chains * points / max(2 * pairs.sum() - 1, 1e-3), chains * points))


def weakened(epsilon: float, delta: float, *, relative: float | None = None, total_variation: float | None = None) -> tuple[float, float]:
    """The claim that holds where an exact mechanism's (epsilon, delta) does, and what is drawn is only near to it on every input.

    relative: densities are within a factor of 1 - eta and 1 + eta everywhere (HT, Lemma A.1). total_variation: at most tau apart.
    """
    if (relative is None) == (total_variation is None) or not 0 <= (relative or 0.0) < 1 or not 0 <= (total_variation or 0.0) <= 1:
        raise DataError("say how near: relative below 1, or total_variation of at most 1, one of them.")
    if relative is not None:
        return epsilon + log((1 + relative) / (1 - relative)), min(1.0, (1 + relative) * delta)
    assert total_variation is not None
    return epsilon, min(1.0, delta + (1 + exp(epsilon)) * total_variation)
