"""Gauss's rule with a bound of its error, against integrals in closed form (numbers/gauss_rule.py)."""

import pytest
from flint import acb, arb, ctx

from dpverify.trusted.numbers.gauss_rule import gauss

OFF = arb(2) ** -30


@pytest.fixture(autouse=True)
def _bits():
    before, ctx.prec = ctx.prec, 80
    yield
    ctx.prec = before


def within(found, truth, width):
    return truth in found and found.rad() < width


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 7), (-300, 2)])
def test_an_integral_with_poles_near_the_line_is_enclosed(low, high):
    def f(z):
        return 1 / (1 + z * z)

    def bound(box):
        return abs(f(box))

    found = gauss(lambda z: f(z).real, bound, arb(low), arb(high), OFF, 40)
    assert within(found, arb(high).atan() - arb(low).atan(), 1e-7)


def test_the_error_covers_what_the_rule_gets_wrong_where_it_may_not_halve():
    """z^16 is the first even power of which eight points do not give the integral."""
    found = gauss(lambda z: (z**16).real, lambda box: abs(box**16), arb(-1), arb(1), arb(0), 0)
    middle = found.mid()
    assert arb(2) / 17 in found and not abs(middle - arb(2) / 17) < arb(2) ** -30
    exact = gauss(lambda z: (z**14).real, lambda box: abs(box**14), arb(-1), arb(1), arb(0), 0)
    assert abs(exact.mid() - arb(2) / 15) < arb(2) ** -60


def test_where_no_bound_is_finite_the_integral_is_not_known():
    found = gauss(lambda z: z.real, lambda box: arb("inf"), arb(0), arb(1), OFF, 3)
    assert not found.is_finite()
    unknown = gauss(lambda z: z.real, lambda box: abs(acb("nan")), arb(0), arb(1), OFF, 3)
    assert not unknown.is_finite()
