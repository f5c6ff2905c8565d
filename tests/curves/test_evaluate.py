"""How profiles are evaluated: precision made up for, epsilons as balls."""

import pytest
from flint import arb, ctx

from dpverify.trusted.facts.evaluate import accurately, divergence, falling, known
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import parse


def test_a_constant_is_known_at_the_precision_of_the_moment():
    third = known(parse("1/3"))
    with precision(64):
        coarse = third()
        assert third() is coarse
    with precision(256):
        assert third().rad() < coarse.rad()


def test_what_cancels_is_computed_again_with_as_many_more_bits():
    with precision(64):
        found = accurately(lambda: (arb(1) + arb(3) ** -300) - 1)
        assert found.rel_accuracy_bits() >= 48
        assert found.overlaps(arb(3) ** -300)
        assert ctx.prec == 64


def test_a_zero_that_no_precision_shows_stays_an_enclosure():
    found = accurately(lambda: arb(2).sqrt() ** 2 - 2)
    assert found.contains(0)
    assert found.abs_upper() < arb("1e-30")


def test_what_is_not_finite_is_an_error():
    with pytest.raises(Undecided, match="not finite"):
        accurately(lambda: arb(1) / arb(0))


def test_a_falling_function_is_evaluated_at_the_ends_of_a_ball():
    profile = falling(lambda epsilon: (-epsilon).exp())
    assert profile(arb(1)).overlaps(arb(-1).exp())
    wide = profile(arb(1, 1))
    assert wide.contains(arb(0).exp())
    assert wide.contains(arb(-2).exp())
    for hopeless in (arb("nan"), arb("inf"), arb(0, "inf")):
        with pytest.raises(Undecided, match="not enclosed"):
            profile(hopeless)


@pytest.mark.parametrize("at", ["0", "1/4", "3/4", "1", "2"])
@pytest.mark.parametrize("radius", ["1e-38", "1e-20", "1e-3"])
def test_a_divergence_on_a_ball_contains_its_values_all_over_it(at, radius):
    # the profile of Laplace noise at distance 1, which is 0 from epsilon = 1 on
    calls = list[arb]()

    def exactly(epsilon):
        calls.append(epsilon)
        return (-((epsilon - 1) / 2).expm1()).max(arb(0))

    with precision(128):
        centre = constant(parse(at))
        ball = arb(centre, arb(radius))
        found = divergence(exactly)(ball)
        for part in (-1, -0.5, 0, 0.5, 1):
            with precision(256):
                value = (-((centre + part * arb(radius) - 1) / 2).expm1()).max(arb(0))
            assert found.overlaps(value)
            assert found.abs_upper() >= value.abs_lower()
        assert all(epsilon.is_exact() for epsilon in calls)


def test_a_divergence_on_a_narrow_ball_takes_one_evaluation():
    calls = list[arb]()

    def exactly(epsilon):
        calls.append(epsilon)
        return (-epsilon).exp() / 2

    with precision(128):
        found = divergence(exactly)(arb(1, arb(2) ** -126))
        assert len(calls) == 1
        assert found.contains(arb(-1).exp() / 2)
        assert found.rel_accuracy_bits() >= 100
