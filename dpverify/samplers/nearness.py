"""The exponential mechanism on a net of a metric space, drawn exactly, with the epsilon that is proved of it.

Every probability is proportional to exp(-b d) with a rational b and a rational distance d, and it is drawn by integers alone: a point of
the net is proposed uniformly, and kept with the probability exp(-b (d - d_0)), d_0 the least distance (Canonne, Kamath & Steinke 2020,
Algorithm 1). No float is in it, so that what is drawn has the law that the claim speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, Final

import numpy as np

from dpverify.errors import NoSampler
from dpverify.samplers.integers import below, happens
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Num, div, mul, num
from dpverify.trusted.kernel.model import Claim, Shape, Space
from dpverify.trusted.theories.spaces.nets import cube
from dpverify.trusted.theories.spaces.rules import net_mechanism

Point = Any
"""A number of one of finitely many points; a tuple of coordinates; the children of the nodes on the way to a leaf."""

MOST: Final = 100_000
"""Most points of a net that are listed."""
_RATE: Final = 10**6
"""Denominator of the rates: they are rounded up."""


@dataclass(frozen=True)
class NearMechanism:
    """Answers near the truth: the net point y with a probability proportional to exp(-rate * distance(truth, y)).

    claim: that some mechanism is private at the epsilon of this one and as near. verified: its proof, by this mechanism.
    """

    claim: Claim
    verified: Verified
    points: tuple[Point, ...]
    distance: Callable[[Point, Point], Fraction]
    rate: Fraction

    def sample(self, truth: Point, size: int, rng: np.random.Generator) -> list[Point]:
        """Answers to one true answer, drawn exactly from the generator's integers."""
        gaps = [self.distance(truth, point) for point in self.points]
        exponents = [self.rate * (gap - min(gaps)) for gap in gaps]
        common = lcm(*(exponent.denominator for exponent in exponents))
        numerators = np.array([int(exponent * common) for exponent in exponents], dtype=object)
        chosen = np.empty(size, dtype=np.int64)
        left = np.arange(size)
        while left.size:
            proposed = below(len(exponents), left.size, rng).astype(np.int64)
            taken = happens(numerators[proposed], common, rng)
            chosen[left[taken]] = proposed[taken]
            left = left[~taken]
        return [self.points[index] for index in chosen]

    def exactly(self) -> Verified | None:
        """The tight epsilon of this very mechanism, per unit of distance, where the net is all of finitely many points; else None."""
        space = self.claim.mechanism
        assert isinstance(space, Space)
        if space.shape.kind != "points" or len(self.points) != len(space.shape.matrix):
            return None
        return verify(replace(self.claim, mechanism=replace(space, rate=Num(self.rate)), epsilon=None))


def near_mechanism(claim: Claim, share: Fraction = Fraction(1, 2)) -> NearMechanism:
    """The mechanism for the nearness that a claim about a space states, with its epsilon proved. Raises NoSampler.

    share: the radius of the net over `within`. For finitely many points; boxes in l1 or in the maximum norm, intervals in any; trees and
    Cantor sets: where distances between rational points are rational.
    """
    space, near, beta = claim.mechanism, claim.within, claim.beta
    if not isinstance(space, Space) or not isinstance(near, Num) or not isinstance(beta, Num) or not isinstance(space.lipschitz, Num):
        raise NoSampler("a mechanism is drawn for a space whose lipschitz, within and beta are rationals.")
    points, distance = _net(space.shape, share * near.value)
    told = {"depth": len(points[0])} if space.shape.kind in ("tree", "cantor") else {}
    try:
        bound = net_mechanism.check(replace(claim, epsilon=None), {"share": str(share), "net": told})
    except DpverifyError as error:
        raise NoSampler(f"no mechanism is proved for this net: {error}") from error
    assert not isinstance(bound.value, Infinite)
    with precision(128):
        rate = exact(constant(div(bound.value, mul(num(2), space.lipschitz))).upper())
    rate = Fraction(-((-rate * _RATE).__floor__()), _RATE)
    asked = replace(claim, epsilon=Num(2 * rate * space.lipschitz.value))
    return NearMechanism(asked, verify(asked), points, distance, rate)


def _net(shape: Shape, radius: Fraction) -> tuple[tuple[Point, ...], Callable[[Point, Point], Fraction]]:
    """The points of a net, and the distance."""
    if shape.kind == "points":
        return tuple(range(len(shape.matrix))), lambda x, y: shape.matrix[x][y]
    sides = [number.value for number in shape.numbers if isinstance(number, Num)]
    if len(sides) == len(shape.numbers):
        if shape.kind == "box" and shape.norm.kind == "lp" and (shape.norm.p in (1, None) or len(sides) == 1):
            return _cubes(shape, sides, radius), _total if shape.norm.p is not None else _greatest
        if shape.kind in ("tree", "cantor"):
            return _leaves(shape, sides, radius)
    raise NoSampler(
        f"distances in this space, of the kind {shape.kind}, are not all rational: its mechanism is proved, and not drawn here."
    )


def _total(x: Point, y: Point) -> Fraction:
    return sum((abs(Fraction(a) - b) for a, b in zip(x, y, strict=True)), Fraction(0))


def _greatest(x: Point, y: Point) -> Fraction:
    gaps = [abs(Fraction(a) - Fraction(b)) for a, b in zip(x, y, strict=True)]
    return max(gaps)


def _cubes(shape: Shape, sides: Sequence[Fraction], radius: Fraction) -> tuple[Point, ...]:
    """The centres of cubes that the box [0, L_1] x ... is cut into."""
    factor = cube(shape.norm, len(sides))
    assert isinstance(factor, Num)
    counts = [-((-side * factor.value / (2 * radius)).__floor__()) for side in sides]
    _few(counts)
    lines = [[side * Fraction(2 * i + 1, 2 * count) for i in range(count)] for side, count in zip(sides, counts, strict=True)]
    return tuple(product(*lines))


def _leaves(shape: Shape, numbers: Sequence[Fraction], radius: Fraction) -> tuple[tuple[Point, ...], Callable[[Point, Point], Fraction]]:
    """One leaf for each node of the first depth that is fine enough: the way there, and the first child of each node after it."""
    scale, ratio, *branching = numbers
    depth = 0
    while scale * ratio**depth > radius:
        depth += 1
    counts = [2 if shape.kind == "cantor" else int(branching[min(level, len(branching) - 1)]) for level in range(depth)]
    _few(counts)
    return tuple(product(*map(range, counts))), lambda x, y: _apart(shape, scale, ratio, x, y)


def _apart(shape: Shape, scale: Fraction, ratio: Fraction, x: Point, y: Point) -> Fraction:
    """The distance of two leaves, or of two points of a Cantor set, by the ways to them; after their ends come zeros."""
    ways = list(_paired(x, y))
    if shape.kind == "cantor":
        return abs(sum(((a - b) * scale * (1 - ratio) * ratio**level for level, (a, b) in enumerate(ways)), Fraction(0)))
    return next((scale * ratio**level for level, (a, b) in enumerate(ways) if a != b), Fraction(0))


def _paired(x: Point, y: Point) -> Iterator[tuple[int, int]]:
    length = max(len(x), len(y))
    yield from zip([*x, *[0] * (length - len(x))], [*y, *[0] * (length - len(y))], strict=True)


def _few(counts: Sequence[int]) -> None:
    """Raises NoSampler for a net of too many points."""
    size = 1
    for count in counts:
        size *= count
    if size > MOST:
        raise NoSampler(f"the net has {size} points; at most {MOST} are listed.")
