"""Bounds on additive noise never lie on the wrong side of what a dense grid sees, whatever the density."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.ndimage import minimum_filter1d

from dpverify.search.numeric import vectorised
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import value
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import Sym, num, parse, substitute
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Norm, Product, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from tests import effort
from tests.effort import tries

REACH, POINTS = 40, 40_001
GRID = np.linspace(-REACH, REACH, POINTS)
STEP = GRID[1] - GRID[0]
FAR = np.logspace(1.5, 6, 60)

constants = st.sampled_from(["1", "2", "1/2", "3", "1/3", "5/2", "3/4"])
tails = st.sampled_from(
    ["{a}*abs(x)", "3*log({a} + x**2)", "{a}*sqrt({b} + x**2)", "{a}*sqrt(abs(x))", "2*log(1 + abs(x)) + abs(x)/3", "x**2/(1 + abs(x))"]
)
bumps = st.sampled_from(
    [
        "tanh({a}*x - {b})", "exp(-{a}*(x - {b})**2)", "1/({a} + (x - {b})**2)", "x/({a} + x**2)", "erf({a}*x - {b})", "asinh(x - {b})",
        "log(cosh({a}*(x - {b})))/3", "abs(x - {b})/2", "max(x, {b})/2", "min(1, max(0, x - {b}))", "floor(min(max(x, 0), {a}))",
        "min(abs(x - {b}), {a})", "abs(x**2 - {a})/({b} + x**2)", "abs(x - {b})/(x - {b})", "abs(abs(x - {b}) - {a})/3",
        "exp(-abs(x - {b}))", "sqrt(abs(x - {b}))/4", "log({a} + abs(x - {b}))", "logbesselk({a}, sqrt({b} + x**2))/3",
        "log(erfc(x - {b}))/9",
    ]
)  # fmt: skip


@st.composite
def exponents(draw, most):
    """The text of an exponent in x: one that makes the density integrable, and bumps, kinks and jumps on it."""
    pieces = [draw(tails), *draw(st.lists(bumps, max_size=most))]
    signs = ["", *draw(st.lists(st.sampled_from([" + ", " - "]), min_size=most, max_size=most))]
    return "".join(s + p.format(a=draw(constants), b=draw(constants)) for s, p in zip(signs, pieces, strict=False))


@st.composite
def densities(draw, most=2):
    """The text of a density in x: exp of an exponent, or a mixture of two."""
    first = f"exp(-({draw(exponents(most))}))"
    return f"{first} + {draw(constants)}*exp(-{draw(constants)}*abs(x - {draw(constants)}))" if draw(st.booleans()) else first


shifts = st.sampled_from(["1", "1/2", "3/2", "1/10", "3", "sqrt(2)", "log(3)"])


def bounds(judgement):
    """The bounds as floats, None where there is none."""
    ends = (judgement.lower, judgement.upper)
    return [None if end is None else math.inf if isinstance(end, Infinite) else number(end) for end in ends]


def number(constant):
    return float(value(constant, {}).mid())


def moduli(h, half, shift):
    """The greatest h(b) - h(a), |a - b| <= shift, on the grid, and on it or far out: (certainly attained, nearly all)."""
    grid = (GRID[GRID >= 0] if half else GRID) + 1e-9
    with np.errstate(all="ignore"):
        heights = h(grid)
        known = np.isfinite(heights)
        width = int(shift / STEP + 1e-9)
        lowest = minimum_filter1d(np.where(known, heights, np.inf), 2 * width + 1, mode="nearest")
        seen = np.max(np.where(known, heights - lowest, -np.inf))
        ends = np.concatenate([np.abs(h(s * FAR + shift) - h(s * FAR)) for s in ((1,) if half else (1, -1))])
    return seen, max(seen, np.max(np.where(np.isfinite(ends), ends, 0)))


def check(lower, upper, seen, nearly):
    assert upper is None or seen <= upper + 1e-7 * max(1, upper)
    # cusps and slow limits fall between the points of the grid
    assert lower is None or not math.isfinite(lower) or lower <= nearly + 0.07 * max(1, nearly)


laws = settings(max_examples=tries(12 if effort.full else 2, 200), deadline=None, suppress_health_check=list(HealthCheck))


def read(density, name):
    """The density in the variable of its kind, and its exponent as numpy sees it."""
    tree = substitute(parse(density), {"x": Sym(name)})
    return tree, vectorised(neg_log(tree), name)


@laws
@given(densities(), shifts, st.sampled_from([1, 2, 5]), st.sampled_from([L1, L2, LINF]))
def test_radial_noise(density, shift, dimension, norm):
    profile, h = read(density, "r")
    judgement = verify(Claim(Radial(profile, norm, num(dimension)), None, sensitivity=parse(shift)), 10).judgement
    check(*bounds(judgement), *moduli(h, True, number(parse(shift))))


@pytest.mark.wide
@laws
@given(densities(), shifts)
def test_noise_on_the_line(density, shift):
    tree, h = read(density, "z")
    judgement = verify(Claim(Translation(tree), None, sensitivity=parse(shift)), 10).judgement
    check(*bounds(judgement), *moduli(h, False, number(parse(shift))))


def matrix(*rows):
    return tuple(tuple(map(Fraction, row)) for row in rows)


# each norm with shifts of norm 1 that hold the longest ones in l1, up to the sign
NORMS = [
    (L1, [(1, 0), (0, 1), (0.5, 0.5)]),
    (L2, [(1, 0), (0.5**0.5, 0.5**0.5), (0.6, -0.8)]),
    (LINF, [(1, 1), (1, -1), (0, 1)]),
    (Norm("lp", Fraction(3)), [(1, 0), (0.5 ** (1 / 3), 0.5 ** (1 / 3))]),
    (Norm("ellipsoid", matrix=matrix((4,))), [(2,)]),
    (Norm("columns", matrix=matrix((1,), (-3,))), [(3,)]),
    (Norm("facets", matrix=matrix((2,), (1,))), [(0.5,)]),
    (Norm("ellipsoid", matrix=matrix((2, 1), (1, 3))), [(3 / 7**0.5, 4 / 7**0.5), (2**0.5, 0.5**0.5), (1 / 3**0.5, -2 / 3**0.5)]),
    (Norm("columns", matrix=matrix((2, 1), (0, 1))), [(2, 1), (0, 1), (1, 0)]),
    (Norm("facets", matrix=matrix((1, 1), (0, 2))), [(0.5, 0.5), (1.5, -0.5), (1, 0)]),
]


@laws
@given(exponents(1), st.sampled_from(NORMS))
def test_independent_coordinates(exponent, norm):
    noise, moves = norm
    tree, h = read(f"exp(-({exponent}))", "z")
    judgement = verify(Claim(Product(tree, num(len(moves[0])), noise), None, sensitivity=num(1)), 10).judgement
    totals = [[sum(side) for side in zip(*(moduli(h, False, abs(x)) for x in move), strict=True)] for move in moves]
    lower, upper = bounds(judgement)
    check(lower, upper, *map(max, zip(*totals, strict=True)))
