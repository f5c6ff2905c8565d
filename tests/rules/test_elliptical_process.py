"""Elliptical processes are never purely private."""

import mpmath
import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Domain, EllipticalProcess, Radial
from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as rule

UNIFORM = EllipticalProcess(parse("1"), (parse("1/2"), parse("2")), num(3))


def claim(noise, epsilon="1", sensitivity="1", **more):
    return Claim(noise, None if epsilon is None else parse(epsilon), sensitivity=parse(sensitivity), **more)


@pytest.mark.parametrize("epsilon", ["1", "50", None])
def test_no_epsilon_is_large_enough(epsilon):
    found = rule.check(claim(UNIFORM, epsilon), {})
    assert (found.side, found.value, found.quantity) == ("lower", INFINITE, "pure")


def test_the_event_has_the_probabilities_that_the_gaussian_ones_average_to():
    witness = verify(claim(UNIFORM)).judgement.witness
    mu = lambda v: 1 / (3 * mpmath.sqrt(v))  # noqa: E731
    for name, sign in (("P", 1), ("Q", -1)):
        expected = mpmath.quad(lambda v: mpmath.ncdf(sign * mu(v) / 2 - 1 / mu(v)) * 2 / 3, [0.5, 1, 2])  # noqa: B023
        low = mpmath.mpf(witness[name].strip("[]").split(", ")[0])
        assert abs(low / expected - 1) < 1e-8


@pytest.mark.parametrize(
    "found",
    [
        claim(UNIFORM, "1", "0"),
        claim(UNIFORM, "1", "-1"),
        claim(UNIFORM, "1", "d", domains=(("d", Domain(num(0).value)),)),
        claim(EllipticalProcess(parse("1/v"))),
        claim(EllipticalProcess(parse("-exp(-v)"))),
        claim(EllipticalProcess(parse("exp(-v)"), scale=num(0))),
        claim(Radial(parse("exp(-r)"), L2, ONE)),
    ],
)
def test_without_its_hypotheses_it_refutes_nothing(found):
    with pytest.raises(DpverifyError):
        rule.check(found, {})
