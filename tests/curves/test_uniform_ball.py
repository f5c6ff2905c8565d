"""Uniform noise on a ball against the volumes of two balls that meet."""

from __future__ import annotations

import pytest
from flint import arb

from dpverify.search.events import probabilities
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import L1, L2, Norm, Radial
from dpverify.trusted.theories.curves.rules import uniform_ball

UNIT = "1 - min(1, floor(r))"


def made(d: int, shift: str, profile: str = UNIT, norm: Norm = L2) -> Curve:
    reach = parse(shift)
    return uniform_ball.curve(Radial(parse(profile), norm, parse(str(d))), Sensitivity(reach, reach))


def delta(curve: Curve, epsilon: int = 1) -> arb:
    assert curve.upper is not None
    return curve.upper.forward(arb(epsilon))


def test_in_three_dimensions_delta_is_a_cubic_of_the_distance_at_every_epsilon() -> None:
    with precision(96):
        for epsilon in (0, 1, 50):  # 1 - (1 - D/2)^2 (2 + D/2)/2
            found = delta(made(3, "1/2"), epsilon)
            assert found.overlaps(1 - (arb(3) / 4) ** 2 * (arb(9) / 4) / 2) and found.rel_accuracy_bits() > 70


def test_in_the_plane_delta_is_that_of_two_discs() -> None:
    with precision(96):
        lens = 2 * (arb(1) / 2).acos() - arb(3).sqrt() / 2
        assert delta(made(2, "1")).overlaps(1 - lens / arb.pi())
        assert delta(made(2, "2", "1 - min(1, floor(r/2))")).overlaps(delta(made(2, "1")))


def test_balls_that_do_not_meet_hide_nothing_and_equal_ones_everything() -> None:
    assert delta(made(4, "3")) == 1
    assert delta(made(4, "2")).overlaps(arb(1))
    with precision(64):
        assert abs(delta(made(4, "0"))) < arb("1e-12")


def test_the_event_has_no_probability_under_the_other_answer() -> None:
    curve = made(3, "1/2")
    assert curve.exact and curve.upper is not None
    with precision(128):
        assert probabilities(curve.upper.forward, curve.upper.forward, arb(1))[1] < arb("1e-12")
    assert curve.upper.rest is not None and curve.upper.rest().overlaps(delta(curve, 40))  # no epsilon helps


def test_other_noise_is_refused() -> None:
    with pytest.raises(Rejected, match="norm"):
        made(3, "1", norm=L1)
    for profile in ("exp(-r)", "2 - min(2, floor(r))", "min(1, floor(r)) - 1"):
        with pytest.raises(Undecided):
            made(3, "1", profile)
