"""How profiles are evaluated: precision made up for, epsilons as balls, decimals rounded outward."""

import pytest
from flint import arb, ctx, fmpq

from dpverify.balls import precision
from dpverify.curves.evaluate import Known, accurately, decimals, falling
from dpverify.errors import Undecided
from dpverify.expr import parse


def test_a_constant_is_known_at_the_precision_of_the_moment():
    third = Known(parse("1/3"))
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


@pytest.mark.parametrize(("ball", "text"), [(arb(fmpq(1, 2)), "0.500"), (arb(1) / 3, "[0.333, 0.334]"), (arb(0), "0")])
def test_decimals_are_rounded_outward(ball, text):
    assert decimals(ball, 3) == text


def test_what_is_too_small_to_write_out_is_still_enclosed():
    tiny = arb(2) ** -100000
    assert arb(decimals(tiny, 3)).contains(tiny)
