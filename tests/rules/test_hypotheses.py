"""What rules about combinators rest on: each hypothesis broken alone is refused, and each that cannot be checked is shown."""

from fractions import Fraction

import pytest

from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    KaryResponse,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Subsample,
    repeated,
)
from dpverify.trusted.theories.composition.rules import post_processing
from tests import proofs
from tests.proofs import Step, saying

HALF = parse("1/2")
LAPLACE = Part(Radial(parse("exp(-r)"), L1, num(1)), num(1))
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))
UPPER = {"rule": "concave-exponent", "evidence": {"side": "upper"}}
LOWER = {"rule": "concave-exponent", "evidence": {"side": "lower"}}
COUNT = Domain(Fraction(2), None, False, True, True)


def bound(mechanism, rule, evidence, epsilon="1", delta="0", **domains):
    claim = Claim(mechanism, parse(epsilon), parse(delta), domains=tuple(sorted(domains.items())))
    return proofs.bound(claim, Step(rule, evidence))


# -- parameters -----------------------------------------------------------------------------------


def test_a_lower_bound_of_a_part_at_one_value_of_a_parameter_is_none_for_the_others():
    # randomized response with k answers and truth 1/2 has the epsilon |log(k - 1)|: 0 at k = 2, log 4 at k = 5
    whole = Compose((Part(KaryResponse(parse("k"), HALF)),))
    part = {"rule": "kary-response", "evidence": {"side": "lower"}}
    assert bound(whole, "combination", {"side": "lower", "part": {"parts": [part]}}, k=COUNT)[0].side == "lower"
    fixed = {"rule": "kary-response", "evidence": {"side": "lower", "at": {"k": "5"}}}
    with pytest.raises(Rejected, match="for all parameters"):
        bound(whole, "combination", {"side": "lower", "part": {"parts": [fixed]}}, k=COUNT)
    at = bound(whole, "combination", {"side": "lower", "part": {"parts": [part]}, "at": {"k": "5"}}, k=COUNT)[0]
    assert at.at == {"k": num(5)}


@pytest.mark.parametrize("outside", ["a", "b"])
@pytest.mark.parametrize("value", [Fraction(-1), Fraction(2), Fraction(1)])
def test_a_lower_bound_counts_only_where_every_parameter_is_in_its_domain(outside, value):
    domains = (("a", Domain(Fraction(0), Fraction(1))), ("b", Domain(Fraction(0), Fraction(1))))
    claim = Claim(LAPLACE.mechanism, HALF, sensitivity=num(1), domains=domains)
    at = {"a": HALF, "b": HALF}
    for values, verdict in ((at, "REFUTED"), ({**at, outside: Num(value)}, "UNKNOWN"), ({**at, "c": HALF}, "UNKNOWN")):
        assert kernel.judge(claim, [saying(claim, "concave-exponent", Bound("lower", num(1), at=values))]).verdict == verdict


# -- samples ---------------------------------------------------------------------------------------


def test_a_sample_that_may_be_empty_refutes_nothing():
    infinite = {"rule": "convex-exponent", "evidence": {"side": "lower"}}
    evidence = {"side": "lower", "part": infinite}
    positive, closed = Domain(Fraction(0), Fraction(1), True, False), Domain(Fraction(0), Fraction(1), False, False)
    whole = Subsample(GAUSSIAN, parse("p"))
    assert bound(whole, "combination", evidence, p=positive)[0].value is INFINITE
    with pytest.raises(Rejected, match="positive"):
        bound(whole, "combination", evidence, p=closed)


def test_neighbours_of_neighbours_of_a_sample_have_no_lower_bound():
    whole = Group(Part(Subsample(LAPLACE, HALF)), num(2))
    assert bound(whole, "combination", {"side": "upper", "part": UPPER})[0].side == "upper"
    with pytest.raises(Rejected, match="further than one record"):
        bound(whole, "combination", {"side": "lower", "part": LOWER})


def test_parts_in_parallel_want_to_know_whether_their_neighbours_are_one_record_apart():
    whole = Group(Part(Parallel((LAPLACE, LAPLACE))), parse("k"))
    evidence = {"side": "lower", "part": {"parts": [LOWER, LOWER]}}
    assert bound(whole, "combination", evidence, k=Domain(Fraction(1), None, False))[0].side == "lower"
    with pytest.raises(Rejected, match="one record apart"):
        bound(whole, "combination", evidence, k=Domain(Fraction(0)))


def test_a_lower_bound_of_noise_on_steps_that_are_no_whole_number_is_refused():
    with pytest.raises(Rejected, match="not whole"):
        part = {"rule": "kary-response", "evidence": {"side": "lower"}}
        bound(Group(Part(KaryResponse(num(3), HALF)), parse("3/2")), "combination", {"side": "lower", "part": part})


@pytest.mark.parametrize("change", [{"sensitivity": num(1)}, {"query": Query(((Fraction(1),),), "add-remove")}])
def test_a_combinator_has_no_sensitivity_of_its_own(change):
    claim = Claim(Compose((LAPLACE, LAPLACE)), num(2), **change)
    with pytest.raises(CertificateError, match=r"which takes none|only additive noise answers a query"):
        kernel.check(pack(claim, 128, "UNKNOWN", ()))


# -- what cannot be checked is shown -------------------------------------------------------------------

PREMISE = {"premise": UPPER}
PROCESSED = PostProcess(LAPLACE)


@pytest.mark.parametrize(
    ("mechanism", "rule", "evidence"),
    [
        (PROCESSED, "combination", {"side": "upper", "part": UPPER}),
        (Compose((Part(PROCESSED), LAPLACE)), "combination", {"side": "upper", "part": {"parts": [UPPER, UPPER]}}),
        (PROCESSED, "one-sided", {"parts": [PREMISE]}),
        (Compose((Part(PROCESSED), LAPLACE)), "one-sided", {"parts": [PREMISE]}),
        (PROCESSED, "closed-profile", {}),
        (Compose((Part(PostProcess(GAUSSIAN)), GAUSSIAN)), "closed-profile", {}),
    ],
)
def test_a_bound_of_what_is_seen_after_a_map_rests_on_the_map(mechanism, rule, evidence):
    found = bound(mechanism, rule, evidence, epsilon="2", delta="1/2")
    assert found and all(set(post_processing.ASSUMED) <= set(each.assumed) for each in found)


@pytest.mark.parametrize("delta", [None, "1/100"])
@pytest.mark.parametrize("part", [LAPLACE, GAUSSIAN])
def test_a_judgement_of_what_is_seen_after_a_map_rests_on_the_map_and_one_without_does_not(part, delta):
    tight = None if delta is None else parse(delta)
    for mechanism, rests in ((PostProcess(part), True), (Compose((Part(PostProcess(part)), part)), True), (Compose((part, part)), False)):
        judgement = verify(Claim(mechanism, num(20), num(0) if tight is None else tight), 8).judgement
        if judgement.upper is not None:
            assert (set(post_processing.ASSUMED) <= set(judgement.assumptions)) is rests


# -- queries ---------------------------------------------------------------------------------------------


def test_the_sensitivity_of_a_query_is_no_move_of_one_coordinate():
    # every answer moves by 1 in each of two coordinates, by 2 in the l1 norm: no coordinate moves by 2
    noise = Product(parse("abs(z)**(-1/2)*exp(-abs(z))"), num(2), L1)
    evidence = {"side": "right", "start": "1024", "point": "0", "other": "2", "radius": "1/1024"}
    query = Query(((Fraction(1),), (Fraction(1),)), "add-remove")
    with pytest.raises(Rejected, match="query's sensitivity"):
        proofs.bound(Claim(noise, num(1), query=query), Step("divergence", evidence))
    assert proofs.bound(Claim(noise, num(1), sensitivity=num(2)), Step("divergence", evidence))[0].value is INFINITE


@pytest.mark.parametrize("times", [1, 2])
def test_what_a_query_moves_independent_gaussian_coordinates_by_in_l1_is_no_euclidean_distance(times):
    # both answers move by 1: 2 in the l1 norm, sqrt(2) in the Euclidean one that decides
    noise = Product(parse("exp(-z**2/2)"), num(2), L1)
    asked = repeated(Part(noise, query=Query(((Fraction(1),), (Fraction(1),)), "add-remove")), num(times))
    stated = repeated(Part(noise, num(2)), num(times))
    assert {each.side for each in bound(Compose((stated,)), "closed-profile", {}, delta="1/10")} == {"upper", "lower"}
    with pytest.raises(Rejected, match="move together"):
        bound(Compose((asked,)), "closed-profile", {}, delta="1/10")


# -- counts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", ["3/2", "0", "-1", "1/2", "10**6 + 1", "sqrt(2)"])
@pytest.mark.parametrize(
    ("rule", "evidence"),
    [
        ("one-sided", {"parts": [PREMISE]}),
        ("closed-profile", {}),
        ("privacy-profile", {"side": "upper", "curve": {"rule": "gaussian-composition"}}),
    ],
)
def test_a_mechanism_runs_a_whole_number_of_times(times, rule, evidence):
    noise = GAUSSIAN if rule in ("closed-profile", "privacy-profile") else LAPLACE
    with pytest.raises((Rejected, CertificateError), match="integer from 1 to"):
        bound(Compose((repeated(Part(noise.mechanism, num(1)), parse(times)),)), rule, evidence, epsilon="1", delta="1/10")


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_a_part_of_a_combination_runs_a_whole_number_of_times(side):
    evidence = {"side": side, "part": UPPER if side == "upper" else LOWER}
    counted = Subsample(repeated(Part(LAPLACE.mechanism, num(1)), parse("k")), HALF)
    assert bound(counted, "combination", evidence, k=COUNT)[0].side == side
