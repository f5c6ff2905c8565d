"""Where densities have kinks: points at which an abs, min, max or floor changes its branch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpverify.search.later import Later
from dpverify.search.numeric import vectorised
from dpverify.trusted.kernel.balls import constant, exact, rational, value
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, children, sub, symbols
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.numbers.kinks import resolve

np = Later("numpy")


def shorten(x: Fraction, bits: int) -> Fraction:
    """x rounded to about `bits` significant bits."""
    if x == 0:
        return x
    scale = x.numerator.bit_length() - x.denominator.bit_length() - bits
    unit = Fraction(2) ** scale
    return round(x / unit) * unit


def kinks(expr: Expr, name: str, levels: Sequence[int] = range(-64, 65)) -> set[Fraction]:
    """Points where an abs, min, max or floor of a linear argument changes its branch; floats' worth for others."""
    found: set[Fraction] = set()
    for part in children(expr):
        found |= kinks(part, name, levels)
    if isinstance(expr, Call) and expr.name in ("abs", "min", "max", "floor") and name in symbols(expr):
        differences = [expr.args[0]] if expr.name in ("abs", "floor") else [sub(a, b) for a, b in itertools.combinations(expr.args, 2)]
        for difference in differences:
            found |= _roots(difference, name, levels if expr.name == "floor" else (0,))
    return found


def _roots(expr: Expr, name: str, levels: Sequence[int]) -> set[Fraction]:
    if _is_abs_sum(expr):
        return {root for side in (Fraction(1), Fraction(-1)) for root in _roots_on(expr, name, levels, side)}
    slope, rest = linear_part(expr, name)
    if symbols(slope) or symbols(rest):
        points = np.concatenate([-np.geomspace(1e6, 1e-6, 400), np.geomspace(1e-6, 1e6, 400)])
        values = vectorised(expr, name)(points)
        changes = np.nonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)[0]
        return {_bisect(expr, name, Fraction(float(points[i])), Fraction(float(points[i + 1]))) for i in changes}
    if isinstance(slope, Num) and isinstance(rest, Num):
        return {(level - rest.value) / slope.value for level in levels} if slope.value != 0 else set()
    ball = constant(slope)
    return {exact(((level - constant(rest)) / ball).mid()) for level in levels} if not ball.contains(0) else set()


def _is_abs_sum(expr: Expr) -> bool:
    terms = expr.args if isinstance(expr, Add) else (expr,)
    return any(isinstance(f, Call) and f.name == "abs" for t in terms for f in (t.args if isinstance(t, Mul) else (t,)))


def _roots_on(expr: Expr, name: str, levels: Sequence[int], side: Fraction) -> set[Fraction]:
    """Roots of an expression whose abs are decided far out on one side, kept where they lie on that side of 0."""
    smooth = resolve(expr, name, *((side * 10**6, None) if side > 0 else (None, side * 10**6)))
    return {root for root in _roots(smooth, name, levels) if root * side >= 0} if not _is_abs_sum(smooth) else set()


def _bisect(expr: Expr, name: str, low: Fraction, high: Fraction) -> Fraction:
    """A root between two points of different sign: the simple rational near it where that is one, else a close number."""

    def size(at: Fraction) -> arb:
        return value(expr, {name: rational(at)})

    positive = bool(size(low) > 0)
    for _ in range(80):
        middle = shorten((low + high) / 2, 90)
        if bool(size(middle) > 0) == positive:
            low = middle
        else:
            high = middle
    simple = ((low + high) / 2).limit_denominator(10_000)
    return simple if size(simple).contains(0) else shorten((low + high) / 2, 80)
