"""What a norm is, and how far answers are apart in it (theory#gauges): of lp norms here, of those by matrices where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr
from dpverify.trusted.language.loading import load, remembered
from dpverify.trusted.language.model import Norm, Vector


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


@remembered(256)
def norm_faults(norm: Norm, dimension: int) -> tuple[str, ...]:
    """All that keeps `norm` from being a norm on R^dimension, one line each; empty for a norm."""
    if dimension < 1:
        return (f"dimension {dimension} is not a positive integer.",)
    if norm.kind != "lp":
        found: tuple[str, ...] = load("order.matrix_norms").faults(norm, dimension)
        return found
    if norm.p is not None and norm.p < 1:
        return (f"lp norm: p = {norm.p} is below 1, where the triangle inequality fails. Use p >= 1.",)
    return ()


def require(where: str, faults: Sequence[str]) -> None:
    """Raises Rejected where there are faults."""
    if faults:
        raise Rejected("geometry", where, " ".join(faults))
