"""The discrete Gaussian and parts in parallel, in zCDP, GDP and Renyi divergences."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import (
    Claim,
    Compose,
    Group,
    Guarantee,
    Measure,
    Norm,
    Parallel,
    Part,
    Query,
    Radial,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules.parallel_composition import LOWER
from dpverify.trusted.theories.divergences.rules import gaussian_measures

RHO, MU, TWO = Measure("zcdp", None), Measure("gdp", None), Measure("renyi", None, Fraction(2))


def discrete(sigma="2"):
    return Translation(parse(f"exp(-z**2/(2*({sigma})**2))"), integers=True)


def gaussian(sigma, sensitivity=ONE):
    return Part(Radial(parse(f"exp(-r**2/(2*({sigma})**2))"), Norm("lp", Fraction(2)), ONE), sensitivity)


def claim(mechanism, measure, sensitivity=None, **more):
    return Claim(mechanism, None, sensitivity=None if sensitivity is None else parse(sensitivity), measure=measure, **more)


def divergence(sigma, moved, order):
    """By summing the probabilities."""
    with mpmath.workdps(30):
        s, a = mpmath.mpf(sigma.numerator) / sigma.denominator, mpmath.mpf(order.numerator) / order.denominator
        weights = {n: mpmath.exp(-(mpmath.mpf(n) ** 2) / (2 * s * s)) for n in range(-200, 201)}
        total = mpmath.fsum(weights.values())
        terms = (mpmath.exp(-(a * n**2 + (1 - a) * (n - moved) ** 2) / (2 * s * s)) for n in range(-200, 201))
        return float(mpmath.log(mpmath.fsum(terms) / total) / (a - 1))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sigma", ["1/3", "1/2", "1", "2"])
@pytest.mark.parametrize("moved", [1, 2, 3])
def test_divergences_of_the_discrete_gaussian_are_at_most_those_of_the_gaussian_and_met_where_a_d_is_whole(sigma, moved):
    for order in (Fraction(3, 2), Fraction(2), Fraction(7, 3), Fraction(4), Fraction(5, 4)):
        bounds = {b.side: float(constant(b.value).mid()) for b in gaussian_measures.infer(
            claim(discrete(sigma), Measure("renyi", None, order), str(moved)), {}, ())}  # fmt: skip
        truth = divergence(Fraction(sigma), moved, order)
        assert truth <= bounds["upper"] * (1 + 1e-12)
        assert ("lower" in bounds) is ((order * moved).denominator == 1)
        assert bounds.get("lower", truth) == pytest.approx(truth, rel=1e-9)
    rho = [float(constant(b.value).mid()) for b in gaussian_measures.infer(claim(discrete(sigma), RHO, str(moved)), {}, ())]
    assert rho == pytest.approx([divergence(Fraction(sigma), moved, Fraction(2)) / 2] * 2)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity", "measure", "expected"),
    [
        (discrete(), "5/2", RHO, 4 / 8),
        (discrete(), "1/2", RHO, 0),
        (Compose((repeated(Part(discrete(), num(1)), num(3)),)), None, RHO, 3 / 8),
        (Compose((repeated(Part(discrete(), num(1)), num(3)),)), None, TWO, 3 / 4),
        (Group(Part(discrete(), num(1)), num(3)), None, RHO, 9 / 8),
        (Parallel((gaussian("2"), gaussian("3"))), None, RHO, 1 / 8),
        (Parallel((gaussian("2"), gaussian("3"))), None, MU, 1 / 2),
        (Parallel((gaussian("3"), gaussian("2"))), None, TWO, 1 / 4),
        (Parallel((gaussian("3", num(6)), gaussian("2"))), None, MU, 2),
        (Parallel((Part(discrete(), num(1)), gaussian("1"))), None, RHO, 1 / 2),
    ],
)
def test_values_that_are_known_exactly(mechanism, sensitivity, measure, expected):
    found = verify(claim(mechanism, measure, sensitivity)).judgement
    assert found.verdict == "PROVED"
    assert [float(constant(side).mid()) for side in (found.lower, found.upper)] == pytest.approx([expected] * 2)
    for hair, verdict in (("1.000001", "PROVED"), ("0.999999", "REFUTED")):
        value = parse(f"{expected} * {hair}")
        stated = verify(claim(mechanism, replace(measure, value=value), sensitivity)).judgement.verdict
        assert expected == 0 or stated == verdict


@pytest.mark.parametrize(
    ("mechanism", "measure", "more", "why"),
    [
        (discrete(), MU, {}, "trade-off function"),
        (replace(discrete(), support=(parse("0"), None)), RHO, {}, "on all integers"),
        (Translation(parse("exp(-abs(z))"), integers=True), RHO, {}, "proportional to"),
        (Translation(parse("exp(-(z - 1/3)**2/8)"), integers=True), RHO, {}, "proportional to"),
        (Translation(parse("exp(-z**4/8)"), integers=True), RHO, {}, "proportional to"),
        (discrete(), RHO, {"query": Query(((Fraction(1, 2),),), "add-remove")}, "do not differ by an integer"),
        (discrete(), None, {}, "in epsilon and delta"),
    ],
)
def test_what_is_no_discrete_gaussian_is_refused(mechanism, measure, more, why):
    with pytest.raises(Rejected, match=why):
        gaussian_measures.infer(claim(mechanism, measure, None if more else "1", **more), {}, ())


def test_a_query_on_records_is_one_on_integers():
    asked = claim(discrete(), RHO, query=Query(((Fraction(1), Fraction(3)),), "add-remove"))
    assert [float(constant(b.value).mid()) for b in gaussian_measures.infer(asked, {}, ())] == pytest.approx([9 / 8] * 2)


def test_from_below_parts_in_parallel_take_a_record_for_granted():
    found = verify(claim(Parallel((gaussian("2"), gaussian("3"))), replace(RHO, value=parse("1/9")))).judgement
    assert found.verdict == "REFUTED" and LOWER in found.assumptions
    above = verify(claim(Parallel((gaussian("2"), gaussian("3"))), replace(RHO, value=parse("1/8")))).judgement
    assert above.verdict == "PROVED" and LOWER not in above.assumptions
    assert any("disjoint parts" in line for line in above.assumptions)


def test_what_parallel_parts_are_given_is_about_each_of_them():
    whole = claim(Parallel((gaussian("2"), gaussian("3"))), RHO)
    proof = Proof(whole)
    first, second = (proof.infer("gaussian-measures", ({"part": i},)) for i in (0, 1))

    def infer(parameters, *premises):
        return proof.infer("added-measures", (), parameters, premises)

    assert float(constant(infer({"side": "upper"}, first, second).says[0].value).mid()) == pytest.approx(1 / 8)
    assert float(constant(infer({"side": "lower", "index": 1}, second).says[0].value).mid()) == pytest.approx(1 / 18)
    for parameters, premises, why in (
        ({"side": "upper"}, (first,), "cannot be used"),
        ({"side": "upper"}, (second, first), "not about the part"),
        ({"side": "upper"}, (first, first), "not about the part"),
        ({}, (first, second), "cannot be used"),
        ({"side": "lower"}, (first,), "cannot be used"),
        ({"side": "lower", "index": 2}, (first,), "not a whole number from 0 to 1"),
        ({"side": "lower", "index": -1}, (second,), "not a whole number from 0 to 1"),
        ({"side": "lower", "index": True}, (second,), "not a whole number from 0 to 1"),
        ({"side": "lower", "index": 0}, (second,), "not about the part"),
        ({"side": "lower", "index": 0}, (first, first), "cannot be used"),
    ):
        with pytest.raises(CertificateError, match=why):
            infer(parameters, *premises)


def test_a_part_without_a_finite_value_leaves_parallel_parts_without_one():
    apart = Part(Table(((ONE, num(0)), (num(0), ONE))))
    known = Part(Guarantee("zcdp", ((parse("1/8"),),)))
    for parts in ((apart, gaussian("2")), (gaussian("2"), apart)):
        found = verify(claim(Parallel(parts), RHO)).judgement
        assert found.upper is None or isinstance(found.upper, Infinite)
    assert float(constant(verify(claim(Parallel((known, gaussian("4"))), RHO)).judgement.upper).mid()) == pytest.approx(1 / 8)
