"""What a declaration gives the audit, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from dpverify.audits.partition import CurvePoint, Partition

Array = np.ndarray[Any, Any]
Function = Callable[[Array], Array]
Cdf = Callable[[Array], Array]
"""A distribution function, on float arrays of any shape; 0 and 1 at -inf and inf."""


class Declared(ABC):
    """The law that a claim declares, in floats. Made by `declared`; `kind` says which of the distribution functions exist.

    kind          outputs                         true answer             has
    "line"        one real                        one real                noise_cdf
    "integers"    one integer                     one integer             noise_cdf, steps at the integers
    "radial"      `dimension` >= 2 reals          as many reals           radius_cdf, norm, directions
    "product"     `dimension` >= 2 reals          as many reals           noise_cdf, of each coordinate
    "finite"      a column index 0, 1, ...        a row index             probabilities
    "kernel"      one real                        one real (theta)        output_cdf
    "selection"   an index, or yes and no; also   `dimension` reals       probabilities, of the columns of its `reader`
                  with numbers, or one number
    """

    kind: ClassVar[str]
    draws: ClassVar[int | None] = None
    """Of how many seeded draws the probabilities of `law` are frequencies; None where they are computed."""
    dimension: int

    @abstractmethod
    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """One or two pairs of true answers (q(x), q(x')), each of shape (width,), that matter most: at the claim's sensitivity."""

    @abstractmethod
    def partition(self, x: Array, x_prime: Array) -> Partition:
        """Cells by the declared loss between the answers x and x', at most 8 (16 for finite outputs), picklable.

        Its `codes` takes `Outputs` of one shape, a number or a vector of `dimension`; raises AuditError for any other.
        """

    @abstractmethod
    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array] | None:
        """The probabilities of the cells of `partition(x, x_prime)` under x and under x' when the noise is `scale` times the declared.

        For finite and kernel mechanisms "scale" is the temperature: probabilities proportional to p ** (1 / scale).
        Of vectors by seeded simulation (standard errors below 0.003), else by quadrature.
        """

    @abstractmethod
    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether two true answers are within the sensitivity, up to rounding (1e-9 relative)."""

    def distance(self, change: Array) -> float:
        """The size of a change of answers in the norm that the sensitivity is measured in; of rows and of theta, of one number."""
        return float(np.abs(change).max(initial=0.0))

    @abstractmethod
    def curve(self) -> tuple[CurvePoint, ...] | None:
        """The declared density's own privacy curve at up to 12 epsilons, deltas rounded up; None where it is not known."""

    def noise_cdf(self) -> Cdf | None:
        """The distribution function of output minus answer: "line", "integers" (right-continuous steps), "product" (a coordinate)."""
        return None

    def radius_cdf(self) -> Cdf | None:
        """For "radial": the distribution function of norm(output - answer). In any norm its density is r^(d - 1) profile(r / scale)."""
        return None

    def norm(self, points: Array) -> Array | None:
        """For "radial": the norm of each row of points (n, dimension): the unscaled norm of the declaration."""
        return None

    def directions(self, size: int, rng: np.random.Generator) -> Array | None:
        """For "radial": noise divided by its norm, a point of the unit sphere by the cone measure: shape (size, dimension)."""
        return None

    def probabilities(self, x: Array) -> Array | None:
        """For "finite": the row of probabilities of the input of index x[0]. For "selection": that of the answers x."""
        return None

    def output_cdf(self, x: Array) -> Cdf | None:
        """For "kernel": the distribution function of the output at theta = x[0]."""
        return None


def difference(log_p: Array, log_q: Array) -> Array:
    """The loss; 0 where both laws have no density, or poles."""
    with np.errstate(invalid="ignore"):
        loss = log_p - log_q
    return np.where(np.isnan(loss), 0.0, loss)
