"""Names for people of what a formula is about."""

from __future__ import annotations

from dpverify.trusted.kernel.model import Norm


def norm(given: Norm) -> str:
    """A norm by its name."""
    if given.kind == "lp":
        return "the maximum norm" if given.p is None else f"the l{given.p} norm"
    if given.kind == "ellipsoid":
        return "the norm of an ellipsoid"
    return "the norm whose unit ball is " + ("the hull of listed points" if given.kind == "columns" else "cut out by listed half-spaces")
