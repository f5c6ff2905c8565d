"""Ways through the rules that are taken seldom: guards, ends and signs that what is proved of common claims does not need."""

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.plans import curve_of_one
from dpverify.trusted.language import certificate
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, num, parse
from dpverify.trusted.language.model import (
    L2,
    Claim,
    Compose,
    EllipticalProcess,
    Group,
    KaryResponse,
    Lipschitz,
    Part,
    PostProcess,
    Query,
    Radial,
    Table,
    Translation,
)
from dpverify.trusted.numbers.balls import exact, precision, rational
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts import moves, neighbours
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.additive import product_lipschitz
from dpverify.trusted.rules.composition import combined_values, losses
from dpverify.trusted.rules.composition.grid import Grid
from dpverify.trusted.rules.curves import elliptical_process, every_shift, integers, uniform_ball, unimodal, volumes

F = Fraction
LAPLACE = Translation(parse("exp(-abs(z))"))
ONE_SIDED = Translation(parse("exp(-z)"), (num(0), None))
HALVES = (parse("1/2"), parse("1/2"))


# -- what is assumed --------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [None, Query(((F(1),),), "add-remove"), Query(((F(1),),), "l1")])
def test_a_curve_over_every_shift_says_that_the_sampler_is_ideal(query):
    run = Run(Part(LAPLACE, None if query else ONE, query))
    cuts = ["-1", "0", "1"]
    found = curve_of_one(run, {"rule": "every-shift", "cuts": cuts, "at": "1", "far": 6, "point": 8, "cell": 0})
    assert set(every_shift.ASSUMED) <= set(found.assumed) and found.rules == (every_shift.NAME,)


def test_tables_at_one_pair_of_inputs_are_said_to_name_the_same_ones():
    one, other = Part(Table((HALVES, HALVES))), Part(Table((HALVES, (ONE, num(0)))))
    assert neighbours.rows_assumed(Part(Compose((one, other)))) == (neighbours.SAME_ROWS,)
    assert neighbours.rows_assumed(one) == () == neighbours.rows_assumed(Part(Compose((one, Part(LAPLACE, ONE)))))


def test_what_nothing_connects_is_taken_to_be_worst_together_however_often_each_is_run():
    noise, response = Part(LAPLACE, ONE), Part(KaryResponse(num(3), ONE))
    gaussian = Part(Translation(parse("exp(-z**2)")), ONE)
    for parts in ((noise, gaussian), (noise, response), (replace(noise, times=num(2)), gaussian)):
        assert neighbours.apart(Part(Compose(parts))) == (neighbours.APART,)
    assert neighbours.apart(Part(Compose((noise, replace(noise, times=num(2)))))) == ()


@pytest.mark.parametrize(
    ("columns", "told"), [((1,), True), ((1, -1), False), ((1, -1, 2), True), ((1, -1, 2, -2), False), ((0,), False), ((0, 1), True)]
)
@pytest.mark.parametrize("noise", [LAPLACE, ONE_SIDED])
def test_a_query_tells_the_order_of_its_noise_unless_each_of_its_columns_has_its_opposite(columns, told, noise):
    part = Part(noise, None, Query((tuple(map(F, columns)),), "add-remove"))
    assert neighbours.is_told(part) is (told and noise is ONE_SIDED)
    assert not neighbours.is_told(replace(part, query=replace(part.query, adjacency="l1")))


@pytest.mark.parametrize(("noises", "differs"), [((LAPLACE, LAPLACE), False), ((LAPLACE, "skew"), True), (("skew", LAPLACE), True)])
def test_the_two_orders_differ_where_those_of_any_part_do(noises, differs):
    skew = Translation(parse("exp(-max(z, -2*z))"))
    query = Query(((F(1),),), "add-remove")
    parts = [neighbours.OnePair(skew if noise == "skew" else noise, None, query) for noise in noises]
    values = combined_values.Values((), "upper", (), backward=False)
    assert values._differs(Part(Compose(tuple(parts)))) is differs


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("support", "whole"), [((num(0), None), False), ((None, num(0)), False), ((num(-1), num(1)), False), ((None, None), True)]
)
def test_a_density_that_ends_has_no_bound_by_its_slope(support, whole):
    """exp(-z) on z > 0 and its copy at 1 have outputs that only one of them gives."""
    claim = Claim(Translation(LAPLACE.density, support, integers=whole), None, sensitivity=ONE)
    with pytest.raises(Rejected, match="live on the whole line"):
        product_lipschitz.check(claim, {"slope": "1", "cuts": ["-1", "0", "1"]})


@pytest.mark.parametrize(("scale", "reach"), [("1", "-1"), ("-1", "1"), ("-1", "-1"), ("0", "0"), ("0", "1")])
def test_functions_move_by_at_least_0_and_their_noise_has_a_positive_scale(scale, reach):
    noise = EllipticalProcess(parse("exp(-v)"), (num(0), None), parse(scale))
    with pytest.raises(Rejected, match="the scale not certainly positive"):
        elliptical_process.law_and_shift(noise, Sensitivity(parse(reach), parse(reach)))


@pytest.mark.parametrize("sums", [losses.upper_sums, losses.lower_sums])
def test_masses_are_of_parts_that_occur_and_have_a_range(sums):
    grid = Grid(F(1, 4), F(1, 64), 64, 64, ((-8, 8),))
    pair = curve_of_one(Run(Part(LAPLACE, ONE)), {"rule": "laplace"}).upper
    assert sums([(pair, 1)], grid)
    for times in (0, -1, losses.MAX_TIMES + 1):
        with pytest.raises(Rejected, match=f"occurs {times} times"):
            sums([(pair, times)], grid)
    for parts in ([], [(pair, 1), (pair, 1)]):
        with pytest.raises(Rejected, match=f"1 ranges for {len(parts)} parts"):
            sums(parts, grid)


def test_a_certificate_is_no_longer_than_may_be(monkeypatch):
    monkeypatch.setattr(certificate, "MAX_BYTES", 8)
    assert certificate.decode(b'{"a": 1}') == {"a": 1}
    with pytest.raises(CertificateError, match="9 bytes; a certificate has at most 8"):
        certificate.decode(b'{"a": 10}')


# -- what holds everything --------------------------------------------------------------------------


def test_groups_and_maps_that_hold_everything_are_taken_off():
    parts = (Part(LAPLACE, ONE), Part(LAPLACE, ONE, times=num(3)))
    held = Part(Compose(parts))
    for mechanism in (Group(held, num(2)), Lipschitz(held, num(2)), PostProcess(held)):
        assert list(moves.leaves(Part(mechanism))) == [(parts[0], 1), (parts[1], 3)]
        assert [leaf.own for leaf in neighbours.leaves(Part(mechanism))] == [False, False]
        for holder in (Group, Lipschitz):
            deeper = Part(holder(Part(mechanism), num(2)))
            assert [leaf.own for leaf in neighbours.leaves(deeper)] == [False, False]
        assert [leaf.own for leaf in neighbours.leaves(Part(PostProcess(Part(mechanism))))] == [False, False]
        beside = Part(Compose((Part(mechanism), parts[0])))
        own = isinstance(mechanism, Group | Lipschitz)
        assert [leaf.own for leaf in neighbours.leaves(beside)] == [own, own, False]


# -- how curves are enclosed ------------------------------------------------------------------------

RATIONAL = st.fractions(min_value=0, max_value=1, max_denominator=997)
SLOPE = st.fractions(min_value=-3, max_value=3, max_denominator=997)


@settings(max_examples=60, deadline=None)
@given(low=RATIONAL, high=RATIONAL, left=RATIONAL, right=RATIONAL, first=SLOPE, second=SLOPE)
def test_between_two_shifts_the_most_is_no_less_than_slopes_and_ends_allow(low, high, left, right, first, second):
    """The greatest of min(G(low) + u t, G(high) + d (w - t)) over t in [0, w], u and d the steepest rise and fall."""
    low, high = min(low, high), max(low, high) + F(1, 97)

    class Told(every_shift.Shifts):
        def __init__(self):
            pass

        def point(self, shift):
            return rational(left if shift == low else right)

        def slopes(self, low, high):
            return rational(first).union(rational(second))

    with ctx.workprec(12):
        up, down = max(exact(Told().slopes(low, high).upper()), F(0)), max(-exact(Told().slopes(low, high).lower()), F(0))
        found = exact(Told().most(low, high))
    width = high - low
    ends = [F(0), width] + ([(right + down * width - left) / (up + down)] if up + down else [])
    most = max(min(left + up * t, right + down * (width - t)) for t in ends if 0 <= t <= width)
    assert min(most, 1) <= found <= max(most * F(101, 100), F(1, 100))


def test_balls_are_looked_at_at_the_greatest_shift_from_above_and_at_the_least_from_below():
    """In the space of three dimensions 1 - (1 - D/2)^2 (2 + D/2)/2."""
    ball = Radial(parse("1 - min(1, floor(r))"), L2, num(3))
    found = uniform_ball.curve(ball, Sensitivity(parse("1"), parse("1/2")))
    with precision(64):
        for pair, shift in ((found.upper, F(1)), (found.lower, F(1, 2))):
            assert pair.forward(arb(1)).overlaps(rational(1 - (1 - shift / 2) ** 2 * (2 + shift / 2) / 2))
    assert not found.exact and set(uniform_ball.ASSUMED) <= set(found.assumed)


@pytest.mark.parametrize(
    ("density", "shift", "truth"), [("1/(1 + z**2)", 1, F(1)), ("1/(1 + z**2)", 2, F(3, 2)), ("1/(1 + z**4)", 3, F(2))]
)
def test_integers_with_a_heavy_tail_are_enclosed_where_the_sum_ends(density, shift, truth):
    """The sum of p(n) - p(n - s) where that is positive is that of p over s integers about 0."""
    shape = integers.Shape(parse(density), None, None, True, False, 0, unimodal.Hints())
    with precision(100):
        found = integers.Law(shape, shift)._term_by_term(arb(0))
        assert found.contains(rational(truth)) and found.rad() < arb(2) ** -25


@pytest.mark.parametrize("twice", [3, 5, 7, 13, 15])
def test_what_a_series_of_a_cap_leaves_out_is_enclosed_whatever_the_sum_is_rounded_to(monkeypatch, twice):
    """Two terms after those that do not fall yet, at a precision that hides nothing."""
    monkeypatch.setattr(volumes, "_REACHES", tuple((reach, 150) for reach, _ in volumes._REACHES))
    with precision(300):
        cap, m = volumes.Cap(twice), arb(twice) / 2
        for (reach, _), (series, _) in zip(volumes._REACHES, cap._sums, strict=True):
            x = acb(reach)
            left_out = (x.hypgeom_2f1(m, 1 - m, m + 1) - series(x.real)).real
            width = cap.factor(x, False).real - series(x.real)
            assert width.contains(left_out)


@pytest.mark.parametrize("twice", [2, 4, 6])
def test_a_whole_power_is_one_on_both_sides_of_0(twice):
    with precision(64):
        for x in (acb(-0.5), acb(arb(0, 1), arb(0, 1)), acb(-0.5, arb(0, 0.25))):
            found = volumes.Cap(twice).power(x, True)
            assert found.is_finite() and found.overlaps(acb(x.mid()) ** (twice // 2))


STEPPED = Translation(parse("exp(-(2*min(abs(z), 1) + min(max(abs(z) - 1, 0), 2)/4 + 2*max(abs(z) - 3, 0)))"))
