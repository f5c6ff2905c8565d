"""Pairs that are finite, or lie on steps: their profiles against plain sums, also where balls do not tell which outcomes count."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import pytest
from flint import arb

from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import Staircase
from dpverify.trusted.theories.composition import combined_values
from dpverify.trusted.theories.curves.rules import lattice as stairs
from dpverify.trusted.theories.curves.rules.optimal_composition import _binomial
from dpverify.trusted.theories.curves.steps import steps_of

F = Fraction
CELLS = [(F(1, 10), F(4, 10)), (F(3, 10), F(3, 10)), (F(4, 10), F(1, 10)), (F(1, 10), F(2, 10))]


@pytest.mark.parametrize("width", ["0", "1/10", "1"])
@pytest.mark.parametrize("infinite", [F(0), F(1, 10)])
def test_prefix_sums_are_the_sum_over_all_cells_where_it_is_positive(infinite, width):
    with precision(64):
        found = steps_of(rational(infinite), [(rational(p), rational(q)) for p, q in CELLS])
        for epsilon in ("0", "1/4", "1", "3/2", "3"):
            at = parse(epsilon).value
            ball = rational(at).union(rational(at + F(width)))
            got = found.excess(ball)
            for exact in (at, at + F(width)):
                factor = rational(exact).exp()
                true = rational(infinite) + sum(((rational(p) - factor * rational(q)).max(arb(0)) for p, q in CELLS), arb(0))
                assert got.overlaps(true) and (width != "0" or got.rad() < 1e-9)


def test_a_cell_whose_second_mass_is_not_told_from_nothing_is_weighed_by_itself():
    with precision(64):
        doubtful = (arb(0.25), arb(0, 1e-30).max(arb(0)))
        found = steps_of(arb(0), [doubtful, (arb(0.75), arb(1))])
        for epsilon in (0, 1, 5, 40):
            assert found.excess(arb(epsilon)).overlaps(arb(0.25)) and found.excess(arb(epsilon)).upper() < 0.2501


def height(noise, z):
    """The density of staircase noise with period 1."""
    gamma, decay = mpmath.mpf(noise[1].numerator) / noise[1].denominator, mpmath.exp(-noise[0])
    top = (1 - decay) / (2 * (gamma + decay * (1 - gamma)))
    k = 0 if abs(z) < gamma else int(mpmath.floor(abs(z) - gamma)) + 1
    return top * decay**k


@pytest.mark.sampled(8)
@pytest.mark.parametrize("gamma", [F(1, 2), F(1, 3), F(0), F(1)])
@pytest.mark.parametrize("shift", [F(1), F(1, 2), F(5, 2), F(1, 12)])
def test_staircase_noise_and_its_copy_share_the_lengths_of_their_steps(gamma, shift):
    noise, grid = (mpmath.mpf(1), gamma), 24
    points = [F(2 * n + 1, 2 * grid) for n in range(-40 * grid, 40 * grid)]
    p = [height(noise, mpmath.mpf(z.numerator) / z.denominator) for z in points]
    moved = int(shift * grid)
    for epsilon in ("0", "1/2", "3/2"):
        at = mpmath.exp(mpmath.mpf(parse(epsilon).value.numerator) / parse(epsilon).value.denominator)
        true = sum(max(a - at * b, 0) for a, b in zip(p[: len(p) - moved], p[moved:], strict=True)) / grid
        with precision(64):
            made = stairs.Stairs(Staircase(ONE, num(0) if gamma == 0 else parse(str(gamma))), parse(str(shift)))
            found = made.divergence(rational(parse(epsilon).value))
            assert abs(found - arb(mpmath.nstr(true, 15))) < 1e-10


@pytest.mark.parametrize("gamma", ["0", "1/3", "3/4", "log(2)", "1"])
@pytest.mark.parametrize("shift", ["1/7", "sqrt(2)", "13/3", "26/5", "sqrt(20)", "9"])
@pytest.mark.parametrize("rate", ["1", "1/2"])
def test_staircase_noise_at_longer_and_irrational_shifts_is_the_sum_between_the_ends_of_all_steps(gamma, shift, rate):
    """Both densities are constant between the ends of their steps."""
    with precision(100):
        middle, moved, slope = (float(constant(parse(text)).mid()) for text in (gamma, shift, rate))
        found = stairs.Stairs(Staircase(parse(rate), parse(gamma)), parse(shift))
        own = [sign * (middle + k) for k in range(100) for sign in (-1, 1)]
        ends = sorted({*own, *(end + moved for end in own)})
        total = (1 - math.exp(-slope)) / (2 * (middle + math.exp(-slope) * (1 - middle)))
        for epsilon in ("0", "1/2", "3/2", "5/2"):
            at, true = math.exp(float(F(epsilon))), 0.0
            for left, right in pairwise(ends):
                here, there = (total * math.exp(-slope * max(0, math.ceil(abs((left + right) / 2 - by) - middle))) for by in (0, moved))
                true += (right - left) * max(here - at * there, 0)
            assert abs(float(found.divergence(rational(F(epsilon))).mid()) - true) < 1e-9


def test_a_shift_over_more_steps_than_are_looked_at_and_a_number_that_is_none_are_undecided():
    with pytest.raises(Undecided, match="steps"):
        stairs.Stairs(Staircase(ONE, parse("1/2")), num(30_000))
    with pytest.raises(Undecided, match="whole number"):
        stairs.integer(arb(1, 1))
    assert stairs.integer(arb(7)) == 7


def test_responses_are_false_as_often_as_the_binomial_law_says():
    with precision(64):
        keep = 1 / (1 + rational(F(-1, 2)).exp())
        found = _binomial(4, rational(F(1, 2)))
        for j, mass in enumerate(found):
            true = sum((keep ** (4 - sum(bits)) * (1 - keep) ** sum(bits) for bits in product((0, 1), repeat=4) if sum(bits) == j), arb(0))
            assert abs(mass - true) < 1e-15


@pytest.mark.parametrize("texts", [("1", "2", "3/2"), ("sqrt(2)", "3/2", "7/5"), ("c", "2*c", "c/2"), ("c", "1", "2")])
def test_the_greatest_of_values_is_no_smaller_than_any_of_them(texts):
    from dpverify.trusted.kernel.balls import value
    from dpverify.trusted.kernel.model import Domain

    values = [parse(text) for text in texts]
    found = combined_values.greatest(values, {"c": Domain(F(0))})
    with precision(64):
        for c in (F(1, 10), F(3, 2), F(7)):
            at = {"c": rational(c)}
            most = max(float(value(each, at).mid()) for each in values)
            assert abs(float(value(found, at).mid()) - most) < 1e-12
