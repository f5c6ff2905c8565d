"""Noisy votes of one database (theory#noisy-votes), held against sums over a fine grid of the noise of the winner, and all neighbours."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from dpverify.search.certificates import pack
from dpverify.search.selection import votes as search
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.judgement import check, infer
from dpverify.trusted.kernel.model import Claim, Compose, Group, Measure, NoisyVotes, Part, PostProcess, Shuffle, Subsample
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.selection import votes
from dpverify.trusted.theories.selection.rules import noisy_votes

LISTS = [(9, 4, 1), (16, 0), (5, 5, 5), (40, 25, 25, 3, 0), (7, 6)]


def of(*lists, sigma="3"):
    return NoisyVotes(parse(sigma), tuple(tuple(map(Fraction, each)) for each in lists))


def law(each, sigma):
    """How probable it is that each candidate wins, by a sum over a grid, without the bounds that the code proves."""
    x = np.array(each) / sigma
    t = np.linspace(x.min() - 14, x.max() + 14, 40_001)
    below = special.ndtr(t[:, None] - x)
    found = [(np.exp(-((t - at) ** 2) / 2) * np.delete(below, i, axis=1).prod(axis=1)).sum() for i, at in enumerate(x)]
    return np.array(found) * (t[1] - t[0]) / math.sqrt(2 * math.pi)


def neighbours(each):
    for i, j in itertools.permutations(range(len(each)), 2):
        if each[i]:
            changed = list(each)
            changed[i] -= 1
            changed[j] += 1
            yield tuple(changed)


def pairs(each, sigma, order):
    here = law(each, sigma)
    there = [law(other, sigma) for other in neighbours(each)]
    return [(here, q) for q in there] if order > 0 else [(q, here) for q in there]


def most(lists, sigma, of_pair, orders=(1, -1)):
    """The sum over lists of the greatest of a number over neighbours, in the worse order."""
    return max(sum(max(of_pair(p, q) for p, q in pairs(each, sigma, order)) for each in lists) for order in orders)


def renyi(order):
    return lambda p, q: math.log((q * np.exp(order * (np.log(p) - np.log(q)))).sum()) / (order - 1)


def near(bound, value):
    return float(constant(bound)) == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("each", LISTS, ids=str)
@pytest.mark.parametrize("sigma", [0.7, 3, 25])
def test_the_law_is_that_of_the_greatest_sum(each, sigma):
    with precision(96):
        winner = votes.Winner(constant(parse(str(sigma))), each)
        found = winner.law(winner.all_below(each), set(each))
        total = sum(found[x] for x in each)
        assert total.overlaps(constant(ONE)) and total.rel_accuracy_bits() > 80
        assert all(ball.rel_accuracy_bits() > 80 for ball in found.values())  # the rarest of them too
    assert [float(found[x].mid()) for x in each] == pytest.approx(law(each, sigma), rel=1e-9, abs=1e-30)


@pytest.mark.parametrize("each", LISTS, ids=str)
@pytest.mark.parametrize(("order", "orders"), [("", (1, -1)), ("one-sided", (1,)), ("reverse", (-1,))])
def test_one_list_is_its_worst_neighbour(each, order, orders):
    sigma = 3
    judged = verify(Claim(of(each), None, order=order)).judgement
    exact = most([each], sigma, lambda p, q: np.log(p / q).max(), orders)
    assert near(judged.lower, exact) and near(judged.upper, exact)
    for epsilon in ("1/100", "1/10"):
        judged = verify(Claim(of(each), parse(epsilon), None, order=order)).judgement
        exact = most([each], sigma, lambda p, q, e=epsilon: np.maximum(p - math.exp(Fraction(e)) * q, 0).sum(), orders)
        assert float(constant(judged.delta_lower)) == pytest.approx(exact, rel=1e-6, abs=1e-12)
        assert float(constant(judged.delta_upper)) == pytest.approx(exact, rel=1e-6, abs=1e-12)


@pytest.mark.wide
@pytest.mark.parametrize("lists", [[(9, 4, 1)], [(7, 6, 0)] * 3 + [(0, 12, 3)]], ids=len)
@pytest.mark.parametrize(("order", "orders"), [("", (1, -1)), ("reverse", (-1,))])
def test_divergences_and_losses_of_lists_add_up(lists, order, orders):
    sigma, mechanism = 3, of(*lists)
    for at in (Fraction(3, 2), Fraction(8)):
        judged = verify(Claim(mechanism, None, measure=Measure("renyi", None, at), order=order)).judgement
        exact = most(lists, sigma, renyi(float(at)), orders)
        assert near(judged.lower, exact) and near(judged.upper, exact)
    judged = verify(Claim(mechanism, None, measure=Measure("zcdp", None), order=order)).judgement
    seen = max(most(lists, sigma, renyi(a), orders) / a for a in np.geomspace(1.001, 100, 25))
    assert float(constant(judged.lower)) >= seen * (1 - 1e-9) and float(constant(judged.upper)) <= seen * 1.02
    assert constant(judged.lower) <= constant(judged.upper)
    judged = verify(Claim(mechanism, None, order=order)).judgement
    exact = most(lists, sigma, lambda p, q: np.log(p / q).max(), orders)
    assert near(judged.lower, exact) and near(judged.upper, exact)


@pytest.mark.wide
def test_delta_of_two_lists_is_enclosed():
    lists, sigma, epsilon = [(9, 4, 1), (7, 6, 0)], 3, 0.2
    judged = verify(Claim(of(*lists), parse("1/5"), None)).judgement
    exact = max(
        np.maximum(np.outer(p, r) - math.exp(epsilon) * np.outer(q, s), 0).sum()
        for order in (1, -1)
        for (p, q), (r, s) in itertools.product(pairs(lists[0], sigma, order), pairs(lists[1], sigma, order))
    )
    low, high = float(constant(judged.delta_lower)), float(constant(judged.delta_upper))
    assert low <= exact * (1 + 1e-9) and exact <= high * (1 + 1e-9)
    assert high == pytest.approx(exact, rel=1e-6) and low == pytest.approx(exact, rel=2e-3)


@pytest.mark.wide
def test_copies_of_a_list_may_be_at_different_neighbours():
    """Of which no one is the worst in both, in the order without the record first."""
    each, sigma, epsilon = (3, 8, 10), 3, 0.3
    both = pairs(each, sigma, -1)

    def delta(one, other):
        (p, q), (r, s) = one, other
        return np.maximum(np.outer(p, r) - math.exp(epsilon) * np.outer(q, s), 0).sum()

    exact = max(itertools.starmap(delta, itertools.product(both, repeat=2)))
    assert exact > max(delta(one, one) for one in both) * 1.01
    judged = verify(Claim(of(each, each), parse("3/10"), None, order="reverse")).judgement
    assert float(constant(judged.delta_upper)) == pytest.approx(exact, rel=1e-6)
    assert float(constant(judged.delta_lower)) == pytest.approx(exact, rel=1e-3)
    told = search.plan(Run(Part(of(each, each))), epsilon, 0.0, 3, "reverse")
    for at, why in (
        ([[[0, 1]]], "does not say of each copy"),
        ([[[0, 3]]], "not a whole number from 1 to 2"),
        ([[[99, 2]]], "not a whole number from 0"),
    ):
        with pytest.raises((CertificateError, DpverifyError), match=why):
            noisy_votes.infer(Run(Part(of(each, each))), {**told, "below": {**told["below"], "at": at}}, ())


def test_votes_that_all_agree_lose_little_and_the_guarantee_for_all_votes_is_never_passed():
    sigma = 5
    exact = float(constant(verify(Claim(of((100, 0, 0), sigma="5"), None, measure=Measure("renyi", None, Fraction(8)))).judgement.upper))
    assert exact < 1e-20  # the noise of each list has 8/25 over all votes
    for each in LISTS:
        found = verify(Claim(of(each, sigma="5"), None, measure=Measure("renyi", None, Fraction(8)))).judgement.upper
        assert constant(found) <= 8 / sigma**2


def test_the_published_bound_is_no_smaller():
    """Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, Theorem 6 with Proposition 10, at an order of 10."""
    sigma, order, each = 40, 10, (310, 100, 40)
    q = 1 - law(each, sigma)[0]
    second = sigma * math.sqrt(-math.log(q))
    first = second + 1
    e1, e2 = first / sigma**2, second / sigma**2
    a = (1 - q) / (1 - (q * math.exp(e2)) ** ((second - 1) / second))
    b = math.exp(e1) / q ** (1 / (first - 1))
    published = math.log((1 - q) * a ** (order - 1) + q * b ** (order - 1)) / (order - 1)
    judged = verify(Claim(of(each, sigma="40"), None, measure=Measure("renyi", None, Fraction(order)))).judgement
    assert 0 < float(constant(judged.lower)) <= float(constant(judged.upper)) < published


def test_claims_next_to_the_value():
    each, sigma = (9, 4, 1), 3
    exact = most([each], sigma, lambda p, q: np.log(p / q).max())
    for factor, verdict in ((1 + 1e-6, "PROVED"), (1 - 1e-6, "REFUTED")):
        verified = verify(Claim(of(each), Num(Fraction(exact * factor))))
        assert verified.judgement.verdict == verdict
        assert check(verified.certificate).verdict == verdict
        assert any("one database" in line for line in verified.judgement.assumptions)


# -- what is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (of(), "as many numbers"),
        (of((3,)), "as many numbers"),
        (of((3, 4), (1, 2, 3)), "as many numbers"),
        (of((3, -1)), "no integer of at least 0"),
        (of((3, Fraction(1, 2))), "no integer of at least 0"),
        (of((3, 4), sigma="0"), "sigma"),
        (Compose((Part(of((3, 4))), Part(of((3, 4))))), "no guarantee, which a part has"),
        (Group(Part(of((3, 4))), num(2)), "no guarantee, which a part has"),
        (PostProcess(Part(of((3, 4)))), "no guarantee, which a part has"),
        (Shuffle(Part(of((3, 4))), num(9)), "no guarantee, which a part has"),
        (Subsample(Part(of((3, 4))), parse("1/2")), "no guarantee, which a part has"),
    ],
    ids=str,
)
def test_what_are_no_votes_of_one_database_means_nothing(mechanism, why):
    with pytest.raises(CertificateError, match=why):
        check(pack(Claim(mechanism, ONE, num(Fraction(1, 2))), 128, "UNKNOWN", [Line("noisy-votes", (), {"moves": [0]}, (), 128)]))


TWO = of((9, 4, 1), (7, 6, 0))


@pytest.mark.parametrize(
    ("mechanism", "parameters", "why"),
    [
        (of((9, 4, 1)), {"moves": []}, "one number for each"),
        (of((9, 4, 1)), {"moves": [6]}, "from 0 to 5"),
        (of((9, 4, 1)), {"moves": [True]}, "moves"),
        (TWO, {"moves": [0, 0]}, "grid"),
        (of((10**9, 0)), {"moves": [0]}, "too far apart"),
    ],
    ids=str,
)
def test_what_the_curve_is_told_is_checked(mechanism, parameters, why):
    with pytest.raises((DpverifyError, KeyError), match=why):
        curve = infer(Proof(Claim(mechanism, None, num(Fraction(1, 2)))), "noisy-votes", parameters, (), 64).says
        curve.upper.worst(constant(ZERO))
