"""Packings: how many points of a space there are such that no answer is near to more than so many of them (theory#packings)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Final

from flint import arb

from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.balls import constant, rational, value
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, call, div, format_expr, mul, num, power, sub
from dpverify.trusted.kernel.model import Norm, Shape
from dpverify.trusted.language.rationals import read_fraction, read_rows, read_whole, to_whole
from dpverify.trusted.order.enclosed import integer
from dpverify.trusted.theories.spaces.shapes import LEVELS, MANY, SEPARATED, along, apart_at, cubes, dimension, of_level, spread, together

Told = Mapping[str, Any]
RULE: Final = "packing"
TWO: Final = num(2)
MOST: Final = 4096
"""Most depths of a tree that are multiplied one by one."""
MOST_AXES: Final = 10**6

LARGEST: Final = {"says": "largest-set"}
GRID: Final = {"says": "grid-of-points"}
ONE_POINT: Final = {"says": "one-point"}


@dataclass(frozen=True, slots=True)
class Packing:
    """Points of a space. count: how many, None for infinitely many. what: its name and numbers. overlap: no answer is near to more.

    wide: how far apart they are at most; None where that is what `spread` says.
    """

    count: int | None
    what: Mapping[str, Any]
    overlap: int = 1
    assumed: tuple[str, ...] = ()
    wide: Expr | None = None


def packing(shape: Shape, near: Expr, told: Told) -> Packing:
    """Points of the space of which no point of its completion is within `near` of more than the overlap. Raises Rejected.

    near: a constant. told: of a tree or a Cantor set "depth"; of a sequence ellipsoid "least" and "axis", an expression in j, or "first",
    a number of axes; of Hölder functions "cells"; of a hull "points", weights of its corners; of finitely many points "points"; of a
    product "parts", what each of its parts is told, null for one of which one point is taken; else "by", "grid" or "volume".
    """
    require(shape.kind in _PACKINGS, Rejected(RULE, "the space", f"the kind {shape.kind} has no packings that are known"))
    return _PACKINGS[shape.kind](shape, near, told)


def _whole(ball: arb) -> int:
    """The least whole number that is at least as great as a point of a ball: the next one, on the safe side, which is below."""
    return integer(ball.lower().ceil())


def _along(length: Expr, near: Expr) -> int:
    """How many points of an interval, without its ends, are more than twice `near` apart: the last is less than the length away."""
    return max(1, _whole(constant(div(length, mul(TWO, near)))))


def _box(shape: Shape, near: Expr, told: Told) -> Packing:
    """A grid, whose points differ in an entry by more than twice `near`; or as many balls as fill the volume."""
    require(shape.norm.kind == "lp", Rejected(RULE, "norm", "boxes are packed in lp norms alone"))
    if told.get("by") == "volume":
        count = len(shape.numbers)
        volume = constant(mul(*shape.numbers)) / (_unit_ball(shape.norm, count) * constant(mul(TWO, near)) ** count)
        return Packing(max(1, _whole(volume)), LARGEST)
    return Packing(prod(_along(side, near) for side in shape.numbers), GRID)


def _unit_ball(norm: Norm, count: int) -> arb:
    """The volume of the unit ball of an lp norm."""
    if norm.p is None:
        return arb(2) ** count
    share = 1 / rational(norm.p)
    return (2 * (1 + share).gamma()) ** count / (1 + count * share).gamma()


def _ball(shape: Shape, near: Expr, told: Told) -> Packing:
    """Points of a diameter, as many balls as fill the volume, or ends of axes."""
    radius, count = shape.numbers[0], dimension(shape)
    how = told.get("by")
    if how == "volume":
        filled = constant(div(radius, mul(TWO, near))) ** count
        return Packing(max(1, _whole(filled)), LARGEST)
    if how == "axes":
        return _axes(shape.norm, radius, count, near)
    if how == "cube" and shape.norm.kind == "lp" and shape.norm.p is None:
        return Packing(_along(mul(TWO, radius), near) ** count, GRID)
    return Packing(_along(mul(TWO, radius), near), {"says": "points-of-a-diameter"})


def _axes(norm: Norm, radius: Expr, count: int, near: Expr) -> Packing:
    """Both ends of every axis: 2^(1/p) times the radius apart, or twice the radius."""
    require(norm.kind == "lp", Rejected(RULE, "norm", "ends of axes are known to be apart in lp norms alone"))
    apart = mul(radius, ONE if norm.p is None else power(TWO, Num(1 / norm.p)))
    require(certainly_lt(mul(TWO, near), apart), Rejected(RULE, "the axes", "their ends are not certainly more than twice that apart"))
    return Packing(2 * count, {"says": "ends-of-axes"})


def _sphere(shape: Shape, near: Expr, told: Told) -> Packing:
    """Two points across, both ends of every axis, or as many caps as fill the area of a Euclidean sphere."""
    radius, count = shape.numbers[0], dimension(shape)
    how = told.get("by")
    if how == "axes":
        return _axes(shape.norm, radius, count, near)
    if how == "volume" and count >= 2 and shape.norm.kind == "lp" and shape.norm.p == 2:
        chord = constant(div(mul(TWO, near), radius))
        require(chord**2 < 2, Rejected(RULE, "the sphere", "caps of more than a quarter of a turn are not counted"))
        square = chord**2 * (1 - chord**2 / 4)  # the square of the sine of the angle of the cap
        cap = square.beta_lower(rational(Fraction(count - 1, 2)), rational(Fraction(1, 2)), regularized=1) / 2
        return Packing(max(1, _whole(1 / cap)), LARGEST)
    if not certainly_lt(near, radius):
        return Packing(1, ONE_POINT)
    return Packing(2, {"says": "two-points-across"})


def _hull(shape: Shape, near: Expr, told: Told) -> Packing:
    """Points that are named as weights of corners."""
    weights = read_rows(told.get("points"), "points", RULE, len(shape.matrix))
    if any(min(row) < 0 or sum(row) != 1 for row in weights):
        raise Rejected(RULE, "points", "weights must be one for each corner, at least 0, with the sum 1")
    columns = list(zip(*shape.matrix, strict=True))
    points = [tuple(sum((w * x for w, x in zip(row, column, strict=True)), Fraction(0)) for column in columns) for row in weights]
    for i, one in enumerate(points):
        for other in points[:i]:
            if not certainly_lt(mul(TWO, near), norm_value(shape.norm, tuple(a - b for a, b in zip(one, other, strict=True)))):
                raise Rejected(RULE, f"point {i}", "it is not certainly more than twice that apart from one before it")
    return Packing(len(points), {"says": "points-apart"})


def _points(shape: Shape, near: Expr, told: Told) -> Packing:
    """Points that are named, of which no point is near to two."""
    chosen = {to_whole(i, "points", RULE, 0, len(shape.matrix) - 1) for i in told["points"]}
    for row in shape.matrix:
        if sum(not certainly_lt(near, Num(row[i])) for i in chosen) > 1:
            raise Rejected(RULE, "points", "some point is not certainly further than that from all but one of them")
    return Packing(len(chosen), {"says": "points-that-do-not-meet"})


def _tree(shape: Shape, near: Expr, told: Told) -> Packing:
    """A leaf under every node of a depth: the one before it is where leaves part further than `near`, so no leaf is near to two."""
    depth = read_whole(told, "depth", RULE, 0, MOST)
    listed = len(shape.numbers) - 2
    if depth and not certainly_lt(near, apart_at(shape, num(depth - 1))):
        raise Rejected(RULE, "depth", f"leaves that part at a depth of {depth - 1} are not certainly further apart than that")
    if shape.kind == "infinite_tree" and depth > listed:
        return Packing(None, {"says": "leaves-of-infinitely-many", "depth": listed})
    counts = [of_level(shape, level) for level in range(depth)]
    if not all(isinstance(count, Num) for count in counts):
        raise Rejected(RULE, "branching", "it is not a number at every depth")
    return Packing(prod(int(count.value) for count in counts if isinstance(count, Num)), {"says": "leaves", "depth": depth})


def _cantor(shape: Shape, near: Expr, told: Told) -> Packing:
    """The left ends of all pieces after so many steps: no point is near to two where the gap, or half of their distance, is more."""
    depth = read_whole(told, "depth", RULE, 0, MOST)
    if depth:
        ratio = shape.numbers[1]
        clear = call("max", sub(ONE, mul(TWO, ratio)), div(sub(ONE, ratio), TWO))
        if not certainly_lt(near, mul(clear, apart_at(shape, num(depth - 1)))):
            raise Rejected(RULE, "depth", f"pieces after {depth} steps are not certainly clear of each other")
    return Packing(2**depth, {"says": "left-ends", "steps": depth})


def _ellipsoid(shape: Shape, near: Expr, told: Told) -> Packing:
    """Points on axes that are all at least so long."""
    axis, least = shape.numbers[0], Num(read_fraction(told, "least", RULE))
    require(certainly_lt(near, least), Rejected(RULE, "least", f"{format_expr(least)} is not certainly more than that"))
    square = power(least, TWO)
    overlap = max(1, integer(constant(div(square, sub(square, power(near, TWO)))).upper().floor()))
    if "first" in told:
        first = read_whole(told, "first", RULE, 1, MOST)
        for k in range(1, first + 1):
            if not abs(value(axis, {"k": arb(k)})) >= constant(least):
                raise Rejected(RULE, f"axis {k}", f"it is not certainly at least {format_expr(least)}")
        what = {"says": "points-on-first-axes", "from_0": format_expr(least), "first": first}
        return Packing(2 * first, what, overlap, wide=mul(TWO, least))
    step, start = (to_whole(told.get(key, 1), key, RULE, 1, MOST_AXES) for key in ("step", "start"))
    if not certainly_le(least, call("abs", along(axis, step, start)), {"k": LEVELS}):
        raise Rejected(RULE, "the axes", f"not all of {start}, {start + step}, ... are certainly at least {format_expr(least)}")
    told = {"says": "points-on-axes", "from_0": format_expr(least), "axes": [start, start + step]}
    return Packing(None, told, overlap, wide=mul(TWO, least))


def _hoelder(shape: Shape, near: Expr, told: Told) -> Packing:
    """Constants; or sums of bumps on some of the cells of a grid: two of them differ by a whole bump."""
    count, (_, constant_of, exponent, bound) = cubes(shape), shape.numbers
    if "cells" not in told:
        return Packing(_along(mul(TWO, bound), near), {"says": "constants-apart"})
    cells = read_whole(told, "cells", RULE, 1, MOST)
    bump = mul(constant_of, power(Num(Fraction(1, 2 * cells)), exponent))
    for name, height in (("bump", bump), ("bound", mul(TWO, bound))):
        require(certainly_lt(mul(TWO, near), height), Rejected(RULE, name, f"{format_expr(height)} is not certainly more than twice that"))
    require(cells**count <= MOST, Rejected(RULE, "cells", f"more than {MOST} of them are not written out"))
    return Packing(2 ** (cells**count), {"says": "sums-of-bumps", "cells": cells**count})


def _equal(shape: Shape, near: Expr, _: Told) -> Packing:
    """Points of which each is near to itself alone."""
    require(certainly_lt(near, shape.numbers[0]), Rejected(RULE, "distance", "points are not certainly further apart than that"))
    return Packing(None, {"says": "all-points"}, assumed=(MANY,))


def width(shape: Shape, found: Packing) -> Expr:
    """How far any two points of a packing are apart at most. Raises Rejected where that is not known."""
    if found.wide is not None:
        return found.wide
    if shape.kind in ("separated", "ellipsoid", "net") or (shape.kind == "box" and shape.norm.kind != "lp"):
        raise Rejected(RULE, "databases", "how far apart the points are at most is not known; declare a diameter")
    if shape.kind == "product":
        return together(shape.norm, [width(part, Packing(1, ONE_POINT)) for part in shape.parts])
    return call("max", *(wide for wide, _ in spread(shape)))


def _separated(shape: Shape, near: Expr, _: Told) -> Packing:
    if not certainly_lt(mul(TWO, near), shape.numbers[0]):
        raise Rejected(RULE, "distance", "points are not certainly more than twice that apart")
    return Packing(None, {"says": "stated-points"}, assumed=(SEPARATED,))


def _product(shape: Shape, near: Expr, told: Told) -> Packing:
    """Tuples of points of packings: an answer that is near to a tuple is near to it in every part."""
    one = Packing(1, ONE_POINT)
    found = [one if hint is None else packing(part, near, hint) for part, hint in zip(shape.parts, told["parts"], strict=True)]
    counts = [each.count for each in found]
    return Packing(
        None if None in counts else prod(count for count in counts if count is not None),
        {"says": "tuples", "of": [each.what for each in found]},
        prod(each.overlap for each in found),
        tuple(dict.fromkeys(line for each in found for line in each.assumed)),
    )


_PACKINGS: Final[Mapping[str, Callable[[Shape, Expr, Told], Packing]]] = {
    "box": _box, "ball": _ball, "sphere": _sphere, "hull": _hull, "points": _points, "tree": _tree, "infinite_tree": _tree,
    "cantor": _cantor, "ellipsoid": _ellipsoid, "hoelder": _hoelder, "discrete": _equal, "separated": _separated, "product": _product,
}  # fmt: skip
