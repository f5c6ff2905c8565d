"""Noise on answers that never move hides everything: epsilon and delta are 0, for every additive noise.

The class: whatever the noise (also one that has no finite epsilon at any other sensitivity), however it is said that answers are equal; and
whatever else does not look at what neighbours differ in.
"""

from fractions import Fraction

import pytest

from dpverify.search.additive import asymptotics
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    EllipticalProcess,
    Guarantee,
    Kernel,
    Lipschitz,
    Mixture,
    Part,
    Product,
    Query,
    Radial,
    Staircase,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.theories.additive.rules import equal_answers as rule

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


BOUNDED = Kernel(parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"), (ZERO, ONE), (ZERO, ONE))
KERNELS = {
    "bounded laplace": BOUNDED,
    "linear": Kernel(parse("1 + (y - 1/2)*theta"), (ZERO, ONE), (ZERO, ONE)),
    "disjoint": Kernel(parse("max(0, 1 - abs(y - theta))"), (None, None), (ZERO, num(5))),
}


SELDOM = "exp(-abs(z))*(1 + floor(z) + floor(-z))"
"""0 but at the integers."""


@pytest.mark.parametrize(
    "claim", [Claim(Translation(parse(SELDOM)), ZERO, sensitivity=ZERO), Claim(Product(parse(SELDOM), num(2)), ZERO, sensitivity=ZERO)]
)
def test_what_is_0_but_at_single_points_is_no_density(claim):
    assert verify(claim).judgement.verdict == "UNKNOWN"
    beside = Compose((Part(claim.mechanism, ZERO), Part(LAPLACE, ONE)))
    assert verify(Claim(beside, ONE)).judgement.verdict == "UNKNOWN"


def test_on_the_integers_the_same_has_mass():
    found = verify(Claim(Translation(parse(SELDOM), integers=True), ZERO, sensitivity=ZERO)).judgement
    assert (found.verdict, found.upper) == ("PROVED", ZERO)


@pytest.mark.parametrize(
    ("noise", "told"),
    [
        ("one-sided", ["-2", "-1"]),
        ("one-sided", ["1", "1"]),
        ("a zero inside", ["-2", "-1"]),
        ("a zero inside", ["1/2", "2"]),
        ("one-sided", ["2", "1"]),
    ],
)
def test_where_a_density_is_positive_is_told_by_an_interval_on_which_it_is(noise, told):
    noise = NOISES[noise]
    claim = Claim(noise, ZERO, sensitivity=ZERO)
    shown = {"side": "upper", **asymptotics.evidence(noise)}
    with precision(128):
        assert rule.check(claim, {**shown, "positive": ["2", "17/8"]}).value == ZERO
        with pytest.raises(DpverifyError):
            rule.check(claim, {**shown, "positive": told})
        with pytest.raises(CertificateError, match="the two ends of an interval"):
            rule.check(claim, shown)


def test_an_integer_at_which_noise_is_positive_is_one():
    noise = Translation(parse(SELDOM), integers=True)
    shown = {"side": "upper", **asymptotics.evidence(noise)}
    with precision(128):
        for told in (["1/2", "1/2"], ["0", "1"]):
            with pytest.raises(Rejected, match="certainly positive"):
                rule.check(Claim(noise, ZERO, sensitivity=ZERO), {**shown, "positive": told})


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


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_kernel_on_equal_inputs_has_epsilon_0_alone_and_among_others(kernel):
    for epsilon in (ZERO, None):
        found = verify(Claim(kernel, epsilon, sensitivity=ZERO)).judgement
        assert (found.verdict, found.lower, found.upper) == ("PROVED", ZERO, ZERO)
    found = verify(Claim(Compose((Part(kernel, ZERO), Part(LAPLACE, ONE))), None)).judgement
    assert (found.lower, found.upper) == (ONE, ONE)
    for side in ("upper", "lower"):
        with precision(128), pytest.raises(Rejected):
            rule.check(Claim(kernel, ZERO, sensitivity=parse("1e-9")), {"side": side})


def test_a_kernel_that_is_no_density_is_none_on_equal_inputs_either():
    wrong = Kernel(parse("1 + (y - 1/3)*theta"), (ZERO, ONE), (ZERO, ONE))
    found = verify(Claim(wrong, ZERO, sensitivity=ZERO))
    assert found.judgement.verdict == "UNKNOWN" and "does not integrate to 1" in found.reasons[0]
    with precision(128):
        shown = rule.check(Claim(BOUNDED, ZERO, sensitivity=ZERO), {"side": "upper"}).assumed
    assert any("integrates to 1" in line for line in shown)  # without evidence it is taken for granted


@pytest.mark.parametrize("size", ["0", "2"])
@pytest.mark.parametrize(
    "part",
    [
        Part(Table(((parse("1/2"), parse("1/2")), (parse("1/4"), parse("3/4")))), None),
        Part(LAPLACE, ONE),
        Part(Subsample(Part(LAPLACE, ONE), parse("1/2"))),
        Part(Guarantee("approximate", ((ONE, parse("1/10")),))),
        Part(Translation(parse("exp(-z)"), (ZERO, None)), ONE),
    ],
    ids=["table", "laplace", "sample", "guarantee", "one-sided"],
)
def test_behind_a_map_that_makes_neighbours_equal_nothing_is_lost(part, size):
    found = verify(Claim(Lipschitz(part, parse(size)), ZERO)).judgement
    assert (found.verdict == "PROVED") == (size == "0")
    if size == "0":
        beside = verify(Claim(Compose((Part(Lipschitz(part, ZERO)), Part(LAPLACE, ONE))), ONE)).judgement
        assert beside.verdict == "PROVED" and beside.upper == ONE


def test_a_mixture_on_equal_answers_has_epsilon_0():
    for mixing in ("exp(-v)", "exp(-log(v)**2)"):
        noise = Mixture(parse("exp(-r/v)/v"), parse(mixing), (ZERO, None), L1, ONE)
        assert verify(Claim(noise, ZERO, sensitivity=ZERO)).judgement.verdict == "PROVED"


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
        Claim(EllipticalProcess(parse("1")), ZERO, sensitivity=ZERO),
        Claim(GAUSSIAN, ZERO, sensitivity=num(-1)),
        Claim(GAUSSIAN, ZERO),
        Claim(Product(parse("1/(1 + abs(z))"), parse("n")), ZERO, sensitivity=ZERO, domains=(("n", Domain(ONE.value, integer=True)),)),
        Claim(Compose((Part(LAPLACE, ZERO),)), ZERO),
    ],
    ids=["line", "integers", "mixing", "negative", "not stated", "parameters", "parts"],
)
def test_what_is_no_noise_is_not_covered(claim):
    with precision(128), pytest.raises(DpverifyError):
        rule.check(claim, {"side": "upper"})


def test_the_side_must_be_named():
    with pytest.raises(STUMBLES, match="side"):  # what the kernel refuses
        rule.check(Claim(GAUSSIAN, ZERO, sensitivity=ZERO), {})


def test_equal_answers_are_equal_for_all_parameters():
    whole = (("n", Domain(Fraction(1), lower_open=False, integer=True)),)
    claim = Claim(Product(parse("exp(-z**2)"), parse("n")), ZERO, sensitivity=ZERO, domains=whole)
    assert verify(claim).judgement.verdict == "PROVED"


POSITIVE = (("a", Domain(Fraction(0))),)


@pytest.mark.parametrize(
    ("noise", "says"),
    [
        (Radial(parse("exp(-a*r)/r**5"), L2, num(3)), "at 0"),
        (Radial(parse("exp(-a*r)/r**3"), L2, num(3)), "at 0"),
        (Radial(parse("exp(1/r - a*r)"), L2, num(3)), "at 0"),
        (Translation(parse("exp(-a*abs(z))/abs(z)")), "at 0"),
        (Translation(parse("exp(-a*abs(z))/abs(z)**(1/2)"), integers=True), "at 0"),
        (Translation(parse("exp(-a*z)")), "not certainly integrable"),
        (Translation(parse("exp(-a*z)"), integers=True), "not certainly integrable"),
        (Translation(parse("exp(a*z)")), "not certainly integrable"),
        (Product(parse("exp(-a*z)"), num(2)), "not certainly integrable"),
    ],
)
def test_a_density_over_parameters_without_a_finite_integral_at_either_end_is_no_noise(noise, says):
    goal = Claim(noise, ZERO, sensitivity=ZERO, domains=POSITIVE)
    with precision(128), pytest.raises(DpverifyError, match=says):
        rule.check(goal, {"side": "upper"})
    assert verify(goal).judgement.verdict == "UNKNOWN"


@pytest.mark.parametrize(
    "noise",
    [
        Radial(parse("exp(-a*r)"), L2, num(3)),
        Radial(parse("exp(-a*r)/r**2"), L2, num(3)),
        Radial(parse("exp(-a*r)*r**2"), L2, num(3)),
        Radial(parse("exp(-a*r - 1/r)"), L2, num(3)),
        Radial(parse("exp(-r - a*asinh(r))"), L2, num(3)),
        Translation(parse("exp(-a*abs(z))/abs(z)**(1/2)")),
        Translation(parse("1/(exp(a*z) + exp(-z))")),
        Translation(parse("exp(-a*abs(z))"), integers=True),
    ],
)
def test_a_density_over_parameters_may_have_a_pole_or_a_zero_that_it_is_integrable_at(noise):
    assert verify(Claim(noise, ZERO, sensitivity=ZERO, domains=POSITIVE)).judgement.verdict == "PROVED"


def test_noise_whose_density_is_not_seen_to_be_non_negative_is_taken_for_noise_by_assumption():
    signed = Translation(parse("(1 - 2*exp(-(1000000*(z - 29/7))**2))*exp(-abs(z))"))
    found = verify(Claim(signed, ZERO, query=still([1, 1], adjacency="replace"))).judgement
    assert (found.verdict, found.assumptions) == ("PROVED", ("the sampler is ideal", "the density is non-negative"))
