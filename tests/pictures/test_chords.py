"""Laws of sketched profiles: between points that are known, the truth is always inside; and it is evaluated nowhere else."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.pictures.chords import cut, remembered, sketch
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, num
from dpverify.trusted.theories.composition.rules import poisson_subsampling
from dpverify.trusted.theories.curves.rules import gaussian as rule
from tests.effort import examples

POINTS = [arb(i) / 2 for i in range(7)]
HALF = Fraction(1, 2)


def gaussian(epsilon: float, mu: float = 1) -> mpmath.mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (theory#gaussian), at 30 digits."""
    with mpmath.workdps(30):
        e = mpmath.mpf(epsilon)
        return mpmath.ncdf(mpmath.mpf(mu) / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mpmath.mpf(mu) / 2 - e / mu)


def counted(pair: Pair) -> tuple[Pair, list[arb]]:
    asked: list[arb] = []

    def profile(epsilon: arb) -> arb:
        asked.append(epsilon)
        return pair.forward(epsilon)

    return symmetric(profile), asked


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 5 * 64))
def test_the_truth_is_between_the_chords(n):
    """Gaussian noise, at multiples of 1/64 within and beyond the points."""
    pair = sketch(rule.pair(ONE), POINTS)
    found = pair.forward(arb(n) / 64)
    truth = gaussian(n / 64)
    assert found.lower() <= arb(str(truth + mpmath.mpf(10) ** -12)) and arb(str(truth - mpmath.mpf(10) ** -12)) <= found.upper()
    assert found.lower() >= -(arb(2) ** -30) and found.upper() - found.lower() < 0.06


def test_at_its_points_a_sketch_is_what_was_evaluated():
    pair, sketched = rule.pair(ONE), sketch(rule.pair(ONE), POINTS)
    for at in POINTS:
        assert sketched.forward(at).overlaps(pair.forward(at)) and sketched.forward(at).rel_accuracy_bits() > 30


def test_nothing_is_evaluated_after_a_sketch_is_made():
    pair, asked = counted(rule.pair(ONE))
    sketched = sketch(pair, POINTS)
    before = len(asked)
    for i in range(50):
        sketched.delta(rational(Fraction(i - 25, 7)))
    assert before == len(POINTS) and len(asked) == before


def test_more_points_enclose_more_narrowly_and_wide_epsilons_more_widely():
    coarse, fine = (sketch(rule.pair(ONE), [arb(i) / n for i in range(4 * n)]) for n in (1, 8))
    at = rational(Fraction(1, 3))
    assert fine.forward(at).rad() < coarse.forward(at).rad() / 10
    wide = arb(1).union(arb(2))
    assert fine.forward(wide).contains(fine.forward(rational(Fraction(4, 3))))


def test_both_orders_of_a_pair_are_kept_apart():
    """A sampled Gaussian (theory#poisson-subsampling): with the record the divergence is the greater one."""
    exact = rule.pair(ONE)
    pair = poisson_subsampling.curve(Curve(exact, exact, ()), num(HALF)).upper
    sketched = sketch(pair, POINTS)
    for epsilon in (arb(1), rational(Fraction(3, 5))):
        assert sketched.forward(epsilon).overlaps(pair.forward(epsilon))
        assert sketched.backward(epsilon).overlaps(pair.backward(epsilon))
    assert sketched.forward is not sketched.backward
    symmetrical = sketch(exact, POINTS)
    assert symmetrical.forward is symmetrical.backward


def test_below_zero_the_profile_follows_from_the_other_order():
    """H(-e) = 1 - e^-e + e^-e H(e) of a pair whose orders are alike."""
    sketched = sketch(rule.pair(ONE), POINTS)
    truth = 1 - mpmath.exp(-1) + mpmath.exp(-1) * gaussian(1)
    assert abs(float(sketched.delta(arb(-1)).mid()) - float(truth)) < 1e-12


def test_a_profile_without_an_enclosure_is_no_sketch():
    with pytest.raises(Undecided):
        sketch(symmetric(lambda epsilon: arb("nan")), POINTS)


def test_what_is_remembered_is_evaluated_once_a_precision():
    pair, asked = counted(rule.pair(ONE))
    kept = remembered(pair)
    third = rational(Fraction(1, 3))
    for _ in range(3):
        assert kept.forward(third).overlaps(pair.backward(third))
    asked.clear()
    kept.forward(third), kept.backward(arb(1)), kept.forward(arb(1))
    assert len(asked) == 1
    with precision(200):
        assert kept.forward(arb(1)).rel_accuracy_bits() > 150
    assert len(asked) == 2


def test_beyond_the_last_epsilon_a_cut_pair_is_between_0_and_its_value_there_and_never_asked():
    pair, asked = counted(rule.pair(ONE))
    short = cut(pair, arb(2))
    assert short.forward(arb(1)).overlaps(rule.pair(ONE).forward(arb(1))) and short.forward is short.backward
    for epsilon in (3, 1000):
        found, truth = short.forward(arb(epsilon)), gaussian(epsilon)
        assert found.contains(0) and found.contains(arb(str(truth))) and found.upper() < 0.03
    across = short.forward(arb(1).union(arb(5)))
    assert across.contains(rule.pair(ONE).forward(arb(1))) and across.contains(arb(str(gaussian(5))))
    assert all(epsilon <= 2 for epsilon in asked)


def test_points_that_a_precision_does_not_tell_apart_leave_a_sketch_finite():
    with precision(400):
        close = [arb(1), arb(1) + arb(2) ** -300, arb(2)]
        known = sketch(symmetric(lambda epsilon: (-epsilon).exp() / 2), close)
    with precision(64):
        found = known.forward(arb(3) / 2)
    assert found.is_finite()
    assert found.contains((-arb(3) / 2).exp() / 2)
