"""Guards and boundaries that common claims never meet, each by the law that fails without it."""

from fractions import Fraction

import pytest
from flint import acb, arb

from dpverify.trusted.combinators import candidates
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.geometry.polytopes import box
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import STUMBLES, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.judgement import _delta_value
from dpverify.trusted.kernel.loading import asked_for, remembered
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Mixture,
    Part,
    Product,
    Query,
    Radial,
    Table,
    Translation,
)
from dpverify.trusted.numbers import complex_bessel, lattice_sums
from dpverify.trusted.numbers.bessel import besselk_scaled
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.theories.additive import points, witnessed
from dpverify.trusted.theories.additive.rules import concave_exponent
from dpverify.trusted.theories.curves import mixing, shapes, volumes
from dpverify.trusted.theories.curves.rules import radial_caps as spherical_caps
from dpverify.trusted.theories.finite import normaliser
from dpverify.trusted.theories.finite.rules import kernel_box

F = Fraction


def test_a_query_whose_answers_do_not_move_alike_has_no_lower_bound_by_moving_all_alike():
    """Of h = sqrt |z| two coordinates that move by 1/2 each lose more together than one by 1; a query may move one alone."""
    noise = Product(parse("exp(-sqrt(abs(z)))"), num(2), L1)
    asked = Claim(noise, None, query=Query(((F(1), F(0)), (F(0), F(1))), "add-remove"))
    with precision(64):
        assert compare.certainly_equal(concave_exponent.check(asked, {"side": "upper"}).value, parse("sqrt(2)"))
        with pytest.raises(Rejected, match="need not move alike"):
            concave_exponent.check(asked, {"side": "lower"})
        stated = concave_exponent.check(Claim(noise, None, sensitivity=ONE), {"side": "lower"})
        assert compare.certainly_equal(stated.value, parse("sqrt(2)"))


# -- what a rule speaks of --------------------------------------------------------------------------


def test_the_curve_of_one_run_is_none_of_several():
    several = Run(Part(Table(((ONE,),))), times=2)
    found = Curve(symmetric(lambda epsilon: arb(0)), None, ("rule",), ())
    for settle in (lambda run: settled.single(run, found), lambda run: settled.noise(run, found, {})):
        settle(Run(Part(Table(((ONE,),)))))
        with pytest.raises(Rejected, match="several times"):
            settle(several)


def test_a_bound_on_delta_is_finite():
    assert _delta_value(Bound("upper", ONE, quantity="delta")) == ONE
    with pytest.raises(RuntimeError, match="infinite"):
        _delta_value(Bound("upper", INFINITE, quantity="delta"))


def test_what_is_loaded_is_recorded_again_where_an_answer_is_remembered():
    @remembered(4)
    def asked(x):
        from dpverify.trusted.numbers import bessel

        return bessel, x

    for _ in range(2):
        with asked_for() as outer, asked_for() as inner:
            asked(1)
        assert list(inner) == list(outer) == ["dpverify.trusted.numbers.bessel"]
    with asked_for() as places:
        pass
    assert not places


def test_two_tables_of_several_spaces_face_each_other_in_both_orders():
    """log 2 is lost from input 0 to 1 of the one table and from input 1 to 0 of the other: all of it at one pair of neighbours."""
    even, uneven = (parse("1/2"), parse("1/2")), (parse("1/4"), parse("3/4"))
    first, second = Part(Table((even, uneven))), Part(Table((uneven, even, uneven), adjacent=((0, 1),)))
    choices = candidates.choices(Part(Compose((first, first, second, second))))
    pairs = {tuple(tuple(int(x) for x in value) for _, value in choice) for choice in choices}
    assert {((0, 1), (1, 0)), ((1, 0), (0, 1))} & pairs and {((0, 1), (0, 1)), ((1, 0), (1, 0))} & pairs


@pytest.mark.parametrize(("left", "right"), [("add-remove", "replace"), ("replace", "add-remove"), ("replace", "replace"), ("l1", "l1")])
def test_differences_of_several_histograms_go_together_where_records_are_added_alone(left, right):
    noise = Translation(parse("exp(-abs(z))"))

    def asking(n, adjacency):
        rows = [tuple(F(x + shift) for x in range(n)) for shift in (1, 2)]
        return tuple(Part(noise, query=Query((row,), adjacency)) for row in rows)

    assert candidates.choices(Part(Compose((*asking(2, "add-remove"), *asking(3, "add-remove")))))
    with pytest.raises(Undecided, match="several histograms"):
        candidates.choices(Part(Compose((*asking(2, left), *asking(3, right)))))


# -- kernels, and densities in pieces ---------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [("sqrt(2)", "pi"), ("-pi", "-sqrt(2)"), ("-sqrt(3)", "1/4"), ("0", "exp(1)")])
def test_inputs_between_closed_forms_lie_in_their_domain(low, high):
    with precision(64):
        domain = normaliser._domain(parse(low), parse(high))
    with precision(512):
        assert rational(domain.lower) <= constant(parse(low)) and constant(parse(high)) <= rational(domain.upper)
        assert rational(domain.upper) - rational(domain.lower) < constant(parse(f"{high} - ({low})")) + arb(2) ** -50
    assert not domain.lower_open and not domain.upper_open


@pytest.mark.parametrize("point", ["0", "1/2", "1"])
def test_a_tangent_at_a_single_point_is_the_loss_there(point):
    at = box([(F(point), F(point)), (F(0), F(0)), (F(1), F(1))])
    loss = parse("y**2 + theta")
    with precision(64):
        for over, holds in (("1/1000", True), ("-1/1000", False)):
            tree = kernel_box.Tree(parse(f"({point})**2 + {over}"))
            assert tree.leaf(["tangent", [point, "0", "1"]], at, loss) is holds


@pytest.mark.parametrize("profile", ["exp(-v*r**2*(1 + r))", "exp(-v*r**2*sqrt(1 + r))", "exp(-v*r)", "exp(-v*(r**2 + r**4))"])
def test_a_mixture_is_of_gaussians_where_its_exponent_is_a_multiple_of_the_square(profile):
    def given(text):
        return mixing.mixing_of(Mixture(parse(text), parse("exp(-v)"), (ZERO, None), L2, num(2)))

    law = given("v*exp(-v*r**2)")
    assert law is not None and law.variance == parse("1/(2*v)")
    assert given("v*" + profile) is None


def test_cuts_in_other_pieces_do_not_show_the_slope_of_this_one():
    """exp(-z - 1/z) rises up to 1 and falls from there on."""
    density, cuts = parse("exp(-z - 1/z)"), [F(k, 16) for k in range(2, 32)]
    with precision(64):
        left, right = (Piece(density, "z", *ends) for ends in ((F(1, 16), F(7, 8)), (F(17, 16), F(2))))
        assert shapes._slope_on_cells(left, True, cuts) and shapes._slope_on_cells(right, False, cuts)
        assert not shapes._slope_on_cells(left, False, cuts) and not shapes._slope_on_cells(right, True, cuts)


# -- numbers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [None, {}, [], [None], [None, None, None]])
def test_the_ends_of_a_sum_are_told_for_either_side(told):
    with precision(64), pytest.raises(STUMBLES):
        lattice_sums.summable(parse("exp(-abs(z))"), "z", F(0), F(3), told)


def test_values_near_each_other_of_a_bessel_function_of_great_order_stay_sharp():
    with precision(128):
        pair = complex_bessel._BesselPair(num(30))
        for k in range(8):
            u = arb(20) + arb(k) / 16
            for found, order in zip(pair(u), (30, 31), strict=True):
                alone = besselk_scaled(num(order), u)[0]
                assert found.overlaps(alone) and found.rel_accuracy_bits() > 120


@pytest.mark.parametrize("prec", [64, 256])
def test_where_lunes_change_their_form_half_of_the_digits_are_left(prec):
    def falling(at):
        if at == 1:
            raise Undecided("a loss at which the form changes")
        return (-at).exp()

    with precision(prec):
        found = spherical_caps.near(falling, arb(1))
        assert found.contains(arb(-1).exp()) and found.rad() < arb(2) ** (4 - prec // 2)
        assert spherical_caps.near(falling, arb(2)).overlaps(arb(-2).exp())


@pytest.mark.parametrize(
    "text",
    [
        "besselk(1, r + 1)*r", "besselk(1, r)*exp(-r)", "besselk(q, r)*r**9", "besselk(1, q*r)*r", "q*besselk(1, r)*r", "r",
        "besselk(1, r)*besselk(0, r)", "besselk(2, r)*r", "besselk(1, -r)*r", "besselk(1, r**2)*r", "besselk(1, r)*(1 + r)",
    ],
)  # fmt: skip
def test_a_moment_of_a_bessel_function_is_read_off_a_power_times_it_alone(text):
    with precision(64):
        assert volumes.bessel_moment(parse("3*besselk(1, 2*r)*r**2")) == volumes.BesselMoment(num(3), num(2), F(2), F(1))
        assert volumes.bessel_moment(parse(text)) is None


@pytest.mark.parametrize("twice", [3, 4, 5, 8, 13, 16, 17, 18, 33, 64])
def test_the_volume_of_a_cap_is_the_hypergeometric_one(twice):
    with precision(96):
        cap, m = volumes.Cap(twice), arb(twice) / 2
        for centre in ("0.01", "0.1", "0.2", "0.4", "0.6", "0.8", "0.95"):
            for width in (arb(0), arb(2) ** -40, arb(2) ** -8, arb("0.04")):
                x = arb(centre).mid()
                found = cap.factor(acb(arb(x, width)), False)
                for at in (x, x - width * arb("0.75"), x + width * arb("0.75")):
                    assert found.overlaps(acb(at).hypgeom_2f1(m, 1 - m, m + 1))
                if width == 0:
                    assert found.rel_accuracy_bits() > 60


@pytest.mark.sampled(7)
@pytest.mark.parametrize("twice", [3, 4, 5, 13, 17, 64, 301, 2001])
def test_however_few_terms_the_volume_of_a_cap_is_summed_from_what_is_left_out_is_enclosed(twice):
    for prec in (32, 64):
        with precision(prec):
            cap = volumes.Cap(twice)
        with precision(400):
            m, sizes = rational(F(twice, 2)), (F(1, 16), F(1, 5), F(1, 4), F(3, 8), F(7, 16), F(127, 256), F(5, 9), F(5, 8))
            for x, y in (
                (share * size, other * size) for size in sizes for share, other in ((1, 0), (F(3, 5), F(4, 5)), (F(4, 5), F(3, 5)))
            ):
                at = acb(rational(x), rational(y))
                assert cap.factor(at, False).overlaps(at.hypgeom_2f1(m, 1 - m, m + 1)), (prec, x, y)


@pytest.mark.parametrize("twice", [3, 4])
def test_on_a_wide_ball_the_volume_of_a_cap_lies_between_the_ends_of_its_integrand(twice):
    """The mean of (1 - x t)^(m - 1) for t of a law on [0, 1]."""
    with precision(96):
        for x in (arb("0.8", "0.1"), arb("0.7", "0.05"), arb("0.9")):
            found = volumes.Cap(twice)._wide(acb(x), False).real
            assert (1 - x.upper()) ** (arb(twice) / 2 - 1) < found.lower() + arb(2) ** -20 and found.upper() < arb("1.2")


# -- what a witness says ----------------------------------------------------------------------------


def dyadic(text):
    mantissa, exponent = text.split("*2^")
    return int(mantissa) * F(2) ** int(exponent)


@pytest.mark.parametrize(
    ("noise", "a", "b", "radius", "masses"),
    [
        (Translation(parse("exp(-abs(z))"), integers=True), "0", "1", "0", ("tanh(1/2)", "exp(-1)*tanh(1/2)")),
        (Translation(parse("exp(-abs(z))")), "1", "3", "1/8", ("exp(-1)*sinh(1/8)", "exp(-3)*sinh(1/8)")),
        (Radial(parse("exp(-r)"), L2, num(2)), "1", "2", "2^-30", (None, None)),
    ],
)
def test_a_witness_states_decimals_that_enclose_its_probabilities(noise, a, b, radius, masses):
    with precision(128):
        found = witnessed.event(noise, points.Points((parse(a),), (parse(b),)), F(2) ** -30 if "^" in radius else F(radius))
    for key, text in zip("PQ", masses, strict=True):
        low, high = map(dyadic, found[key])
        assert 0 < low < high
        if text is not None:
            with precision(512):
                assert rational(low) < constant(parse(text)) < rational(high)
    assert dyadic(found["loss"]) <= F(b) - F(a)
