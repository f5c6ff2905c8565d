"""Partitions by the declared loss, and which thresholds of the loss are worth a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy import special

from dpverify.audits.declared.base import Array, Function
from dpverify.audits.outputs import Outputs
from dpverify.audits.partition import Codes, CurvePoint
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import Claim

SCALES: Final = (0.9, 0.5, 0.8, 1.0)
"""The noise scales that a partition is to tell from the claim, the most important first; 1 for claims that the declaration breaks."""
MOST_THRESHOLDS: Final = 7
_WAYS: Final = "Correct the one that is wrong (is a `return` missing?), or audit the sampler without a declaration."


def _vectors(outputs: Outputs, dimension: int, what: str) -> np.ndarray[Any, Any]:
    """The numbers of outputs that are all vectors of the dimension."""
    outputs = outputs.measured()
    if outputs.shapes is not None:
        raise AuditError(
            f"the sampler's outputs have several shapes ({', '.join(outputs.names)}), and the mechanism that is declared gives {what}. "
            f"{_WAYS}"
        )
    if outputs.numbers.shape[1] != dimension or any(word in outputs.names[0] for word in ("str", "None", "bytes")):
        raise AuditError(f"the sampler gives {outputs.names[0]} as an output, and the mechanism that is declared gives {what}. {_WAYS}")
    return outputs.numbers


@dataclass(frozen=True, slots=True)
class Intervals:
    """Cells on the line: `cells[i]` is the cell of outputs y with edges[i - 1] < y <= edges[i]."""

    edges: tuple[float, ...]
    cells: tuple[int, ...]
    size: int

    def codes(self, outputs: Outputs) -> Codes:
        """The first cell plus the jump at every edge below the output, modulo 256: comparisons are faster than a search."""
        points = _vectors(outputs, 1, "one number").reshape(-1)
        codes = np.full(len(points), self.cells[0], dtype=np.uint8)
        above = np.empty(len(points), dtype=bool)
        for edge, (left, right) in zip(self.edges, pairwise(self.cells), strict=True):
            passed = np.greater(points, edge, out=above).view(np.uint8)
            jump = (right - left) % 256
            if jump == 1:
                codes += passed
            elif jump == 255:
                codes -= passed
            else:
                codes += passed * np.uint8(jump)
        return codes

    def describe(self, low: int, high: int) -> str:
        """The event as a union of intervals."""
        inside = [low <= cell < high for cell in self.cells]
        bounds = [-np.inf, *self.edges, np.inf]
        parts: list[tuple[float, float]] = []
        for i in np.flatnonzero(inside):
            if parts and parts[-1][1] == bounds[i]:
                parts[-1] = (parts[-1][0], bounds[i + 1])
            else:
                parts.append((bounds[i], bounds[i + 1]))
        return " or ".join(_interval(*part) for part in parts) or "no output"


def _interval(low: float, high: float) -> str:
    if low == -np.inf:
        return "any output" if high == np.inf else f"y <= {high:.10g}"
    return f"y > {low:.10g}" if high == np.inf else f"{low:.10g} < y <= {high:.10g}"


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of a finite set of outputs: `cells[y]` is the cell of column y."""

    cells: Codes
    size: int

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output. Raises AuditError for what is no column's index."""
        numbers = _vectors(outputs, 1, f"a column's index, 0 to {len(self.cells) - 1}").reshape(-1)
        indices = numbers.astype(np.int64)
        wrong = (indices != numbers) | (indices < 0) | (indices >= len(self.cells))
        if wrong.any():
            raise AuditError(
                f"the sampler gave {numbers[wrong.argmax()]}; the declaration wants a column's index, 0 to {len(self.cells) - 1}."
            )
        return self.cells[indices]

    def describe(self, low: int, high: int) -> str:
        """The columns in the event."""
        columns = np.flatnonzero((self.cells >= low) & (self.cells < high))
        return f"y in {{{', '.join(map(str, columns))}}}" if len(columns) else "no output"


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Cells by the declared loss of a vector: thresholds increase, cell k holds thresholds[k - 1] <= loss < thresholds[k].

    loss: of points (n, dimension), vectorised and picklable; words: the loss in words.
    read: the points of outputs that are none themselves.
    """

    loss: Function
    thresholds: tuple[float, ...]
    dimension: int
    words: str
    read: Callable[[Outputs], Array] | None = None

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.thresholds) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The number of thresholds that each output's loss reaches."""
        read = self.read or partial(_vectors, dimension=self.dimension, what=f"a vector of {self.dimension} numbers")
        return cells_of(self.loss(read(outputs)), self.thresholds)

    def describe(self, low: int, high: int) -> str:
        """The event as bounds of the loss."""
        ends = [-np.inf, *self.thresholds, np.inf]
        lower, upper = ends[low], ends[high]
        if lower == -np.inf:
            return "any output" if upper == np.inf else f"loss < {upper:.10g} ({self.words})"
        return f"loss >= {lower:.10g} ({self.words})" if upper == np.inf else f"{lower:.10g} <= loss < {upper:.10g} ({self.words})"


def cells_of(losses: Array, thresholds: Sequence[float]) -> Codes:
    """The number of thresholds that each loss reaches."""
    codes = np.zeros(len(losses), dtype=np.uint8)
    for threshold in thresholds:
        codes += losses >= threshold
    return codes


def information(p: Array, q: Array, epsilon: Array, delta: Array) -> Array:
    """The least KL(p || p0) + KL(q || q0), in nats a pair, over p0 <= e^epsilon q0 + delta (theory#information-limit); 0 where p, q
    keep the claim."""
    p, q, epsilon, delta = np.broadcast_arrays(p, q, epsilon, delta)
    factor = np.exp(np.minimum(epsilon, 700))
    low, high = q.copy(), np.maximum(q, (p - delta) / factor)  # q0, on the boundary of the claim: convex between these
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(28):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        left = _divergence(p, factor * a + delta) + _divergence(q, a) <= _divergence(p, factor * b + delta) + _divergence(q, b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    best = (low + high) / 2
    nats = _divergence(p, factor * best + delta) + _divergence(q, best)
    return np.where(p > factor * q + delta, np.nan_to_num(nats, nan=0.0, posinf=700.0), 0.0)


def _divergence(p: Array, p0: Array) -> Array:
    """KL of Bernoulli(p) from Bernoulli(p0)."""
    p0 = np.clip(p0, 1e-300, 1 - 1e-16)
    return np.asarray(special.rel_entr(p, p0) + special.rel_entr(np.maximum(1 - p, 0.0), 1 - p0))


MANY: Final = 1e7
"""Pairs of runs of a long audit."""


def choose(above: Array, above_prime: Array, claims: Sequence[CurvePoint], floor: float = 1e-9) -> list[int]:
    """Which of K thresholds to keep, at most MOST_THRESHOLDS, increasing indices.

    above, above_prime: (scales, K), the probability that the loss reaches each threshold under x and under x', at each of SCALES;
    the last row is the declaration itself. Greedy: for each scale and direction the best threshold for its information per pair, unless
    one that is kept already comes near it; the one with the best bound on epsilon after MANY pairs; then quantiles, for faults that are
    not a matter of scale. floor: information that is noise.
    """
    epsilon = np.array([point.epsilon for point in claims])[:, None, None]
    delta = np.array([point.delta for point in claims])[:, None, None]
    p, q = np.clip(above, 0, 1), np.clip(above_prime, 0, 1)
    gains = np.stack([information(p, q, epsilon, delta).max(axis=0), information(1 - q, 1 - p, epsilon, delta).max(axis=0)])
    kept: list[int] = []
    for scale in range(len(SCALES)):
        for gain in gains[:, scale]:
            best = int(gain.argmax())
            if gain[best] > floor and not any(gain[k] > 0.97 * gain[best] for k in kept):
                kept.append(best)
    for hits, others in ((p[-1], q[-1]), (1 - q[-1], 1 - p[-1])):  # the declaration itself, for the bound on epsilon in the end
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.log(hits / others) - 2 * np.sqrt((1 / hits + 1 / others) / MANY)
        best = int(np.nan_to_num(bound, nan=-np.inf, posinf=-np.inf).argmax())
        if best not in kept and np.isfinite(bound[best]):
            kept.append(best)
    pooled = (p[-1] + q[-1]) / 2
    for share in (0.5, 0.1, 0.9, 0.02, 0.98):
        nearest = int(np.abs(pooled - share).argmin())
        if 0 < pooled[nearest] < 1 and not any(abs(pooled[nearest] - pooled[k]) < 0.1 for k in kept):
            kept.append(nearest)
    return sorted(kept[:MOST_THRESHOLDS] or [int(np.abs(pooled - 0.5).argmin())])


def levels(losses: Array, weights: Array) -> Array:
    """Thresholds that are clear of every plateau of the loss, increasing: about 200 at most, dense where the mass is.

    Of few values, halfway between each two. Of a continuum, halfway between values that occur, and a thousandth of the range away from
    every value that has mass of its own: the rounding of a loss moves nothing over such a threshold.
    """
    order = np.argsort(losses, kind="stable")
    values, weights = losses[order], weights[order] / weights.sum()
    finite = values[np.isfinite(values)]
    least, most = (finite[0], finite[-1]) if len(finite) else (0.0, 0.0)
    values = np.clip(values, 2 * least - most - 1, 2 * most - least + 1)  # an infinite loss is a value of its own
    starts = np.concatenate(([0], np.flatnonzero(np.diff(values) > 1e-9 * (1 + np.abs(values[:-1]))) + 1))
    low, high = values[starts], values[np.append(starts[1:], len(values)) - 1]
    halfway = high[:-1] / 2 + low[1:] / 2
    if len(halfway) == 0:
        return np.asarray(high + 1)
    if len(halfway) <= 40:
        return np.asarray(halfway)
    mass = np.add.reduceat(weights, starts)
    shares = np.concatenate((np.geomspace(1e-7, 0.02, 40), np.linspace(0.025, 0.975, 96), 1 - np.geomspace(0.02, 1e-7, 40)))
    chosen = halfway[np.unique(np.clip(np.searchsorted(np.cumsum(mass), shares), 0, len(halfway) - 1))]
    heavy, margin = mass > 0.01, 1e-3 * (most - least)
    thresholds = np.unique(np.concatenate((chosen, low[heavy] - margin, high[heavy] + margin)))
    thresholds = thresholds[(thresholds > low[0]) & (thresholds <= low[-1])]
    apart = np.abs(thresholds[:, None] - np.concatenate((low[heavy], high[heavy]))).min(axis=1, initial=np.inf)
    return np.asarray(thresholds[apart > 0.999 * margin])


def to_refute(claim: Claim, losses: Array, curve: Callable[[], Sequence[CurvePoint] | None] = tuple) -> list[CurvePoint]:
    """What the thresholds are to refute: the claimed point; for a claim of "tight" the declared curve, and the largest loss."""
    if claim.epsilon is not None and claim.delta is not None:
        return [CurvePoint(number(claim.epsilon), number(claim.delta))]
    return [*(curve() or ())[::3], CurvePoint(float(losses[np.isfinite(losses)].max(initial=0.0)))]
