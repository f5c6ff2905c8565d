"""Budgets that are spent adaptively (theory#privacy-filter), held against all ways to choose parts, and against what is untrue."""

import itertools
import math
from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.combinators import stated
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L2,
    Claim,
    Compose,
    Filter,
    Group,
    Guarantee,
    Measure,
    Part,
    Radial,
    Repeat,
    Subsample,
    Translation,
)
from dpverify.trusted.kernel.well_formed import faults
from dpverify.trusted.theories.composition.rules import privacy_filter, stated_epsilon


def budget(measure, *numbers):
    return Filter(measure, (tuple(map(parse, numbers)),))


def judged(mechanism, epsilon, delta="0", **more):
    return verify(Claim(mechanism, None if epsilon is None else parse(epsilon), None if delta is None else parse(delta), **more)).judgement


def bounds(judgement, of="epsilon"):
    ends = (judgement.lower, judgement.upper) if of == "epsilon" else (judgement.delta_lower, judgement.delta_upper)
    return tuple(None if end is None else math.inf if isinstance(end, Infinite) else float(constant(end)) for end in ends)


# -- the truth, by all ways to choose -----------------------------------------------------------------------------

STEP = 0.25


def greatest_delta(units, epsilon, ratio=0.0):
    """The greatest P(S) - e^epsilon Q(S), given log(P/Q) so far, over all adaptive choices of randomized responses within a budget.

    units: what is left of the budget, in steps. Given what was told, P and Q are in proportion: the excess is counted in units of Q.
    """
    best = max(0.0, math.exp(ratio) - math.exp(epsilon))
    for spent in range(1, units + 1):
        size = spent * STEP
        lie = 1 / (1 + math.exp(size))
        ways = ((lie, size), (1 - lie, -size))  # under Q, of what P makes more probable, and less
        best = max(best, sum(mass * greatest_delta(units - spent, epsilon, ratio + loss) for mass, loss in ways))
    return best


@pytest.mark.parametrize("units", [1, 2, 4, 6])
@pytest.mark.parametrize("epsilon", ["0", "1/4", "3/4", "1"])
def test_no_choice_of_responses_exceeds_the_budget_and_one_of_them_spends_it(units, epsilon):
    mechanism = budget("approximate", str(Fraction(units, 4)), "0")
    low, high = bounds(judged(mechanism, epsilon, None), "delta")
    exact = greatest_delta(units, float(Fraction(epsilon)))
    assert exact == pytest.approx(high, abs=1e-12)
    assert low == pytest.approx(high, abs=1e-12)


def excess(losses, epsilon, seen=0):
    """P(S) - e^epsilon Q(S) of fixed randomized responses, of all their outcomes or of those that begin in one way: with 1 or with -1."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(losses)):
        mass = math.prod(1 / (1 + math.exp(-sign * size)) for sign, size in zip(signs, losses, strict=True))
        loss = sum(sign * size for sign, size in zip(signs, losses, strict=True))
        total += mass * max(0.0, -math.expm1(epsilon - loss)) if seen in (0, signs[0]) else 0.0
    return total


def test_optimal_composition_is_no_filter():
    # the rest is chosen by what the first response tells: had either been fixed, all would be (2, 1/10)-DP
    told_more, told_less = (0.2, 0.7, 1.5), (0.2, 0.3, 0.6, 1.5)
    assert max(excess(told_more, 2), excess(told_less, 2)) < 0.1
    assert excess(told_more, 2, 1) + excess(told_less, 2, -1) > 0.1237
    # as a budget counts, they have spent more
    assert max(sum(told_more), sum(told_less)) == pytest.approx(2.6)
    assert judged(budget("approximate", "2.6", "0"), "2", "1/10").verdict == "REFUTED"


# -- in each measure ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "measure", "exact"),
    [
        (budget("zcdp", "1/2"), Measure("zcdp", None), 1 / 2),
        (budget("zcdp", "1/2"), Measure("renyi", None, Fraction(3)), 3 / 2),
        (budget("gdp", "2/3"), Measure("gdp", None), 2 / 3),
        (budget("gdp", "2/3"), Measure("zcdp", None), 2 / 9),
        (budget("renyi", "8", "1"), Measure("renyi", None, Fraction(8)), 1),
        (budget("approximate", "1", "0"), Measure("zcdp", None), math.tanh(1 / 2)),
        (budget("approximate", "1", "0"), Measure("renyi", None, Fraction(2)), math.log((math.e**2 + math.exp(-1)) / (1 + math.e))),
    ],
    ids=lambda value: value.measure if isinstance(value, Filter) else None,
)
def test_the_budget_is_what_all_have_and_some_attain(mechanism, measure, exact):
    found = judged(mechanism, None, measure=measure)
    assert bounds(found) == pytest.approx((exact, exact), rel=1e-9)
    assert "privacy-filter" in found.rules
    for factor, verdict in ((Fraction(1000001, 1000000), "PROVED"), (Fraction(999999, 1000000), "REFUTED")):
        value = num(Fraction(exact) * factor)
        assert judged(mechanism, None, measure=Measure(measure.name, value, measure.at)).verdict == verdict


@pytest.mark.wide
def test_what_is_not_implied_is_known_from_below_alone():
    assert bounds(judged(budget("zcdp", "1/2"), None, measure=Measure("gdp", None))) == (pytest.approx(1), None)
    assert bounds(judged(budget("renyi", "8", "1"), None, measure=Measure("renyi", None, Fraction(9)))) == (pytest.approx(9 / 8), None)
    assert bounds(judged(budget("renyi", "8", "1"), None, measure=Measure("zcdp", None))) == (pytest.approx(1 / 8), None)
    low, high = bounds(judged(budget("renyi", "8", "1"), None, measure=Measure("renyi", None, Fraction(2))))
    assert (low, high) == (pytest.approx(1 / 4), pytest.approx(1))
    with_delta = budget("approximate", "1", "1/1000")
    for measure in (Measure("zcdp", None), Measure("gdp", None), Measure("renyi", None, Fraction(2))):
        assert bounds(judged(with_delta, None, measure=measure)) == (math.inf, None)
    assert bounds(judged(budget("approximate", "1", "0"), None, measure=Measure("gdp", None)))[1] == pytest.approx(1.2320353822)


def test_the_sums_of_epsilon_and_of_delta_are_the_budget():
    mechanism = budget("approximate", "1", "1e-6")
    assert judged(mechanism, "1", "1e-6").verdict == "PROVED"
    for epsilon, delta in (("0.9999", "1e-6"), ("1", "0.9999e-6"), ("20", "0.9e-6"), ("1000", "0")):
        assert judged(mechanism, epsilon, delta).verdict == "REFUTED"
    # (e^eps - e^epsilon)/(1 + e^eps) of randomized response, where the input is not revealed
    exact = 1e-6 + (1 - 1e-6) * (math.e - math.exp(0.5)) / (1 + math.e)
    assert bounds(judged(mechanism, "1/2", None), "delta") == pytest.approx((exact, exact), rel=1e-9)


def gaussian_delta(mu, epsilon):
    def tail(x):
        return math.erfc(x / math.sqrt(2)) / 2

    return tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)


def test_budgets_in_other_measures_have_the_delta_of_gaussian_noise_at_least():
    assert bounds(judged(budget("gdp", "1"), "1", None), "delta") == pytest.approx((gaussian_delta(1, 1),) * 2, rel=1e-9)
    for mechanism, mu in ((budget("zcdp", "1/2"), 1), (budget("renyi", "8", "4"), 1)):
        low, high = bounds(judged(mechanism, "3", None), "delta")
        assert low == pytest.approx(gaussian_delta(mu, 3), rel=1e-9)
        assert low < high < 1
        same = bounds(judged(Guarantee(mechanism.measure, mechanism.rows), "3", None), "delta")
        assert same == (None, high)  # from above it is the guarantee
    assert judged(budget("zcdp", "1/2"), "30").verdict == "REFUTED"
    assert judged(budget("gdp", "0"), None, measure=Measure("gdp", ZERO)).verdict == "PROVED"


# -- as parts -----------------------------------------------------------------------------------------------------


def test_as_a_part_it_is_known_from_both_sides():
    half, noise = Part(budget("approximate", "1/2", "0")), Part(Translation(parse("exp(-abs(z))")), parse("1/4"))
    assert bounds(judged(Compose((Part(Repeat(half, num(2))), noise)), None)) == (1.25, 1.25)
    twice = Compose((Part(Repeat(half, num(2))),))
    other = Compose((Part(Repeat(Part(Guarantee("approximate", half.mechanism.rows)), num(2))),))
    low, high = bounds(judged(twice, "1/2", None), "delta")
    assert low == pytest.approx(high, rel=1e-9)
    assert bounds(judged(other, "1/2", None), "delta") == (None, pytest.approx(high, rel=1e-12))
    noises = Compose((Part(budget("gdp", "1")), Part(Radial(parse("exp(-r**2/2)"), L2, ONE), ONE)))
    assert bounds(judged(noises, None, measure=Measure("gdp", None))) == pytest.approx((math.sqrt(2),) * 2, rel=1e-9)
    assert bounds(judged(noises, "1", None), "delta") == pytest.approx((gaussian_delta(math.sqrt(2), 1),) * 2, rel=1e-9)


def test_over_several_steps_what_all_have_is_not_said_to_be_attained_where_it_may_not_be():
    with_delta = Group(Part(budget("approximate", "1/2", "1/100")), num(2))
    assert bounds(judged(with_delta, "1", None), "delta")[0] in (None, 0.0)
    assert bounds(judged(Group(Part(budget("approximate", "1/2", "0")), num(2)), None)) == (1, 1)
    assert bounds(judged(Group(Part(budget("zcdp", "1/2")), num(3)), None, measure=Measure("zcdp", None)))[1] == pytest.approx(9 / 2)


def test_a_sample_of_a_filter_has_the_mixture_of_its_worst_part():
    sample = Subsample(Part(budget("approximate", "1", "0")), parse("1/4"))
    exact = math.log(1 + math.expm1(1) / 4)
    assert bounds(judged(sample, None))[1] == pytest.approx(exact, rel=1e-12)


# -- what it rests on, and refusals -------------------------------------------------------------------------------


def test_it_says_what_a_budget_rests_on():
    proved = judged(budget("approximate", "1", "0"), "1").assumptions
    assert stated.FILTERED in proved and stated.STATED not in proved
    refuted = judged(budget("zcdp", "1"), "5", "1e-9")
    assert refuted.verdict == "REFUTED" and stated.ANY_PARTS in refuted.assumptions
    assert stated.STATED in judged(Guarantee("zcdp", ((ONE,),)), "9", "1e-5").assumptions


@pytest.mark.parametrize(
    "mechanism",
    [
        Filter("bounded_range", ((ONE,),)), Filter("zcdp", ((ONE,),), "one-sided"), Filter("approximate", ((ONE, ZERO), (num(2), ZERO))),
        Filter("magic", ((ONE,),)), Filter("zcdp", ((num(-1),),)), Filter("renyi", ((ONE, ONE),)), Filter("approximate", ((ONE, num(2)),)),
    ],
)  # fmt: skip
def test_a_budget_that_is_none_is_refused(mechanism):
    assert list(faults(Claim(mechanism, ONE)))


def test_of_a_budget_in_parameters_it_is_not_known_whether_some_parts_lose_more():
    from dpverify.trusted.kernel.model import Domain

    domains = {"d": Domain(Fraction(0), Fraction(1), lower_open=False)}
    assert privacy_filter.spent_purely(budget("approximate", "1", "d"), domains) is None
    assert isinstance(privacy_filter.spent_purely(budget("approximate", "1", "d"), {"d": Domain(Fraction(0), Fraction(1))}), Infinite)
    claim = Claim(budget("approximate", "e", "0"), None, domains=(("e", Domain(Fraction(0))),))
    assert [one.side for one in stated_epsilon.check(claim, {})] == ["upper", "lower"]
