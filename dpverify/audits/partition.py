"""What the privacy testers share: a partition of the outputs into ordered cells, and the claimed curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from dpverify.audits.outputs import Outputs

MAX_CELLS: Final = 16
FEW: Final = 3  # cells
Codes = np.ndarray[Any, np.dtype[np.uint8]]
Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point (epsilon in nats, delta) of a claimed privacy curve, rounded up where it had to be rounded."""

    epsilon: float
    delta: float = 0.0


class Partition(Protocol):
    """A fixed rule that sorts an output into one of `size` cells, ordered by how much it speaks for x against x'.

    Picklable, and a pure function of the output: what a worker counts does not depend on the worker.
    """

    @property
    def size(self) -> int:
        """The number of cells, 2 to MAX_CELLS."""

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output, in range(size)."""

    def describe(self, low: int, high: int) -> str:
        """The event {low <= cell < high} in words that a reviewer can check: "y <= 0.25"."""


def joint_counts(partition: Partition, left: Outputs, right: Outputs, segments: int = 1) -> Counts:
    """How often cells (i, j) met in each of `segments` equal runs of pairs: shape (segments, K, K).

    left, right: as many outputs on x as on x', a multiple of `segments`.
    """
    return code_counts(partition.size, partition.codes(left), partition.codes(right), segments)


def code_counts(size: int, left: Codes, right: Codes, segments: int = 1) -> Counts:
    """How often codes (i, j), each below `size`, met in each of `segments` equal runs: shape (segments, size, size)."""
    if size <= FEW and segments == 1:  # comparisons of bytes are much faster than counting all at once
        return _few_counts(size, left, right)
    joint = left * np.uint8(size) + right  # at most 16 * 16 - 1
    return np.stack([np.bincount(part, minlength=size * size).reshape(size, size) for part in joint.reshape(segments, -1)])


def _few_counts(size: int, left: Codes, right: Codes) -> Counts:
    """The joint counts of few cells: of those past the first by comparisons, the rest by what is left of the sums."""
    inside = [[codes == cell for cell in range(1, size)] for codes in (left, right)]
    ours, theirs = (np.array([np.count_nonzero(held) for held in side]) for side in inside)
    counts = np.zeros((size, size), np.int64)
    for i, j in np.argwhere(np.outer(ours, theirs) > 0):
        counts[i + 1, j + 1] = np.count_nonzero(inside[0][i] & inside[1][j])
    counts[1:, 0] = ours - counts[1:, 1:].sum(axis=1)
    counts[0, 1:] = theirs - counts[1:, 1:].sum(axis=0)
    counts[0, 0] = len(left) - counts.sum()
    return counts[None]
