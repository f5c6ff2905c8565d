"""Theorem 5 of Reimherr and Awan with the sharper number beside it."""

import mpmath
import pytest

from dpverify.search.divergences import measure_words
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Domain, EllipticalProcess, Radial
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.processes.rules import cameron_martin as rule

mpmath.mp.dps = 30
GAMMA = EllipticalProcess(parse("v*exp(-v)"), scale=num(3))


def claim(noise, epsilon="1", sensitivity="1", **more):
    return Claim(noise, None if epsilon is None else parse(epsilon), None, sensitivity=parse(sensitivity), **more)


def value(found):
    exact = found.value.value
    return mpmath.mpf(exact.numerator) / exact.denominator


def test_the_moment_generating_function_of_a_gamma_law():
    # E e^(-r V) = (1 + r)^-2 for shape 2, r = epsilon^2 s^2/(2 D^2)
    found = rule.check(claim(GAMMA), {})
    assert (found.side, found.quantity) == ("upper", "delta")
    assert 0 <= value(found) / (2 / mpmath.mpf("5.5") ** 2) - 1 < 1e-12
    shown = measure_words.theorem5(Proof(claim(GAMMA)).infer("cameron-martin"))
    assert shown["RA Theorem 5"].startswith("delta <= 0.066115702")
    assert shown["sharper, with V shown"].startswith("delta in [0.00373377907")


def test_t_noise_in_the_plane_is_a_scale_mixture_too():
    noise = Radial(parse("(1 + r**2/5)**(-7/2)"), L2, num(2), num(4))
    found = rule.check(claim(noise), {})
    weight = lambda x: x ** mpmath.mpf("1.5") * mpmath.exp(-x / 2) / (2 ** mpmath.mpf("2.5") * mpmath.gamma(mpmath.mpf("2.5")))  # noqa: E731
    expected = 2 * mpmath.quad(lambda x: weight(x) * mpmath.exp(-40 / x), [0, 1, 5, 10, 20, 40, 80, 160])
    assert 0 <= value(found) / expected - 1 < 1e-12
    shown = measure_words.theorem5(Proof(claim(noise)).infer("cameron-martin"))
    assert shown["sharper, with V shown"].startswith("delta <= 0.00013467")


def test_it_is_refused_beyond_four_logarithms_of_two_where_it_is_false():
    narrow = EllipticalProcess(parse("1"), (parse("99/100"), parse("101/100")))
    with pytest.raises(Rejected, match="4 log 2"):
        rule.check(claim(narrow, "20", "10"), {})


@pytest.mark.parametrize(
    "found",
    [
        claim(GAMMA, None),
        claim(GAMMA, "0"),
        claim(GAMMA, "1", "0"),
        claim(GAMMA, "1", "-1"),
        claim(GAMMA, "1", "100"),
        claim(GAMMA, "e", domains=(("e", Domain(ZERO.value)),)),
        claim(EllipticalProcess(parse("1/v"), scale=num(3))),
        claim(EllipticalProcess(parse("-v*exp(-v)"), scale=num(3))),
        claim(Radial(parse("exp(-r**4)"), L2, ONE, num(9))),
    ],
)
def test_without_its_hypotheses_it_says_nothing(found):
    with pytest.raises(DpverifyError):
        rule.check(found, {})


def test_a_bound_of_one_or_more_is_not_worth_saying():
    with pytest.raises(Rejected, match="no better than"):
        rule.check(claim(GAMMA, "1/100"), {})
