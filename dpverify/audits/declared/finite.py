"""Laws on finitely many outputs: tables, exponential mechanisms and k-ary randomized response, as a matrix of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy import special

from dpverify.audits.declared.base import Array, Declared, difference
from dpverify.audits.declared.cells import SCALES, Columns, cells_of, choose, levels, to_refute
from dpverify.audits.declared.curves import CURVE_POINTS, rounded_up
from dpverify.audits.partition import MAX_CELLS, CurvePoint
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import Claim, Exponential, KaryResponse, Table

MOST_ROWS: Final = 2048


class Rows(Declared):
    """A finite mechanism as a matrix of probabilities."""

    kind = "finite"
    dimension = 1

    def __init__(self, claim: Claim, rows: Array, pairs: frozenset[tuple[int, int]]) -> None:
        self.claim, self.rows, self.pairs = claim, rows, pairs

    def row_of(self, x: Array) -> int:
        """The number of the row of an input, which is that number itself."""
        return int(x[0])

    def _loss(self, a: int, b: int) -> Array:
        with np.errstate(divide="ignore"):
            return difference(np.log(self.rows[a]), np.log(self.rows[b]))

    def _tempered(self, row: int, scale: float) -> Array:
        with np.errstate(all="ignore"):
            logs = np.log(self.rows[row]) / scale
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """The adjacent rows with the largest log-ratio; of those that have it, the one that shows it with the most mass."""
        best, chosen = (-1.0, -1.0), None
        for a, b in sorted(self.pairs):
            loss = self._loss(a, b)
            top = loss.max()
            mass = float(self.rows[a][loss >= top - 1e-9].sum())
            if (top, mass) > (best[0] + 1e-12, -1.0) or (abs(top - best[0]) <= 1e-12 and mass > best[1] + 1e-12):
                best, chosen = (float(top), mass), (a, b)
        return [] if chosen is None else [(np.array([chosen[0]]), np.array([chosen[1]]))]

    def partition(self, x: Array, x_prime: Array) -> Columns:
        """Columns by their loss: every value a cell, where these are at most 16."""
        a, b = self.row_of(x), self.row_of(x_prime)
        losses = self._loss(a, b)
        thresholds = levels(losses, self.rows[a] + self.rows[b])
        if len(thresholds) >= MAX_CELLS:
            reached = losses[:, None] >= thresholds
            tables = [np.stack([self._tempered(row, scale) for scale in SCALES]) @ reached for row in (a, b)]
            thresholds = thresholds[choose(tables[0], tables[1], to_refute(self.claim, losses))]
        return Columns(cells_of(losses, thresholds.tolist()), len(thresholds) + 1)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Sums of the tempered rows."""
        partition = self.partition(x, x_prime)
        rows = (self._tempered(self.row_of(answer), scale) for answer in (x, x_prime))
        p, q = (np.bincount(partition.cells, weights=row, minlength=partition.size) for row in rows)
        return p, q

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the rows are adjacent, or the same."""
        a, b = self.row_of(x), self.row_of(x_prime)
        return a == b or (a, b) in self.pairs

    def curve(self) -> tuple[CurvePoint, ...]:
        """Sums over the columns, at the worst of all adjacent pairs."""
        losses = np.concatenate([self._loss(a, b) for a, b in self.pairs] or [np.zeros(1)])
        epsilons = np.linspace(0, min(float(losses[np.isfinite(losses)].max(initial=0.0)), 30.0), CURVE_POINTS)
        sides = [np.maximum(self.rows[a] - np.exp(epsilons)[:, None] * self.rows[b], 0).sum(axis=1) for a, b in self.pairs]
        return rounded_up(epsilons, np.max(sides, axis=0, initial=0.0))

    def probabilities(self, x: Array) -> Array:
        """The row of an input."""
        return np.asarray(self.rows[self.row_of(x)])


def finite(claim: Claim) -> Rows | None:
    """The matrix of a table, of an exponential mechanism or of k-ary randomized response; None for one too large."""
    mechanism = claim.mechanism
    if isinstance(mechanism, KaryResponse):
        k, p = int(number(mechanism.k)), number(mechanism.p)
        if k > MOST_ROWS:
            return None
        rows = np.full((k, k), (1 - p) / (k - 1))
        np.fill_diagonal(rows, p)
        return Rows(claim, rows, frozenset({(0, 1), (1, 0)} if k > 64 else _both_ways(k, None)))
    assert isinstance(mechanism, Table | Exponential)
    if isinstance(mechanism, Table):
        rows = np.array([[number(entry) for entry in row] for row in mechanism.rows])
        return Rows(claim, rows / rows.sum(axis=1, keepdims=True), frozenset(_both_ways(len(rows), mechanism.adjacent)))
    scores = np.array([[number(entry) for entry in row] for row in mechanism.scores])
    pairs = _both_ways(len(scores), mechanism.adjacent)
    if mechanism.points:  # the metric form speaks of pairs at distance 1, or of those within the sensitivity
        reach = 1.0 if claim.sensitivity is None else number(claim.sensitivity)
        pairs = {(a, b) for a, b in pairs if -scores[a, b] <= reach * (1 + 1e-9)}
    exponents = number(mechanism.beta) * scores
    if mechanism.weights:
        exponents = exponents + np.log([number(weight) for weight in mechanism.weights])
    return Rows(claim, special.softmax(exponents, axis=1), frozenset(pairs))


def _both_ways(count: int, adjacent: Sequence[tuple[int, int]] | None) -> set[tuple[int, int]]:
    pairs = [(a, b) for a in range(count) for b in range(count)] if adjacent is None else adjacent
    return {pair for a, b in pairs if a != b for pair in ((a, b), (b, a))}
