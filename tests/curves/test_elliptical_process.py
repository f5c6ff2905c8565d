"""Elliptical noise on functions, whose variance is seen."""

import mpmath
import pytest
from flint import arb

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L2, EllipticalProcess, Radial
from dpverify.trusted.theories.processes.rules import elliptical_process

mpmath.mp.dps = 30


def process(mixing, support=(ZERO, None), scale="1"):
    return EllipticalProcess(parse(mixing), support, parse(scale))


def gaussian(epsilon, mu):
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def delta(noise, shift, epsilon):
    found = elliptical_process.curve(noise, Sensitivity(parse(shift), parse(shift)))
    assert found.exact
    return mpmath.mpf(found.upper.worst(arb(epsilon)).mid().str(25, radius=False))


@pytest.mark.parametrize("epsilon", [0, 1, 2])
def test_t_processes_by_the_chi_square_law(epsilon):
    nu = 3
    weight = lambda x: x ** (mpmath.mpf(nu) / 2 - 1) * mpmath.exp(-x / 2) / (2 ** (mpmath.mpf(nu) / 2) * mpmath.gamma(mpmath.mpf(nu) / 2))  # noqa: E731
    expected = mpmath.quad(lambda x: weight(x) * gaussian(mpmath.mpf(epsilon), mpmath.sqrt(x / nu) / 2), [0, 1, 3, 6, 12, 25, 50, 100, 200])
    found = delta(process("v**(-5/2)*exp(-3/(2*v))", scale="2"), "1", epsilon)
    assert abs(found / expected - 1) < 1e-12


def test_a_narrow_law_is_nearly_gaussian():
    found = delta(process("1", (parse("999/1000"), parse("1001/1000"))), "1/2", 1)
    assert abs(found / gaussian(mpmath.mpf(1), mpmath.mpf(1) / 2) - 1) < 1e-4


def test_the_scale_and_the_distance_matter_by_their_quotient():
    assert abs(delta(process("exp(-v)", scale="3"), "1", 1) / delta(process("exp(-v)", scale="6"), "2", 1) - 1) < 1e-12


def test_a_constant_factor_of_the_law_does_not_matter():
    assert abs(delta(process("exp(-v)"), "1", 1) / delta(process("7*exp(-v)"), "1", 1) - 1) < 1e-12


def test_the_distance_that_is_known_to_occur_gives_the_lower_bound():
    found, one = (elliptical_process.curve(process("exp(-v)"), Sensitivity(num(most), ONE)) for most in (2, 1))
    assert found.lower.forward(arb(1)).overlaps(one.upper.forward(arb(1))) and found.upper.forward(arb(1)) > found.lower.forward(arb(1))


@pytest.mark.parametrize(
    "noise",
    [
        Radial(parse("exp(-r**2)"), L2, ONE),
        process("-exp(-v)"),
        process("1/v"),
        process("exp(-w*v)"),
        process("exp(-v)", scale="0"),
        process("exp(-v)", scale="s"),
        process("exp(-v)", (parse("sqrt(2)"), None)),
        process("exp(-v)", (parse("-1"), None)),
        process("exp(-v)", (parse("2"), parse("1"))),
    ],
)
def test_what_is_no_such_noise_is_refused(noise):
    with pytest.raises(DpverifyError):
        elliptical_process.curve(noise, Sensitivity(ONE, ONE)).upper.worst(arb(1))


def test_a_negative_sensitivity_is_refused():
    with pytest.raises(Rejected):
        elliptical_process.curve(process("exp(-v)"), Sensitivity(num(-1), num(-1)))
