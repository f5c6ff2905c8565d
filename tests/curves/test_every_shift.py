"""Noise of any shape on the line: the greatest divergence over all shifts, against theorems, sums on a grid, and forged cells."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpverify.search.composition.plans import curve_of_one
from dpverify.search.curves.every_shift import plan
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.assumptions import EVERY
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, parse
from dpverify.trusted.kernel.model import L2, Part, Query, Radial, Translation
from dpverify.trusted.theories.curves.moved_density import MovedDensity
from dpverify.trusted.theories.curves.shifts import Effort, divergences
from dpverify.trusted.theories.curves.unimodal import in_pieces

GRID = np.linspace(-40, 40, 400_001)
COARSE = {"rule": "every-shift", "cuts": ["0", "1/4", "1/2", "3/4", "1"], "at": "1", "far": 6, "point": 36, "cell": 0}
BOTH_SIDES = {**COARSE, "cuts": ["-1", "-1/2", "0", "1/2", "1"]}

ZERO_INSIDE = Radial(parse("(r - 1)**2*exp(-r)"), L2, ONE, ONE)
TWO_MODES = Translation(parse("exp(-8*z**2) + exp(-8*(z - 1)**2)*9/10"))


def zero_inside(y):
    return (np.abs(y) - 1) ** 2 * np.exp(-np.abs(y))


def two_modes(y):
    return np.exp(-8 * y**2) + 0.9 * np.exp(-8 * (y - 1) ** 2)


def on_the_grid(density, shift, epsilon):
    p = density(GRID)
    return float(np.maximum(p - np.exp(epsilon) * density(GRID - shift), 0).sum() / p.sum())


def run_of(noise, sensitivity="1", query=None):
    return Run(Part(noise, None if query else parse(sensitivity), query))


def searched(run, epsilon):
    with precision(64):
        return curve_of_one(run, plan(run, epsilon, None))


def delta(pair, epsilon):
    with precision(64):
        found = pair.worst(rational(Fraction(epsilon)))
    return float(found.lower()), float(found.upper())


def density_of(text, lower=None, upper=None):
    support = tuple(None if end is None else parse(end) for end in (lower, upper))
    return MovedDensity(in_pieces(Translation(parse(text), support)), 6)


def test_over_a_ball_a_density_is_all_that_it_is_there_and_no_more():
    with precision(64):
        ends, kink = density_of("1", "-1", "2"), density_of("exp(-abs(z))")
        for low, high, values in ((-1.5, -0.5, (0, 1)), (1.5, 2.5, (0, 1)), (-0.5, 0.5, (1, 1)), (2.5, 3, (0, 0)), (-4, -3, (0, 0))):
            found = ends.value(arb(low), arb(high))
            assert (found.lower() > -1e-9, found.upper() < 1.000001) == (True, True)
            assert all(found.contains(arb(value)) for value in values) and (found.contains(arb(0)) or values == (1, 1))
        for low, high in ((-0.5, 0.25), (-0.25, 0.5), (0.25, 0.5)):
            found = kink.value(arb(low), arb(high))
            assert found.contains(arb(1) if low < 0 else arb(-0.5).exp()) and found.contains(arb(-0.5).exp())
            assert found.upper() < 1.01 and found.lower() > 0.6 and kink.slope(arb(low), arb(high)).abs_upper() < 1.01


def test_a_density_leaps_at_the_cuts_inside_a_ball_and_at_no_others():
    with precision(64):
        found, near = density_of("1", "-1", "2"), ((-2, 3), (-2, 0), (0, 3), (0, 1), (-1, 2), (-2, -1))
        assert [found.leaps(arb(low), arb(high)) for low, high in near] == [True, True, True, False, False, False]
        assert not density_of("exp(-abs(z))").leaps(arb(-1), arb(1))


@pytest.mark.parametrize(("sensitivity", "epsilon"), [("1", "1/2"), ("2", "1"), ("1/10", "0")])
def test_the_bounds_lie_about_the_greatest_of_sums_on_a_grid(sensitivity, epsilon):
    found = curve_of_one(run_of(ZERO_INSIDE, sensitivity), {**COARSE, "far": 10})
    reach = float(Fraction(sensitivity))
    true = max(on_the_grid(zero_inside, reach * i / 20, float(Fraction(epsilon))) for i in range(1, 21))
    assert delta(found.upper, epsilon)[1] >= true - 1e-5
    at_the_whole = on_the_grid(zero_inside, reach, float(Fraction(epsilon)))
    assert delta(found.lower, epsilon) == pytest.approx((at_the_whole,) * 2, abs=1e-5)


@pytest.mark.wide
def test_the_search_cuts_until_both_bounds_meet_where_the_whole_shift_is_worst():
    found = searched(run_of(ZERO_INSIDE), 0.5)
    assert delta(found.upper, "1/2")[1] - delta(found.lower, "1/2")[0] < 1e-6
    assert EVERY not in found.below


def test_a_lower_bound_at_a_shorter_shift_assumes_that_such_answers_occur():
    found = curve_of_one(run_of(ZERO_INSIDE, "2"), {**COARSE, "at": "5/8"})
    assert delta(found.lower, "1")[0] == pytest.approx(on_the_grid(zero_inside, 1.25, 1.0), abs=1e-5)
    assert delta(found.lower, "1")[0] > on_the_grid(zero_inside, 2.0, 1.0) + 0.05
    assert EVERY in found.below


CAUCHY_AT_A_HALF = 0.11907165294524974
"""F(b) - F(a) - e^(1/2) (F(b - 1) - F(a - 1)), a and b the roots of 1 + (z - 1)^2 = e^(1/2) (1 + z^2)."""


@pytest.mark.parametrize("far", [5, 63, 100, 300])
def test_wherever_the_tail_starts_the_divergence_is_enclosed(far):
    cauchy = run_of(Translation(parse("1/(1 + z**2)")))
    low, high = delta(curve_of_one(cauchy, {**COARSE, "far": far, "point": 8}).lower, "1/2")
    assert low <= CAUCHY_AT_A_HALF <= high


@pytest.mark.parametrize("end", ["2**90 + 1", "2**200 + 1", "2**200/3"])
def test_ends_that_are_longer_than_the_precision_leave_nothing_out(end):
    """Laplace noise that ends so far out has its curve, 1 - e^((1/4 - 1)/2) at 1/4."""
    ends = parse(f"-({end})"), parse(end)
    try:
        found = curve_of_one(run_of(Translation(parse("exp(-abs(z))"), ends)), {**COARSE, "point": 12})
        bounds = [delta(pair, "1/4") for pair in (found.lower, found.upper)]
    except DpverifyError:
        return
    assert bounds[0][0] <= 1 - np.exp(-3 / 8) <= bounds[0][1]
    assert bounds[1][1] >= 1 - np.exp(-3 / 8)


def test_laplace_and_uniform_noise_have_their_closed_curves():
    laplace = searched(run_of(Translation(parse("exp(-abs(z))"))), 0.25)
    low, high = delta(laplace.upper, "1/4")
    assert low <= 1 - np.exp((0.25 - 1) / 2) <= high < low + 0.001
    box = Translation(parse("1"), (parse("-1"), parse("1")))  # jumps: delta is the share that only one has, at every epsilon
    uniform = searched(run_of(box, "1/2"), 3)
    low, high = delta(uniform.upper, "3")
    assert low - 1e-12 <= 0.25 <= high < low + 0.001


def test_noise_that_is_not_even_is_looked_at_in_both_directions():
    skew = Translation(parse("exp(-z)"), (parse("0"), None))  # one order has an atom at infinity, 1 - e^-1
    found = searched(run_of(skew), 2)
    low, high = delta(found.upper, "2")
    assert low <= 1 - np.exp(-1) <= high < low + 0.001


def test_a_query_in_one_direction_keeps_the_bound_over_every_shift():
    """The shift 1 is worse than 2 here: the pair at the whole sensitivity is no upper bound, in whichever order."""
    found = curve_of_one(run_of(TWO_MODES, query=Query(((Fraction(1, 2), Fraction(2)),), "add-remove")), BOTH_SIDES)
    worse = max(on_the_grid(two_modes, 0.5, 0.0), on_the_grid(two_modes, -0.5, 0.0))
    assert delta(found.upper, "0")[1] >= worse - 1e-5
    shorter = curve_of_one(run_of(TWO_MODES, query=Query(((Fraction(1, 2), Fraction(2)),), "add-remove")), {**BOTH_SIDES, "at": "1/4"})
    assert shorter.lower is None


@pytest.mark.parametrize(
    "forged",
    [
        {"cuts": ["0", "1/2"]},
        {"cuts": ["1/4", "1"]},
        {"cuts": []},
        {"cuts": ["0", "1", "1/2"]},
        {"at": "0"},
        {"at": "2"},
        {"at": "-1"},
        {"far": -1},
        {"far": 2},
        {"far": "6"},
        {"point": 10**6},
        {"cell": True},
    ],
)
def test_cells_that_do_not_reach_over_all_shifts_and_numbers_that_are_none_are_refused(forged):
    with pytest.raises(DpverifyError):
        found = curve_of_one(run_of(ZERO_INSIDE), {**COARSE, **forged})
        found.upper.worst(arb(1))


def test_one_side_of_the_shifts_is_not_enough_for_noise_that_is_not_even():
    with pytest.raises(Rejected, match="do not reach"):
        curve_of_one(run_of(TWO_MODES), COARSE)


@pytest.mark.parametrize("noise", [replace(ZERO_INSIDE, dimension=parse("2")), Translation(parse("exp(-abs(z))"), integers=True)])
def test_it_is_for_densities_on_the_line(noise):
    with pytest.raises(DpverifyError):
        curve_of_one(run_of(noise), COARSE)


def test_a_density_without_bounded_variation_gets_no_bound_below_1():
    pole = Translation(parse("abs(z - 1)**(-1/2)*exp(-abs(z))"))
    with pytest.raises(DpverifyError):
        found = curve_of_one(run_of(pole), BOTH_SIDES)
        assert delta(found.upper, "1")[1] < 1


@pytest.mark.wide
def test_coarser_fineness_only_widens_the_bounds():
    cuts = [str(Fraction(i, 32)) for i in range(33)]
    rough, fine = ({**COARSE, "cuts": cuts, "point": bits, "cell": bits // 12 - 1} for bits in (12, 36))
    wide, narrow = (delta(curve_of_one(run_of(ZERO_INSIDE), step).upper, "1/2") for step in (rough, fine))
    assert wide[0] <= narrow[0] + 1e-12 and narrow[1] <= wide[1] + 1e-8 and narrow[1] < 0.3


def alternating(y):
    return np.where((y >= -2) & (y < 2), 1 + np.floor(y + 2) - 2 * np.floor((y + 2) / 2), 0)


ALTERNATING = Translation(parse("1 + floor(z + 2) - 2*floor((z + 2)/2)"), (parse("-2"), parse("2")))
FIVE = Translation(parse("exp(-abs(z)) + 2*exp(-4*abs(z - 1))"))


def five(y):
    return np.exp(-np.abs(y)) + 2 * np.exp(-4 * np.abs(y - 1))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("noise", "density"), [(ALTERNATING, alternating), (FIVE, five), (TWO_MODES, two_modes)])
@pytest.mark.parametrize("epsilon", ["0", "3/8", "2"])
def test_a_cell_reaches_over_the_sums_on_a_grid_at_all_its_shifts(noise, density, epsilon):
    """Steps that meet the moved ones inside of a cell, at 1; kinks; roots that a cell moves."""
    for low, high in (("-1/10", "1/10"), ("19/20", "21/20"), ("-21/20", "-19/20"), ("3/10", "31/100"), ("1/2", "1/2")):
        ends = Fraction(low), Fraction(high)
        with precision(96):
            found = divergences(in_pieces(noise), Effort(6, 40, 4)).at(rational(Fraction(epsilon))).over(*ends)
        sums = [on_the_grid(density, float(t), float(Fraction(epsilon))) for t in np.linspace(*map(float, ends), 5)]
        assert float(found.upper()) >= max(sums) - 5e-4
        assert float(found.lower()) <= sums[2] + 5e-4
        if low == high:
            assert float(found.upper() - found.lower()) < 1e-6


@pytest.mark.wide
def test_the_bound_over_all_shifts_of_five_bumps_is_what_quadrature_shows():
    weights = {0: 1, 1: 0.1, -1: 0.1, 2: 0.01, -2: 0.01}
    text = " + ".join(f"{Fraction(str(w))}*exp(-25*(z - ({c}))**2/2)" for c, w in weights.items())
    low, high = delta(searched(run_of(Translation(parse(text))), 3.6327).upper, "3.6327")
    grid = np.linspace(-6, 6, 40_001)
    p, *moved = (
        sum(w * np.exp(-12.5 * (grid - shift - c) ** 2) for c, w in weights.items()) for shift in (0, *np.linspace(0.617, 0.6185, 31))
    )
    true = max(float(np.maximum(p - np.exp(3.6327) * q, 0).sum() / p.sum()) for q in moved)
    assert low - 1e-7 <= true <= high + 1e-7 and high - low < 1e-7


def test_what_only_one_neighbour_can_give_is_known_where_the_support_ends():
    found = curve_of_one(run_of(ALTERNATING, "1/2"), {**COARSE, "cuts": ["-1", "1"]})
    with precision(64):  # the first half unit holds 1/2 of 6, the last 1
        ahead, behind = (float(rest().mid()) for rest in found.lower.rests)
    assert (ahead, behind) == pytest.approx((1 / 12, 1 / 6))
