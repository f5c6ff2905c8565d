"""Staircase noise for all gamma (Geng & Viswanath 2016)."""

from fractions import Fraction

import pytest
from flint import arb

from dpverify.search.additive import staircase as search
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import parse, substitute
from dpverify.trusted.kernel.model import Claim, Domain, KaryResponse, Staircase
from dpverify.trusted.theories.additive.rules import staircase

POSITIVE = Domain(Fraction(0))
UNIT = Domain(Fraction(0), Fraction(1), lower_open=False, upper_open=False)


def claim(epsilon="1", gamma="1/2", sensitivity="1", claimed=None, **domains):
    noise = Staircase(parse(epsilon), parse(gamma))
    wanted = None if claimed is None else parse(claimed)
    return Claim(noise, wanted, sensitivity=None if sensitivity is None else parse(sensitivity), domains=tuple(domains.items()))


def check(c, **evidence):
    with precision(128):
        return staircase.check(c, evidence)


def density(z, epsilon, gamma):
    """The density as the paper defines it: two steps in every unit."""
    size, decay, share = abs(z), (-epsilon).exp(), rational(gamma)
    top = (1 - decay) / (2 * (share + decay * (1 - share)))
    unit = size.__floor__()
    return top * decay ** (unit if size - unit < gamma else unit + 1)


def test_it_costs_epsilon_for_all_epsilon_and_gamma():
    c = claim("e", "g", claimed="e", e=POSITIVE, g=UNIT)
    found = {bound.side: bound.value for bound in (check(c, **step["evidence"]) for step in search.propose(c, 20))}
    assert found == {"upper": parse("e"), "lower": parse("e")}


@pytest.mark.parametrize(("sensitivity", "steps"), [("1/3", 1), ("1", 1), ("3/2", 2), ("2", 2), ("sqrt(2)", 2), (None, 1)])
def test_a_sensitivity_crosses_as_many_steps_as_units_begun(sensitivity, steps):
    for side in ("upper", "lower"):
        assert certainly_equal(check(claim("1/2", sensitivity=sensitivity), side=side).value, parse(f"{steps}/2"))


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("moved", [Fraction(1, 4), Fraction(1), Fraction(7, 3)])
def test_the_event_has_the_probabilities_that_the_density_gives(gamma, moved):
    witness = check(claim("1", str(gamma), str(moved)), side="lower").witness
    low, high = (Fraction(x) for x in witness["event"].strip("[)").split(", "))
    for point in (low, low + (high - low) / 3, high - (high - low) / 1000):
        for shift, side in ((Fraction(0), "P"), (moved, "Q")):
            assert (density(point + shift, arb(1), gamma) * rational(high - low)).overlaps(constant(parse(witness[side])))


def test_a_false_claim_for_all_parameters_is_broken_at_some_of_them():
    c = claim("e", "g", claimed="e/2", e=POSITIVE, g=UNIT)
    (broken,) = [b for b in (check(c, **step["evidence"]) for step in search.propose(c, 20)) if b.at]
    assert certainly_lt(substitute(c.epsilon, broken.at), substitute(broken.value, broken.at))


@pytest.mark.parametrize(
    ("c", "why"),
    [
        (claim(sensitivity="0"), "sensitivity"),
        (Claim(KaryResponse(parse("2"), parse("1/2")), None), "staircase"),
    ],
)
def test_a_hypothesis_that_fails_is_named(c, why):
    for side in ("upper", "lower"):
        with pytest.raises(Rejected, match=why):
            check(c, side=side)


def test_the_side_must_be_named():
    with pytest.raises(CertificateError, match="side"):
        check(claim(), side="both")
