"""Claims and evidence made to fool the rules about additive noise: none may prove a bound on the wrong side of the truth."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse, sub
from dpverify.trusted.kernel.model import L2, Claim, Domain, Norm, Product, Query, Radial, Translation
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.additive.rules import power_identity
from tests.proofs import Step, bound
from tests.tools import load

judgements = load("judgements")
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


SPOILED = {
    "a fractional dimension": {"dimension": parse("3/2")},
    "dimension 0": {"dimension": parse("0")},
    "a negative scale": {"scale": parse("-1")},
    "scale 0": {"scale": parse("0")},
    "a scale that is no number": {"scale": parse("log(-1)")},
    "no norm": {"norm": Norm("lp", Fraction(1, 2))},
    "no norm, and a fractional dimension": {"norm": Norm("lp", Fraction(1, 2)), "dimension": parse("3/2")},
}
PROFILES = ["exp(-r)", "exp(-sqrt(r))", "exp(-sqrt(1 + r**2))", "(1 + r**2)**-5", "(1 + r**2)**4*exp(-r)", "exp(-r**2)", "exp(-r)/sqrt(r)"]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_spoiled_claim_means_nothing_whatever_its_evidence(profile):
    claim = Claim(Radial(parse(profile), L2, parse("2")), None, sensitivity=parse("1"))
    lines = unpack(verify(claim).certificate).lines
    assert len(judgements.taken(claim, lines)) == len(lines) > 0
    spoiled = [replace(claim, mechanism=replace(claim.mechanism, **change)) for change in SPOILED.values()]
    spoiled += [replace(claim, sensitivity=parse(amount)) for amount in ("-1", "-1/10**9", "log(-1)")]
    for one in spoiled:
        with pytest.raises(CertificateError, match="the claim means nothing"):
            require_well_formed(one)


ONE_COORDINATE = [
    (Norm("ellipsoid", matrix=((Fraction(4),),)), "2"),  # ||x||^2 = x^2/4
    (Norm("columns", matrix=((Fraction(1),), (Fraction(-3),))), "3"),
    (Norm("facets", matrix=((Fraction(1, 4),), (Fraction(2),))), "1/2"),
    (Norm("lp", Fraction(3)), "1"),
]


@pytest.mark.parametrize(("norm", "reach"), ONE_COORDINATE)
@pytest.mark.parametrize("density", ["exp(-abs(z))", "exp(-sqrt(abs(z)))", "exp(-max(z, -2*z))", "(1 + z**2)**-3"])
def test_a_single_coordinate_has_the_unit_of_its_norm(norm, reach, density):
    product = Claim(Product(parse(density), parse("1"), norm), None, sensitivity=parse("1"))
    line = Claim(Translation(parse(density)), None, sensitivity=parse(reach))
    found, wanted = verify(product).judgement, verify(line).judgement
    for side in ("lower", "upper"):
        ends = [getattr(judgement, side) for judgement in (found, wanted)]
        assert ends[0] is None or certainly_equal(ends[0], ends[1]) or abs(enclose(sub(*ends))) < 1e-6


@pytest.mark.parametrize("density", ["exp(-abs(z))", "(1 + z**2)**-1", "max(0, 1 - abs(z))", "exp(-z**2)", "exp(-abs(z))*(2 + tanh(z))"])
@pytest.mark.parametrize("rows", [((3,), (2,)), ((0, 0), (0, 0)), ((1, 1), (2, 2))])
def test_a_query_that_gives_everybody_one_answer_loses_nothing(density, rows):
    query = Query(tuple(tuple(map(Fraction, row)) for row in rows), "replace")
    judgement = verify(Claim(Product(parse(density), parse("2")), parse("0"), query=query)).judgement
    assert judgement.verdict in ("PROVED", "UNKNOWN")


@pytest.mark.wide
def test_a_pole_is_moved_within_the_norm_of_the_noise():
    # ||x||^2 = 100 x^2: a coordinate moves by at most 1/10
    noise = Product(parse("exp(-abs(z))/sqrt(abs(z))"), parse("1"), Norm("ellipsoid", matrix=((Fraction(1, 100),),)))
    claim = Claim(noise, parse("1"), sensitivity=parse("1"))
    evidence = {"side": "right", "start": "16", "point": "0", "radius": "1/1024"}
    bound(claim, Step("divergence", {**evidence, "other": "1/10"}))
    with pytest.raises(Rejected):
        bound(claim, Step("divergence", {**evidence, "other": "1/2"}))
    assert verify(claim).judgement.verdict == "REFUTED"


WILD = [
    "(logexprel(log(z**3)))**2",
    "exp(-abs(z))/logexprel(besselk(5/2, z))",
    "exp(-tanh(besselk(-2, z)))",
    "exp(-exp(z) - 1)",
    "exp(-floor((2**(-3/2))**z))",
    "exp(-abs(z))*max(besselk(-2, 10*z), besselk(-2, sqrt(z)))**2",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("density", [pytest.param(one, marks=[pytest.mark.wide] * ("tanh" in one)) for one in WILD])
@pytest.mark.parametrize("kind", [Translation, lambda tree: Translation(tree, integers=True), lambda tree: Product(tree, parse("2"))])
def test_what_is_no_density_is_undecided_soon(kind, density):
    assert verify(Claim(kind(parse(density)), parse("1"), sensitivity=parse("1"))).judgement.verdict == "UNKNOWN"


@pytest.mark.parametrize("factor", ["log(-1)", "atanh(2)", "(-2)**(1/3)", "sqrt(1 - sqrt(2))", "log(log(1/2))"])
@pytest.mark.parametrize("density", ["exp(-abs(z))", "exp(-sqrt(1 + z**2))", "(1 + z**2)**-3", "1/cosh(z)**2"])
def test_a_constant_factor_without_a_value_makes_no_density(density, factor):
    with pytest.raises(CertificateError, match=r"the claim means nothing: density: .* is not certainly a number"):
        verify(Claim(Translation(parse(f"{factor}*{density}")), None, sensitivity=parse("1")))


@pytest.mark.parametrize("factor", ["(nu - 1)", "log(-nu)", "sqrt(nu - 1)"])
@pytest.mark.parametrize("profile", ["exp(-r)", "(1 + r**2)**(-3)", "exp(-sqrt(1 + r**2))"])
def test_a_factor_that_some_parameters_make_negative_or_undefined_is_not_proved(profile, factor):
    noise = Radial(parse(f"{profile}*{factor}"), L2, num(1))
    claim = Claim(noise, num(100), sensitivity=num(1), domains=(("nu", Domain(Fraction(0))),))
    assert verify(claim).judgement.verdict == "UNKNOWN"
