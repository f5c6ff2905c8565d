"""Shapes and their local laws: what is known of a function from what is known of its parts (theory#shape-calculus).

A `Shape` holds the signs that f, f', f'' and (log f)'' may have; a law for each kind of node combines those of its parts. Where f has
kinks, f'' is the measure that it is: f is continuous and f' of bounded variation, so the same laws hold. What signs cannot see is added
by two classical facts: sums of log-convex functions are log-convex, and the l_p norm of non-negative convex functions is convex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NULL, POSITIVE, Sign, minus, plus, square, times


@dataclass(frozen=True, slots=True)
class Shape:
    """The signs that a function and its derivatives may have on the open domain of the variable.

    value, slope, bend: of f, f' and f''. log_bend: of (log f)'', where f is positive.
    root: an exponent s in [0, 1] for which f**s is convex and f >= 0 (0 stands for log f), None where none is known.
    """

    value: Sign
    slope: Sign
    bend: Sign
    log_bend: Sign = ANY
    root: Fraction | None = None

    @property
    def convex(self) -> bool:
        """Whether f is certainly convex."""
        return self.bend <= AT_LEAST_ZERO

    @property
    def concave(self) -> bool:
        """Whether f is certainly concave."""
        return self.bend <= AT_MOST_ZERO

    def closed(self) -> Shape:
        """The shape with what its parts say of each other: f f'' = f^2 (log f)'' + f'^2."""
        bend, log_bend, root = self.bend, self.log_bend, self.root
        if self.value == POSITIVE:
            log_bend = (log_bend & plus(bend, minus(square(self.slope)))) or log_bend
            if root == 0:
                log_bend = (log_bend & AT_LEAST_ZERO) or log_bend
            bend = (bend & plus(log_bend, square(self.slope))) or bend
            if log_bend <= AT_LEAST_ZERO:
                root = Fraction(0)
        if self.value <= AT_LEAST_ZERO:
            if root is not None and root <= 1:
                bend = (bend & AT_LEAST_ZERO) or bend
            elif bend <= AT_LEAST_ZERO:
                root = Fraction(1)
        return Shape(self.value, self.slope, bend, log_bend, root)

    def chain(self, f: Sign, f1: Sign, f2: Sign, log_bend: Sign = ANY, root: Fraction | None = None) -> Shape:
        """The shape of f(self), from the signs of f and of its two derivatives there."""
        bend = plus(times(f2, square(self.slope)), times(f1, self.bend))
        return Shape(f, times(f1, self.slope), bend, log_bend, root).closed()


def constant(value: Sign) -> Shape:
    """Of an expression without the variable."""
    return Shape(value, NULL, NULL, NULL if value == POSITIVE else ANY, Fraction(0) if value <= AT_LEAST_ZERO else None)


def total(parts: list[Shape]) -> Shape:
    """Of a sum."""
    value, slope, bend = (reduce(plus, signs) for signs in zip(*((p.value, p.slope, p.bend) for p in parts), strict=True))
    return Shape(value, slope, bend, ANY, largest_root(parts))


def product(f: Shape, g: Shape) -> Shape:
    """Of a product of two."""
    slope = plus(times(f.slope, g.value), times(f.value, g.slope))
    cross = times(f.slope, g.slope)
    bend = plus(plus(times(f.bend, g.value), cross), times(f.value, g.bend))
    log_bend = plus(f.log_bend, g.log_bend) if f.value == g.value == POSITIVE else ANY
    root = None
    if f.value <= AT_LEAST_ZERO and g.value <= AT_LEAST_ZERO:
        root = g.root if f.slope == NULL else f.root if g.slope == NULL else None
    return Shape(times(f.value, g.value), slope, bend, log_bend, root).closed()


def to_power(u: Shape, exponent: Fraction | None, sign: Sign, falling: Sign) -> Shape:
    """Of u**e where it is defined. exponent: e where it is a number; sign, falling: of e and of e - 1."""
    whole = exponent if exponent is not None and exponent.denominator == 1 else None
    powers = [_power_sign(u.value, None if whole is None else whole - k) for k in range(3)]
    root = None
    if sign == POSITIVE and exponent is not None:
        if u.root is not None:
            root = u.root / exponent
        elif u.bend == NULL and whole is not None and whole % 2 == 0:
            root = 1 / exponent  # |affine| is convex
    log_bend = times(sign, u.log_bend) if u.value == POSITIVE else ANY
    return u.chain(powers[0], times(sign, powers[1]), times(times(sign, falling), powers[2]), log_bend, root)


def _power_sign(value: Sign, exponent: Fraction | None) -> Sign:
    """The signs of value**exponent for an integer exponent, or any exponent (None) of a non-negative base."""
    if exponent == 0:
        return POSITIVE
    return square(value) if exponent is None or exponent % 2 == 0 else value


def largest_root(parts: Sequence[Shape]) -> Fraction | None:
    """The root of a sum or maximum of non-negative functions: the l_(1/s) norm of convex ones is convex for s <= 1."""
    roots = [part.root for part in parts if part.root is not None and part.value <= AT_LEAST_ZERO]
    return max(roots) if len(roots) == len(parts) and max(roots) <= 1 else None
