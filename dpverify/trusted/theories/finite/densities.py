"""One-parameter families of densities p(y; theta): their loss, its region and its kinks, for the rules about kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Final

from flint import arb

from dpverify.trusted.geometry.linear import dot
from dpverify.trusted.geometry.polytopes import Polytope, box
from dpverify.trusted.kernel.balls import constant, exact, hull, precision, value
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import (
    ZERO,
    Add,
    Call,
    Expr,
    Num,
    Sym,
    add,
    call,
    children,
    div,
    mul,
    neg,
    num,
    rebuild,
    scaled,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Domain, Kernel, Vector
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.expansion import expanded

WHAT: Final = "kernel"
NAMES: Final = ("y", "theta", "other")
"""The output, the input, and the other input: the coordinates of the loss."""

BITS: Final = 256
MOST_VALUES: Final = 64
MOST_FACTORS: Final = 8
KINKS: Final = ("abs", "min", "max", "floor")


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss log p(y; theta) - log p(y; theta') in coordinates in which its region is a rational polytope.

    scales: for each coordinate (start, length) with y = start + length * coordinate; (0, 1) where the ends are rational.
    rays: the directions in which an infinite output continues the region.
    """

    loss: Expr
    region: Polytope
    scales: tuple[tuple[Expr, Expr], ...]
    rays: tuple[Vector, ...]

    def point(self, coordinates: Sequence[Fraction]) -> tuple[Expr, ...]:
        """y, theta and theta' at a point of the region."""
        return tuple(add(a, mul(b, Num(x))) for (a, b), x in zip(self.scales, coordinates, strict=True))


@remembered(16)
def losses(claim: Claim, reach: tuple[Fraction, Fraction]) -> Losses:
    """The loss of a kernel claim over its outputs and its pairs of inputs.

    reach: rational ends put in the place of infinite ends of the output. Raises Rejected with what is wrong.
    """
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel):
        raise Rejected(WHAT, "mechanism", "only a density in y and theta is a kernel")
    free = symbols(kernel.density) - {"y", "theta"}
    require(not claim.domains and not free, Rejected(WHAT, "parameters", "a kernel needs a value for every parameter"))
    output = tuple(Num(r) if end is None else end for end, r in zip(kernel.output, reach, strict=True))
    spans = [_scale(*output), _scale(*kernel.input), _scale(*kernel.input)]
    region = box([span for _, span in spans])
    if claim.sensitivity is not None:
        _, length = spans[1][0]
        most = rational_above(div(claim.sensitivity, length))
        for sign in (1, -1):
            inside = region.below((Fraction(0), Fraction(sign), Fraction(-sign)), most)
            if inside is None:
                raise Rejected(WHAT, "sensitivity", "the sensitivity is negative")
            region = inside
    scales = tuple(scale for scale, _ in spans)
    y, theta, other = (add(a, mul(b, Sym(name))) for (a, b), name in zip(scales, NAMES, strict=True))
    minus_log = neg_log(kernel.density)
    loss = sub(substitute(minus_log, {"y": y, "theta": other}), substitute(minus_log, {"y": y, "theta": theta}))
    rays = tuple((Fraction(sign), Fraction(0), Fraction(0)) for sign, end in zip((-1, 1), kernel.output, strict=True) if end is None)
    return Losses(loss, region, scales, rays)


def _scale(low: Expr, high: Expr) -> tuple[tuple[Expr, Expr], tuple[Fraction, Fraction]]:
    """The scale of a coordinate and its range: itself where both ends are rational, else [0, 1]."""
    with precision(BITS):
        if not constant(low) < constant(high):
            raise Rejected(WHAT, "interval", "the ends of output and input must be constants, the lower one first")
    if isinstance(low, Num) and isinstance(high, Num):
        return (ZERO, num(1)), (low.value, high.value)
    return (low, sub(high, low)), (Fraction(0), Fraction(1))


def rational_above(expr: Expr) -> Fraction:
    """A rational that is at least the constant, and equal to it where it is rational."""
    if isinstance(expr, Num):
        return expr.value
    with precision(BITS):
        return exact(constant(expr).upper())


# -- kinks -----------------------------------------------------------------------------------------


def balls(part: Polytope) -> dict[str, arb]:
    """The coordinates' ranges over a polytope as balls."""
    return {name: hull(*ends) for name, ends in zip(NAMES, part.box, strict=True)}


def resolve(expr: Expr, part: Polytope, rays: Sequence[Vector] = ()) -> Expr:
    """The expression with abs, min, max and floor decided wherever their side is certain on the polytope (and its rays).

    A floor may be off on the polytope's boundary, where for every theta it is so for single outputs y only. Rays are along y.
    """
    if not symbols(expr):
        return expr
    done = rebuild(expr, lambda inner: resolve(inner, part, rays))
    if not isinstance(done, Call) or done.name not in KINKS:
        return done
    if done.name == "abs":
        side = _side(done.args[0], part, rays)
        return done if side is None else done.args[0] if side > 0 else neg(done.args[0])
    if done.name == "floor":
        step = None if rays else _step(done.args[0], part)
        return done if step is None else num(step)
    kept: list[Expr] = []
    for arg in done.args:
        sides = [_side(sub(arg, other), part, rays) for other in kept]
        worse = 1 if done.name == "min" else -1
        if worse not in sides:
            kept = [other for other, side in zip(kept, sides, strict=True) if side != -worse] + [arg]
    return kept[0] if len(kept) == 1 else call(done.name, *kept)


def linear(expr: Expr) -> tuple[Expr, Expr, Expr, Expr] | None:
    """The coefficients of y, theta, theta' and 1 of a linear expression, else None."""
    slopes = []
    for name in NAMES:
        slope, expr = linear_part(expr, name)
        slopes.append(slope)
    if any(symbols(part) for part in (*slopes, expr)):
        return None
    return slopes[0], slopes[1], slopes[2], expr


def linear_on(expr: Expr, part: Polytope) -> tuple[Expr, Expr, Expr, Expr] | None:
    """The coefficients of a linear expression that has the sign of expr on a polytope, wherever expr has a value; None where none is known.

    A sum of whole multiples of logarithms of linear expressions has the sign of the difference of two products of these, all at least 0.
    """
    found = linear(expr)
    if found is not None or not isinstance(expr, Add):
        return found
    products: tuple[list[Expr], list[Expr]] = [], []
    for times, term in map(scaled, expr.args):
        if times.denominator != 1 or abs(times) > MOST_FACTORS or not isinstance(term, Call) or term.name != "log":
            return None
        if linear(term.args[0]) is None or _side(term.args[0], part, ()) != 1:
            return None
        products[times < 0].extend([term.args[0]] * abs(int(times)))
    return linear(expanded(sub(mul(*products[0]), mul(*products[1]))))


def _side(expr: Expr, part: Polytope, rays: Sequence[Vector]) -> int | None:
    """1 where expr >= 0 on the whole polytope and its rays, -1 where <= 0, None where that is not certain."""
    coefficients = linear(expr) if rays else linear_on(expr, part)
    if coefficients is None:
        if not rays:
            ball = value(expr, balls(part))
            return 1 if ball >= 0 else -1 if ball <= 0 else None
        known = {name: Domain(low, high, False, False) for name, (low, high) in zip(NAMES, part.box, strict=True)}
        for ray in rays:
            y = known["y"]
            known["y"] = replace(y, lower=None) if ray[0] < 0 else replace(y, upper=None)
        return 1 if certainly_le(ZERO, expr, known) else -1 if certainly_le(expr, ZERO, known) else None
    corners = [constant(combine(coefficients, (*v, Fraction(1)))) for v in part.vertices]
    corners += [constant(combine(coefficients, (*ray, Fraction(0)))) for ray in rays]
    return 1 if all(c >= 0 for c in corners) else -1 if all(c <= 0 for c in corners) else None


def combine(coefficients: Sequence[Expr], point: Sequence[Fraction]) -> Expr:
    """The value of a linear expression at a point whose last coordinate multiplies the constant."""
    return add(*(mul(c, Num(x)) for c, x in zip(coefficients, point, strict=True)))


def _step(expr: Expr, part: Polytope) -> int | None:
    """The integer that floor(expr) is on the polytope, but for single outputs y on its boundary."""
    coefficients = linear(expr)
    if coefficients is None or not all(isinstance(c, Num) for c in coefficients):
        ball = value(expr, balls(part)).floor()
        return int(exact(ball)) if ball.is_exact() and ball.is_finite() else None
    numbers = tuple(c.value for c in coefficients if isinstance(c, Num))
    values = {v: dot(numbers, (*v, Fraction(1))) for v in part.vertices}
    step = min(values.values()).__floor__()
    over = [v for v, reached in values.items() if reached >= step + 1]
    single = numbers[0] != 0 and all(values[v] == step + 1 for v in over)
    return step if single or not over else None


def has_kinks(expr: Expr) -> bool:
    """Whether abs, min, max or floor is left in the expression."""
    return calls(expr, *KINKS)


def has_floor(expr: Expr) -> bool:
    """Whether a floor is left in the expression."""
    return calls(expr, "floor")


def constants(expr: Expr, ranges: Mapping[str, arb]) -> frozenset[Expr] | None:
    """Finitely many constants among which the expression takes its values, or None where it is not known to be so.

    Everything else being constant, an expression takes finitely many values when its variables stand inside floor only.
    """
    if not symbols(expr):
        return frozenset((expr,))
    if isinstance(expr, Sym):
        return None
    if isinstance(expr, Call) and expr.name == "floor":
        ends = _range(expr.args[0], ranges)
        if ends is None:
            return None
        low, high = (end.__floor__() for end in ends)
        return frozenset(num(i) for i in range(low, high + 1)) if high - low < MOST_VALUES else None
    choices = [constants(inner, ranges) for inner in children(expr)]
    count = 1
    for choice in choices:
        if choice is None:
            return None
        count *= len(choice)
    if count > MOST_VALUES**2:
        return None
    values = set()
    for picked in product(*(choice for choice in choices if choice is not None)):
        parts = iter(picked)
        values.add(rebuild(expr, lambda _, parts=parts: next(parts)))  # type: ignore[misc]
    return frozenset(values) if len(values) <= MOST_VALUES else None


def _range(expr: Expr, ranges: Mapping[str, arb]) -> tuple[Fraction, Fraction] | None:
    """Rationals that the expression stays between, exact where min and max clip it; None where there are none."""
    if isinstance(expr, Num):
        return expr.value, expr.value
    if isinstance(expr, Call) and expr.name in ("min", "max"):
        parts = [_range(arg, ranges) for arg in expr.args]
        known = [part for part in parts if part is not None]
        pick = min if expr.name == "min" else max
        return (pick(low for low, _ in known), pick(high for _, high in known)) if len(known) == len(parts) else None
    if isinstance(expr, Call) and expr.name == "abs":
        inside = _range(expr.args[0], ranges)
        if inside is None:
            return None
        sizes = sorted(map(abs, inside))
        return (Fraction(0) if inside[0] <= 0 <= inside[1] else sizes[0], sizes[1])
    ball = value(expr, ranges)
    return (exact(ball.lower()), exact(ball.upper())) if ball.is_finite() else None
