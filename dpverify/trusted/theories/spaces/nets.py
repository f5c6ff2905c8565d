"""Nets: how many points of a space suffice for every point to be within a radius of one of them (theory#nets).

The points are in the completion. Sizes are logarithms of numbers of points, at least 0; a size that is no logarithm of a whole number is
at least that of some net.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.balls import constant, exact, value
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Num, add, call, div, format_expr, mul, num, power, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain, Norm, Shape
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.rationals import read_fraction, read_whole, to_whole
from dpverify.trusted.order.enclosed import integer
from dpverify.trusted.theories.spaces.shapes import LEVELS, K, apart_at, at_most, classes, cubes, dimension, logarithm, of_level, tamed

Domains = Mapping[str, Domain]
Told = Mapping[str, Any]

RULE: Final = "net"
TWO: Final = num(2)
FOUR: Final = num(4)
MOST: Final = 20_000
"""Most axes, and most depths of a tree, that are multiplied one by one."""


def net(shape: Shape, radius: Expr, told: Told, domains: Domains) -> Expr:
    """The logarithm of a number of points that is enough for a net. Raises Rejected.

    told: of a tree "depth", of a sequence ellipsoid "axes" and "tail", or "factor", "depth" and "power" of what its axes are below, and
    "start" where that is shown one by one before it and by derivatives from there on; of a
    product "parts", what each of its parts is told.
    """
    require(shape.kind in _NETS, Rejected(RULE, "the space", f"the kind {shape.kind} has no finite nets that are known"))
    require(certainly_lt(ZERO, radius, domains), Rejected(RULE, "radius", f"{format_expr(radius)} is not certainly positive"))
    return _NETS[shape.kind](shape, radius, told, domains)


def others(size: Expr) -> Expr:
    """The logarithm of the number of points but one, where there are several for certain; else that of all."""
    if isinstance(size, Call) and size.name == "log" and isinstance(size.args[0], Num) and size.args[0].value > 1:
        return call("log", sub(size.args[0], ONE))
    return size


def ceiling(expr: Expr) -> Expr:
    """A whole number that is at least the expression: the next one, where it is a constant; else one more than it."""
    if symbols(expr):
        return add(expr, ONE)
    if isinstance(expr, Num):
        return num(-((-expr.value.numerator) // expr.value.denominator))
    return num(integer(constant(expr).upper().ceil()))


def _log(count: Expr) -> Expr:
    return ZERO if count == ONE else call("log", count)


def cube(norm: Norm, count: int) -> Expr:
    """What the norm of a vector with entries of at most 1 is at most."""
    if norm.kind == "lp":
        return ONE if norm.p is None else power(num(count), Num(1 / norm.p))
    if norm.kind == "facets":
        return Num(max(sum(map(abs, row), Fraction(0)) for row in norm.matrix))
    axes = [tuple(Fraction(int(i == j)) for j in range(count)) for i in range(count)]
    return add(*(norm_value(norm, axis) for axis in axes))


def _box(shape: Shape, radius: Expr, _: Told, __: Domains) -> Expr:
    """Cubes that the box is cut into, each within the radius of its centre."""
    edge = div(mul(TWO, radius), cube(shape.norm, len(shape.numbers)))
    return add(*(_log(ceiling(div(side, edge))) for side in shape.numbers))


def _hull(shape: Shape, radius: Expr, _: Told, domains: Domains) -> Expr:
    """Cubes of the box around it, half as wide: each that meets the hull is within the radius of a point of both."""
    widths = [max(column) - min(column) for column in zip(*shape.matrix, strict=True)]
    sides = tuple(Num(width) for width in widths if width)
    if not sides:
        return ZERO
    if len(sides) < len(widths) and shape.norm.kind != "lp":
        sides = tuple(map(Num, widths))
    edge = div(radius, cube(shape.norm, len(sides)))
    return add(*(_log(ceiling(div(side, edge))) if side != ZERO else ZERO for side in sides))


def _ball(shape: Shape, radius: Expr, _: Told, domains: Domains) -> Expr:
    """A largest set of points that are more than the radius apart: balls of half of it around them do not meet."""
    size, count = shape.numbers[0], dimension(shape)
    whole = shape.kind == "ball"
    if certainly_le(size if whole else mul(TWO, size), radius, domains):
        return ZERO
    if count == 1:
        return _log(ceiling(div(size, radius)) if whole else TWO)
    over = div(mul(TWO, size), radius)
    outer = power(add(ONE, over), num(count))
    if whole or not certainly_le(ONE, over, domains):
        return call("log", outer)
    return call("log", sub(outer, power(sub(over, ONE), num(count))))


def _tree(shape: Shape, radius: Expr, told: Told, domains: Domains) -> Expr:
    """One leaf under each node of a depth at which leaves under a node are within the radius of each other."""
    if "depth" in told:
        depth = read_whole(told, "depth", RULE, 0, MOST)
        if not certainly_le(apart_at(shape, num(depth)), radius, domains):
            raise Rejected(RULE, "depth", f"leaves under a node of depth {depth} are not certainly within the radius of each other")
        counts = [TWO if shape.kind == "cantor" else of_level(shape, level) for level in range(depth)]
        return _log(mul(*counts))
    scale, ratio, *branching = (*shape.numbers, TWO) if shape.kind == "cantor" else shape.numbers
    down = div(call("log", div(scale, radius)), call("log", div(ONE, ratio)))
    depth_there = add(ONE, call("max", ZERO, down))  # at the whole number below it leaves are within the radius
    most = call("max", *branching) if len(branching) > 1 else branching[0]
    return mul(depth_there, call("log", substitute(most, {"k": depth_there})))


def _infinite_tree(shape: Shape, radius: Expr, told: Told, domains: Domains) -> Expr:
    """As of a tree, where the radius is reached before the depth with infinitely many children."""
    if told.get("depth", MOST) > len(shape.numbers) - 2:
        raise Rejected(RULE, "depth", "a node before it has infinitely many children, further apart than the radius")
    return _tree(shape, radius, told, domains)


def _ellipsoid(shape: Shape, radius: Expr, told: Told, domains: Domains) -> Expr:
    """The first axes cut off, what is left is within a part of the radius of 0; and a volume."""
    axis = call("abs", tamed(shape.numbers[0]))
    if "axes" in told:
        return _first_axes(axis, radius, told, domains)
    size, depth, exponent = read_fraction(told, "factor", RULE), told.get("depth", 0), read_fraction(told, "power", RULE)
    require(size > 0 and exponent > 0, Rejected(RULE, "factor", "it and the power must be positive"))
    if depth not in FALLING:
        raise CertificateError(f"{RULE}: 'depth' is {depth!r}, not one of {', '.join(map(str, FALLING))}.")
    slow, back = FALLING[depth]
    above = mul(Num(size), power(slow, Num(-exponent)))
    require_above(axis, above, told, domains)
    part = div(radius, power(TWO, Num(Fraction(1, 2))))
    longest = substitute(above, {"k": ONE})
    each = call("log", call("max", TWO, div(mul(FOUR, longest), part)))
    return mul(back(power(div(Num(size), part), Num(1 / exponent))), each)


_LOG: Final = call("log", add(ONE, K))
FALLING: Final[Mapping[int, tuple[Expr, Callable[[Expr], Expr]]]] = {
    -1: (call("exp", K), lambda x: call("max", ZERO, call("log", x))),
    0: (K, lambda x: x),
    1: (_LOG, lambda x: sub(call("exp", x), ONE)),
    2: (call("log", add(ONE, _LOG)), lambda x: sub(call("exp", sub(call("exp", x), ONE)), ONE)),
}
"""Functions of k that rise from a positive value at k = 1 to infinity; and where each of them is x, or 0 where that is negative."""


def require_above(axis: Expr, above: Expr, told: Told, domains: Domains) -> None:
    """Raises Rejected where the axes are not certainly at most what is named.

    That is shown for all k at once. With "start" it is shown one by one up to there, and from there on because the logarithm of the
    quotient does not fall; with "times" too, because the difference times that power of k does not fall.
    """
    start = told.get("start")
    if start is None:
        if not at_most(axis, above, domains, {"k": LEVELS}):
            raise Rejected(RULE, "the axes", f"{format_expr(axis)} is not certainly at most {format_expr(above)} for k = 1, 2, ...")
        return
    if type(start) is not int or not 1 <= start <= MOST or symbols(axis) - {"k"}:
        raise CertificateError(f"{RULE}: 'start' is {start!r}, not a whole number from 1 to {MOST}, for axes without parameters.")
    for k in range(1, start + 1):
        if not value(axis, {"k": arb(k)}) <= value(above, {"k": arb(k)}):
            raise Rejected(RULE, f"axis {k}", f"it is not certainly at most {format_expr(above)}")
    onward = {"k": Domain(Fraction(start), lower_open=False)}
    bare = axis.args[0] if isinstance(axis, Call) and axis.name == "abs" else axis
    if not certainly_le(ZERO, bare, onward):
        raise Rejected(RULE, "the axes", f"{format_expr(bare)} is not certainly at least 0 for k >= {start}")
    if "times" in told:
        factor = power(K, Num(read_fraction(told, "times", RULE)))
        gap = sub(mul(factor, above), mul(factor, bare))
    else:
        gap = sub(logarithm(above, onward), logarithm(bare, onward))
    slope = derivative(gap, "k")
    if not certainly_le(ZERO, slope, onward):
        raise Rejected(RULE, "the axes", f"{format_expr(bare)} is not certainly below {format_expr(above)} for k >= {start}")


def _first_axes(axis: Expr, radius: Expr, told: Told, domains: Domains) -> Expr:
    """A number of axes, and what those after them certainly are at most."""
    count, tail = read_whole(told, "axes", RULE, 0, MOST), read_fraction(told, "tail", RULE)
    if not all(at_most(one, Num(tail), domains, {"k": over}) for one, over in classes(axis, count + 1)):
        raise Rejected(RULE, "tail", f"the axes after {count} are not certainly at most {tail}")
    if symbols(radius) or symbols(axis) - {"k"}:
        raise Rejected(RULE, "axes", "they are counted one by one for a radius and axes that are numbers")
    left = sub(power(radius, TWO), Num(tail * tail))
    if not certainly_le(ZERO, left) or (count and not certainly_lt(ZERO, left)):
        raise Rejected(RULE, "tail", f"{tail} is not certainly within the radius")
    total, inner = arb(0), constant(left).sqrt() if count else arb(1)
    for k in range(1, count + 1):
        total += (4 * value(axis, {"k": arb(k)}) / inner).max(arb(2)).log()
    return Num(exact(total.upper()))


def _hoelder(shape: Shape, radius: Expr, _: Told, domains: Domains) -> Expr:
    """Functions by their rounded values at the centres of cubes; 0 alone, where the bound is within the radius."""
    count, (constant_of, exponent, bound) = cubes(shape), shape.numbers[1:]
    if certainly_le(bound, radius, domains):
        return ZERO
    per_axis = ceiling(div(power(div(mul(FOUR, constant_of), radius), div(ONE, exponent)), TWO))
    levels = _log(ceiling(div(mul(FOUR, bound), radius)))
    cells = power(per_axis, num(count))
    return add(levels, mul(sub(cells, ONE), call("log", num(3))))


def _discrete(shape: Shape, radius: Expr, _: Told, domains: Domains) -> Expr:
    """One point, where it is within the radius of all others."""
    require(certainly_le(shape.numbers[0], radius, domains), Rejected(RULE, "radius", "infinitely many points are further apart than it"))
    return ZERO


def _stated(shape: Shape, radius: Expr, _: Told, __: Domains) -> Expr:
    return call("log", substitute(shape.numbers[0], {"r": radius}))


def _points(shape: Shape, radius: Expr, told: Told, domains: Domains) -> Expr:
    """All of them; or those that are named."""
    count = len(shape.matrix)
    if "points" not in told:
        return _log(num(count))
    chosen = [to_whole(i, "points", RULE, 0, count - 1) for i in told["points"]]
    furthest = max(min(row[i] for i in chosen) for row in shape.matrix)
    if not certainly_le(Num(furthest), radius, domains):
        raise Rejected(RULE, "points", f"a point is {furthest} away from all of them, which is not certainly within the radius")
    return _log(num(len(set(chosen))))


def _product(shape: Shape, radius: Expr, told: Told, domains: Domains) -> Expr:
    """Tuples of points of nets of the parts, of a radius at which they come together to the whole one."""
    count = len(shape.parts)
    each = radius if shape.norm.p is None else div(radius, power(num(count), Num(1 / shape.norm.p)))
    empty: Told = {}
    hints = told.get("parts", [empty] * count)
    return add(*(net(part, each, hint, domains) for part, hint in zip(shape.parts, hints, strict=True)))


_NETS: Final[Mapping[str, Callable[[Shape, Expr, Told, Domains], Expr]]] = {
    "box": _box, "ball": _ball, "sphere": _ball, "hull": _hull, "tree": _tree, "infinite_tree": _infinite_tree, "cantor": _tree,
    "ellipsoid": _ellipsoid, "hoelder": _hoelder, "discrete": _discrete, "net": _stated, "points": _points, "product": _product,
}  # fmt: skip
