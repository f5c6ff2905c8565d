"""A point witness bounds epsilon from below, shows an event, and refuses every corruption."""

import math
from fractions import Fraction

import mpmath
import pytest

from dpverify.report.dyadic import readable
from dpverify.search.additive import asymptotics
from dpverify.search.additive.point_witness import propose
from dpverify.search.verify import verify
from dpverify.search.witness_words import in_words
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, KaryResponse, Product, Query, Radial, Translation
from dpverify.trusted.theories.additive.points import sign_of
from dpverify.trusted.theories.additive.rules.point_witness import check

mpmath.mp.dps = 60


def radial(profile, dimension=1):
    return Radial(parse(profile), L2, num(dimension))


def claim(noise, delta="1", epsilon=None, **more):
    return Claim(noise, None if epsilon is None else parse(epsilon), sensitivity=None if delta is None else parse(delta), **more)


def lower(goal, digits=20, step=-1):
    """The best lower bound that search and rule give together."""
    return check(goal, propose(goal, digits)[step]["evidence"]).value


def agrees(value, expected, digits):
    """Whether a lower bound is below the true value and agrees with it to so many digits."""
    assert isinstance(value, Num)
    with mpmath.workdps(60):
        found = mpmath.mpf(value.value.numerator) / value.value.denominator
        return found <= expected * (1 + mpmath.mpf(10) ** -55) and expected - found <= abs(expected) * mpmath.mpf(10) ** -digits


T3 = radial("(1 + r**2/5)**(-4)", 3)
GAUSS = radial("exp(-r**2/2)", 1)
T_EPSILON = 8 * mpmath.asinh(1 / (2 * mpmath.sqrt(5)))  # theory#power-identity


# -- known values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [10, 20, 50])
def test_the_closed_form_of_multivariate_t_is_reached(digits):
    assert agrees(lower(claim(T3), digits), T_EPSILON, digits)


@pytest.mark.parametrize(
    ("noise", "delta", "expected"),
    [
        (radial("exp(-r)", 3), "2", mpmath.mpf(2)),
        (radial("exp(-sqrt(r))", 3), "2", mpmath.sqrt(2)),  # concave exponent: h(D) - h(0)
        (radial("cosh(r)**(-2)"), "1", mpmath.mpf(2)),  # convex exponent: D lim h'
        (radial("exp(-sqrt(1 + r**2))", 3), "sqrt(2)", mpmath.sqrt(2)),
        (Translation(parse("exp(-abs(z) - abs(z - 1/3)/2)")), "1", mpmath.mpf(3) / 2),
        (Translation(parse("exp(-abs(z)/2)"), integers=True), "5/2", mpmath.mpf(1)),
        (Product(parse("exp(-abs(z))"), num(3), LINF), "1", mpmath.mpf(3)),
        (Product(parse("exp(-abs(z))"), num(4), L2), "1", mpmath.mpf(2)),
        (Product(parse("exp(-sqrt(abs(z)))"), num(4), L1), "1", mpmath.mpf(2)),  # concave: split evenly, 4 sqrt(1/4)
    ],
)
def test_suprema_are_reached_to_twenty_digits(noise, delta, expected):
    assert agrees(lower(claim(noise, delta)), expected, 20)


def test_the_non_monotone_trap_of_theory_t3():
    value = lower(claim(radial("(1 + r**2)**4*exp(-r)")))
    assert agrees(value, mpmath.mpf("2.8496946"), 7) or value.value > Fraction("2.8496945")


def test_scale_divides_the_sensitivity():
    assert agrees(lower(claim(Radial(parse("exp(-r)"), L2, num(2), parse("4")), "2")), mpmath.mpf(1) / 2, 20)


# -- events ----------------------------------------------------------------------------------------


def test_gaussian_probabilities_enclose_the_normal_integrals():
    evidence = {"a": ["1"], "b": ["2"], "radius": "1/1000", "value": "7/5", "event": "1/10"}
    witness = readable(check(claim(GAUSS, epsilon="1"), evidence).witness)
    with mpmath.workdps(30):
        for key, centre in (("P", 1), ("Q", 2)):
            exact = mpmath.ncdf(centre + mpmath.mpf("0.1")) - mpmath.ncdf(centre - mpmath.mpf("0.1"))
            low, high = (mpmath.mpf(text) for text in witness[key])
            assert low <= exact <= high
            assert high < low * 2


def test_the_mass_of_a_ball_in_three_dimensions():
    # a ball round q itself: P(||X|| <= 1/10) for the density exp(-r)/(8 pi)
    evidence = {"a": ["0"], "b": ["1"], "radius": "1/1000", "value": "9/10", "event": "1/10"}
    witness = readable(check(claim(radial("exp(-r)", 3), epsilon="1/2"), evidence).witness)
    exact = mpmath.gammainc(3, 0, mpmath.mpf("0.1")) / 2
    assert mpmath.mpf(witness["P"][0]) <= exact <= mpmath.mpf(witness["P"][1])


def test_gaussian_at_a_million_has_an_event_of_any_exponent():
    goal = claim(radial("exp(-r**2/2)", 3), epsilon="1000000")
    steps = propose(goal, 20)
    witness = readable(check(goal, steps[0]["evidence"]).witness)
    logs = [[mpmath.log(mpmath.mpf(text)) for text in witness[key]] for key in ("P", "Q")]
    assert logs[0][0] - logs[1][1] > 1_000_000


@pytest.mark.parametrize("epsilon", ["1774/1000", "17742730175404/10000000000000"])
def test_a_refuted_claim_shows_an_event_above_it(epsilon):
    goal = claim(T3, epsilon=epsilon)
    bound = check(goal, propose(goal, 20)[0]["evidence"])
    witness = readable(bound.witness)
    with mpmath.workdps(30):
        p, q = mpmath.mpf(witness["P"][0]), mpmath.mpf(witness["Q"][1])
        # the text is rounded: the ratio of the probabilities is judged on the least loss beside it
        assert mpmath.mpf(witness["loss"]) > mpmath.mpf(float(Fraction(epsilon))) - mpmath.mpf("1e-8")
        assert p > 0
        assert q > 0


def test_lattice_noise_shows_a_single_output():
    evidence = {"a": ["0"], "b": ["1"], "value": "1/2", "event": "1"}
    witness = readable(check(claim(Translation(parse("exp(-abs(z)/2)"), integers=True), epsilon="1/4"), evidence).witness)
    exact = mpmath.tanh(mpmath.mpf(1) / 4)
    assert in_words(witness["event"]) == "S = {y0}"
    assert mpmath.mpf(witness["P"][0]) <= exact <= mpmath.mpf(witness["P"][1])


@pytest.mark.parametrize(
    ("noise", "delta"),
    [
        (Translation(parse("1"), (num(-1), num(1))), "1/1000"),
        (Translation(parse("exp(-z)"), (num(0), None)), "1"),
        (radial("1 - min(1, floor(r))", 3), "1"),
        (radial("max(0, 1 - r)", 2), "1/2"),
        (Translation(parse("1"), (num(0), num(5)), integers=True), "1"),
    ],
)
def test_unequal_supports_refute_every_epsilon(noise, delta):
    goal = claim(noise, delta, "1000")
    bound = check(goal, propose(goal, 20)[0]["evidence"])
    assert bound.value is INFINITE
    witness = readable(bound.witness)
    assert witness["Q"] == ["0", "0"] and witness["loss"] == "inf"
    assert mpmath.mpf(witness["P"][0]) > 0


# -- queries ---------------------------------------------------------------------------------------


def test_a_query_realises_its_own_differences_only():
    query = Query(((Fraction(2), Fraction(1)),), "add-remove")
    noise = Translation(parse("exp(-abs(z))"))
    good = {"a": ["0"], "b": ["2"], "radius": "1/1000", "value": "199/100"}
    assert check(claim(noise, None, query=query), good).value == Num(Fraction(199, 100))
    shorter = {**good, "b": ["1"], "value": "99/100"}
    assert check(claim(noise, None, query=query), shorter).value == Num(Fraction(99, 100))  # of the other kind of records
    with pytest.raises(Rejected, match="extreme differences"):
        check(claim(noise, None, query=query), {**good, "b": ["3/2"], "value": "1"})


GAPS = Translation(parse("exp(-abs(z))*(1 + floor(z/2) + floor(-z/2))"), integers=True)
"""Noise on the even integers alone."""


@pytest.mark.wide
@pytest.mark.parametrize(("moves", "loss"), [((2, 4), 4), ((4,), 4), ((1, 2), None), ((2, 3), None)])
def test_noise_with_gaps_loses_without_bound_where_some_record_moves_the_answer_into_them(moves, loss):
    """By enumeration of all integers near 0: log p(z) - log p(z + m) over the moves m, infinite where p(z + m) is 0."""

    def p(z):
        return math.exp(-abs(z)) * (z % 2 == 0)

    losses = [math.inf if p(z + m) == 0 else math.log(p(z) / p(z + m)) for z in range(-9, 10) for m in moves if p(z)]
    assert max(losses) == (math.inf if loss is None else pytest.approx(loss))
    query = Query((tuple(map(Fraction, moves)),), "add-remove")
    found = verify(Claim(GAPS, num(9), query=query), 6).judgement
    assert (found.verdict == "REFUTED") == (loss is None)
    if loss is not None:
        assert verify(Claim(GAPS, parse("399/100"), query=query), 6).judgement.verdict == "REFUTED"


def test_product_noise_wants_a_difference_of_the_query():
    query = Query(((Fraction(1), Fraction(0)), (Fraction(-1), Fraction(1))), "add-remove")
    noise = Product(parse("exp(-abs(z))"), num(2), L1)
    goal = claim(noise, None, query=query)
    assert agrees(lower(goal), mpmath.mpf(2), 20)
    with pytest.raises(Rejected, match="extreme differences"):
        check(goal, {"a": ["0", "0"], "b": ["1", "1"], "radius": "1/1000", "value": "1"})


# -- parameters ------------------------------------------------------------------------------------


def test_a_claim_for_all_parameters_is_refuted_at_one_value():
    noise = radial("(1 + r**2/nu)**(-(nu + 1)/2)")
    goal = claim(noise, "1", "1", domains=(("nu", Domain(Fraction(0))),))
    step = propose(goal, 10)[0]
    bound = check(goal, step["evidence"])
    nu = mpmath.mpf(str(float(bound.at["nu"].value)))
    assert agrees(bound.value, (nu + 1) * mpmath.asinh(1 / (2 * mpmath.sqrt(nu))), 8)
    with pytest.raises(Rejected, match="domain"):
        check(goal, {**step["evidence"], "at": {"nu": "-1"}})
    with pytest.raises(Rejected, match="wants a value"):
        check(goal, {k: v for k, v in step["evidence"].items() if k != "at"})


# -- mutants ---------------------------------------------------------------------------------------

GOOD = {"a": ["7"], "b": ["8"], "radius": "1/1000", "value": "74/10", "event": "1/1000"}


def test_the_evidence_that_the_mutants_corrupt_is_accepted():
    assert check(claim(GAUSS), GOOD).value == Num(Fraction(74, 10))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"a": ["8"], "b": ["7"]}, "not certainly at least"),  # swapped: the loss is negative
        ({"value": "75/10"}, "not certainly at least"),  # the loss at the point, not on the neighbourhood
        ({"b": ["8.000000000001"]}, "within the sensitivity"),
        ({"b": ["8 + 1/10**12"]}, "within the sensitivity"),
        ({"radius": "1/10"}, "not certainly at least"),
        ({"radius": "0"}, "must be positive"),
        ({"radius": "-1"}, "must be positive"),
        ({"a": ["-7"]}, "non-negative"),
        ({"a": ["7", "7"], "b": ["8", "8"]}, "wants one point"),
        ({"value": "inf"}, "does not certainly vanish"),
    ],
)
def test_mutants_are_rejected(change, says):
    with pytest.raises(Rejected, match=says):
        check(claim(GAUSS), {**GOOD, **change})


@pytest.mark.parametrize(
    "change", [{"a": []}, {"b": ["x"]}, {"b": ["8", "9"]}, {"prec": "0"}, {"prec": 10**9}, {"value": "1e"}, {"radius": None}]
)
def test_evidence_of_the_wrong_form_is_refused(change):
    with pytest.raises((CertificateError, Rejected, ValueError)):
        check(claim(GAUSS), {**GOOD, **change})


def test_a_density_that_is_not_integrable_bears_no_witness():
    with pytest.raises(Rejected, match="integrable"):
        check(claim(radial("(1 + r**2)**(-1)", 2)), {"a": ["0"], "b": ["1"], "radius": "1/1000", "value": "1/2"})


def test_points_off_the_lattice_are_rejected():
    noise = Translation(parse("exp(-abs(z)/2)"), integers=True)
    with pytest.raises(Rejected, match="integers"):
        check(claim(noise), {"a": ["1/2"], "b": ["3/2"], "value": "1/2"})


def test_the_last_integer_of_a_support_is_inside_it():
    noise = Translation(parse("1"), (num(0), num(5)), integers=True)
    evidence = {"value": "inf", **asymptotics.evidence(noise)}
    with pytest.raises(Rejected, match="does not certainly vanish"):
        check(claim(noise), {"a": ["4"], "b": ["5"], **evidence})
    assert check(claim(noise), {"a": ["5"], "b": ["6"], **evidence}).value is INFINITE


def test_other_kinds_are_rejected():
    with pytest.raises(Rejected, match="additive noise"):
        check(Claim(KaryResponse(num(2), num(1)), num(1)), GOOD)


def test_a_lower_bound_is_never_above_the_loss_of_the_pair():
    goal = claim(radial("exp(-sqrt(1 + r**2))", 2), "1")
    evidence = propose(goal, 20)[0]["evidence"]
    assert check(goal, evidence).value.value < 1  # the supremum, at infinity only
    with pytest.raises(DpverifyError):
        check(goal, {**evidence, "value": "1"})


# -- densities that are negative somewhere ---------------------------------------------------------

NEAR_0 = {"a": ["0"], "b": ["1"], "radius": "1/1000", "value": "1/2"}
NEGATIVE = "the density is non-negative"


@pytest.mark.parametrize(
    "noise",
    [
        Translation(parse("(1 - 2*exp(-(1000000*(z - 29/7))**2))*exp(-abs(z))")),
        radial("(1 - 2*exp(-(1000000*(r - 29/7))**2))*exp(-r)", 3),
        Product(parse("(1 - 2*exp(-(1000000*(z - 29/7))**2))*exp(-abs(z))"), num(2)),
        Translation(parse("exp(-abs(z))*(1 - 2*exp(-(10*(z - 237))**2))"), integers=True),
    ],
    ids=["line", "radial", "product", "integers"],
)
def test_a_density_that_may_be_negative_elsewhere_bears_a_witness_by_assumption(noise):
    assert check(claim(noise), {**NEAR_0, **asymptotics.evidence(noise)}).assumed == (NEGATIVE,)


@pytest.mark.parametrize(
    "noise",
    [
        T3,
        GAUSS,
        radial("r**2*exp(-r)", 3),
        radial("(1 - exp(-r**2/2))/r**2"),
        radial("sqrt(r)*besselk(1/2, r)", 3),
        Translation(parse("exp(-abs(z))"), integers=True),
        Translation(parse("1/(exp(z) + exp(-z))")),
        Translation(parse("z*exp(-z)"), (num(0), None)),
        Translation(parse("max(0, 1 - abs(z)/4)"), (num(-4), num(4))),
        radial("1 - min(1, floor(r))", 2),
        radial("3 - 2*min(3/2, floor(r), 4)", 2),
        Product(parse("exp(-z**2)"), num(2)),
    ],
)
def test_a_density_that_is_non_negative_by_its_form_or_has_a_logarithm_needs_no_assumption(noise):
    assert sign_of(noise) == ()


@pytest.mark.parametrize(
    "noise",
    [
        Translation(parse("z*exp(-z**2)"), (num(-1), None)),
        radial("1 - min(2, floor(r))", 2),
        radial("1 - max(1, floor(r))", 2),
        radial("1 + min(1, floor(r) - 3)", 2),
        radial("1 - floor(r)*min(1, floor(r))", 2),
        radial("1 - floor(r)", 2),
    ],
)
def test_what_may_be_negative_is_not_seen_to_be_non_negative(noise):
    assert sign_of(noise) == (NEGATIVE,)
