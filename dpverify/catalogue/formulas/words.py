"""Names for people of what a formula is about."""

from __future__ import annotations

from dpverify.trusted.language.model import Norm


def norm(found: Norm) -> str:
    """A norm by its name."""
    if found.kind == "lp":
        return "the maximum norm" if found.p is None else f"the l{found.p} norm"
    if found.kind == "ellipsoid":
        return "the norm of an ellipsoid"
    return "the norm whose unit ball is " + ("the hull of listed points" if found.kind == "columns" else "cut out by listed half-spaces")
