"""The exponent of additive noise, h = -log(density), as a float function that stays right where floats overflow or cancel.

Everything is in the units of the answers: a radial profile's scale is inside. Floats draw and never decide; where a float has no
value, and infinitely far out, balls are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from scipy import interpolate

from dpverify.search.additive.asymptotics import integrable_at
from dpverify.search.additive.mixtures import scale_of
from dpverify.search.numeric import Array, number, vectorised
from dpverify.trusted.combinators import closed_forms
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, Call, Expr, Num, Sym, add, call, children, mul, neg, num, rebuild, sub, symbols
from dpverify.trusted.kernel.model import Claim, Mechanism, Mixture, Product, Radial, Staircase, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.pieces import breaks

FAR_BITS: Final = ((200, 100), (48, 24), (24, 12))
"""How far out a limit is looked for, as powers of two: the first pair at which the exponent has a value."""
FAR_PRECISION: Final = 900
NEAR_BITS: Final = (120, 60)
"""How close to 0 a limit there is looked for, as powers of 1/2."""
NEAR_PRECISION: Final = 128

_MIXING_REACH: Final = 40.0
_MIXING_NODES: Final = 400
_MIXING_BLOCK: Final = 200
_TABLE_REACH: Final = 45.0
_TABLE: Final = 1400
_LARGEST: Final = 1e300
_CORE_START: Final = 1e-9
_CORE_NODES: Final = 90
_CORE_ERROR: Final = 1e-10
_TINY: Final = 1e-18
_POLE: Final = 0.05
"""A value that changes by more on the last stretch towards a point does not settle there."""


@dataclass(frozen=True, slots=True)
class Core:
    """What stands for h at distances below `radius`, where floats cancel: a table in log(r + 1e-9)."""

    radius: float
    table: Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Exponent:
    """h of one coordinate, or of the norm of the noise where `half`, up to a constant.

    half: h is a function of the distance r >= 0, read as h(|x|). low, high: ends of the support. integers: noise on the integers.
    tree, name: the expression of h in its variable before the scale; None for a mixture that has no closed form. steps: the density
    that kinks are read off. core: what stands for `function` next to 0, where it cancels.
    """

    function: Callable[[Array], Array]
    scale: Expr
    half: bool
    low: float = -np.inf
    high: float = np.inf
    integers: bool = False
    tree: Expr | None = None
    name: str = "z"
    steps: Expr | None = None
    core: Core | None = None

    def __call__(self, points: Array) -> Array:
        """h at the points: inf where the density is 0."""
        x = np.asarray(points, dtype=float)
        values = self.rough(x)
        return values if self.tree is None else self._repaired(x.ravel(), values.ravel()).reshape(x.shape)

    def rough(self, x: Array) -> Array:
        """h at the points by floats alone, which may overflow or have no value."""
        inner = (np.abs(x) if self.half else x) / self.unit
        values = self.function(inner)
        if self.core is not None:
            values = np.where(np.abs(inner) < self.core.radius, self.core.table(np.log(np.abs(inner) + _CORE_START)), values)
        return np.asarray(np.where((x < self.low) | (x > self.high), np.inf, values))

    @property
    def unit(self) -> float:
        """The scale of a radial profile as a float."""
        return number(self.scale)

    def _repaired(self, x: Array, values: Array) -> Array:
        """The values with those that floats missed taken from balls; a run of zeros of the density is only asked at its ends."""
        inside = (x >= self.low) & (x <= self.high)
        missing = np.flatnonzero(~np.isfinite(values) & inside)
        if not missing.size:
            return values
        ranks = np.argsort(x, kind="stable")
        places = np.flatnonzero(np.isin(ranks, missing))
        runs = np.split(ranks[places], np.flatnonzero(np.diff(places) > 1) + 1)
        for run in runs:
            if any(np.isfinite(self.near(float(x[i]))) for i in (run[0], run[-1])):
                values[run] = [self.near(float(x[i])) for i in run]
            else:
                values[run] = np.where(np.isneginf(values[run]), -np.inf, np.inf)
        return values

    def near(self, x: float) -> float:
        """h at one point by balls; inf where it has no finite value."""
        if abs(x) > _LARGEST or not np.isfinite(x):
            return np.inf
        if abs(x) <= _TINY * self.unit:
            return self._at_zero()
        with precision(NEAR_PRECISION):
            ball = self.ball(Fraction(x))
        return float(ball) if ball.is_finite() else np.inf

    def _at_zero(self) -> float:
        """h at 0, or its limit there from above where the tree has no value at 0 itself: infinite at a pole or a zero of the density."""
        with precision(FAR_PRECISION):
            ball = self.ball(Fraction(0))
            if ball.is_finite():
                return float(ball)
            step = Fraction(self.unit)
            nearest, near = (self.ball(step * Fraction(1, 2**k)) for k in NEAR_BITS)
        if not (nearest.is_finite() and near.is_finite()):
            return np.inf
        rise = float(nearest) - float(near)
        return float(nearest) if abs(rise) < _POLE else float(np.copysign(np.inf, rise))

    def ball(self, x: Fraction) -> arb:
        """h at one point, at the current precision; not finite where it has no value, or outside the support."""
        if self.tree is None or not self.low <= x <= self.high:
            return arb("nan")
        try:
            return value(self.tree, {self.name: rational(abs(x) if self.half else x) / constant(self.scale)})
        except (DpverifyError, ArithmeticError, ValueError):
            return arb("nan")

    def kinks(self, lower: float, upper: float) -> list[float]:
        """The points from lower to upper where h may have a kink, a jump or a pole, and the ends of the support."""
        points = {0.0, self.low, self.high}
        if self.steps is not None:
            furthest = 2.0 ** np.ceil(np.log2(max(abs(lower), abs(upper), _TINY) / self.unit))  # few ranges, so that they are remembered
            inner = [Fraction(0 if self.half else -furthest), Fraction(furthest)]
            known = _breaks(self.steps, self.name, *inner) if self.has_steps else _breaks(self.steps, self.name)
            at = {point * self.unit for point in known}
            points |= at | {-point for point in at} if self.half else at
        return sorted(point for point in points if lower <= point <= upper)

    def has_moment(self, weight: int, sign: int) -> bool:
        """Whether x^weight exp(-h) is integrable as x grows in the direction of the sign (weight d - 1 + m for the m-th moment)."""
        if np.isfinite(self.high if sign > 0 else self.low):
            return True
        if self.tree is None:
            return self._float_slope(sign) > weight + 1
        end = End("+inf" if sign > 0 else "-inf", Fraction(1))
        try:
            known = None if self.integers else integrable_at(self.tree, self.name, num(weight + 1), end)
        except DpverifyError:
            known = None
        return self.tail_slope(sign) > weight + 1 + 1e-9 if known is None else known

    @property
    def has_steps(self) -> bool:
        """Whether the density has floors, whose value at a step floats cannot tell."""
        return self.steps is not None and _has_floor(self.steps)

    @property
    def is_even(self) -> bool:
        """Whether h looks the same on both sides of 0."""
        if self.half or self.low != -self.high:
            return self.half
        at = np.array([0.25, 1.0, 2.5, 7.0, 40.0])
        return bool(np.allclose(self(at), self(-at), rtol=1e-12, atol=1e-12))

    @property
    def is_integrable_on_a_line(self) -> bool:
        """Whether a pole at 0, if there is one, is integrable in one dimension."""
        near, less_near = self(self.unit * np.array([1e-12, 1e-9]))
        return bool(np.isposinf(near) or (less_near - near) / np.log(1e3) > -0.99)

    def tail_slope(self, sign: int) -> float:
        """About lim h / log x far out: the power with which the density falls, huge for exponential tails."""
        if self.tree is None:
            return self._float_slope(sign)
        with precision(FAR_PRECISION):
            for far, nearer in FAR_BITS:
                rise = self.ball(sign * Fraction(2) ** far) - self.ball(sign * Fraction(2) ** nearer)
                if rise.is_finite():
                    return float(rise / (arb(2).log() * (far - nearer)))
        return np.inf

    def _float_slope(self, sign: int) -> float:
        near, far = self(sign * self.unit * np.array([1e4, 1e6]))
        return float((far - near) / np.log(1e2)) if np.isfinite(far) else np.inf


@lru_cache(maxsize=1024)
def _has_floor(expr: Expr) -> bool:
    return (isinstance(expr, Call) and expr.name == "floor") or any(map(_has_floor, children(expr)))


@lru_cache(maxsize=256)
def _breaks(density: Expr, name: str, *ends: Fraction) -> frozenset[float]:
    return frozenset(float(point) for branch in _branches(density, name) for point in breaks(branch, name, *ends))


def _branches(density: Expr, name: str) -> tuple[Expr, ...]:
    """The density, and what it is on both sides of 0 where |name| stands in it, so that steps in |name| show."""
    size = Call("abs", (Sym(name),))

    def without(expr: Expr, other: Expr) -> Expr:
        return other if expr == size else rebuild(expr, lambda part: without(part, other))

    return density, without(density, Sym(name)), without(density, neg(Sym(name)))


def dimension_of(mechanism: Mechanism) -> int | None:
    """The number of coordinates of additive noise, None where it is none or its dimension is not a number."""
    if isinstance(mechanism, Translation | Staircase):
        return 1
    if not isinstance(mechanism, Radial | Product | Mixture):
        return None
    d = mechanism.dimension
    return int(d.value) if isinstance(d, Num) and d.value.denominator == 1 else None


@lru_cache(maxsize=256)
def exponent(mechanism: Mechanism) -> Exponent | None:
    """The exponent of additive noise, of one coordinate for a product; None for another kind, or with parameters left open."""
    if dimension_of(mechanism) is None:
        return None
    if isinstance(mechanism, Staircase):
        return exponent(_as_translation(mechanism))
    if isinstance(mechanism, Mixture):
        if scale_of(mechanism, {}) is None:
            return None
        try:
            mechanism = closed_forms.radial(Claim(mechanism, None)).mechanism
        except DpverifyError:
            return _mixture(mechanism) if isinstance(mechanism, Mixture) else None
    if isinstance(mechanism, Radial):
        return _of(mechanism.profile, "r", mechanism.scale, half=True)
    if isinstance(mechanism, Product):
        return _of(mechanism.density, "z", ONE, half=False)
    if not isinstance(mechanism, Translation):
        return None
    low, high = mechanism.support
    if any(symbols(end) for end in (low, high) if end is not None):
        return None
    ends = (-np.inf if low is None else number(low), np.inf if high is None else number(high))
    return _of(mechanism.density, "z", ONE, half=False, ends=ends, integers=mechanism.integers)


def _of(
    density: Expr, name: str, scale: Expr, *, half: bool, ends: tuple[float, float] = (-np.inf, np.inf), integers: bool = False
) -> Exponent | None:
    if symbols(density) - {name} or symbols(scale):
        return None
    tree = neg_log(density)
    exponent = Exponent(vectorised(tree, name), scale, half, *ends, integers, tree, name, density)
    return replace(exponent, core=_core(exponent)) if half else exponent


def _core(h: Exponent) -> Core | None:
    """The part about 0 where the floats of h are off, tabulated by balls; None where they are right."""
    inner = np.asarray(2.0 ** -np.arange(1, 29, 3), dtype=float)
    with precision(FAR_PRECISION):
        exact = [float(ball) if (ball := h.ball(Fraction(r) * Fraction(h.unit))).is_finite() else np.nan for r in inner]
        floats = h.function(inner)
        with np.errstate(invalid="ignore"):
            wrong = np.flatnonzero(np.isfinite(exact) & ~(np.abs(floats - exact) < _CORE_ERROR))
        if not wrong.size:
            return None
        radius = float(inner[max(wrong[0] - 1, 0)])
        logs = np.linspace(np.log(_CORE_START), np.log(2 * radius), _CORE_NODES)
        points = np.maximum(np.exp(logs) - _CORE_START, _CORE_START * 1e-3)
        values = [float(h.ball(Fraction(r) * Fraction(h.unit))) for r in points]
    return Core(radius, interpolate.CubicSpline(np.log(points + _CORE_START), values)) if np.isfinite(values).all() else None


def _as_translation(noise: Staircase) -> Translation:
    """Staircase noise by its density exp(-epsilon floor(|z| + 1 - gamma))."""
    steps = call("floor", add(call("abs", Sym("z")), sub(ONE, noise.gamma)))
    return Translation(call("exp", neg(mul(noise.epsilon, steps))))


# -- mixtures ------------------------------------------------------------------------------------------


def _mixture(noise: Mixture) -> Exponent | None:
    lower, upper = noise.support
    free = (symbols(noise.profile) - {"r", "v"}) | (symbols(noise.mixing) - {"v"}) | symbols(noise.scale) | symbols(lower)
    if free or (upper is not None and symbols(upper)):
        return None
    nodes, weights = _nodes(number(lower), np.inf if upper is None else number(upper))
    with np.errstate(all="ignore"):
        logs = np.log(weights) - vectorised(neg_log(noise.mixing), "v")(nodes)
    kept = np.isfinite(logs)
    nodes, logs = nodes[kept], logs[kept]
    conditional = vectorised(neg_log(noise.profile), "r", "v")
    logs_r = np.linspace(-_TABLE_REACH, _TABLE_REACH, _TABLE)
    blocks = np.array_split(np.exp(logs_r), _TABLE // _MIXING_BLOCK)
    table = interpolate.CubicSpline(logs_r, np.concatenate([_averaged(conditional, logs, nodes, block) for block in blocks]))

    def function(r: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(table(np.clip(np.log(r), -_TABLE_REACH, _TABLE_REACH)))

    return Exponent(function, noise.scale, True, name="r")


def _averaged(conditional: Callable[..., Array], logs: Array, nodes: Array, r: Array) -> Array:
    """-log of the sum over the nodes of exp(logs - conditional)."""
    terms = logs[:, None] - conditional(r[None, :], nodes[:, None])
    terms = np.where(np.isnan(terms), -np.inf, terms)
    top = terms.max(axis=0)
    with np.errstate(all="ignore"):
        return np.asarray(-(np.log(np.exp(terms - top).sum(axis=0)) + top))


def _nodes(lower: float, upper: float) -> tuple[Array, Array]:
    """Nodes and weights of the trapezoid rule in a variable in which smooth integrands vanish at both ends with all derivatives."""
    if np.isinf(upper):
        t, step = np.linspace(-_MIXING_REACH, _MIXING_REACH, _MIXING_NODES, retstep=True)
        grown = np.exp(t)
        return lower + grown, grown * step
    t, step = np.linspace(-3.2, 3.2, _MIXING_NODES // 2, retstep=True)
    inner = np.pi / 2 * np.sinh(t)
    share = 1 / (1 + np.exp(-2 * inner))
    return lower + (upper - lower) * share, (upper - lower) * np.pi * np.cosh(t) * share * (1 - share) * step
