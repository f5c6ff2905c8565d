"""Claims for every value of a parameter: groups of any size, and bounds that no finite epsilon keeps for all of them."""

import math
from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import L2, Claim, Domain, Group, Guarantee, KaryResponse, Lipschitz, Part, Product, Radial, Table

COUNT = Domain(Fraction(1), lower_open=False, integer=True)
DOMAINS = (("k", COUNT),)


def judged(mechanism, epsilon, domains=DOMAINS, **fields):
    return verify(Claim(mechanism, parse(epsilon), domains=domains, **fields)).judgement


def guarantee(epsilon, measure="approximate"):
    return Part(Guarantee(measure, ((parse(epsilon), parse("0")),) if measure == "approximate" else ((parse(epsilon),),)))


@pytest.mark.parametrize(
    ("part", "claimed", "verdict"),
    [
        (guarantee("1/2"), "k/2", "PROVED"),
        (guarantee("1/2"), "k/2 - 1/100", "UNKNOWN"),  # no lower bound is known of a guarantee
        (guarantee("1/2"), "100", "UNKNOWN"),
        (guarantee("2", "bounded_range"), "2*k", "PROVED"),
        (Part(Group(guarantee("1/3"), parse("2"))), "2*k/3", "PROVED"),
        (Part(Lipschitz(guarantee("1"), parse("3"))), "3*k", "PROVED"),
        (Part(Lipschitz(guarantee("1"), parse("5/2"))), "3*k", "UNKNOWN"),  # 5 k/2 steps are no whole number
    ],
)
def test_a_guarantee_over_k_steps_is_k_times_the_guarantee(part, claimed, verdict):
    assert judged(Group(part, parse("k")), claimed).verdict == verdict


@pytest.mark.parametrize("size", [1, 2, 999, 5000, 10**9])
def test_a_group_may_be_of_any_size(size):
    noise = Group(guarantee("1/2"), parse(str(size)))
    assert judged(noise, f"{size}/2", ()).verdict == "PROVED"
    assert judged(noise, f"({size} - 1/100)/2", ()).verdict == "UNKNOWN"


def test_tables_over_any_number_of_steps_reach_all_that_is_connected():
    """A path of three inputs: one step costs log 2, the whole path log 4; a fourth input by itself is never reached."""
    rows = [["4/7", "3/7"], ["2/7", "5/7"], ["1/7", "6/7"], ["0", "1"]]
    table = Table(tuple(tuple(map(parse, row)) for row in rows), ((0, 1), (1, 2)))
    assert judged(Group(Part(table), parse("k")), "log(4)").verdict == "PROVED"
    assert judged(Group(Part(table), parse("k")), "log(3)").verdict == "UNKNOWN"  # at k = 1 it holds
    assert judged(Group(Part(table), parse("2")), "log(3)", ()).verdict == "REFUTED"
    assert judged(Group(Part(table), parse("1000000000")), "log(4)", ()).verdict == "PROVED"


T_NOISE = Radial(parse("(1 + r**2/5)**(-(5 + k)/2)"), L2, parse("k"))
LAPLACES = Product(parse("exp(-abs(z))"), parse("k"), L2)


@pytest.mark.parametrize(
    ("noise", "claimed", "tight"),
    [
        (T_NOISE, "1000000000", lambda k: (5 + k) * math.asinh(1 / (2 * math.sqrt(5)))),  # theory#power-identity
        (T_NOISE, "1000*log(k + 1)", lambda k: (5 + k) * math.asinh(1 / (2 * math.sqrt(5)))),
        (T_NOISE, "1000*sqrt(k)", lambda k: (5 + k) * math.asinh(1 / (2 * math.sqrt(5)))),
        (LAPLACES, "10*log(k + 1) + 2", math.sqrt),  # theory#product-noise
        (KaryResponse(parse("k"), parse("1/2")), "100", lambda k: math.log(k - 1)),  # theory#kary-response
    ],
)
def test_where_no_epsilon_holds_for_all_sizes_one_is_named_at_which_it_fails(noise, claimed, tight):
    few = isinstance(noise, KaryResponse)  # it wants two answers at least
    domains = (("k", Domain(Fraction(2), lower_open=False, integer=True)),) if few else DOMAINS
    found = judged(noise, claimed, domains, sensitivity=None if few else parse("1"))
    assert found.verdict == "REFUTED"
    k = int(found.witness["at"]["k"])
    assert eval(claimed, {"log": math.log, "sqrt": math.sqrt, "k": k}) < tight(k)


def test_what_holds_for_all_sizes_is_not_refuted():
    assert judged(T_NOISE, "k/2 + 3", sensitivity=parse("1")).verdict == "PROVED"
