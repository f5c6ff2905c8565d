"""Noise on answers that never move hides everything: epsilon and delta are 0, for every additive noise.

The class: whatever the noise (also one that has no finite epsilon at any other sensitivity), and however it is said that answers are equal.
"""

from fractions import Fraction

import pytest

from dpverify.trusted.language.errors import CertificateError, DpverifyError
from dpverify.trusted.language.expr import ONE, ZERO, num, parse
from dpverify.trusted.language.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    EllipticalProcess,
    Part,
    Product,
    Query,
    Radial,
    Staircase,
    Subsample,
    Translation,
)
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.rules.additive import equal_answers as rule
from dpverify.verify import verify

GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, num(3))
ON_INTEGERS = Translation(parse("exp(-z**2/2)"), integers=True)
LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
NOISES = {
    "gaussian": GAUSSIAN,
    "laplace": LAPLACE,
    "product": Product(parse("exp(-z**2)"), num(2)),
    "one-sided": Translation(parse("exp(-z)"), (ZERO, None)),
    "uniform": Translation(ONE, (ZERO, ONE)),
    "two peaks": Translation(parse("exp(-z**4)*(1 + z**2)")),
    "a zero inside": Radial(parse("(r - 1)**2*exp(-r)"), L2, ONE),
    "a pole": Radial(parse("r**(-1/2)*exp(-r)"), L2, ONE),
    "integers": ON_INTEGERS,
    "integers, one-sided": Translation(parse("exp(-z)"), (ZERO, None), integers=True),
    "staircase": Staircase(ONE, parse("1/2")),
    "functions": EllipticalProcess(parse("exp(-v)")),
}


def still(*rows, adjacency="add-remove"):
    return Query(tuple(tuple(map(Fraction, row)) for row in rows), adjacency)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_every_additive_noise_on_equal_answers_has_epsilon_and_delta_0(noise):
    for epsilon in (ZERO, None):
        found = verify(Claim(noise, epsilon, sensitivity=ZERO)).judgement
        assert (found.verdict, found.lower, found.upper) == ("PROVED", ZERO, ZERO)
    found = verify(Claim(noise, ZERO, None, sensitivity=ZERO)).judgement
    assert found.verdict == "PROVED" and found.delta_upper == ZERO


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_part_whose_answers_never_move_costs_a_composition_nothing(noise):
    parts = (Part(noise, ZERO), Part(LAPLACE, ONE))
    found = verify(Claim(Compose(parts), None)).judgement
    assert (found.verdict, found.lower, found.upper) == ("PROVED", ONE, ONE)
    sampled = verify(Claim(Subsample(Part(noise, ZERO), parse("1/2")), ZERO)).judgement
    assert sampled.verdict == "PROVED"


@pytest.mark.parametrize("size", ["0", "1/2", "999/1000", "sqrt(2)/2"])
def test_integers_within_less_than_1_of_each_other_are_equal(size):
    assert verify(Claim(ON_INTEGERS, ZERO, sensitivity=parse(size))).judgement.verdict == "PROVED"


@pytest.mark.parametrize(
    ("noise", "query"),
    [
        (GAUSSIAN, still([0, 0], [0, 0], [0, 0])),
        (GAUSSIAN, still([0, 0], [0, 0], [0, 0], adjacency="l2")),
        (GAUSSIAN, still([2, 2], [3, 3], [0, 0], adjacency="replace")),
        (GAUSSIAN, still([2], [3], [1], adjacency="replace")),
        (ON_INTEGERS, still([Fraction(1, 2), Fraction(1, 2)], adjacency="replace")),
        (ON_INTEGERS, still([0], adjacency="l1")),
    ],
    ids=[
        "no columns count",
        "real histograms",
        "equal columns",
        "one column",
        "equal columns on the integers",
        "integers, real histograms",
    ],
)
def test_a_query_shows_that_answers_are_equal(noise, query):
    found = verify(Claim(noise, ZERO, query=query)).judgement
    assert (found.verdict, found.assumptions) == ("PROVED", ("the sampler is ideal",))


@pytest.mark.parametrize(
    ("noise", "size"),
    [
        (GAUSSIAN, "1e-30"),
        (ON_INTEGERS, "1"),
        (ON_INTEGERS, "sqrt(2)"),
        (Staircase(ONE, ONE), "1e-9"),
        (EllipticalProcess(parse("exp(-v)")), "1e-9"),
    ],
)
def test_answers_that_may_differ_are_not_equal(noise, size):
    with precision(128), pytest.raises(DpverifyError, match="sensitivity"):
        rule.check(Claim(noise, ZERO, sensitivity=parse(size)), {"side": "upper"})
    assert verify(Claim(noise, ZERO, sensitivity=parse(size))).judgement.verdict != "PROVED"


def test_answers_of_a_query_that_may_differ_are_not_equal():
    for query in (still([0, 1], [0, 0], [0, 0]), still([2, 2], [3, 4], [0, 0], adjacency="replace")):
        with precision(128), pytest.raises(DpverifyError, match="sensitivity"):
            rule.check(Claim(GAUSSIAN, ZERO, query=query), {"side": "upper"})
    with precision(128), pytest.raises(DpverifyError, match="noise on the integers"):
        rule.check(Claim(ON_INTEGERS, ZERO, query=still([Fraction(1, 2)])), {"side": "upper"})


@pytest.mark.parametrize(
    "claim",
    [
        Claim(Translation(parse("1/(1 + abs(z))")), ZERO, sensitivity=ZERO),
        Claim(Translation(parse("1/(1 + abs(z))"), integers=True), ZERO, sensitivity=ZERO),
        Claim(Product(parse("exp(-z**2)"), parse("1/2")), ZERO, sensitivity=ZERO),
        Claim(Radial(parse("exp(-r)"), L2, ONE, num(-1)), ZERO, sensitivity=ZERO),
        Claim(Staircase(num(-1), ONE), ZERO, sensitivity=ZERO),
        Claim(Staircase(ONE, num(2)), ZERO, sensitivity=ZERO),
        Claim(EllipticalProcess(parse("1")), ZERO, sensitivity=ZERO),
        Claim(GAUSSIAN, ZERO, sensitivity=num(-1)),
        Claim(GAUSSIAN, ZERO),
        Claim(Product(parse("1/(1 + abs(z))"), parse("n")), ZERO, sensitivity=ZERO, domains=(("n", Domain(ONE.value, integer=True)),)),
        Claim(Compose((Part(LAPLACE, ZERO),)), ZERO),
    ],
    ids=["line", "integers", "dimension", "scale", "steps", "gamma", "mixing", "negative", "not stated", "parameters", "parts"],
)
def test_what_is_no_noise_is_not_covered(claim):
    with precision(128), pytest.raises(DpverifyError):
        rule.check(claim, {"side": "upper"})


def test_the_side_must_be_named():
    with pytest.raises(CertificateError, match="'side' is None, not upper or lower"):
        rule.check(Claim(GAUSSIAN, ZERO, sensitivity=ZERO), {})


def test_equal_answers_are_equal_for_all_parameters():
    whole = (("n", Domain(Fraction(1), lower_open=False, integer=True)),)
    claim = Claim(Product(parse("exp(-z**2)"), parse("n")), ZERO, sensitivity=ZERO, domains=whole)
    assert verify(claim).judgement.verdict == "PROVED"
