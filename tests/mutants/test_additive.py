"""Claims and evidence made to fool the rules about additive noise: none may prove a bound on the wrong side of the truth."""

from fractions import Fraction

import pytest

from dpverify.balls import precision
from dpverify.compare import certainly_equal
from dpverify.ends import End, end_jet
from dpverify.errors import Undecided
from dpverify.expr import parse
from dpverify.model import L2, Claim, Domain, Radial
from dpverify.rules import power_identity

POSITIVE = Domain(Fraction(0))


@pytest.mark.parametrize("name", ["_q", "_s", "_square", "q", "s"])
def test_no_parameter_is_taken_for_a_name_that_a_rule_uses_inside(name):
    noise = Radial(parse(f"(1 + {name} + r**2)**-5"), L2, parse("1"))
    claim = Claim(noise, None, sensitivity=parse("1"), domains=((name, POSITIVE),))
    with precision(128):
        for side in ("upper", "lower"):
            found = power_identity.check(claim, {"side": side}).value
            assert certainly_equal(found, parse(f"10*asinh(1/(2*sqrt(1 + {name})))"), dict(claim.domains))


@pytest.mark.parametrize("h", ["max(r, r + exp(-r)*(r - 17))", "min(r, r + exp(-r)*(r - 17))"])
def test_a_maximum_that_is_not_decided_at_an_end_is_undecided(h):
    with precision(128), pytest.raises(Undecided):
        end_jet(parse(h), "r", End("+inf", Fraction(16)))
