"""Light tails, poles and zeros refute every epsilon; densities without them are refused."""

from fractions import Fraction

import mpmath
import pytest

from dpverify.report.dyadic import readable
from dpverify.search.additive import asymptotics
from dpverify.search.additive.divergence import propose
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Product, Query, Radial, Translation
from dpverify.trusted.theories.additive.rules import divergence as rule


def radial(profile, dimension=1):
    return Radial(parse(profile), L2, num(dimension))


def check(claim, evidence):
    """The rule, told what shows that the noise is integrable."""
    return rule.check(claim, {**asymptotics.evidence(claim.mechanism), **evidence})


def claim(noise, delta="1", epsilon="4", **more):
    return Claim(noise, parse(epsilon), sensitivity=None if delta is None else parse(delta), **more)


DIVERGENT = [
    (radial("exp(-r**2/2)", 3), "1"),
    (radial("exp(-r**(3/2))", 3), "1/1000"),
    (Translation(parse("exp(-z**2/2)")), "sqrt(2)"),
    (Translation(parse("exp(-z**2/2)"), integers=True), "1"),
    (Translation(parse("exp(-z**4)"), (None, num(0))), "1"),
    (Product(parse("exp(-z**2)"), num(3), L1), "1"),
    (radial("besselk(0, sqrt(2)*r)", 2), "1"),  # multivariate Laplace: a logarithmic pole (theory#divergence)
    (radial("r**(-1/2)*besselk(1/2, sqrt(2)*r)", 3), "1"),
    (radial("r**2*exp(-r)", 3), "1"),  # a zero at the centre
    (Translation(parse("abs(z)**(-1/2)*exp(-abs(z))")), "1"),
    (Translation(parse("z*exp(-z)"), (num(0), None)), "1"),
]


INSIDE = [
    (radial("(r - 1)**2*exp(-r)", 2), "1", "zero"),
    (radial("(r**2 - 3*r + 2)**2*exp(-r)", 2), "1/2", "zero"),
    (radial("(r**2 - 2)**2*exp(-r)", 3), "1", "zero"),  # at the square root of 2
    (radial("(1 - exp(-(r - 1)**2))*exp(-r)", 2), "1", "zero"),
    (radial("abs(r**2 - 4)**(-1/2)*exp(-r)", 2), "1", "pole"),
    (Translation(parse("(z - 1)**4*exp(-z**2/100)/(1 + z**2)**2")), "1/3", "zero"),
    (Product(parse("(z**2 - 1/4)**2*exp(-abs(z))"), num(2), L1), "1", "zero"),
]


@pytest.mark.parametrize(("noise", "delta", "side"), INSIDE)
def test_a_zero_or_a_pole_inside_refutes_every_epsilon(noise, delta, side):
    (step,) = propose(claim(noise, delta, "1000000"))
    assert check(claim(noise, delta, "1000000"), step["evidence"]).value is INFINITE
    found = dict(step["evidence"], side=side)
    if "point" in found and "start" in found:  # by one side of it: by both too
        found.pop("start")
        found.pop("witness", None)
        found["radius"] = "1/1099511627776"
    if "point" in found:
        assert check(claim(noise, delta, "1000000"), found).value is INFINITE


INNER = {"side": "zero", "point": "1", "other": "2", "radius": "1/1024"}


@pytest.mark.parametrize(
    ("profile", "changed", "says"),
    [
        ("(r - 1)**2*exp(-r)", {"point": "9/8", "other": "17/8"}, "vanish"),
        ("((r - 1)**2 + 1/10**30)*exp(-r)", {}, "vanish"),  # small, and not zero
        ("(r - 1)**2*exp(-r)", {"side": "pole"}, "continuous"),
        ("(r - 1)**2*exp(-r)", {"other": "3"}, "within the sensitivity"),
        ("(r - 1)**2*(r - 2)**2*exp(-r)", {}, "positive"),  # zero there too
        ("(r - 1)**2*exp(-r)", {"radius": "2"}, "inside"),
        ("(r - 1)**2*exp(-r)", {"radius": "0"}, "radius"),
        ("(r - 1)**2*exp(-r)", {"radius": "1"}, "inside"),
        ("(1/2 + floor(min(2, r)/2))*exp(-r)", {"point": "2", "other": "1"}, "continuous"),  # a jump
    ],
)
def test_a_zero_inside_is_exact_and_the_density_continuous_there(profile, changed, says):
    with pytest.raises(Rejected, match=says):
        check(claim(radial(profile, 2), epsilon="9"), {**INNER, **changed})


def test_a_density_that_does_not_vanish_has_no_evidence():
    assert propose(claim(radial("((r - 1)**2 + 1/10)*exp(-r)", 2))) == []


@pytest.mark.parametrize(("noise", "delta"), DIVERGENT)
def test_divergent_losses_refute_with_an_event(noise, delta):
    goal = claim(noise, delta)
    bound = check(goal, propose(goal)[0]["evidence"])
    assert bound.value is INFINITE
    witness = readable(bound.witness)
    p, q = mpmath.mpf(witness["P"][0]), mpmath.mpf(witness["Q"][1])
    assert p > mpmath.exp(4) * q


def test_gaussian_at_a_million_is_refuted_with_an_event():
    goal = claim(radial("exp(-r**2/2)", 3), epsilon="1000000")
    witness = readable(check(goal, propose(goal)[0]["evidence"]).witness)
    assert mpmath.log(mpmath.mpf(witness["P"][0])) - mpmath.log(mpmath.mpf(witness["Q"][1])) > 1_000_000


@pytest.mark.parametrize(
    "noise",
    [
        radial("exp(-r)", 3),
        radial("(1 + r**2)**(-3)", 3),
        radial("exp(-sqrt(r))", 3),  # h' diverges at the centre, h does not
        radial("cosh(r)**(-1)"),
        radial("r**(1/2)*besselk(1/2, sqrt(2)*r)"),
        Translation(parse("exp(-abs(z))"), integers=True),
    ],
)
def test_bounded_losses_are_not_refuted(noise):
    assert propose(claim(noise)) == []


TAIL = {"side": "+inf", "start": "16"}
POLE = {"side": "right", "start": "1024", "point": "0", "other": "1", "radius": "1/1024"}
LAPLACE2 = radial("besselk(0, sqrt(2)*r)", 2)


def test_the_evidence_that_the_mutants_corrupt_is_accepted():
    assert check(claim(radial("exp(-r**2/2)")), TAIL).value is INFINITE
    assert check(claim(LAPLACE2), POLE).value is INFINITE


@pytest.mark.parametrize(
    ("noise", "evidence", "says"),
    [
        (radial("exp(-r)"), TAIL, "does not certainly diverge"),
        (radial("exp(-r**2/2)"), {**TAIL, "side": "-inf"}, "outside the domain"),
        (Translation(parse("exp(-z**2)"), (None, num(0))), TAIL, "outside the domain"),
        (Translation(parse("exp(-z)"), (num(0), None)), {**POLE, "side": "left"}, "outside the domain"),
        (LAPLACE2, {**POLE, "other": "1 + 1/10**12"}, "within the sensitivity"),
        (Translation(parse("abs(z)**(-1/2)*exp(-abs(z))")), {**POLE, "other": "0"}, "not certainly bounded"),
        (LAPLACE2, {**POLE, "radius": "2"}, "inside the domain"),
        (LAPLACE2, {**POLE, "radius": "0"}, "positive"),
        (LAPLACE2, {**POLE, "point": "1/2", "other": "1"}, "neither diverges nor vanishes"),
        (Translation(parse("z**2*exp(-abs(z))")), {**POLE, "other": "0"}, "not certainly positive"),
        (radial("exp(-r)"), POLE, "neither diverges nor vanishes"),
    ],
)
def test_mutants_are_rejected(noise, evidence, says):
    with pytest.raises(Rejected, match=says):
        check(claim(noise), evidence)


def test_a_sensitivity_of_zero_refutes_nothing():
    with pytest.raises(Rejected, match="positive"):
        check(claim(radial("exp(-r**2/2)"), "0"), TAIL)
    with pytest.raises(Rejected, match="at least 1"):
        check(claim(Translation(parse("exp(-z**2/2)"), integers=True), "1/2"), TAIL)


def test_a_query_must_reach_from_the_pole_to_the_other_point():
    query = Query(((Fraction(2), Fraction(1)),), "add-remove")
    noise = Translation(parse("abs(z)**(-1/2)*exp(-abs(z))"))
    assert check(claim(noise, None, query=query), {**POLE, "other": "2"}).value is INFINITE
    with pytest.raises(Rejected, match="query's sensitivity"):
        check(claim(noise, None, query=query), POLE)


@pytest.mark.parametrize("evidence", [{"side": "up", "start": "16"}, {"side": "+inf"}, {**POLE, "other": "y"}])
def test_evidence_of_the_wrong_form_is_refused(evidence):
    with pytest.raises((CertificateError, *STUMBLES)):
        check(claim(LAPLACE2), evidence)


def test_an_end_that_starts_too_early_is_undecided():
    with pytest.raises(DpverifyError):
        check(claim(radial("exp(-r**2/2)")), {**TAIL, "start": "1"})


def test_a_zero_where_the_sign_may_change_refutes_by_assumption():
    noise = Translation(parse("(z**2 - 1)*exp(-abs(z))"))
    evidence = {"side": "zero", "point": "1", "other": "2", "radius": "1/100"}
    assert check(claim(noise, "1"), evidence).assumed == ("the density is non-negative",)
    square = Translation(parse("(z**2 - 1)**2*exp(-abs(z))"))
    assert check(claim(square, "1"), evidence).assumed == ()


def test_what_a_point_takes_for_granted_is_shown(monkeypatch):
    monkeypatch.setattr(rule, "check_inner_point", lambda *_: ("the point is one",))
    assert "the point is one" in check(claim(radial("(r - 1)**2*exp(-r)", 2)), INNER).assumed
