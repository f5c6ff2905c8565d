"""Exact numbers of any size for testers that compute in floats: as differences from a true answer, or as places among those seen before.

Both are fixed maps of an output, so a partition of what they give is a partition of the outputs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpverify.audits.outputs import Array, Outputs, kinds
from dpverify.audits.partition import Codes, Partition

MOST: Final = 4096  # numbers of a column that have a place of their own
SHOWN: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """For some columns, the place of a number among sorted ones: i for the i-th (from 0), i - 1/2 for what lies just before it."""

    columns: tuple[tuple[int, Array], ...]

    def of(self, outputs: Outputs) -> Outputs:
        """The outputs with places for the numbers of these columns."""
        numbers = outputs.numbers.astype(np.float64)
        for index, known in self.columns:
            if index < numbers.shape[1]:
                values = outputs.column(index)
                at = np.searchsorted(known, values if values.dtype == known.dtype else values.astype(object))
                met = known[np.minimum(at, len(known) - 1)] == values
                numbers[:, index] = np.where(met.astype(bool), at, at - 0.5)
        return Outputs(numbers, outputs.shapes, outputs.names)


def places_of(past: Outputs) -> Places | None:
    """The places of the columns whose numbers floats do not tell apart; None where they tell all apart.

    All numbers that were seen have a place; of very many, those that came most often, and quantiles of the others.
    """
    places = []
    text = {index for name in past.names for index, kind in enumerate(kinds(name)) if kind in ("str", "bytes")}
    for index in range(past.numbers.shape[1]):
        values = past.column(index)
        if index in text or values.dtype.kind == "f":
            continue
        known, counts = np.unique(values, return_counts=True)
        if len(np.unique(known.astype(np.float64) if values.dtype.kind == "i" else past.numbers[:, index])) < len(known):
            if len(known) > MOST:
                often = np.argsort(-counts, kind="stable")[: MOST // 2]
                spread = np.linspace(0, len(values) - 1, MOST // 2).astype(int)
                known = np.unique(np.concatenate([known[often[counts[often] > 1]], np.sort(values)[spread]]))
            places.append((index, known))
    return Places(tuple(places)) if places else None


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A partition of places. expected: as of the partition."""

    partition: Partition
    places: Places
    expected: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.partition.size

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return self.partition.codes(self.places.of(outputs))

    def describe(self, low: int, high: int) -> str:
        """The event in places, and which numbers those in it are."""
        text = self.partition.describe(low, high)
        named = []
        for index, known in self.places.columns:
            mentioned = sorted({int(float(word)) for word in re.findall(r"\d+(?:\.\d+)?", text) if float(word) < len(known)})[:SHOWN]
            of = f"number {index} of an output" if len(self.places.columns) > 1 or index else "an output"
            where = ", ".join(f"{place} is {shown_exactly(known[place])}" for place in mentioned)
            named.append(f"{of} stands for its place among {len(known)} numbers seen before{': ' + where if where else ''}")
        return f"{text}, where {'; '.join(named)}"


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """A partition of outputs less an exact point: its origin is where y = 0."""

    partition: Partition
    origin: Array

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.partition.size

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return self.partition.codes(moved(outputs, self.origin))

    def describe(self, low: int, high: int) -> str:
        """The event in words."""
        origin = ", ".join(map(shown_exactly, self.origin.tolist()))
        return f"{self.partition.describe(low, high)}, where y is the output less {origin if len(self.origin) == 1 else f'[{origin}]'}"


def moved(outputs: Outputs, origin: Array | None, *, whole: bool = False) -> Outputs:
    """The outputs less the origin, if there is one; as they are where they have another width: whoever takes them will say so."""
    outputs = outputs.measured()
    return outputs if origin is None or outputs.numbers.shape[1] != len(origin) else outputs.less(origin, whole=whole)


def shown_exactly(value: Any) -> str:
    """An exact number for people: as it is, shortened where it is very long."""
    if isinstance(value, (int, np.integer)) and abs(int(value)).bit_length() > 400:
        return f"about {'-' if value < 0 else ''}2^{abs(int(value)).bit_length() - 1}"
    text = str(value) if not hasattr(value, "denominator") or int(value.denominator).bit_length() < 400 else f"about {float(value)!r}"
    return text if len(text) <= 130 else f"{text[:60]}...{text[-60:]}"
