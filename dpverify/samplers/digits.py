"""Noises on the line by digits on demand: as many bits of a uniform number are drawn as a comparison takes (theory#noises-by-digits).

A noise is drawn as a side of the median, left or right, and a uniform number u: what lies beyond it on its side has the probability u/2.
Of u the first bits are known, and so an interval that the noise lies in. Most comparisons are decided in floats, which are given a margin
far beyond what they are wrong by; where an interval reaches over the other side, balls take the place of floats, and bits are added until
it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
from flint import arb
from scipy import special

from dpverify.errors import NoSampler
from dpverify.samplers.additive import additive
from dpverify.samplers.law import EXACT, Floats, Generator
from dpverify.samplers.powers import power_law
from dpverify.search.numeric import number
from dpverify.trusted.kernel.balls import exact, precision, rational, value
from dpverify.trusted.kernel.expr import ONE, Add, Call, Expr, Mul, Num, Pow, Sym, call, div, mul, neg, num, power, sub
from dpverify.trusted.kernel.model import OnLine, Product, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log

BITS: Final = 53
"""Of a uniform number, before more are needed: what floats hold exactly."""
_STEP: Final = 64
_MOST_BITS: Final = 4096
_MARGIN: Final = 2.0**-40
"""Of the float functions below, relative and in units of the scale: they are right to some 2^-50."""

TINY: Final = 1e-300
"""More than what floats lose at their lower end."""

Key = tuple[str, int]
"""The name of a noise, and the step that it is drawn in."""


@dataclass(frozen=True, slots=True)
class Tails:
    """Where u/2 of a law of scale 1 lies beyond, on the left and on the right, in floats and in balls; monotone in u, 0 < u <= 1."""

    left: Callable[[Floats], Floats]
    right: Callable[[Floats], Floats]
    left_ball: Callable[[arb], arb]
    right_ball: Callable[[arb], arb]


def _even(right: Callable[[Floats], Floats], right_ball: Callable[[arb], arb]) -> Tails:
    return Tails(lambda u: -right(u), right, lambda u: -right_ball(u), right_ball)


_TAILS: Final[Mapping[str, Tails]] = {
    "laplace": _even(lambda u: -np.log(u), lambda u: -u.log()),
    "gaussian": _even(lambda u: -special.ndtri(u / 2), lambda u: arb(2).sqrt() * u.erfcinv()),
    "logistic": _even(lambda u: np.log1p(-u / 2) - np.log(u / 2), lambda u: (1 - u / 2).log() - (u / 2).log()),
    "exponential": Tails(
        lambda u: -np.log1p(-u / 2), lambda u: -np.log(u / 2), lambda u: -((1 - u / 2).log()), lambda u: -((u / 2).log())
    ),
    "gumbel": Tails(
        lambda u: -np.log(-np.log(u / 2)),
        lambda u: -np.log(-np.log1p(-u / 2)),
        lambda u: -((-((u / 2).log())).log()),
        lambda u: -((-((1 - u / 2).log())).log()),
    ),
}


def _known(noise: OnLine) -> tuple[str, Expr] | None:
    """Which of the laws above it is, and its scale; None where that is not seen."""
    if isinstance(noise, Product):
        noise = Translation(noise.density)
    if isinstance(noise, Radial) and noise.norm.kind == "lp":
        return _of_power(power_law(neg_log(noise.profile), "r", two_sided=False), noise.scale, ("laplace", "gaussian"))
    if not isinstance(noise, Translation) or noise.integers:
        return None
    if noise.support == (Num(Fraction(0)), None):
        return _of_power(power_law(neg_log(noise.density), "z", two_sided=False), ONE, ("exponential",))
    if noise.support != (None, None):
        return None
    found = _of_power(power_law(neg_log(noise.density), "z", two_sided=True), ONE, ("laplace", "gaussian"))
    return found or _of_exponentials(noise.density)


def _of_power(found: tuple[Expr, Expr] | None, scale: Expr, names: tuple[str, ...]) -> tuple[str, Expr] | None:
    """The law of a density exp(-c |z|^p)."""
    if found is None or found[1] not in (ONE, num(2))[: len(names)]:
        return None
    c, p = found
    return (names[0], div(scale, c)) if p == ONE else (names[1], div(scale, power(mul(num(2), c), Num(Fraction(1, 2)))))


def _of_exponentials(density: Expr) -> tuple[str, Expr] | None:
    """Logistic noise, cosh(z/(2s))^-2, and Gumbel noise, exp(-z/s - exp(-z/s))."""
    z = Sym("z")
    if isinstance(density, Pow) and isinstance(density.base, Call) and density.base.name == "cosh" and density.exponent == num(-2):
        rate = div(density.base.args[0], z)
        return ("logistic", div(ONE, mul(num(2), rate))) if mul(rate, z) == density.base.args[0] and _is_rate(rate) else None
    if isinstance(density, Call) and density.name == "exp" and isinstance(density.args[0], Add):
        for term in density.args[0].args:
            rate = neg(div(term, z)) if isinstance(term, Mul | Sym) else ONE
            moved = neg(mul(rate, z))
            if _is_rate(rate) and call("exp", sub(moved, call("exp", moved))) == density:
                return "gumbel", div(ONE, rate)
    return None


def _is_rate(rate: Expr) -> bool:
    return isinstance(rate, Num) and rate.value > 0


# -- draws -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draws:
    """Many draws of one noise: an interval each, middle and radius, and the words that more digits are added to.

    A word is u's first bits, or -1 less them on the left; the noise itself where it is not drawn by digits.
    """

    middle: Floats
    radius: Floats
    words: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Lazy:
    """One draw, of which more digits are drawn when they are asked for."""

    noise: Noise
    rng: Generator
    word: list[int]
    """The first bits, and how many they are."""

    def ball(self, bits: int) -> arb:
        """Where the noise lies, by so many bits of u; at the working precision."""
        first, known = self.word
        while known < bits:
            more = int(self.rng.integers(0, 2**_STEP - 1, dtype=np.uint64, endpoint=True))
            first, known = (first << _STEP) + more if first >= 0 else -1 - ((-1 - first << _STEP) + more), known + _STEP
        self.word[:] = first, known
        return self.noise.between(first, known)


@dataclass(frozen=True, slots=True)
class Noise:
    """A noise on the line as it is drawn. tails: None where it is drawn in floats, or by integers. whole: whether it is on the integers."""

    told: tuple[str, ...]
    whole: bool
    law: Callable[[int, Generator], np.ndarray[Any, Any]] | None = field(compare=False)
    tails: Tails | None = field(compare=False)
    scale: Expr = ONE
    bits: int = BITS

    @property
    def exact(self) -> bool:
        """Whether comparisons of it are exact."""
        return self.tails is not None or EXACT in self.told

    def draw(self, size: int, rng: Generator) -> Draws:
        """Independent draws."""
        if self.tails is None:
            assert self.law is not None
            values = np.asarray(self.law(size, rng))
            return Draws(values.astype(float), np.zeros(size), values)
        words = rng.integers(-(2**self.bits), 2**self.bits, size)
        leftward = words < 0
        first = np.where(leftward, -1 - words, words).astype(float)
        unit = 2.0**-self.bits
        near, far = ((first + 1) * unit, first * unit)
        ends = []
        with np.errstate(divide="ignore"):
            for u in (near, far):
                ends.append(np.where(leftward, self.tails.left(u), self.tails.right(u)))
        open_end = ~np.isfinite(ends[1])
        middle = np.where(open_end, ends[0], (ends[0] + np.where(open_end, 0, ends[1])) / 2)
        scale = number(self.scale)
        radius = np.abs(ends[1] - middle) + _MARGIN * (1 + np.abs(middle))
        return Draws(scale * middle, scale * radius + TINY, words)

    def lazy(self, rng: Generator, word: Any = None) -> Lazy | Fraction:
        """One draw, new or of a word that was drawn before."""
        if word is None:
            word = self.draw(1, rng).words[0]
        if self.tails is None:
            return Fraction(word.item() if isinstance(word, np.generic) else word)
        return Lazy(self, rng, [int(word), self.bits])

    def between(self, first: int, bits: int) -> arb:
        """Where the noise lies that has these first bits, at the working precision."""
        assert self.tails is not None
        at = self.tails.left_ball if first < 0 else self.tails.right_ball
        magnitude = -1 - first if first < 0 else first
        if not magnitude:
            return arb(0) / arb(0)
        ends = (at(arb(magnitude + more) / arb(2) ** bits) for more in (0, 1))
        found: arb = value(self.scale, {}) * next(ends).union(next(ends))
        return found


def noise_of(noise: OnLine) -> Noise:
    """How a noise on the line is drawn. Raises NoSampler."""
    if getattr(noise, "dimension", ONE) != ONE:
        raise NoSampler("noise that is added to one answer has the dimension 1.")
    known = _known(noise)
    if known is not None:
        name, scale = known
        shown = name.capitalize() if name in ("laplace", "gaussian", "gumbel") else name
        return Noise((f"{shown} noise by digits on demand", EXACT), False, None, _TAILS[name], scale)
    law = additive(noise, None)
    whole = isinstance(noise, Translation) and noise.integers
    return Noise(law.told, whole, lambda size, rng: law.draw([0], size, rng)[:, 0], None)


# -- sums of draws, exactly ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sum:
    """Rational multiples of draws, and a constant."""

    of: Mapping[Key, Fraction]
    rest: Fraction = Fraction(0)
    odd: tuple[tuple[Fraction, Expr], ...] = ()
    """Multiples of constants that are not rational."""

    def plus(self, other: Sum, times: Fraction = Fraction(1)) -> Sum:
        """The sum with a multiple of another."""
        total = dict(self.of)
        for key, factor in other.of.items():
            total[key] = total.get(key, Fraction(0)) + times * factor
        odd = (*self.odd, *((times * factor, expr) for factor, expr in other.odd))
        return Sum({key: factor for key, factor in total.items() if factor}, self.rest + times * other.rest, odd)

    def within(self, draws: Mapping[Key, Lazy | Fraction], bits: int) -> arb | Fraction:
        """The sum itself, or a ball that holds it, at the working precision."""
        total, lazy = self.rest, arb(0)
        balls = bool(self.odd)
        for key, factor in self.of.items():
            drawn = draws[key]
            if isinstance(drawn, Lazy):
                lazy, balls = lazy + rational(factor) * drawn.ball(bits), True
            else:
                total += factor * drawn
        for factor, expr in self.odd:
            lazy += rational(factor) * value(expr, {})
        return lazy + rational(total) if balls else total


def constant_sum(expr: Expr) -> Sum:
    """A constant as a sum without draws."""
    return Sum({}, expr.value) if isinstance(expr, Num) else Sum({}, Fraction(0), ((Fraction(1), expr),))


def _each_precision() -> Any:
    bits = _STEP
    while bits <= _MOST_BITS:
        yield bits
        bits *= 2
    raise NoSampler(f"{_MOST_BITS} digits do not tell two sums apart: are they equal, but for how irrational numbers are written?")


def sign(total: Sum, draws: Mapping[Key, Lazy | Fraction]) -> int:
    """The sign of a sum, by as many digits as it takes. Raises NoSampler for one that is 0 without being seen to be."""
    for bits in _each_precision():
        with precision(bits + _STEP):
            found = total.within(draws, bits)
            if isinstance(found, Fraction):
                return (found > 0) - (found < 0)
            if found > 0 or found < 0:
                return 1 if found > 0 else -1
    raise AssertionError


def nearest(total: Sum, draws: Mapping[Key, Lazy | Fraction], step: Fraction) -> int:
    """The number of steps of the multiple of `step` that is nearest to a sum, exactly; halves to even."""
    for bits in _each_precision():
        with precision(bits + _STEP):
            found = total.within(draws, bits)
            if isinstance(found, Fraction):
                return round(found / step)
            if found.is_finite():
                low, high = (round(exact(end) / step) for end in (found.lower(), found.upper()))
                if low == high:
                    return low
    raise AssertionError


def as_float(total: Sum, draws: Mapping[Key, Lazy | Fraction]) -> float:
    """A sum as a float."""
    for bits in _each_precision():
        with precision(bits + _STEP):
            found = total.within(draws, bits)
            if isinstance(found, Fraction):
                return float(found)
            if found.is_finite() and found.rad() < 2.0**-50 * (abs(found).upper() + 1):
                return float(found.mid())
    raise AssertionError
