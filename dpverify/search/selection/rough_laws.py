"""Noise on the line in floats, and the cuts between which its law is enclosed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from flint import acb

from dpverify.search.curves import sums
from dpverify.search.later import Later
from dpverify.search.numeric import vectorised
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, Expr
from dpverify.trusted.kernel.model import OnLine, Sum, Translation, on_integers
from dpverify.trusted.numbers.antiderivatives import Series
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.numbers.pieces import pieces
from dpverify.trusted.theories.selection.chances import MOST
from dpverify.trusted.theories.selection.noise_laws import MOST_TERMS, closed, density_of

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]
else:
    np, Array = Later("numpy"), Any

_FIRST, _EACH = 250, 160
"""Floats on either side of 0 at which a density is looked at: to find out how wide it is, and then."""
_LEAST, _FARTHEST = 1e-9, 1e18
_NEAR, _FAR = 1e-2, 1e9
"""In units of its width."""
_WIDTH: Final = 1e-6
"""The narrowest cell, in units of the noise."""
_DEVIATIONS: Final = 12
"""How far out sums are looked at."""
_STEEP: Final = 2**7
"""How much greater a density may be round a cell than on it, so that few bits are lost."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Floats that rise, the density there, and its mass up to them and beyond them."""

    z: Array
    density: Array
    below: Array
    above: Array


def _nodes(z: Array, weights: Array) -> Nodes:
    """Of noise on the integers."""
    below, above, total = np.concatenate([[0.0], np.cumsum(weights)[:-1]]), np.cumsum(weights[::-1])[::-1], weights.sum()
    return Nodes(z, weights / total, below / total, above / total)


class Rough:
    """One noise on the line, with values for all parameters."""

    def __init__(self, noise: OnLine) -> None:
        self.noise = noise
        self.is_closed = closed(noise) is not None
        self.whole = on_integers(noise)
        self.density: Expr = ONE
        self.support: tuple[Fraction | None, Fraction | None] = (None, None)
        if isinstance(noise, Sum):
            if not self.whole:
                raise Rejected("the search", "the noise", "sums on the line are not looked at")
        elif isinstance(noise, Translation) and noise.integers:
            self.density, self.support = noise.density, domain(noise)
        else:
            self.density, self.support = density_of(noise)
        self.width = 1.0
        self.kinks = [] if self.whole else _ends(self.density, self.support)

    @cached_property
    def nodes(self) -> Nodes:
        """Further and further apart away from 0; all integers where the noise lives on them."""
        if isinstance(self.noise, Sum):
            places, weights = sums.table(self.noise, _DEVIATIONS, MOST_TERMS // 4)
            return _nodes(np.array(places, dtype=float), np.array(weights))
        if self.whole:
            return self._at(np.arange(-MOST_TERMS // 8, MOST_TERMS // 8 + 1.0))
        far = np.geomspace(_LEAST, _FARTHEST, _FIRST)
        first = self._at(np.concatenate([-far[::-1], [0.0], far]))
        low, middle, high = (float(first.z[int(np.searchsorted(first.below, chance))]) for chance in (0.25, 0.5, 0.75))
        self.width = max(high - low, _LEAST)
        far = self.width * np.concatenate([np.geomspace(_NEAR, 8, _EACH), np.geomspace(9, _FAR, _EACH // 2)])
        return self._at(np.concatenate([middle - far, [middle], middle + far]))

    def _at(self, spread: Array) -> Nodes:
        low, high = (None if end is None else float(end) for end in self.support)
        beside = [point + side * self.width for point in map(float, self.kinks) for side in (-_LEAST, 0.0, _LEAST)]
        z = np.unique(np.concatenate([spread, beside]))
        inside = (z >= (-math.inf if low is None else low)) & (z <= (math.inf if high is None else high))
        height = np.where(inside, np.nan_to_num(vectorised(self.density, "z")(z), nan=0.0, posinf=0.0), 0.0)
        if self.whole:
            return _nodes(z, height)
        mass = np.diff(z) * (height[1:] + height[:-1]) / 2
        below, above = np.concatenate([[0.0], np.cumsum(mass)]), np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
        total = mass.sum()
        return Nodes(z, height / total, below / total, above / total)

    def below(self, z: Array) -> Array:
        return np.interp(z, self.nodes.z, self.nodes.below)

    def above(self, z: Array) -> Array:
        return np.interp(z, self.nodes.z, self.nodes.above)

    def height(self, z: Array) -> Array:
        return np.interp(z, self.nodes.z, self.nodes.density, left=0.0, right=0.0)

    def reach(self, bits: int) -> tuple[Fraction, Fraction]:
        """Beyond which about 2^-bits is left on either side, or nothing."""
        nodes, rest = self.nodes, 2.0**-bits
        first = max(int(np.searchsorted(nodes.below, rest)) - 1, 0)
        last = len(nodes.z) - max(int(np.searchsorted(nodes.above[::-1], rest)) - 1, 0) - 1
        low, high = self.support
        left = Fraction(math.floor(nodes.z[first])) if low is None else low
        right = Fraction(math.ceil(nodes.z[last])) if high is None else high
        return left, right

    def grid(self, low: Fraction, high: Fraction) -> list[Fraction]:
        """Cuts from one point to another, so narrow that the density is enclosed by series between them. Raises Undecided."""
        if self.is_closed:
            return []
        if self.whole:
            return [Fraction(low.__floor__()), Fraction(high.__ceil__())]
        unit = Fraction(2) ** round(math.log2(self.width if self.nodes.z.size else 1.0))
        points = {low, high, *(point for point in (*self.kinks, Fraction(0)) if low < point < high)}
        step = unit / 4
        while step < max(abs(low), abs(high)):
            points |= {point for point in (step, -step) if low < point < high}
            step *= 2
        parts = pieces(self.density, "z", *self.support)
        cuts, functions = sorted(points), [compiled(part.density, "z") for part in parts]
        found = [cuts[0]]
        for left, right in pairwise(cuts):
            inside = [
                function
                for function, part in zip(functions, parts, strict=True)
                if (part.lower is None or part.lower <= left) and (part.upper is None or right <= part.upper)
            ]
            found += _halved(inside[0], left, right, unit, MOST - len(found)) if inside else [right]
        return found


def _halved(function: Any, low: Fraction, high: Fraction, unit: Fraction, most: int) -> Sequence[Fraction]:
    """Cuts inside a cell and its right end, at most so many. Raises Undecided."""
    try:
        highest = max(float(abs(function(acb(rational(point)), False)).mid()) for point in (low, (low + high) / 2, high))
        enough = float(Series(function, low, high).most) <= _STEEP * highest
    except Undecided:
        enough = False
    if enough:
        return [high]
    if most <= 1 or high - low < unit * Fraction(_WIDTH):
        raise Undecided(f"the density has no power series round {low} that is good enough.")
    middle = (low + high) / 2
    first = _halved(function, low, middle, unit, most - 1)
    return [*first, *_halved(function, middle, high, unit, most - len(first))]


def _ends(density: Expr, support: tuple[Fraction | None, Fraction | None]) -> list[Fraction]:
    """Where pieces of a density begin and end."""
    found = {end for piece in pieces(density, "z", *support) for end in (piece.lower, piece.upper) if end is not None}
    return sorted(found | {end for end in support if end is not None})
