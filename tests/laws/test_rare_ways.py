"""Ways through the rules that are taken seldom: guards, ends and signs that may go without a trace in what is proved of common claims."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.composition.plans import curve_of_one
from dpverify.search.signs import positive, radicals
from dpverify.search.signs.field import Effort, Field, Ratio
from dpverify.search.signs.polynomials import ONE as ONE_POLY
from dpverify.search.signs.polynomials import SLOTS, number
from dpverify.search.signs.positive import factor_sign
from dpverify.trusted.combinators import candidates, closed_forms, further, moves, neighbours, one_pair, parameters, responses
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.premises import curve_of
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import certificate
from dpverify.trusted.kernel.balls import constant, exact, precision, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, neg, num, parse, power, substitute
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import (
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    KaryResponse,
    Lipschitz,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, POSITIVE
from dpverify.trusted.numbers import periods, quadrature, series, steps
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.order import forms
from dpverify.trusted.shapes import at_zero, bessel_sums, limits
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import point_limits, sides, slopes
from dpverify.trusted.theories.additive.rules import product_lipschitz
from dpverify.trusted.theories.composition import combined_values, losses, ratios
from dpverify.trusted.theories.composition.grid import Grid
from dpverify.trusted.theories.curves import gaps, integers, mixing, shifts, unimodal, variances, volumes
from dpverify.trusted.theories.curves import losses as line_losses
from dpverify.trusted.theories.curves.moved_density import Outward
from dpverify.trusted.theories.curves.rules import every_shift, laplace, uniform_ball
from tests import told
from tests.effort import examples

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
    for parts in ((noise, gaussian), (noise, response), (repeated(noise, num(2)), gaussian)):
        assert neighbours.apart(Part(Compose(parts))) == (neighbours.APART,)
    assert neighbours.apart(Part(Compose((noise, repeated(noise, num(2)))))) == ()


@pytest.mark.parametrize(
    ("columns", "told"), [((1,), True), ((1, -1), False), ((1, -1, 2), True), ((1, -1, 2, -2), False), ((0,), False), ((0, 1), True)]
)
@pytest.mark.parametrize("noise", [LAPLACE, ONE_SIDED])
def test_a_query_tells_the_order_of_its_noise_unless_each_of_its_columns_has_its_opposite(columns, told, noise):
    part = Part(noise, None, Query((tuple(map(F, columns)),), "add-remove"))
    assert one_pair.is_told(part) is (told and noise is ONE_SIDED)
    assert not one_pair.is_told(replace(part, query=replace(part.query, adjacency="l1")))


@pytest.mark.parametrize(("noises", "differs"), [((LAPLACE, LAPLACE), False), ((LAPLACE, "skew"), True), (("skew", LAPLACE), True)])
def test_the_two_orders_differ_where_those_of_any_part_do(noises, differs):
    skew = Translation(parse("exp(-max(z, -2*z))"))
    query = Query(((F(1),),), "add-remove")
    parts = [one_pair.OnePair(skew if noise == "skew" else noise, None, query) for noise in noises]
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


@pytest.mark.parametrize("sums", [losses.upper_sums, losses.lower_sums])
def test_masses_are_of_parts_that_occur_and_have_a_range(sums):
    grid = Grid(F(1, 4), F(1, 64), 64, 64, ((-8, 8),))
    pair = curve_of_one(Run(Part(LAPLACE, ONE)), {"rule": "laplace"}).upper
    assert sums([([pair], 1)], grid)
    for times in (0, -1, losses.MAX_TIMES + 1):
        with pytest.raises(Rejected, match=f"occurs {times} times"):
            sums([([pair], times)], grid)
    for parts in ([], [([pair], 1), ([pair], 1)], [([pair, pair.reversed], 1)]):
        with pytest.raises(Rejected, match=f"1 ranges for {2 * bool(parts)} parts"):
            sums(parts, grid)


def test_a_certificate_is_no_longer_than_may_be(monkeypatch):
    monkeypatch.setattr(certificate, "MAX_BYTES", 8)
    assert certificate.decode(b'{"a": 1}') == {"a": 1}
    with pytest.raises(CertificateError, match="9 bytes; a certificate has at most 8"):
        certificate.decode(b'{"a": 10}')


# -- what holds everything --------------------------------------------------------------------------


def test_groups_and_maps_that_hold_everything_are_taken_off():
    parts = (Part(LAPLACE, ONE), repeated(Part(LAPLACE, ONE), num(3)))
    held = Part(Compose(parts))
    for mechanism in (Group(held, num(2)), Lipschitz(held, num(2)), PostProcess(held)):
        assert list(moves.leaves(Part(mechanism))) == [(parts[0], 1), (parts[0], 3)]
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


@settings(max_examples=examples(60), deadline=None)
@given(reach=RATIONAL, steep=RATIONAL, bent=SLOPE)
def test_from_the_middle_of_a_cell_a_divergence_rises_by_no_less_than_slope_and_bend_allow(reach, steep, bent):
    """The greatest of steep t + bent t^2/2 over t in [0, reach]: at an end, or where its slope is 0."""
    with ctx.workprec(12):
        found = exact(shifts.most_within(rational(reach).upper(), rational(steep).upper(), rational(bent).upper()).upper())
    turns = [0, reach, *([-steep / bent] if bent < 0 and -steep / bent <= reach else [])]
    most = max(steep * t + bent * t * t / 2 for t in turns)
    assert most <= found <= most * F(102, 100) + F(1, 50)


def test_balls_are_looked_at_at_the_greatest_shift_from_above_and_at_the_least_from_below():
    """In the space of three dimensions 1 - (1 - D/2)^2 (2 + D/2)/2."""
    ball = Radial(parse("1 - min(1, floor(r))"), L2, num(3))
    found = uniform_ball.curve(ball, Sensitivity(parse("1"), parse("1/2")))
    with precision(64):
        for pair, shift in ((found.upper, F(1)), (found.lower, F(1, 2))):
            assert pair.forward(arb(1)).overlaps(rational(1 - (1 - shift / 2) ** 2 * (2 + shift / 2) / 2))
    assert not found.exact and set(uniform_ball.ASSUMED) <= set(found.assumed)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("density", "shift", "truth"), [("1/(1 + z**2)", 1, F(1)), ("1/(1 + z**2)", 2, F(3, 2)), ("1/(1 + z**4)", 3, F(2))]
)
def test_integers_with_a_heavy_tail_are_enclosed_where_the_sum_ends(density, shift, truth):
    """The sum of p(n) - p(n - s) where that is positive is that of p over s integers about 0."""
    make = partial(integers.OfDensity, parse(density), None, None, True, unimodal.Hints())
    shape = integers.Shape(make, None, None, True, False, 0)
    with precision(100):
        found = integers.Law(shape, shift)._term_by_term(arb(0))
        assert found.contains(rational(truth)) and found.rad() < arb(2) ** -25


def test_what_the_series_of_a_cap_leaves_out_is_enclosed_whatever_the_sum_is_rounded_to():
    """For m = 1 all coefficients are exactly 1, and the sum is 1/(1 - x): at a higher precision rounding hides nothing."""
    with precision(32):
        made = volumes._Positive(arb(1))
    with precision(300):
        for reach, series, _, _ in made._series:
            left_out, width = 1 / (1 - reach) - series(reach), made(acb(reach)).real - series(reach)
            assert left_out > 0 and width.contains(left_out)


@pytest.mark.parametrize("twice", [2, 4, 6])
def test_a_whole_power_is_one_on_both_sides_of_0(twice):
    with precision(64):
        for x in (acb(-0.5), acb(arb(0, 1), arb(0, 1)), acb(-0.5, arb(0, 0.25))):
            found = volumes.Cap(twice).power(x, True)
            assert found.is_finite() and found.overlaps(acb(x.mid()) ** (twice // 2))


STEPPED = Translation(parse("exp(-(2*min(abs(z), 1) + min(max(abs(z) - 1, 0), 2)/4 + 2*max(abs(z) - 3, 0)))"))


def stepped(z):
    a = np.abs(z)
    return np.exp(-(2 * np.minimum(a, 1) + np.minimum(np.maximum(a - 1, 0), 2) / 4 + 2 * np.maximum(a - 3, 0)))


@pytest.mark.parametrize("epsilon", [0.5, 1, 1.5])
def test_where_the_loss_is_great_on_two_intervals_what_lies_between_them_is_left_out(epsilon):
    grid = np.linspace(-30, 30, 600_001)
    truth = np.maximum(stepped(grid) - np.exp(epsilon) * stepped(grid - 1), 0).sum() / stepped(grid).sum()
    with precision(64):
        found = told.line(STEPPED, Sensitivity(ONE, ONE)).upper.forward(arb(epsilon))
    assert abs(float(found.mid()) - truth) < 1e-6 and found.rad() < 1e-12


@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize(("cuts", "last"), [((0, 1, 3), None), ((0, 1, 3), 5), ((0,), 2), ((0,), None), ((0, 1, 3), 4)])
def test_masses_outward_are_those_of_every_piece_up_to_the_end(cuts, last, falling):
    densities = [parse(text) for text in ("exp(-2*z)", "exp(-2 - z/4)", "exp(-3*z)")]
    ends = [*cuts[1:], last]
    parts = [
        Piece(density, "z", F(low), None if high is None else F(high)) for density, low, high in zip(densities, cuts, ends, strict=False)
    ]
    antiderivatives = [lambda x: -np.exp(-2 * x) / 2, lambda x: -4 * np.exp(-2 - x / 4), lambda x: -np.exp(-3 * x) / 3]
    with precision(64):
        outward = Outward(parts, falling)
        for at in (0, 0.125, 0.75, 1, 1.75, 3, 3.5, 4.5):
            truth = sum(
                (0 if high is None else f(high)) - f(max(low, at))
                for f, low, high in zip(antiderivatives, cuts, ends, strict=False)
                if high is None or at < high
            )
            assert float(outward.beyond(arb(at)).mid()) == pytest.approx(truth, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("left", "right"), [(3, None), (None, 3), (3, 4.25), (None, 4.25), (4.25, None)])
def test_what_an_undecided_interval_may_add_is_at_least_what_it_adds(left, right):
    """Of p = N(5, 1) and q = N(6, 1), of which the loss at z is 11/2 - z."""
    epsilon = 1
    noise = Translation(parse("exp(-(z - 5)**2/2)"))
    with precision(64):
        order = line_losses.Order(unimodal.read(noise, unimodal.Hints()), unimodal.Hints())
        cell = order._cells[-1 if right is None else 0]
        low, high = (-unimodal.INFINITY if left is None else arb(left)), (unimodal.INFINITY if right is None else arb(right))
        cell = replace(cell, lower=low, upper=high, far=(arb(0), unimodal.INFINITY))
        found = float(order._doubt(cell, low, high, arb(epsilon)) / order._density.total)
    low, high = (-30 if left is None else left), min(4.5, 40 if right is None else right)
    added = mpmath.quad(lambda z: mpmath.npdf(z, 5, 1) * (1 - mpmath.exp(epsilon - 5.5 + z)), [low, 0, high] if low < 0 else [low, high])
    mass = mpmath.ncdf(40 if right is None else right, 5, 1) - mpmath.ncdf(low, 5, 1)
    assert added <= found <= max(3 * mass, 0)


def test_the_mass_next_to_a_tail_is_counted_where_the_density_rises_just_before_it():
    """The tail starts at 16; the slope of h is 1/8 there, and -10 before 159/10."""
    steep = Translation(parse("exp(-max(10*(159/10 - z), (z - 159/10)/8))"))
    grid = np.linspace(0, 300, 1_200_001)
    p, q = (np.exp(-np.maximum(10 * (15.9 - z), (z - 15.9) / 8)) for z in (grid, grid - 1))
    truth = np.maximum(p - np.exp(0.5) * q, 0).sum() / p.sum()
    plan = {"rule": "every-shift", "cuts": ["-1", "0", "1"], "at": "1", "far": 4, "point": 30, "cell": 0}
    with precision(64):
        found = curve_of_one(Run(Part(steep, ONE)), plan).lower.forward(arb(0.5))
    assert found.contains(arb(truth, 1e-5)) or found.overlaps(arb(truth, 1e-5))
    assert found.rad() < 0.01


def test_a_mean_without_a_finite_enclosure_is_undecided(monkeypatch):
    mean = variances.Mean(mixing.Law(parse("exp(-v)")), num(1))
    monkeypatch.setattr(variances, "gaussian_delta", lambda mu, epsilon: type(mu)("nan"))
    with precision(64), pytest.raises(Undecided, match="no finite enclosure"):
        mean._inside(arb(1), F(1, 4), F(4), 30)


@pytest.mark.parametrize(
    "term", ["logbesselk(1, -r/2)", "logbesselk(1, -2*r)", "logbesselk(1, 0)", "logbesselk(r, r)", "logbesselk(1, r + 1)"]
)
def test_a_term_of_a_bessel_function_has_a_positive_factor_of_r(term):
    with precision(64):
        assert gaps._bessel_term(parse("3*logbesselk(1, 2*r)")) is not None
        assert gaps._bessel_term(parse(term)) is None


@settings(max_examples=examples(40), deadline=None)
@given(
    epsilon=st.fractions(min_value=-4, max_value=4, max_denominator=64),
    ratio=st.fractions(min_value=0, max_value=4, max_denominator=64),
)
def test_laplace_noise_hides_what_its_closed_form_says_also_below_0(epsilon, ratio):
    e, d = float(epsilon), float(ratio)
    truth = 1 - math.exp(e) if e < -d else max(1 - math.exp((e - d) / 2), 0)
    with precision(64):
        assert abs(float(laplace._excess(rational(epsilon), rational(ratio)).mid()) - truth) < 1e-12


# -- forms and numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "length", "rise"),
    [
        ("floor(x)", 1, "1"),
        ("2*floor(x)", 1, "2"),
        ("2*floor(x)*(x - floor(x))", 1, None),
        ("floor(x)*(x - floor(x))", 1, None),
        ("3*y*floor(x)", 1, "3*y"),
        ("x*floor(x)", 1, None),
        ("2*(x - floor(x))", 1, "0"),
        ("floor(x/2)", 1, None),
    ],
)
def test_a_function_rises_by_a_constant_over_a_period_or_is_said_to_have_none(text, length, rise):
    assert periods.quasi_period(parse(text), "x", F(length)) == (None if rise is None else parse(rise))


def test_densities_of_several_stairs_are_summed_over_their_periods():
    """The sum over j of (e^-j + e^(-2 j)) (j + 1/2)."""
    with precision(64):
        found = quadrature.integral(parse("r*(exp(-floor(r)) + exp(-2*floor(r)))"), "r", F(0), None, bits=40)
    truth = mpmath.nsum(lambda j: (mpmath.exp(-j) + mpmath.exp(-2 * j)) * (j + 0.5), [0, mpmath.inf])
    assert abs(float(found.mid()) - truth) < 1e-9


@pytest.mark.parametrize("name", ["cosh", "sinh", "tanh", "exp", "erf", "erfc"])
@pytest.mark.parametrize("at", ["0", "1/2", "-3/4"])
def test_power_series_are_those_of_taylor(name, at):
    """About x, of f(2 x): the derivatives by mpmath."""
    with precision(100):
        found = series.taylor(parse(f"{name}(2*r)"), "r", rational(F(at)), 4)
    wanted = mpmath.taylor(lambda x: getattr(mpmath, name)(2 * x), mpmath.mpf(F(at).numerator) / F(at).denominator, len(found) - 1)
    assert len(found) >= 4 and all(abs(float(a.mid()) - b) < 1e-9 for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize(
    "text", ["besselk(r, 1 + r)", "besselk(1 + r, 1 + r)", "logbesselk(r, 2)", "besselk(1, r)", "floor(r)", "log(r)", "1/r"]
)
def test_a_limit_at_0_is_one_of_continuous_functions_of_the_last_argument_alone(text):
    shapes = Shapes("r", True, {})
    assert at_zero.at_zero(shapes, parse("besselk(1, 1 + r)")) == parse("besselk(1, 1)")
    assert at_zero.at_zero(shapes, parse(text)) is None


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("log(r) + logbesselk(1, r)", True),
        ("log(r) + besselk(1, r)", False),
        ("2*log(r) + logbesselk(1, r)", False),
        ("log(r) + logbesselk(1, r + 1)", False),
        ("r*log(r) + logbesselk(r, r)", False),
        ("log(r) + erf(r)", False),
    ],
)
def test_a_sum_with_a_bessel_function_is_that_of_its_logarithm(text, is_one):
    assert (bessel_sums.bessel_part(Shapes("r", True, {}), parse(text)) is not None) is is_one


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_a_quotient_by_a_root_has_none_below(degree):
    field = Field({}, Effort(factor_sign))
    root = radicals.root(field, Ratio(number(F(2)), ONE_POLY), degree)
    for top in (ONE_POLY, field.times(root.num, root.num)):
        for bottom in (root.num, field.times(root.num, root.num)):
            found = field.quotient(top, bottom)
            assert found.den.is_one()
            assert field.reduced(found.num * bottom - top).is_zero()


def test_zeros_that_need_more_bits_than_are_looked_at_are_not_known(monkeypatch):
    assert forms.vanishes(parse("sqrt(13) + sqrt(19) - sqrt(32 + 2*sqrt(247))")) and not forms.vanishes(parse("sqrt(13) + sqrt(19) - 8"))
    monkeypatch.setattr(forms, "MAX_ZERO_BITS", 0)
    assert not forms.vanishes(parse("sqrt(17) + sqrt(23) - sqrt(40 + 2*sqrt(391))"))


@pytest.mark.parametrize(
    ("text", "strict"),
    [("x**2", False), ("x**2*y", False), ("x**2 + z**2", False), ("x**4 + x**2*z**2", False), ("x**2 + y", True), ("x**2*y + y**2", True)],
)
def test_a_square_of_any_number_may_be_0(text, strict):
    domains = {"x": Domain(), "z": Domain(), "y": Domain(F(0))}
    f = parse(text)
    assert certainly_le(num(0), f, domains) and certainly_lt(num(0), f, domains) is strict


@pytest.mark.parametrize("rows", [(("1/2", "1/4", "1/4"), ("1/4", "1/2", "1/4")), (("1",), ("1",)), (("1/2", "1/2"),) * 3])
def test_a_randomized_response_has_two_inputs_and_two_answers(rows):
    assert responses.randomized_response(Table(tuple(tuple(map(parse, row)) for row in rows))) is None
    assert responses.randomized_response(Table((HALVES, HALVES))) == num(0)


@pytest.mark.parametrize("given", [["b"], "b", 3, None])
def test_values_of_parameters_are_told_in_a_table(given):
    claim = Claim(LAPLACE, None, sensitivity=ONE, domains=(("b", Domain(F(0))),))
    with pytest.raises(AttributeError, match="items"):
        parameters.fixed(claim, {"at": given}, "a-rule")


@pytest.mark.parametrize(("low", "high", "sign"), [(1, 2, 1), (-2, -1, -1), (-1, 2, 0), (-2, 1, 0), (0, 1, 1), (-1, 0, -1)])
def test_an_end_rises_or_falls_where_its_slope_has_a_certain_sign(low, high, sign):
    line = SimpleNamespace(whole_slope_at=lambda end: SimpleNamespace(k=SimpleNamespace(lo=arb(low), hi=arb(high))))
    assert sides.end_direction(line, End("+inf", F(4))) == sign


def test_the_slope_is_bounded_on_both_ends_of_a_line():
    """h' is -2 + 1/(1 - z) for z < 0 and 1 above."""
    skew, cuts = parse("max(z, 0) + 2*max(-z, 0) - log(1 + max(-z, 0))"), ["-16", "-1", "0", "1", "16"]
    assert slopes.told(skew, "z", False, {"slope": "2", "cuts": cuts}, "a-rule") == num(2)
    assert slopes.told(skew, "z", True, {"slope": "39/20", "cuts": cuts[2:]}, "a-rule") == parse("39/20")
    with pytest.raises(Rejected, match="-inf"):
        slopes.told(skew, "z", False, {"slope": "39/20", "cuts": cuts}, "a-rule")
    with pytest.raises(Rejected, match=r"\+inf"):
        slopes.told(substitute(skew, {"z": neg(parse("z"))}), "z", False, {"slope": "39/20", "cuts": cuts}, "a-rule")


def test_an_end_begins_where_the_cells_end():
    """h' is -1 - 20 u/(u^2 + 400) at z = -u, steepest at u = 20, and 1 for z > 0."""
    bump = parse("abs(z) + 10*log(min(z, 0)**2 + 400)")
    near, far = [[str(F(k, 2)) for k in range(2 * first, 1)] + ["64"] for first in (-16, -64)]
    assert slopes.told(bump, "z", False, {"slope": "151/100", "cuts": far}, "a-rule") == parse("151/100")
    for cuts, place in ((near, "-inf"), (far, r"\[-")):
        with pytest.raises(Rejected, match=f"at {place}"):
            slopes.told(bump, "z", False, {"slope": "149/100", "cuts": cuts}, "a-rule")


@pytest.mark.parametrize(
    "text", ["log(3)", "sqrt(2)", "exp(2)*log(3)", "exp(1/2)/3", "erf(1)*exp(-1)", "exp(1 + log(5)/2)", "-2/7", "log(5)**2"]
)
def test_factors_with_their_exponents_multiply_to_the_expression(text):
    product = arb(1)
    with precision(64):
        for base, exponent in ratios._factors(parse(text)):
            product *= constant(base) ** rational(exponent)
        assert product.overlaps(abs(constant(parse(text))))


@pytest.mark.parametrize(
    ("text", "logs", "parts", "rest"),
    [
        ("r*v", "0", {1: "r"}, "0"),
        ("3*log(v)", "3", {}, "0"),
        ("r", "0", {}, "r"),
        ("r*v + 2*log(v) + r/v + 1", "2", {1: "r", -1: "r"}, "1"),
    ],
)
def test_an_exponent_is_read_term_by_term_also_where_it_is_one_term(text, logs, parts, rest):
    shapes = Shapes("v", True, {"r": Domain(F(0))})
    found = closed_forms._read(parse(text), shapes)
    assert found == (parse(logs), {k: parse(c) for k, c in parts.items()}, parse(rest))


@pytest.mark.parametrize("says", [(), (Bound("upper", ONE),)])
def test_a_premise_that_states_bounds_is_no_curve(says):
    run = Run(Part(LAPLACE, ONE))
    fact = Fact("laplace", run, says, (), (), {}, (), 128)
    with pytest.raises(CertificateError, match="not about the curve"):
        curve_of(fact, run, "a-rule")


def test_what_a_coordinate_of_independent_noise_loses_is_asked_of_that_coordinate():
    density = parse("exp(-z**2)")
    assert moves.question(Part(Product(density, num(3), L2), num(1))).mechanism == Translation(density)
    assert moves.question(Part(Translation(density), num(1))).mechanism == Translation(density)


def test_differences_of_histograms_are_listed_up_to_a_limit(monkeypatch):
    assert sorted(candidates._whole(2, 1)) == [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
    monkeypatch.setattr(candidates, "MOST_RAW", 12)
    assert len(list(candidates._whole(2, 1))) == 5
    with pytest.raises(Undecided, match="more than 12 differences"):
        candidates._whole(2, 2)


def test_a_field_has_no_more_atoms_than_slots():
    field = Field({f"x{i}": Domain(Fraction(0), Fraction(1)) for i in range(SLOTS)}, Effort(factor_sign))
    with pytest.raises(Undecided, match=f"more than {SLOTS} different functions and roots"):
        field.new(field.atoms[0])


def test_the_signs_of_factors_under_a_root_multiply_to_that_of_the_whole():
    domains = {"x": Domain(Fraction(-2), Fraction(1), upper_open=True), "y": Domain()}
    root = parse("((1 - x)*y**4)**(1/3)")
    assert certainly_equal(power(root, num(3)), parse("(1 - x)*y**4"), domains) and certainly_le(num(0), root, domains)


@pytest.mark.parametrize("i", range(6))
def test_sums_of_powers_times_a_geometric_sequence_are_rational_in_its_ratio(i):
    found = next(islice(steps._power_sums(parse("1/3")), i, None))
    assert float(constant(found).mid()) == pytest.approx(sum(j**i / 3**j for j in range(200)), rel=1e-12)


def test_a_zero_at_0_is_taken_out_of_a_logarithm_of_the_variable_alone():
    assert series.without_removable(parse("log(a*r + r**2)"), "r") == parse("log(a*r + r**2)")
    assert series.without_removable(parse("log(2*r + r**2)"), "r") != parse("log(2*r + r**2)")


@pytest.mark.parametrize(("text", "limit"), [("asinh(r**2)", "0"), ("asinh(r)", "0"), ("r + asinh(r**3)", "1"), ("asinh(exp(r))", None)])
def test_the_slope_of_an_inverse_hyperbolic_sine_of_a_power_falls_to_0(text, limit):
    assert limits.slope_limit(Shapes("r", True, {}), parse(text)) == (None if limit is None else parse(limit))


def test_answers_that_one_step_moves_off_the_integers_are_told_apart_by_whole_steps_alone():
    part = Part(Translation(parse("exp(-abs(z))"), integers=True), None, Query(((Fraction(1, 2),),), "l1"))
    moved = Sensitivity(num(7), num(7))
    assert further.leaf(part, num(1), lambda: moved, {}) == (part.mechanism, None, part.query)
    assert further.leaf(part, parse("1/2"), lambda: moved, {}) == (part.mechanism, num(7), None)


def test_a_density_with_a_zero_next_to_a_point_is_not_continuous_in_its_logarithm_there():
    noise = Translation(parse("z**2*exp(-abs(z))"))
    assert point_limits._continuous(noise, parse("1/4"), Fraction(1, 8), "a") is not None
    with pytest.raises(Rejected, match="not certainly positive and finite"):
        point_limits._continuous(noise, parse("1/4"), Fraction(1, 2), "a")


def test_a_square_of_what_may_be_0_is_not_certainly_positive():
    field = Field({"x": Domain(), "y": Domain(Fraction(0))}, Effort(factor_sign))
    (square,) = (field.parameters["x"] ** 2).monoms()
    (single,) = field.parameters["y"].monoms()
    free, strict = square.index(2), {single.index(1): True}
    assert positive._sum_sign(field, field.parameters["x"] ** 2, {}, {free}, 1) == AT_LEAST_ZERO
    assert positive._sum_sign(field, field.parameters["x"] ** 2 + field.parameters["y"], strict, {free}, 1) == POSITIVE
    assert positive._sum_sign(field, field.parameters["y"] * field.parameters["x"] ** 2, strict, {free}, 1) == AT_LEAST_ZERO


@pytest.mark.parametrize("lower, upper", [(Fraction(-1), Fraction(0)), (Fraction(0), Fraction(1))])
def test_a_logarithm_times_what_may_be_0_is_not_certainly_positive(lower, upper):
    """b log(1 + y) and b log(1/(1 + y)), of b and y of known signs: 0 where b is."""
    field = Field({"b": Domain(lower, upper, False, False), "y": Domain(Fraction(1), Fraction(2))}, Effort(factor_sign))
    argument = Ratio(ONE_POLY + field.parameters["y"], ONE_POLY)
    if upper == 0:
        argument = field.inverse(argument)
    b = field.parameters["b"]
    assert positive._log_lower(field, b - b, [(b, argument)])[0] == AT_LEAST_ZERO


@pytest.mark.parametrize("sign", [1, -1])
def test_logarithms_of_what_may_be_1_are_not_certainly_positive(sign):
    """b log(1 + x) + b log(1 + y), and the same of -b and the inverses: 0 where x = y = 0."""
    ends = Domain(Fraction(0), Fraction(2), False)
    field = Field({"b": Domain(Fraction(1), Fraction(2)), "x": ends, "y": ends}, Effort(factor_sign))
    arguments = [Ratio(ONE_POLY + field.parameters[name], ONE_POLY) for name in "xy"]
    b = field.parameters["b"] * sign
    groups = [(b, argument if sign == 1 else field.inverse(argument)) for argument in arguments]
    for count in (1, 2):
        assert positive._log_lower(field, b - b, groups[:count])[0] == AT_LEAST_ZERO
