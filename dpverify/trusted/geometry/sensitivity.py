"""How far answers are apart: the bounds that are known of a sensitivity."""

from __future__ import annotations

from dataclasses import dataclass

from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Vector


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The largest distance between the answers on adjacent histograms: lower <= it <= upper, the same expression where exact.

    at: a difference of answers that is this far, where one is rational and known.
    """

    upper: Expr
    lower: Expr
    at: Vector | None = None

    @property
    def exact(self) -> bool:
        """Whether both bounds are the one value."""
        return self.upper == self.lower
