"""Guarantees in any measure of privacy as curves."""

from fractions import Fraction
from functools import partial

import mpmath
import pytest
from flint import arb

from dpverify.search.composition import stated_guarantee as search
from dpverify.trusted.combinators import stated
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import Guarantee, Measure
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.composition.rules import stated_guarantee

mpmath.mp.dps = 40


def known(measure, *rows):
    return Guarantee(measure, tuple(tuple(parse(str(value)) for value in row) for row in rows))


def profile(guarantee, evidence=None):
    """delta at an epsilon, as a function of a text."""
    pair = stated_guarantee.curve(guarantee, evidence or {}).upper
    return lambda epsilon: pair.worst(rational(parse(epsilon).value))


def holds(ball, value, digits=12):
    return abs(mpmath.mpf(str(ball.mid().str(30, radius=False))) / value - 1) < mpmath.mpf(10) ** -digits


def renyi_delta(tau, epsilon, order):
    return mpmath.exp((order - 1) * (tau - epsilon)) * (1 - 1 / order) ** order / (order - 1)


class TestPairs:
    @pytest.mark.parametrize("epsilon", ["0", "1/2", "2"])
    def test_gdp_is_the_gaussian_pair(self, epsilon):
        at, mu = mpmath.mpf(float(parse(epsilon).value)), mpmath.mpf(3) / 4
        normal = mpmath.ncdf(mu / 2 - at / mu) - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - at / mu)
        assert holds(profile(known("gdp", ["3/4"]))(epsilon), normal)

    def test_bounded_range_by_its_formula(self):
        expected = (mpmath.exp(mpmath.mpf(1) / 2) - mpmath.exp(mpmath.mpf(1) / 4)) ** 2 / (mpmath.e - 1)
        assert holds(profile(known("bounded_range", [1]))("1/2"), expected)
        assert profile(known("bounded_range", [0]))("0").upper() <= arb(2) ** -40

    def test_one_guarantee_is_that_of_kairouz_oh_and_viswanath(self):
        delta = mpmath.mpf(1) / 100
        # the two-point profile with the mass delta at infinity
        expected = delta + (1 - delta) * (mpmath.e - mpmath.exp(mpmath.mpf(1) / 3)) / (1 + mpmath.e)
        assert holds(profile(known("approximate", [1, "1/100"]))("1/3"), expected)

    def test_several_guarantees_lie_on_the_chords(self):
        at = profile(known("approximate", [0, "1/10"], [1, "1/100"]), {"corners": [0, 1]})
        level = mpmath.exp(mpmath.mpf(1) / 2)
        chord = (mpmath.mpf("0.1") * (mpmath.e - level) + mpmath.mpf("0.01") * (level - 1)) / (mpmath.e - 1)
        assert holds(at("1/2"), chord)
        assert holds(at("7"), mpmath.mpf("0.01"))

    @pytest.mark.parametrize("guarantee", [known("zcdp", ["1/8"]), known("renyi", [3, "3/8"], [9, "9/8"])])
    def test_divergences_imply_their_conversion_at_the_order_given(self, guarantee):
        order = mpmath.mpf(9)
        direct = renyi_delta(order / 8, 1, order)
        assert holds(profile(guarantee, {"points": [["9", "1"]]})("1"), direct)
        assert profile(guarantee, {"points": [["9", "1"], ["9", "2"]]})("1") <= arb(str(direct)) * (1 + arb(2) ** -40)

    def test_the_gaussian_mechanism_of_that_rho_lies_below(self):
        points = search.points([partial(conversions.of_guarantee, known("zcdp", ["1/8"]))], [1], None, None, 1e-5)
        upper, true = profile(known("zcdp", ["1/8"]), {"points": points}), profile(known("gdp", ["1/2"]))
        for epsilon in ("0", "1/10", "1/2", "1", "2", "3", "5"):
            assert upper(epsilon) > true(epsilon)

    def test_the_curve_of_a_pair_is_convex_and_above_one_minus_e_to_the_epsilon(self):
        known_zcdp = known("zcdp", ["1/2"])
        points = search.points([partial(conversions.of_guarantee, known_zcdp)], [1], None, 2.0, None)
        at = profile(known_zcdp, {"points": points})
        values = [at(f"{i}/4") for i in range(1, 30)]
        levels = [rational(parse(f"{i}/4").value).exp() for i in range(1, 30)]
        for i in range(1, 28):
            share = (levels[i + 1] - levels[i]) / (levels[i + 1] - levels[i - 1])
            assert values[i] <= share * values[i - 1] + (1 - share) * values[i + 1] + arb(2) ** -40
            assert values[i] > 0 and not values[i] > values[i - 1]

    def test_it_says_that_the_guarantee_is_taken_from_what_is_stated(self):
        found = stated_guarantee.curve(known("gdp", [1]), {})
        assert found.lower is None and found.assumed == (stated.STATED,) and found.rules == ("stated-guarantee",)


class TestDistance:
    @pytest.mark.parametrize(("measure", "one", "three"), [("zcdp", "1/8", "9/8"), ("gdp", "1/2", "3/2"), ("bounded_range", "1/2", "3/2")])
    def test_the_numbers_grow_as_the_theorems_say(self, measure, one, three):
        assert stated.at_distance(known(measure, [one]), num(3)) == known(measure, [three])

    def test_epsilon_and_delta_grow_as_in_group_privacy(self):
        found = stated.at_distance(known("approximate", ["1/2", "1/1000"], [0, "1/8"], [1, 0]), num(3))
        expected = parse("(exp(3/2) - 1)/(exp(1/2) - 1)/1000")
        assert [row[0] for row in found.rows] == [parse("3/2"), ZERO, num(3)]
        assert certainly_equal(found.rows[0][1], expected) and found.rows[1][1] == parse("3/8") and found.rows[2][1] == ZERO

    def test_nothing_is_left_where_delta_passes_one(self):
        with pytest.raises(Rejected, match="above 1"):
            stated.at_distance(known("approximate", [1, "1/2"]), num(3))

    def test_renyi_divergences_are_left_to_group_privacy(self):
        with pytest.raises(Rejected, match="group-privacy"):
            stated.at_distance(known("renyi", [2, 1]), num(2))

    def test_one_step_changes_nothing(self):
        assert stated.at_distance(known("renyi", [2, 1]), num(1)) == known("renyi", [2, 1])


class TestPure:
    def test_the_least_epsilon_at_delta_zero(self):
        assert stated.pure_epsilon(known("approximate", [3, 0], [2, 0], [1, "1/9"])) == num(2)
        assert stated.pure_epsilon(known("bounded_range", ["1/2"])) == parse("1/2")

    @pytest.mark.parametrize("guarantee", [known("approximate", [1, "1/9"]), known("zcdp", [1]), known("gdp", [1]), known("renyi", [2, 1])])
    def test_none_where_none_is_implied(self, guarantee):
        assert stated.pure_epsilon(guarantee) is None


class TestHostile:
    @pytest.mark.parametrize(
        "guarantee",
        [
            Guarantee("magic", ((ONE,),)),
            Guarantee("zcdp", ()),
            Guarantee("zcdp", ((ONE, ONE),)),
            Guarantee("zcdp", ((ONE,), (ONE,))),
            Guarantee("approximate", ((ONE,),)),
            known("gdp", [-1]),
            known("gdp", ["x"]),
            known("zcdp", ["-1/8"]),
            known("bounded_range", [-1]),
            known("approximate", [-1, 0]),
            known("approximate", [1, 2]),
            known("approximate", [1, "-1/2"]),
            known("approximate", [1, "1/2"], [2, "3/2"]),
            known("renyi", [2, -1]),
        ],
    )
    def test_what_is_no_guarantee_has_no_curve(self, guarantee):
        with pytest.raises((DpverifyError, *STUMBLES)):
            stated_guarantee.curve(guarantee, {"points": [["2", "1"]]})

    @pytest.mark.parametrize("points", [None, [["2"]], [["two", "1"]], [[2, 1]], [["2", "1"]] * 65, "21"])
    def test_points_that_are_none(self, points):
        with pytest.raises((Undecided, *STUMBLES)):
            stated_guarantee.curve(known("zcdp", [1]), {"points": points})

    @pytest.mark.parametrize("corners", [None, [2], [-1], ["0"], [True], 1])
    def test_corners_that_are_none(self, corners):
        with pytest.raises((CertificateError, *STUMBLES), match=r"corners|not iterable"):
            stated_guarantee.curve(known("approximate", [0, "1/10"], [1, "1/100"]), {"corners": corners})

    @pytest.mark.parametrize(("order", "epsilon"), [("1", "3"), ("1/2", "3"), ("0", "3"), ("2", "-1"), ("2", "0")])
    def test_orders_and_epsilons_without_a_conversion(self, order, epsilon):
        with pytest.raises(Undecided):
            stated_guarantee.curve(known("zcdp", [1]), {"points": [[order, epsilon]]})

    def test_an_order_above_those_that_are_stated(self):
        with pytest.raises(Rejected, match="order 5"):
            stated_guarantee.curve(known("renyi", [2, 1], [4, 2]), {"points": [["5", "5"]]})

    def test_the_divergence_of_a_greater_order_bounds_that_of_a_lesser(self):
        found = profile(known("renyi", [2, 1], [4, 2]), {"points": [["3", "5"]]})("5")
        assert holds(found, renyi_delta(mpmath.mpf(2), mpmath.mpf(5), mpmath.mpf(3)))

    def test_no_divergence_follows_from_a_positive_delta(self):
        with pytest.raises(Rejected, match="bounds nothing in renyi"):
            conversions.of_guarantee(known("approximate", [1, "1/9"]), Measure("renyi", None, Fraction(2)))
