"""Outputs of any shape as skeleton plus numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Outputs:
    """n outputs: what shape each has, and its numbers.

    numbers: (n, width), float64, or float32, int64 where all outputs are that; entries that a shape does not have are 0.
    shapes: (n,) index into `names`; None where all have one shape.
    names: each shape in words, such as "float", "[str, None, float]", "None".
    """

    numbers: np.ndarray[Any, Any]
    shapes: np.ndarray[Any, np.dtype[np.int64]] | None = None
    names: tuple[str, ...] = ("float",)

    def __len__(self) -> int:
        """How many outputs there are."""
        return len(self.numbers)

    def __getitem__(self, part: slice | np.ndarray[Any, Any]) -> Outputs:
        """Some of the outputs."""
        return Outputs(self.numbers[part], None if self.shapes is None else self.shapes[part], self.names)
