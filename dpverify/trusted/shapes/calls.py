"""The shape of a function of shapes: abs, min and max, and what the table of local laws lists (theory#shape-calculus)."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, NULL, Sign, minus, plus, square, times
from dpverify.trusted.order.local import extreme, law
from dpverify.trusted.shapes.shape import Shape, largest_root, product


def composed(name: str, parts: Sequence[Shape]) -> Shape | None:
    """Of a function at the arguments that vary, at all of a "min" or a "max"; None where it has no law there."""
    if name in ("min", "max"):
        return _extreme(name, parts)
    u = parts[-1]
    if name == "abs":
        return _absolute(u)
    row = law(name, u.value) if len(parts) == 1 else None
    if row is None:
        return None
    log_bend = plus(times(row.log_bend, square(u.slope)), times(row.log_slope, u.bend))
    return u.chain(row.value, row.slope, row.bend, log_bend)


def _absolute(u: Shape) -> Shape:
    """Of abs(u)."""
    if u.value <= AT_LEAST_ZERO:
        return u
    if u.value <= AT_MOST_ZERO:
        return product(Shape(NEGATIVE, NULL, NULL), u)
    return Shape(AT_LEAST_ZERO, u.slope | minus(u.slope), AT_LEAST_ZERO if u.bend == NULL else ANY)


def _extreme(name: str, parts: Sequence[Shape]) -> Shape:
    """Of a "min" or a "max"."""
    value = extreme(name, [part.value for part in parts])
    slope: Sign = frozenset().union(*(part.slope for part in parts))
    if name == "max":
        return Shape(value, slope, AT_LEAST_ZERO if all(part.convex for part in parts) else ANY, ANY, largest_root(parts))
    return Shape(value, slope, AT_MOST_ZERO if all(part.concave for part in parts) else ANY)
