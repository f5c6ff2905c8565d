"""Trade-off functions: conjugates of profiles against closed forms and against tests that attain them."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.pictures import trade_offs
from dpverify.pictures.chords import sketch
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.theories.composition.rules import laplace_sums, stated_guarantee
from dpverify.trusted.theories.curves.rules import optimal_composition

ERRORS = [Fraction(1, 10), Fraction(1, 2), Fraction(1, 1_000_000), Fraction(99, 100)]


def agree(ball, other, bits):
    assert ball.overlaps(other)
    assert (ball - other).abs_upper() < arb(2) ** -bits


def graph_of(function, places):
    return trade_offs.Concave(lambda x: (x, function(x)), [(arb(x), function(arb(x))) for x in places])


def of_the_gaussian_threshold_test(alpha):
    """The null hypothesis N(0, 1) against N(1, 1): reject above a cut."""
    return mpmath.ncdf(mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * alpha) - 1)


def of_the_laplace_threshold_test(alpha):
    """The null hypothesis Laplace(0, 1) against Laplace(1, 1): reject above a cut."""
    cut = -mpmath.log(2 * alpha) if alpha <= 0.5 else mpmath.log(2 * (1 - alpha))
    return mpmath.exp(cut - 1) / 2 if cut <= 1 else 1 - mpmath.exp(1 - cut) / 2


def of_a_guarantee(alpha, delta=0):
    """The greatest convex function below all trade-off functions of (1, delta)-DP mechanisms: two lines and 0."""
    return max(mpf(0), 1 - delta - mpmath.e * alpha, (1 - delta - alpha) / mpmath.e)


@pytest.mark.parametrize("alpha", ERRORS)
@pytest.mark.parametrize("bits", [64, 110])
def test_the_conjugate_is_the_closed_form(alpha, bits):
    one, guarantee = parse("1"), optimal_composition.guarantee(parse("1"), parse("1/100"))
    with mp.workdps(60), precision(bits):
        level = mpf(alpha.numerator) / alpha.denominator
        for pair, expected in (
            (stated_guarantee.gdp_pair(one), of_the_gaussian_threshold_test(level)),
            (laplace_sums.pair([(one, 1)]), of_the_laplace_threshold_test(level)),
            (optimal_composition.pair(one), of_a_guarantee(level)),
            (guarantee, of_a_guarantee(level, mpf(1) / 100)),
        ):
            found = trade_offs.trade_off(pair, alpha)
            assert abs(mpf(found.mid().str(45, radius=False)) - expected) < mpf(2) ** (8 - bits)
            assert found.rad() < arb(2) ** (8 - bits)


def test_the_null_hypothesis_is_the_second_of_the_pair():
    # P = (1/2, 1/2), Q = (1/4, 3/4): rejecting on the first outcome has errors 1/4 and 1/2
    def forward(epsilon):
        return (arb(1) / 2 - epsilon.exp() / 4).max(arb(0))

    def backward(epsilon):
        return (arb(3) / 4 - epsilon.exp() / 2).max(arb(0))

    with precision(64):
        agree(trade_offs.trade_off(Pair(forward, backward), Fraction(1, 4)), rational(Fraction(1, 2)), 50)
        agree(trade_offs.trade_off(Pair(backward, forward), Fraction(1, 2)), rational(Fraction(1, 4)), 50)


def test_a_supremum_is_enclosed_for_tops_of_every_shape():
    with precision(64):
        third = rational(Fraction(1, 3))
        cases = [
            (lambda x: -(x - third) * (x - third), 0),
            (lambda x: -abs(x - third), 0),
            (lambda x: x, 1),
            (lambda x: -x, 0),
            (lambda x: arb(5), 5),
            (lambda x: (x / 2).min(third).min(1 - x), Fraction(1, 3)),
            (lambda x: -(64 * (x - third)).cosh(), -1),
        ]
        for function, top in cases:
            graph = graph_of(function, (0, 1))
            agree(graph.supremum(arb(0), arb(1)), rational(Fraction(top)), 50)


def test_a_function_that_is_not_enclosed_is_undecided():
    with pytest.raises(Undecided, match="not enclosed"):
        graph_of(lambda x: arb("nan"), (0, 1))


def test_a_test_that_always_rejects_misses_nothing():
    with precision(64):
        assert trade_offs.trade_off(stated_guarantee.gdp_pair(parse("1")), Fraction(1)).is_zero()


def test_what_is_no_error_is_undecided():
    pair = optimal_composition.pair(parse("1"))
    for alpha in (Fraction(-1, 2), Fraction(3, 2)):
        with pytest.raises(Undecided, match="probability"):
            trade_offs.trade_off(pair, alpha)
    with pytest.raises(Undecided, match="unbounded"):
        trade_offs.trade_off(pair, Fraction(0))


def test_what_is_known_of_one_error_serves_the_next():
    asked: list[arb] = []

    def profile(epsilon):
        asked.append(epsilon)
        return stated_guarantee.gdp_pair(parse("1")).forward(epsilon)

    with precision(64):
        curve = trade_offs.TradeOff(Pair(profile, profile))
        first = curve.error(Fraction(1, 10), 2.0**-20)
        before = len(asked)
        near = curve.error(Fraction(101, 1000), 2.0**-20)
        assert len(asked) - before < before / 2
        assert curve.error(Fraction(1, 10), 2.0**-20).overlaps(first) and near < first
        assert first.rad() <= arb(2) ** -20


def test_a_sketched_profile_is_asked_at_its_own_points_alone_and_tells_as_much_as_everywhere():
    """Also next to a kink, where no chord is the profile: each answer is within that of a search for better points between them."""
    nats = [Fraction(n, 4) for n in range(-16, 17)]
    asked: list[arb] = []

    def known(pair):
        sketched = sketch(pair, [rational(at) for at in nats if at >= 0])

        def profile(epsilon):
            asked.append(epsilon)
            return sketched.forward(epsilon)

        return Pair(profile, profile)

    with precision(64):
        for pair, truth in (
            (stated_guarantee.gdp_pair(parse("1")), of_the_gaussian_threshold_test),
            (optimal_composition.pair(parse("1")), of_a_guarantee),
        ):
            least, searched = trade_offs.TradeOff(known(pair), nats, sketched=True), trade_offs.TradeOff(known(pair), nats)
            for alpha in (Fraction(1, 1000), Fraction(1, 20), Fraction(1, 4), Fraction(9, 10)):
                asked.clear()
                found = least.error(alpha)
                assert all(abs(float(at)) > 4 for at in asked)
                assert found.overlaps(arb(float(truth(mpf(alpha.numerator) / alpha.denominator)), 1e-12))
                wider = searched.error(alpha, 2.0**-20)
                assert found.lower() > wider.lower() - arb(2) ** -40 and found.upper() < wider.upper() + arb(2) ** -40


def test_a_chord_of_two_points_says_nothing_in_between():
    with precision(64):
        graph = graph_of(lambda x: -(x - 1) * (x - 1), (0, 1))
        assert graph.supremum(arb(0), arb(1)).overlaps(arb(0))
