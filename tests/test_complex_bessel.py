"""log K_v on complex balls of the right half-plane, against the Bessel functions of FLINT at points of the balls."""

from fractions import Fraction
from itertools import product

import pytest
from flint import acb, arb

from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.numbers.bessel import besselk_scaled
from dpverify.trusted.numbers.complex_bessel import LogBesselK, _BesselPair

F = Fraction
ORDERS = [F(n, 4) for n in (-10, -2, 0, 1, 2, 3, 4, 5, 28, 121)]
CENTRES = [(F(1, 8), F(0)), (F(1), F(0)), (F(1), F(1, 4)), (F(7, 2), F(-1)), (F(30), F(20)), (F(30), F(40))]


def at(w, order):
    """K_v, and log K_v with two derivatives at w, from K'' = (1 + v^2/w^2) K - K'/w."""
    v = rational(order)
    k = w.bessel_k(v)
    first = -(w.bessel_k(v - 1) + w.bessel_k(v + 1)) / 2
    slope = first / k
    return k, slope, 1 + v * v / (w * w) - slope / w - slope * slope


def points_of(u, radius):
    return [
        u,
        *(
            u + acb(rational(x), rational(y)) * rational(radius)
            for x, y in ((F(99, 100), 0), (F(-99, 100), 0), (0, F(-99, 100)), (F(3, 5), F(3, 5)))
        ),
    ]


@pytest.mark.parametrize("order", ORDERS)
def test_the_logarithm_and_its_slopes_hold_on_all_of_a_ball(order):
    for (x, y), share in product(CENTRES, (F(0), F(1, 2**30), F(1, 8), F(5, 8))):
        radius = share * x
        with precision(100):
            function, u = LogBesselK(Num(order)), acb(rational(x), rational(y))
            ball = u if radius == 0 else u + acb(arb(0, rational(radius).upper()), arb(0, rational(radius).upper()))
            value, slope, bend, most = function.value(ball), function.slope(ball), function.bend(ball), function.bound(ball)
            if radius == 0 and y == 0:
                assert min(found.rel_accuracy_bits() for found in (slope, bend)) > 75 and value.rad() < arb(2) ** -75
                for found, alone in zip(function.about(u.real), (value, slope), strict=True):
                    assert found.overlaps(alone.real) and found.rel_accuracy_bits() > 75
        with precision(200):
            for w in points_of(u, radius):
                k, first, second = at(w, order)
                for found, true in ((value.exp(), k), (slope, first), (bend, second)):
                    assert found.overlaps(true) if found.is_finite() else abs(y) + 3 * radius / 2 > x, (x, y, radius, w)
                assert k.abs_lower() <= most
            least = (rational(x) - rational(radius)).lower()
            assert most <= arb("1.01") * acb(least).bessel_k(rational(order)).real


@pytest.mark.parametrize("u", [acb(0), acb(-1), acb(0, 1), acb(arb(1, 2)), acb(arb(1, 1)), acb(-3, 2)])
def test_off_the_right_half_plane_nothing_is_said(u):
    with precision(64):
        function = LogBesselK(Num(F(3, 4)))
        for found in (function.value(u), function.slope(u), function.bend(u)):
            assert not found.is_finite()
        assert function.bound(u) == arb("inf")


@pytest.mark.parametrize("order", [F(0), F(1, 4), F(-1, 2), F(1, 2), F(-5, 2), F(5, 2), F(-1), F(-3), F(12), F(40), F(41)])
def test_the_pair_of_two_orders_is_that_of_each_alone(order):
    """exp(u) K_v(u) and exp(u) K_(v+1)(u), whether v is an integer, half of one, or neither, and on either side of 0."""
    with precision(128):
        for start in (F(1, 8), F(5), F(200), F(300)):
            u = rational(start * F(201, 200)).mid()
            for found, v in zip(besselk_scaled(Num(order), u), (order, order + 1), strict=True):
                with precision(300):
                    alone = (acb(u).bessel_k(rational(v)) * u.exp()).real
                assert found.overlaps(alone) and found.rel_accuracy_bits() > 110, start
    with precision(256):
        assert besselk_scaled(Num(order), rational(F(5)))[0].rel_accuracy_bits() > 200


@pytest.mark.parametrize("order", [F(0), F(1, 4), F(5, 2), F(12), F(40), F(41)])
def test_many_values_near_each_other_are_those_of_each_alone(order):
    """exp(u) K_v(u) and exp(u) K_(v+1)(u), by series from the third value in a cell on, as sharp as they are."""
    with precision(128):
        pair = _BesselPair(Num(order))
        for start in (F(1, 8), F(5), F(200), F(300)):
            for step in range(12):
                u = rational(start * (1 + F(step, 200)))
                u = u.mid()
                for found, v in zip(pair(u), (order, order + 1), strict=True):
                    with precision(300):
                        alone = (acb(u).bessel_k(rational(v)) * u.exp()).real
                    assert found.overlaps(alone) and found.rel_accuracy_bits() > 110, (start, step)
    with precision(256):
        assert pair(rational(F(5)))[0].rel_accuracy_bits() > 200
