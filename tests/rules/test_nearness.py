"""How near the answers of one mechanism are, as a claim: additive noise (far-noise) and finite mechanisms (far-outputs)."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.catalogue import read_spec
from dpverify.errors import SpecError
from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, Sym, parse
from dpverify.trusted.kernel.judgement import check as check_certificate
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Domain,
    Exponential,
    KaryResponse,
    Measure,
    Mixture,
    Norm,
    Product,
    Query,
    Radial,
    Shape,
    Space,
    Staircase,
    Table,
    Translation,
)  # fmt: skip
from dpverify.trusted.theories.divergences.rules import finite_measures
from dpverify.trusted.theories.utility.closed_tails import closed
from dpverify.trusted.theories.utility.rules import far_noise, far_outputs

LAPLACE = Radial(parse("exp(-r)"), L1, ONE, parse("2"))
GAUSSIAN = parse("exp(-r**2/2)")
TWO_SIDED = Translation(parse("exp(-abs(z)/2)"), integers=True)
ANY = {"e": Domain(Fraction(0)), "b": Domain(Fraction(0), Fraction(1))}
DIAMOND = Norm("columns", None, ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))))


def claim(mechanism, within, beta=None, distance="", loss=(), domains=()):
    value = None if beta is None else parse(beta)
    return Claim(
        mechanism, None, within=parse(within), measure=Measure("beta", value), distance=distance, domains=tuple(domains),
        loss=tuple(tuple(map(Fraction, row)) for row in loss),
    )  # fmt: skip


def ends(asked, digits=12):
    found = verify(asked, digits).judgement
    return float(constant(found.lower).mid()), float(constant(found.upper).mid())


def verdict(asked):
    found = verify(asked, 12)
    assert check_certificate(found.certificate).verdict == found.judgement.verdict
    return found.judgement.verdict


def erlang(n, x):
    return math.exp(-x) * sum(x**k / math.factorial(k) for k in range(n))


# -- the probability, by formulas from elsewhere ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "within", "distance", "expected"),
    [
        (LAPLACE, "3", "", math.exp(-1.5)),
        (LAPLACE, "0", "", 1.0),
        (LAPLACE, "3", "linf", math.exp(-1.5)),
        (Radial(GAUSSIAN, L2, ONE, parse("2")), "3", "", math.erfc(1.5 / math.sqrt(2))),
        (Radial(GAUSSIAN, L2, parse("2"), parse("2")), "5", "", math.exp(-25 / 8)),
        (Radial(GAUSSIAN, L2, parse("3"), ONE), "2", "", math.erfc(math.sqrt(2)) + 2 * math.sqrt(2 / math.pi) * math.exp(-2)),
        (Radial(GAUSSIAN, L2, parse("4"), ONE), "3", "", erlang(2, 4.5)),
        (Radial(GAUSSIAN, L2, parse("3"), ONE), "2", "linf", 1 - math.erf(math.sqrt(2)) ** 3),
        (Radial(parse("exp(-r)"), L2, parse("3"), ONE), "4", "", erlang(3, 4)),
        (Radial(parse("exp(-r)"), DIAMOND, parse("2"), ONE), "4", "", erlang(2, 4)),
        (Radial(parse("exp(-r)"), Norm("columns", None, ((Fraction(2),),)), ONE, ONE), "3", "", math.exp(-3)),
        (Radial(parse("exp(-r)"), Norm("columns", None, ((Fraction(2),),)), ONE, ONE), "3", "l1", math.exp(-1.5)),
        (Product(parse("exp(-abs(z)/2)"), parse("3")), "15", "", erlang(3, 7.5)),
        (Product(parse("exp(-abs(z)/2)"), parse("3")), "10", "linf", 1 - (1 - math.exp(-5)) ** 3),
        (Radial(parse("exp(-r)"), L1, parse("3"), parse("2")), "10", "linf", 1 - (1 - math.exp(-5)) ** 3),
        (Product(parse("exp(-z**2/2)"), parse("3")), "2", "l2", math.erfc(math.sqrt(2)) + 2 * math.sqrt(2 / math.pi) * math.exp(-2)),
        (TWO_SIDED, "5", "", 2 * math.exp(-3) / (1 + math.exp(-0.5))),
        (TWO_SIDED, "4.999", "", 2 * math.exp(-2.5) / (1 + math.exp(-0.5))),
        (TWO_SIDED, "0", "", 2 * math.exp(-0.5) / (1 + math.exp(-0.5))),
        (Radial(parse("(1 + r**2)**(-1)"), L2, ONE, ONE), "3", "", 1 - 2 / math.pi * math.atan(3)),
        (Radial(parse("(1 + r**2)**(-3/2)"), L2, parse("2"), ONE), "3", "", 1 / math.sqrt(10)),
        (Translation(parse("exp(-z)"), (parse("0"), None)), "2", "", math.exp(-2)),
        (Staircase(ONE, parse("1/3")), "1/6", "", 1 - (1 / 6) / (1 / 3 + math.exp(-1) / (1 - math.exp(-1)))),
        (Mixture(parse("exp(-r**2/(2*v))*v**(-1/2)"), parse("exp(-v)"), (parse("0"), None), L2, ONE), "1", "", math.exp(-math.sqrt(2))),
    ],
)  # fmt: skip
def test_the_probability_of_noise_beyond_a_distance_is_what_its_law_says(mechanism, within, distance, expected):
    low, high = ends(claim(mechanism, within, distance=distance))
    assert low * (1 - 1e-4) <= expected * (1 + 1e-12) and expected <= high * (1 + 1e-4) and high - low <= 2e-3 * max(expected, 1e-9)


def test_coordinates_have_a_closed_form_in_the_norm_of_their_sensitivity_without_a_word():
    found = closed(claim(Product(parse("exp(-abs(z)/2)"), parse("3")), "15"), parse("15"), None, "far-noise")
    assert float(constant(found)) == pytest.approx(erlang(3, 7.5), rel=1e-12)


def test_an_answer_at_the_distance_itself_is_near():
    masses = {k: math.exp(-abs(k) / 2) for k in range(-200, 201)}
    beyond = {t: sum(m for k, m in masses.items() if abs(k) > t) / sum(masses.values()) for t in (4, 5)}
    for t, just_below in ((5, "99/20"), (4, "79/20")):
        assert verdict(claim(TWO_SIDED, str(t), str(Fraction(round((beyond[t] + 1e-9) * 10**12), 10**12)))) == "PROVED"
        assert verdict(claim(TWO_SIDED, just_below, str(Fraction(round((beyond[t] + 1e-9) * 10**12), 10**12)))) == "REFUTED"


@pytest.mark.parametrize("bits", [53, 64, 148])
@pytest.mark.parametrize(("mechanism", "evidence"), [(TWO_SIDED, {"bits": 40}), (LAPLACE, {}), (LAPLACE, {"bits": 60})])
@pytest.mark.parametrize("within", ["59/10", "5.00000000000000001", "5." + 59 * "0" + "1"])
def test_a_rational_distance_is_that_one_and_none_beside_it(mechanism, evidence, within, bits):
    """No binary number is any of these: what is a little less than 5 has the atom at 5 beyond it, which 5 and a little more has not."""
    exact = "2*exp(-3)/(1 + exp(-1/2))" if mechanism is TWO_SIDED else f"exp(-({within})/2)"
    with precision(bits):
        low, high = (found.value for found in far_noise.check(claim(mechanism, within), evidence))
    with precision(400):
        assert constant(low) <= constant(parse(exact)) <= constant(high)


def test_a_claim_that_holds_is_not_refuted_at_a_low_precision():
    held = claim(TWO_SIDED, "5.00000000000000001", "8/100")  # P(|Z| > 5) is 0.062, P(|Z| > 4) is 0.102
    with pytest.raises(CertificateError, match="its lines give PROVED"):
        check_certificate(pack(held, 53, "REFUTED", [Line(far_noise.NAME, (), {"bits": 40}, (), 53)]))


def test_claims_on_both_sides_of_the_tight_probability_are_told_apart():
    for mechanism, within, tight in ((LAPLACE, "3", math.exp(-1.5)), (Radial(GAUSSIAN, L2, parse("2"), ONE), "2", math.exp(-2))):
        assert verdict(claim(mechanism, within, str(Fraction(tight + 1e-9).limit_denominator(10**12)))) == "PROVED"
        assert verdict(claim(mechanism, within, str(Fraction(tight - 1e-9).limit_denominator(10**12)))) == "REFUTED"


def test_a_distance_that_is_no_rational_is_taken_on_both_sides():
    heavy = Radial(parse("(1 + r**2)**(-3/2)"), L2, parse("2"), ONE)
    low, high = ends(claim(heavy, "sqrt(99)"), 20)
    assert low <= 0.1 <= high + 1e-15 and high - low < 1e-15


def test_the_law_of_laplace_noise_is_claimed_for_all_parameters():
    noise = Radial(parse("exp(-r)"), L1, ONE, parse("1/e"))
    assert verdict(claim(noise, "log(1/b)/e", "b", domains=ANY.items())) == "PROVED"
    assert verdict(claim(noise, "log(1/b)/e", "b/2", domains=ANY.items())) == "REFUTED"
    with pytest.raises(CertificateError, match="scale = e - 1 is not certainly positive"):
        verdict(claim(replace(noise, scale=parse("e - 1")), "1", "b", domains=ANY.items()))


def test_the_least_distance_is_shown_beside_a_claim():
    also = verify(claim(Radial(GAUSSIAN, L2, parse("2"), ONE), "3", "1/20"), 12).judgement.also
    low, high = (Fraction(also[f"least within, at {side}"]) for side in ("least", "most"))
    assert low <= Fraction(math.sqrt(2 * math.log(20))) <= high and high - low < Fraction(1, 10**8)
    also = verify(claim(TWO_SIDED, "9", "1/20"), 12).judgement.also
    tail = [2 * math.exp(-(m + 1) / 2) / (1 + math.exp(-0.5)) <= 0.05 for m in range(20)]
    assert {Fraction(text) for text in also.values()} == {Fraction(tail.index(True))}


# -- what the rule about noise refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "evidence", "why"),
    [
        (Claim(LAPLACE, ONE), {"form": True}, "how near answers are"),
        (Claim(LAPLACE, None, within=ONE, measure=Measure("zcdp", ONE)), {"form": True}, "how near answers are"),
        (Claim(LAPLACE, None, measure=Measure("beta", ONE)), {"form": True}, "how near answers are"),
        (claim(Product(parse("exp(-abs(z))"), parse("3")), "1", distance="l2"), {"form": True}, "no closed form"),
        (claim(Radial(parse("-exp(-r)"), L1, ONE), "1"), {"form": True}, "at least 0"),
        (claim(Radial(parse("exp(r)"), L1, ONE), "1"), {"form": True}, "not certainly exp"),
        (claim(Radial(parse("exp(-r)"), L1, parse("3/2"), ONE), "1"), {"form": True}, "integer"),
        (claim(Radial(parse("exp(-r**(2/3))"), L2, ONE), "1"), {"form": True}, None),
        (claim(Radial(parse("exp(-r**3)"), L2, ONE), "1"), {"form": True}, "finite sum"),
        (claim(Radial(parse("exp(-r)"), L1, parse("65"), ONE), "1"), {"form": True}, "finite sum"),
        (claim(Radial(parse("exp(-r)"), L2, parse("3"), ONE), "1", distance="linf"), {"form": True}, "no closed form"),
        (claim(Radial(parse("exp(-r)"), L2, parse("3"), ONE), "1", distance="l1"), {}, "name linf"),
        (claim(Product(parse("exp(-abs(z))"), parse("3")), "1", distance="l2"), {}, "name linf"),
        (claim(Translation(parse("exp(-abs(z - 1))")), "1"), {"form": True}, "even"),
        (claim(Translation(parse("exp(-abs(z))"), (None, parse("3"))), "1"), {"form": True}, "even"),
        (claim(Translation(parse("exp(-z**2/abs(z))"), integers=True), "1"), {"form": True}, "not certainly at least 0"),
        (claim(Translation(parse("exp(-z**2)"), integers=True), "1"), {"form": True}, "on the integers"),
        (claim(TWO_SIDED, "sqrt(2)"), {"form": True}, "beyond a number"),
        (claim(Staircase(ONE, parse("1/3")), "1"), {"form": True}, "no closed form"),
        (claim(LAPLACE, "1", "1/2"), {"least": ["1/10", "1/5"]}, "both sides"),
        (claim(LAPLACE, "1", "1/2"), {"least": ["3", "4"]}, "both sides"),
        (claim(LAPLACE, "1", "1/2"), {"least": ["-1", "4"]}, "both sides"),
    ],
)  # fmt: skip
def test_what_is_no_length_of_noise_is_refused(asked, evidence, why):
    with precision(128):
        if why is None:  # the form is one: r^(2/3) in one dimension has the shape 3/2
            assert far_noise.check(asked, evidence)
            return
        with pytest.raises(DpverifyError, match=why):
            far_noise.check(asked, evidence)


def test_no_least_distance_is_told_where_no_probability_is_claimed():
    with precision(128), pytest.raises(CertificateError, match="no probability is claimed"):
        far_noise.check(claim(LAPLACE, "1"), {"least": ["1", "2"]})


def test_rules_about_measures_of_privacy_say_nothing_of_nearness():
    table = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
    with pytest.raises(Rejected, match="no measure of privacy"):
        finite_measures.infer(claim(table, "0", loss=((0, 1), (1, 0))), {}, ())


# -- finite mechanisms ---------------------------------------------------------------------------------------------

ROWS = Table(((parse("3/4"), parse("1/4")), (parse("1/3"), parse("2/3"))))
LOSS = ((0, 1), (2, 0))


@pytest.mark.parametrize(("within", "tight"), [("0", "1/3"), ("1/2", "1/3"), ("1", "1/3"), ("3/2", "1/3"), ("2", "0")])
def test_a_table_is_as_far_as_its_worst_row(within, tight):
    found = verify(claim(ROWS, within, loss=LOSS)).judgement
    assert certainly_equal(found.lower, parse(tight)) and certainly_equal(found.upper, parse(tight))


def test_the_exponential_mechanism_is_as_far_below_the_best_score_as_its_weights_say():
    scores = ((3, 1, 0), (2, 2, 1))
    mechanism = Exponential(tuple(tuple(map(parse, map(str, row))) for row in scores), parse("1/2"))
    for gamma in (0, 1, 2, 3):
        far = max(sum(math.exp(s / 2) for s in row if max(row) - s > gamma) / sum(math.exp(s / 2) for s in row) for row in scores)
        low, high = ends(claim(mechanism, str(gamma)))
        assert low == pytest.approx(far, rel=1e-12, abs=1e-15) and high == pytest.approx(far, rel=1e-12, abs=1e-15)


def test_the_exponential_mechanism_is_claimed_for_every_rate():
    mechanism = Exponential((tuple(map(parse, ("0", "-1", "-2"))),), Sym("e"))
    domains = [("e", Domain(Fraction(0)))]
    assert verdict(claim(mechanism, "1", "exp(-2*e)/(1 + exp(-e) + exp(-2*e))", domains=domains)) == "PROVED"
    assert verdict(claim(mechanism, "0", "exp(-2*e)/(1 + exp(-e) + exp(-2*e))", domains=domains)) == "REFUTED"


def test_what_is_no_finite_mechanism_with_costs_is_refused():
    for asked, why in (
        (claim(ROWS, "0"), "what outputs cost"),
        (claim(Exponential((tuple(map(parse, ("0", "e"))),), ONE), "1", domains=[("e", Domain(Fraction(0)))]), "is not certain"),
        (claim(LAPLACE, "1"), "finitely many outputs"),
        (Claim(ROWS, ONE), "how near answers are"),
    ):
        with precision(128), pytest.raises(Rejected, match=why):
            far_outputs.check(asked, {})


# -- what a certificate may state -------------------------------------------------------------------------------------

GOOD = claim(LAPLACE, "1", "1/2")


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (replace(GOOD, within=None), "with `within`"),
        (replace(GOOD, mechanism=KaryResponse(parse("3"), parse("1/2"))), "with `within`"),
        (replace(GOOD, sensitivity=ONE), "neighbours"),
        (replace(GOOD, query=Query(((Fraction(1),),), "replace")), "neighbours"),
        (replace(GOOD, beta=ONE), "neighbours"),
        (replace(GOOD, adjacency="replace"), "neighbours"),
        (replace(GOOD, order="one-sided"), "neighbours"),
        (replace(GOOD, mechanism=ROWS, loss=((Fraction(0),),), prior=(Fraction(1),)), "prior"),
        (replace(GOOD, distance="l3"), "none of l1, l2, linf"),
        (replace(GOOD, mechanism=ROWS, distance="l1"), "adds no noise"),
        (replace(GOOD, epsilon=ONE), "epsilon or a delta beside"),
        (replace(GOOD, utility=True), "asks for errors beside"),
        (replace(GOOD, measure=None, epsilon=ONE), "which is no space"),
        (replace(GOOD, measure=Measure("zcdp", ONE)), "which is no space"),
        (replace(GOOD, measure=Measure("zcdp", ONE), within=None, distance="l1"), "states a distance"),
        (replace(GOOD, mechanism=Space(Shape("integers"), databases="answers")), "."),
    ],
)  # fmt: skip
def test_a_claim_of_nearness_states_nothing_else(stated, why):
    assert from_json(to_json(GOOD)) == GOOD
    with pytest.raises(CertificateError, match=why):
        from_json(to_json(stated))


# -- claim files ---------------------------------------------------------------------------------------------------------

NOISE = 'kind = "builtin"\nname = "laplace"\nscale = 2\n'
TABLE = 'kind = "table"\nrows = [["1/2", "1/2"], ["1/2", "1/2"]]\n'
NEAR = "[[claim]]\nwithin = 1\nbeta = 1\n"


def read(folder, mechanism, asked):
    file = folder / "near.toml"
    file.write_text(f"[mechanism]\n{mechanism}\n{asked}")
    return read_spec(file).claims[0].claim


@pytest.mark.parametrize(
    ("mechanism", "asked", "why"),
    [
        (NOISE, "[[claim]]\nwithin = 1\n", "beta is missing"),
        (NOISE, NEAR + "epsilon = 1\n", "epsilon stands beside within"),
        (NOISE, NEAR + 'delta = "1/100"\n', "delta stands beside within"),
        (NOISE, NEAR + "zcdp = 1\n", "zcdp stands beside within"),
        (NOISE, NEAR + "utility = true\n", "utility stands beside within"),
        (NOISE, NEAR + 'order = "one-sided"\n', "order stands beside within"),
        (NOISE, NEAR + 'distance = "l5"\n', "distance"),
        (NOISE, '[[claim]]\nepsilon = 1\nsensitivity = 1\ndistance = "l1"\n', "distance stands without within"),
        (NOISE, "[[claim]]\nepsilon = 1\nsensitivity = 1\nbeta = 1\n", "or within, to claim how near"),
        (TABLE, NEAR, "loss is missing"),
        (TABLE, NEAR + 'loss = [[0, 1], [1, 0]]\nprior = ["1/2", "1/2"]\n', "prior stands beside within"),
        (TABLE, NEAR + 'loss = [[0, 1], [1, 0]]\ndistance = "l1"\n', "distance is for additive noise"),
        ('kind = "builtin"\nname = "k_randomized_response"\nk = 3\np = "1/2"\n', NEAR, "not of"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_claim_of_nearness_is_said(tmp_path, mechanism, asked, why):
    with pytest.raises(SpecError) as caught:
        read(tmp_path, mechanism, asked)
    assert re.search(why, str(caught.value))


def test_a_claim_file_states_how_near_answers_are(tmp_path):
    assert read(tmp_path, NOISE, NEAR).measure == Measure("beta", ONE)
    assert read(tmp_path, NOISE, NEAR.replace("beta = 1", 'beta = "tight"')).measure == Measure("beta", None)
    assert read(tmp_path, NOISE, NEAR + "sensitivity = 1\n").sensitivity is None
    assert read(tmp_path, NOISE, NEAR + 'distance = "linf"\n').distance == "linf"
    points = 'kind = "exponential"\npoints = [[0], [1]]\nmetric = "l1"\nbeta = 1\n'
    assert verdict(read(tmp_path, points, "[[claim]]\nwithin = 0\nbeta = '1/(1 + exp(1))'\n")) == "PROVED"
