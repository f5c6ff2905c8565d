"""Additive noise: a direction of its norm times a length, a number of a density on the line, an integer.

Lengths and numbers are drawn by inversion (`inversion`), or as a power of a gamma variable where the density is an exponential of a power.
On the integers nothing is rounded: `integers` where the density is that of discrete Laplace or discrete Gaussian noise, else `enclosed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any

import numpy as np

from dpverify.errors import DataError, NoSampler
from dpverify.samplers import integers, inversion
from dpverify.samplers.densities import line, log_density
from dpverify.samplers.directions import directions
from dpverify.samplers.enclosed import lattice
from dpverify.samplers.grids import Grid
from dpverify.samplers.law import EXACT, Array, Floats, Generator, Law, Noise, ending, ends, floats, inverted, whole
from dpverify.samplers.powers import power_law
from dpverify.samplers.walked import Walking
from dpverify.search.additive.mixtures import scale_of
from dpverify.search.numeric import kinks_of, number, vectorised
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Sym, format_expr, mul, num, substitute
from dpverify.trusted.kernel.model import Mixture, Product, Radial, SmoothSensitivity, Staircase, Sum, Translation, on_integers
from dpverify.trusted.language.logarithms import neg_log

Additive = Radial | Mixture | Product | Translation | Staircase


def additive(mechanism: Additive, grid: Grid | None, walk: Walking | None = None) -> Law:
    """The law of a true answer with noise. walk: how to come to directions in norms of polytopes, if not by their facets."""
    if isinstance(mechanism, Translation) and mechanism.integers:
        return _on_integers(mechanism)
    dimension = whole(getattr(mechanism, "dimension", ONE), "the dimension")
    if isinstance(mechanism, Radial | Mixture):
        noise, told = _in_a_norm(mechanism, dimension, walk)
    elif isinstance(mechanism, Staircase):
        noise, told = _stairs(number(mechanism.epsilon), number(mechanism.gamma)), "a geometric number of steps, and a uniform place on one"
    else:
        support = ends(mechanism.support) if isinstance(mechanism, Translation) else (-inf, inf)
        noise, told = _on_line(mechanism.density, *support)
        noise = _columns(noise, dimension)

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        there, added = floats(answers), noise(size, rng)
        return there + added if grid is None else grid.rounded(there, added)

    return Law(dimension, dimension, draw, (told, ending(grid)), (0,) * dimension)


def summed(mechanism: Sum, grid: Grid | None) -> Law:
    """The law of a true answer with all noises of a sum, each drawn by itself; of a sum with dropouts with none of them missing."""
    counts = [(part, whole(part.times, "times")) for part in mechanism.parts]
    each = [(summed(part.noise, None) if isinstance(part.noise, Sum) else additive(part.noise, None), times) for part, times in counts]

    def noise(size: int, rng: Generator) -> Array:
        total = np.zeros(size, dtype=np.int64 if on_integers(mechanism) else float)
        for law, times in each:
            for _ in range(times):
                drawn = law.draw((0,), size, rng)[:, 0]
                total = total.astype(object) if drawn.dtype == object else total
                total = total + drawn
        return np.asarray(total)

    told = tuple(f"{times} times: {line}" if times > 1 else line for law, times in each for line in law.told)
    if on_integers(mechanism):
        return _whole_answer(noise, told)

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        there, added = floats(answers), noise(size, rng)[:, None]
        return there + added if grid is None else grid.rounded(there, added)

    return Law(1, 1, draw, (*told, ending(grid)), (0,))


def scaled(mechanism: SmoothSensitivity, grid: Grid | None, walk: Walking | None = None) -> Law:
    """The law of a true answer with noise at a scale that is given beside it."""
    noise = mechanism.noise
    law = summed(noise, None) if isinstance(noise, Sum) else additive(noise, None, walk)

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        there, scale = floats(answers)
        if not scale > 0:
            raise DataError(f"data = {list(answers)} is not an answer and its scale, which is positive.")
        added = scale * law.draw([0], size, rng)
        return there + added if grid is None else grid.rounded(there, added)

    return Law(2, 1, draw, (*law.told[:-1], "times the scale", ending(grid)), (0, 1))


def _columns(law: Noise, count: int) -> Noise:
    return lambda size, rng: law(size * count, rng).reshape(size, count)


# -- on the line -------------------------------------------------------------------------------------------------


def _stairs(epsilon: float, gamma: float) -> Noise:
    """Geng and Viswanath's Algorithm 1: step i has the weight exp(-epsilon i), and its first part gamma of the length."""
    late = (1 - gamma) * np.exp(-epsilon)
    share = late / (gamma + late)

    def noise(size: int, rng: Generator) -> Floats:
        steps = np.floor(rng.standard_exponential(size) / epsilon)
        later, place = rng.random(size) < share, rng.random(size)
        lengths = steps + np.where(later, gamma + (1 - gamma) * place, gamma * place)
        return np.asarray(_signs(size, rng) * lengths)[:, None]

    return noise


def _signs(size: int, rng: Generator) -> Floats:
    return np.asarray(2.0 * rng.integers(2, size=size) - 1.0)


def _on_line(density: Expr, low: float, high: float) -> tuple[Noise, str]:
    """Noise of a density in z between two ends, and how it is drawn."""
    known = power_law(neg_log(density), "z", two_sided=True) if low == -inf and high == inf else None
    if known is not None:
        lengths, told = _powers(known, 1)
        return lambda size, rng: np.asarray(lengths(size, rng) * _signs(size, rng)), told
    law = line(density, "z", low, high)
    return law.draw, inverted(law.error)


# -- in a norm ---------------------------------------------------------------------------------------------------


def _in_a_norm(mechanism: Radial | Mixture, dimension: int, walk: Walking | None) -> tuple[Noise, str]:
    lengths, told = _radius(mechanism.profile, dimension) if isinstance(mechanism, Radial) else _mixed(mechanism, dimension)
    walked = walk is not None and mechanism.norm.kind in ("columns", "facets")
    turned, how = (walk.directions if walk is not None and walked else directions)(mechanism.norm, dimension)
    scale = number(mechanism.scale)

    def noise(size: int, rng: Generator) -> Floats:
        points = turned(size, rng)
        return np.asarray(points * (scale * lengths(size, rng))[:, None])

    return noise, f"{how}, times lengths: {told}"


def _radius(profile: Expr, dimension: int) -> tuple[Noise, str]:
    """Lengths of density r^(d - 1) profile(r), and how they are drawn."""
    known = power_law(neg_log(profile), "r", two_sided=False)
    if known is not None:
        return _powers(known, dimension)
    log_profile = log_density(profile, "r", 0.0, dimension=dimension)

    def weighted(r: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(log_profile(r) + (dimension - 1) * np.log(r))

    law = inversion.radius(weighted, kinks_of(profile, "r"))
    return law.draw, inverted(law.error)


def _powers(known: tuple[Expr, Expr], dimension: int) -> tuple[Noise, str]:
    """Lengths of density r^(d - 1) exp(-c r^p)."""
    c, p = map(number, known)
    told = f"a gamma variable of shape {dimension / p:g}" + ("" if p == 1 else f" to the power {1 / p:g}")
    return lambda size, rng: np.asarray((rng.standard_gamma(dimension / p, size) / c) ** (1 / p)), told


def _mixed(mechanism: Mixture, dimension: int) -> tuple[Noise, str]:
    """A draw of v, and then a length that is s(v) times one of a law without v."""
    scale = scale_of(mechanism, {})
    if scale is None:
        raise NoSampler(
            "no s(v) is found by which profile(s(v)*r, v)*s(v)**d is free of v. Write the normaliser of the profile out, or declare the "
            "density of the mixture itself as radial."
        )
    low, high = ends(mechanism.support)
    drawn = line(mechanism.mixing, "v", low, high)
    one = num(Fraction(low) + 1 if high == inf else (Fraction(low) + Fraction(high)) / 2)
    at_one = substitute(mechanism.profile, {"v": one})
    lengths, told = _radius(substitute(at_one, {"r": mul(substitute(scale, {"v": one}), Sym("r"))}), dimension)
    stretch = vectorised(scale, "v")

    def noise(size: int, rng: Generator) -> Floats:
        return np.asarray(stretch(drawn.draw(size, rng)) * lengths(size, rng))

    return noise, f"v by {inverted(drawn.error)}, then {format_expr(scale)} times {told}"


# -- on the integers ---------------------------------------------------------------------------------------------


def _on_integers(mechanism: Translation) -> Law:
    return _whole_answer(*_integers(mechanism))


def _whole_answer(noise: Noise, told: tuple[str, ...]) -> Law:
    """The law of a true answer, an integer, with such noise."""

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        if answers[0] != floor(answers[0]):
            raise DataError(f"data = {answers[0]} is not an integer, and noise on the integers hides integers alone.")
        drawn, there = noise(size, rng), int(answers[0])
        if abs(there) + int(abs(drawn).max(initial=0)) >= 2**63:
            drawn = drawn.astype(object)
        return np.asarray(drawn + there)[:, None]

    return Law(1, 1, draw, told, (0,))


def _integers(mechanism: Translation) -> tuple[Noise, tuple[str, ...]]:
    density, support = mechanism.density, mechanism.support
    known = power_law(neg_log(density), "z", two_sided=True) if support == (None, None) else None
    if known is not None and isinstance(known[0], Num) and known[1] in (ONE, num(2)):
        rate = known[0].value
        if known[1] == ONE:
            return lambda size, rng: integers.discrete_laplace(1 / rate, size, rng), ("discrete Laplace noise by integers alone", EXACT)
        return lambda size, rng: integers.discrete_gaussian(1 / (2 * rate), size, rng), ("discrete Gaussian noise by integers alone", EXACT)
    low, high = (_rational(end) for end in support)
    law = lattice(density, "z", None if low is None else ceil(low), None if high is None else floor(high))
    exactly = EXACT if not law.blurred else f"in total variation within {law.blurred:.0e}, for the sum of its tail is known no better"
    return law.draw, ("inversion with enclosed probabilities, of as many bits as it takes", exactly)


def _rational(end: Expr | None) -> Fraction | None:
    if end is not None and not isinstance(end, Num):
        raise NoSampler("the support of noise on the integers ends at a number that is not rational. Round it inward.")
    return None if end is None else end.value
