"""Guards of small functions below the trust line, each with the law that it keeps.

The class: a condition, an end or a sign that is used seldom, so that what is proved of common claims does not show when it is gone.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb, fmpz

from dpverify.trusted.combinators import candidates
from dpverify.trusted.combinators.runs import Run, leaf, occurs
from dpverify.trusted.facts.evaluate import refined
from dpverify.trusted.geometry.polytopes import box
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.assumptions import ONWARD, of_a_bound
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.model import (
    ONE_SIDED,
    REVERSE,
    Claim,
    Compose,
    Domain,
    EllipticalProcess,
    Exponential,
    Group,
    Measure,
    Norm,
    Part,
    Radial,
    Staircase,
    Table,
    Translation,
)
from dpverify.trusted.numbers import kinks, lattice_sums, quadrature, series
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import cells as turns
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.composition import combined_values
from dpverify.trusted.theories.curves import crossings, unimodal, variances
from dpverify.trusted.theories.curves.mixing import Law
from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture as scale_mixture
from dpverify.trusted.theories.curves.rules import optimal_composition
from dpverify.trusted.theories.curves.student import Student
from dpverify.trusted.theories.divergences.rows import rows_of
from dpverify.trusted.theories.divergences.rules import finite_measures as finite
from dpverify.trusted.theories.finite import densities, tables
from dpverify.trusted.theories.finite.rules import kernel_point
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.spaces import packings
from dpverify.trusted.theories.utility.laws import read
from dpverify.trusted.theories.utility.rules import polytope_tails

F = Fraction


# -- ends, cells and pieces ------------------------------------------------------------------------


@pytest.mark.parametrize("density", ["exp(-abs(z) - abs(z + 1))", "exp(-abs(z) - abs(z - 1))", "exp(-abs(z + 2) - abs(z - 1))"])
def test_a_density_is_read_as_pieces_side_by_side_with_a_cut_at_0(density):
    for reading in (unimodal.in_pieces(Translation(parse(density))), unimodal.read(Translation(parse(density)), unimodal.Hints())):
        parts = reading.parts
        assert parts[0].lower is None and parts[-1].upper is None
        assert all(left.upper == right.lower for left, right in pairwise(parts)) and all(p.upper != p.lower for p in parts)
        assert any(p.upper == 0 for p in parts)


def test_a_density_does_not_leap_up_away_from_its_mode():
    low, high = ONE, num(2)
    for at, rises in ((F(-1), True), (F(1), False)):
        steps = [(Piece(a, "z", at - 1, at), Piece(b, "z", at, at + 1)) for a, b in ((low, high), (high, low), (low, low))]
        assert [unimodal._joins(pair) for pair in steps] == [rises, not rises, True]
    assert all(unimodal._joins((Piece(a, "z", F(-1), F(0)), Piece(b, "z", F(0), F(1)))) for a, b in ((low, high), (high, low)))


@pytest.mark.parametrize(
    ("text", "low", "high", "step"),
    [
        ("y", 0, F(1, 2), 0),
        ("y", 0, 1, 0),  # but for one output
        ("y", 0, F(3, 2), None),
        ("y + 1", 0, 1, 1),
        ("theta", 0, F(1, 2), 0),
        ("theta", 0, 1, None),  # at an input a floor is what it is
        ("theta + 1", 0, F(1, 2), 1),
        ("exp(y)/2 + 1", 0, F(1, 2), 1),
        ("exp(y)/2 + 1", 0, 1, None),
    ],
)
def test_a_floor_is_one_integer_where_its_argument_stays_between_two(text, low, high, step):
    found = densities._step(parse(text), box([(F(low), F(high)), (F(low), F(high)), (F(0), F(1))]))
    assert found == step


def test_the_mass_of_an_end_lies_about_its_integral_and_above_0():
    with precision(64):
        mass = end_mass(parse("exp(-z)"), "z", End("+inf", F(16)))
        true = rational(F(-16)).exp()
        assert mass.contains(true) and -true / 1000 < mass and mass < 2 * true


def test_a_power_of_a_number_with_a_variable_exponent_has_no_ends_by_its_form():
    assert kinks._monotone_ends(parse("2**z"), "z", F(0), F(1)) is None
    assert kinks._monotone_ends(parse("z**2"), "z", F(0), F(1)) is not None


def test_a_sum_whose_tail_is_not_enclosed_is_not_answered(monkeypatch):
    monkeypatch.setattr(lattice_sums, "_tail_sum", lambda *_: arb("inf"))
    with pytest.raises(Undecided):
        lattice_sums.lattice_sum(parse("exp(-z)"), "z", 0, None)


def test_what_has_no_enclosure_is_not_the_loss_at_a_point():
    nothing = parse("y - sqrt(2) - sqrt(3)")  # 0 at sqrt(5 + 2 sqrt(6)), which no ball tells
    at = parse("sqrt(5 + 2*sqrt(6))")
    with precision(64), pytest.raises(Rejected, match="no finite value"):
        kernel_point._at_point([nothing, ONE], {"y": rational(F(3)).union(rational(F(4)))}, at, num(3), num(4))


# -- series and enclosures -------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", ["1/2", "3/2", "-1/2", "-3/2", "-2", "3"])
def test_taylor_coefficients_of_powers_are_those_of_the_binomial_series(exponent):
    e = F(exponent)
    with mpmath.workdps(30):
        power = mpmath.mpf(e.numerator) / e.denominator
        wanted = [mpmath.nstr(mpmath.binomial(power, n) * mpmath.mpf(2) ** (power - n), 25) for n in range(5)]
    with precision(100):
        found = series.taylor(parse(f"(2 + z)**({exponent})"), "z", arb(0), 4)
        assert all(abs(ball - arb(value)) < arb("1e-20") for ball, value in zip(found, wanted, strict=True))


class _Falling:
    """A profile that is told at 0 and above alone."""

    def divergence(self, epsilon):
        assert epsilon >= 0
        return (-epsilon).exp()


def test_a_ball_of_epsilons_about_0_is_asked_for_what_is_at_least_0():
    with precision(64):
        found = refined(_Falling).forward(arb(0, 0.25))
        assert found.contains(arb(1)) and found.contains((-arb(0.25)).exp()) and found.upper() < arb(1.001)


def test_a_panel_of_t_noise_is_not_trusted_beyond_its_interval():
    with precision(64):
        student = Student(arb(3), 3, arb(1))
        panel = student._panel(arb(0.5))
        panel((panel.low + panel.high) / 2)
        for outside in (panel.high + (panel.high - panel.low) / 2, panel.low - (panel.high - panel.low) / 2):
            with pytest.raises(Undecided):
                panel(outside)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("epsilon", ["0", "1/2", "3"])
@pytest.mark.parametrize("exponent", [1, -1])
@pytest.mark.parametrize("density", ["exp(-v)", "v**(-3)*exp(-1/v)", "v**(1/2)/(1 + v)**3"])
def test_a_mean_over_a_variance_is_the_same_however_far_out_it_is_integrated(density, exponent, epsilon):
    law, at = Law(parse(density), exponent=F(exponent)), rational(F(epsilon))
    with precision(64):
        true, near = variances.Mean(law, ONE), variances.Mean(law, ONE)
        near._far = F(16)  # so that the ends weigh
        assert true(at).rad() < 1e-12
        found = near._at(at, 64)
        assert found.contains(true(at)) and 1e-9 < found.rad() < 0.1


@pytest.mark.parametrize(("lower", "upper"), [(F(0), F(1, 2**130)), (F(2**125), F(2**126)), (F(2**125), None)])
def test_a_law_of_variances_may_lie_beyond_all_that_is_usual(lower, upper):
    law = Law(parse("1" if upper else "v**(-3)"), lower, upper)
    with precision(64):
        found = variances.Mean(law, ONE)(arb(0))
        # small variances set neighbours wholly apart; else mu is v^(-1/2) and H about mu / sqrt(2 pi)
        assert found > 1 - arb(2) ** -40 if lower == 0 else 0 < found < arb(2) ** -60


def test_the_root_of_a_square_of_a_great_prime_is_the_prime():
    prime, positive = 1048583, {"x": Domain(F(0))}
    for k in (2, 3):
        root = parse(f"({prime**k}*x)**(1/{k})")
        assert compare.certainly_equal(root, parse(f"{prime}*x**(1/{k})"), positive)
        assert compare.certainly_lt(parse(f"x**(1/{k})"), root, positive)
        assert not compare.certainly_equal(root, parse(f"x**(1/{k})"), positive)


def test_a_root_of_what_may_tend_to_anything_has_no_limit_at_0():
    shapes = Shapes("r", True, {"a": Domain(F(0), lower_open=False)})
    assert shapes.at_zero(parse("(a + r)**(1/2)")) is None
    assert shapes.at_zero(parse("r**(1/2)")) == ZERO
    assert Shapes("r", True, {"a": Domain(F(0))}).at_zero(parse("(a + r)**(1/2)")) == parse("a**(1/2)")


# -- parts, tables and laws ------------------------------------------------------------------------


def test_staircase_noise_moves_by_its_sensitivity_on_every_step():
    noise = Staircase(ONE, parse("1/2"))
    for stated, moved in ((parse("3"), "6"), (None, "2")):
        assert leaf(Run(Part(noise, stated), num(2))) == Claim(noise, None, sensitivity=parse(moved))


def test_inputs_of_a_table_are_a_whole_number_of_steps_apart():
    table = Part(Table(((ONE, ZERO), (ZERO, ONE))))
    assert [k for k in ("0", "1/2", "1", "3/2", "2", "3") if occurs(Run(table, parse(k)))] == ["1", "2", "3"]


def test_points_that_are_one_are_no_neighbours():
    points = tuple((num(x),) for x in (0, 0, 2))
    scores = tuple(tuple(num(-abs(a - b)) for b in (0, 0, 2)) for a in (0, 0, 2))
    claim = Claim(Exponential(scores, ONE, points=points, metric="l1"), None)
    pairs, divisors = tables.score_pairs(claim)
    assert set(pairs) == {(0, 2), (2, 0), (1, 2), (2, 1)} and set(divisors.values()) == {num(2)}
    assert set(tables.score_pairs(Claim(claim.mechanism, None, sensitivity=num(2)))[0]) == set(pairs)


def test_noise_is_no_finite_mechanism():
    with pytest.raises(Rejected, match="finitely many outputs"):
        tables.finite(Claim(Translation(parse("exp(-abs(z))")), None, sensitivity=ONE))


@pytest.mark.parametrize("law", [Law(parse("exp(-c*v)")), Law(parse("exp(-v)"), factor=parse("c")), Law(parse("exp(-r*v)"))])
def test_a_mixing_law_has_no_parameters(law):
    with pytest.raises(Rejected, match="parameters without a value"):
        scale_mixture.check(law)


def test_every_choice_of_neighbours_has_a_plan_that_is_there(monkeypatch):
    monkeypatch.setattr(combined_values.Values, "_in_order", lambda self, backward, part, factor, plan: num(plan))
    rows = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
    shared = Part(Compose((Part(rows), Part(rows))))
    (_,) = candidates.choices(shared)
    assert combined_values.Values((), "upper", ()).over_neighbours(shared, {"plans": [1, 2], "of": [1]})[0] == num(2)
    for told in ({"plans": [1], "of": []}, {"plans": [1], "of": [0, 0]}, {"plans": [1], "of": [1]}, {"plans": [1]}, {"of": [0]}, None):
        with pytest.raises((CertificateError, *STUMBLES)):  # which the kernel refuses
            combined_values.Values((), "upper", ()).over_neighbours(shared, told)


@pytest.mark.parametrize("told", [None, [], {}, *({"parts": [combined_values.NOTHING] * count} for count in (0, 1, 3))])
def test_every_part_has_a_plan(told):
    both, lower = Part(Compose((Part(Staircase(ONE, parse("1/2")), ONE),) * 2)), combined_values.Values((), "lower", ())
    assert lower.of(both, ONE, {"parts": [combined_values.NOTHING] * 2}) == ZERO
    with pytest.raises(STUMBLES):  # which the kernel refuses
        lower.of(both, ONE, told)


# -- differences, packings and rows ----------------------------------------------------------------


def test_the_greatest_of_distances_is_the_root_of_the_greatest_square():
    assert processes.between([arb(4), arb(9), arb(1)]) == Sensitivity(num(3), num(3))
    assert processes.between([arb(0)]) == Sensitivity(ZERO, ZERO)
    about = processes.between([arb(0, 1)])
    assert about.lower == ZERO and compare.certainly_le(ONE, about.upper) and compare.certainly_le(about.upper, num(2))


@pytest.mark.parametrize("group", [True, False])
def test_functions_in_a_group_move_on_in_the_same_direction(group):
    noise = EllipticalProcess(parse("exp(-v)"), differences=(ONE,))
    claim = Claim(Group(Part(noise, ONE), num(2)), ONE) if group else Claim(noise, ONE, sensitivity=ONE)
    assert (ONWARD in of_a_bound(claim, Bound("lower", ONE), ())) == group
    assert ONWARD not in of_a_bound(claim, Bound("upper", ONE), ())


def test_a_count_that_is_not_enclosed_counts_nothing():
    assert packings._whole(arb("3.5")) == 4 and packings._whole(arb(4)) == 4
    for ball in (arb("nan"), arb("inf"), arb(0, "inf")):
        with pytest.raises(Undecided, match="not enclosed"):
            packings._whole(ball)


def test_outputs_that_two_rows_meet_in_are_those_that_both_can_give():
    rows = ((F(1, 2), F(1, 2), F(0)), (F(0), F(1, 4), F(3, 4)))
    table = Table(tuple(tuple(Num(x) for x in row) for row in rows))
    for found in finite.rows_of(Claim(table, None, measure=Measure("zcdp", None))):
        assert found.first_alone and found.second_alone
        assert [(p.expr, q.expr, times) for p, q, times in found.met] in (
            [(Num(F(1, 2)), Num(F(1, 4)), 1)],
            [(Num(F(1, 4)), Num(F(1, 2)), 1)],
        )


@pytest.mark.sampled(9)
@pytest.mark.parametrize("bits", [24, 60])
@pytest.mark.parametrize(
    ("density", "lower", "upper", "value"),
    [
        ("(1 - z)**(-1/2)*z**(-1/2)", F(0), F(1), "pi"),
        ("(100 - z)**(-1/2)*(z - 90)**(-1/2)", F(90), F(100), "pi"),
        ("exp(-(z - 100)**2)", F(0), None, "sqrt(pi)"),
        ("exp(-10**9*z**2)", None, None, "sqrt(pi/10**9)"),
        ("exp(-z/10**9)", F(0), None, "10**9"),
        ("(1 + z)**(-101/100)", F(0), None, "100"),
        ("z**(-99/100)", F(0), F(1), "100"),
        ("exp(-exp(z) + z)", F(0), None, "exp(-1)"),
        ("exp(-abs(z)**(1/5))", None, None, "240"),
    ],
)
def test_ends_start_where_their_mass_is_known_as_well_as_is_wanted(density, lower, upper, value, bits):
    with precision(96):
        found = quadrature.integral(parse(density), "z", lower, upper, bits)
    with mpmath.workdps(40):
        true = eval(value, {name: getattr(mpmath, name) for name in ("pi", "sqrt", "exp")})
        assert abs(mpmath.mpf(str(found.mid().str(40, radius=False))) / true - 1) < mpmath.mpf(2) ** (3 - bits)
    assert found.rel_accuracy_bits() > bits - 4


@pytest.mark.parametrize(("epsilon", "delta"), [("e", "0"), ("1", "d"), ("-1", "0"), ("1", "-1/2"), ("1", "3/2")])
def test_a_guarantee_that_is_not_certainly_one_is_not_composed(epsilon, delta):
    with pytest.raises(Undecided, match="is not certainly a number"):
        optimal_composition.check_parts([optimal_composition.Part(parse(epsilon), parse(delta), 2)])


def test_a_single_turn_between_two_points_is_looked_at():
    """Within a tenth the exponent changes by more than 1 at about 1/4: its derivative there is 23."""
    line = Line.of(Claim(Translation(parse("exp(-sqrt(1 + z**2) - 9*exp(-9*z**2))")), None, sensitivity=parse("1/10")), {})
    near, far = End("-inf", F(16)), End("+inf", F(16))
    told = [(F(-16), "down"), (F(-2), "turn"), (F(2), "up")]
    with pytest.raises(Rejected, match="turns at"):
        turns.check_pieces(line, near, far, told, num(1))


# -- what is told in the wrong order, of other coordinates, or of pairs that are further apart -------------------


@pytest.mark.parametrize("cuts", [[F(0), F(2), F(1), F(16)], [F(1, 2), F(1), F(16)], [F(0)], [F(0), F(1), F(1), F(16)]])
def test_a_loss_that_rises_and_falls_wants_cuts_that_rise_from_0(cuts):
    """Of t noise: log(1 + r^2) is convex near 0 and concave far out. Cuts that go back would take a turn for another."""
    h, shapes = parse("log(1 + r**2)"), Shapes("r", True, {})
    with pytest.raises(Undecided, match="cut it more finely"):
        crossings.Loss(h, ONE, shapes, [F(0), F(1), F(16)])  # they are looked at
    with pytest.raises(Undecided, match="rising cuts from 0 on"):
        crossings.Loss(h, ONE, shapes, cuts)


def test_the_tails_of_a_polytope_are_of_as_many_coordinates_as_the_noise_has():
    hexagon = Norm("columns", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1))))
    law = read(Claim(Radial(parse("exp(-r)"), hexagon, num(2)), None, sensitivity=ONE, utility=True), {}, polytope_tails.NAME)
    values = [([fmpz(0), fmpz(1)], 1)]  # of one coordinate, between 0 and 1 at two corners of a simplex
    assert len(polytope_tails.probabilities(law, [values, values], 1, F(2), {})) == 2
    for others in ([values], [values] * 3):
        with pytest.raises(Rejected, match="is not given as a polytope"):
            polytope_tails.probabilities(law, others, 1, F(2), {})


@pytest.mark.parametrize("order", [ONE_SIDED, REVERSE])
def test_in_one_order_every_listed_pair_of_points_is_within_the_sensitivity(order):
    """Points 0, 1 and 3 of which 0, 1 and 1, 3 are listed: of a sensitivity of 1 the second pair is no pair of neighbours."""
    line = (0, 1, 3)
    scores = tuple(tuple(num(-abs(x - y)) for y in line) for x in line)
    mechanism = Exponential(scores, ONE, ((0, 1), (1, 2)), points=tuple((num(x),) for x in line), metric="l1")
    claim = Claim(mechanism, None, sensitivity=num(2), measure=Measure("zcdp", None), order=order)
    assert len(rows_of(claim)) == 2
    with pytest.raises(Rejected, match="which of the listed points are within the sensitivity"):
        rows_of(replace(claim, sensitivity=ONE))
