"""Masses of densities far out, and points on either side of where a monotone function passes a level."""

from fractions import Fraction

import pytest
from flint import arb, ctx

from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.numbers.pieces import pieces
from dpverify.trusted.theories.curves.monotone import around
from dpverify.trusted.theories.curves.moved_density import Outward

DENSITIES = {
    "exp(-z)": lambda x: (-x).exp(),
    "exp(-z**2/2)": lambda x: (x / arb(2).sqrt()).erfc() * (arb.pi() / 2).sqrt(),
    "1/(1 + z**2)": lambda x: arb.pi() / 2 - x.atan() if x == 0 else (1 / x).atan(),
    "(1 + z)**(-3/2)": lambda x: 2 / (1 + x).sqrt(),
    "exp(-z)/(1 + exp(-z))**2": lambda x: 1 / (1 + x.exp()),
    "exp(-sqrt(1 + z))": lambda x: 2 * ((1 + x).sqrt() + 1) * (-(1 + x).sqrt()).exp(),
}


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("order", [1, -1])
def test_the_mass_beyond_a_distance_is_enclosed_to_half_of_the_bits(density, order):
    """In whatever order distances are asked for: what was known of nearer ones, or of farther ones, makes nothing wrong."""
    with precision(96):
        law = Outward(list(pieces(parse(density), "z", Fraction(0), None)), falling=True)
        for distance in [0, Fraction(1, 3), 1, 7, 33, 1000, 2**20 + 1][::order]:
            point = rational(distance).mid()
            found = law.beyond(point)
            with precision(400):
                assert found.overlaps(DENSITIES[density](point))
            assert found.rel_accuracy_bits() >= 48 or found.abs_upper() < arb(2) ** -300


def test_a_density_that_is_not_integrable_has_no_mass():
    with precision(96), pytest.raises(Undecided, match="integrable"):
        Outward(list(pieces(parse("1/(1 + z)"), "z", Fraction(0), None)), falling=True).beyond(arb(0))


@pytest.mark.parametrize("width", ["0", "1e-20", "1e-6"])
@pytest.mark.parametrize("level", ["1e-30", "1/3", "1", "26"])
@pytest.mark.parametrize("rising", [True, False])
def test_a_function_has_certainly_passed_its_level_on_either_side(width, level, rising):
    """x^3 on [0, 3], known to a width: beside the root it is certainly on either side of the level, or an end stands there."""
    sign = 1 if rising else -1

    def cube(x):
        return sign * (x**3 + arb(0, arb(width))), sign * 3 * x**2

    with precision(128):
        wanted = rational(Fraction(level))
        left, right = around(cube, sign * wanted, arb(0), arb(3), rising, ctx.prec - 8)
        root = wanted.root(3)
        assert left <= root <= right
        assert left == 0 or (cube(left)[0] <= sign * wanted if rising else cube(left)[0] >= sign * wanted)
        assert right == 3 or (cube(right)[0] >= sign * wanted if rising else cube(right)[0] <= sign * wanted)
        known = 20 * arb(width).abs_upper() / (3 * root**2) + arb(2) ** -110
        assert right - left < known or left == 0
