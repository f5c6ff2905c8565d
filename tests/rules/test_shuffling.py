"""Shuffling (theory#shuffling), held against all that n people may tell, by enumeration."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb
from scipy import stats

from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Exponential,
    Group,
    Guarantee,
    Kernel,
    Part,
    PostProcess,
    Radial,
    Repeat,
    Shuffle,
    Subsample,
    Table,
)
from dpverify.trusted.theories.composition.clones import Clones
from dpverify.trusted.theories.composition.rules import shuffling
from tests.refused import Refusals, each, require_refused

BINARY = (("3/4", "1/4"), ("1/4", "3/4"))
THREE = (("1/2", "1/4", "1/4"), ("1/4", "1/2", "1/4"), ("1/4", "1/4", "1/2"))
UNEVEN = (("6/10", "3/10", "1/10"), ("3/10", "4/10", "3/10"), ("2/10", "5/10", "3/10"))


def table(rows, adjacent=None):
    return Table(tuple(tuple(map(parse, row)) for row in rows), adjacent)


def shuffled(local, people):
    return Shuffle(Part(local), num(people))


def bounds(mechanism, epsilon, digits=20):
    judgement = verify(Claim(mechanism, parse(epsilon), None), digits).judgement
    return tuple(None if end is None else float(constant(end)) for end in (judgement.delta_lower, judgement.delta_upper))


def law_of_multiset(rows, inputs):
    """What is told of people with these records, in no order."""
    found = Counter({(): 1.0})
    for x in inputs:
        after = Counter()
        for told, mass in found.items():
            for y, p in enumerate(rows[x]):
                after[tuple(sorted((*told, y)))] += mass * p
        found = after
    return found


def truth(rows, people, epsilon, pairs=None):
    """The greatest delta over the records of the others and the two of the one."""
    rows = [[float(F(entry)) for entry in row] for row in rows]
    best = 0.0
    for others in itertools.combinations_with_replacement(range(len(rows)), people - 1):
        for i, j in pairs or itertools.permutations(range(len(rows)), 2):
            p, q = law_of_multiset(rows, (i, *others)), law_of_multiset(rows, (j, *others))
            best = max(best, sum(max(0.0, mass - math.exp(epsilon) * q[told]) for told, mass in p.items()))
    return best


@pytest.mark.parametrize("epsilon", ["0", "1/10", "1/2", "1"])
@pytest.mark.parametrize(("rows", "people"), [(BINARY, 1), (BINARY, 2), (BINARY, 7), (THREE, 3), (THREE, 5), (UNEVEN, 4)])
def test_bounds_hold_for_all_that_people_may_tell(rows, people, epsilon):
    true = truth(rows, people, float(F(epsilon)))
    low, high = bounds(shuffled(table(rows), people), epsilon)
    assert high == pytest.approx(true, abs=1e-12)
    assert (low or 0) == pytest.approx(true, abs=1e-12)


def test_pairs_that_are_listed_alone_count():
    rows = (("1/2", "1/2"), ("2/5", "3/5"), ("1/10", "9/10"))
    near = truth(rows, 4, 0.1, [(0, 1), (1, 0)])
    low, high = bounds(shuffled(table(rows, ((0, 1), (1, 0))), 4), "1/10")
    assert low == pytest.approx(near, abs=1e-12)
    assert high == pytest.approx(near, abs=1e-12)
    assert high < truth(rows, 4, 0.1)


def clones(people, rho, share, epsilon):
    """The pair of clones by its definition: how many there are of both sorts."""
    p, found = rho / (1 + rho), 0.0
    for c in range(people):
        heads = np.arange(c + 2)
        first, other = stats.binom.pmf(heads - 1, c, 0.5), stats.binom.pmf(heads, c, 0.5)
        gained = p * first + (1 - p) * other - math.exp(epsilon) * ((1 - p) * first + p * other)
        found += stats.binom.pmf(c, people - 1, share) * np.maximum(gained, 0).sum()
    return found


@pytest.mark.parametrize(("people", "epsilon"), [(1, "1/2"), (2, "1/2"), (30, "0"), (100, "1/5"), (100, "9/10"), (400, "1/10")])
def test_a_stated_epsilon_has_the_pair_of_clones(people, epsilon):
    expected = clones(people, math.e, 1 / math.e, float(F(epsilon)))
    low, high = bounds(shuffled(Guarantee("approximate", ((num(1), num(0)),)), people), epsilon)
    assert low in (None, 0)
    assert high == pytest.approx(expected, rel=1e-9, abs=1e-15)
    if (people, epsilon) == (100, "1/5"):
        assert high == pytest.approx(0.00757, abs=5e-6)  # the value of the published program


def test_noise_is_shuffled_too():
    laplace = Shuffle(Part(Radial(parse("exp(-r)"), L1, num(1), num(2)), num(1)), num(60))
    assert bounds(laplace, "1/5")[1] == pytest.approx(clones(60, math.exp(0.5), math.exp(-0.5), 0.2), rel=1e-9)


def test_at_the_epsilon_of_the_part_nothing_is_left():
    assert bounds(shuffled(table(BINARY), 12), "log(3)")[1] < 1e-30
    assert bounds(shuffled(table((("1/2", "1/2"),) * 2), 50), "0")[1] == 0


@pytest.mark.wide
def test_shuffles_compose_and_have_groups():
    one = shuffled(table(BINARY), 8)
    _, once = bounds(one, "1/4")
    _, twice = bounds(Compose((Part(Repeat(Part(one), num(2))),)), "1/2")
    expected = 0.0
    for split in range(8):
        rest = np.convolve(stats.binom.pmf(np.arange(split + 1), split, 0.75), stats.binom.pmf(np.arange(8 - split), 7 - split, 0.25))
        first, second = np.convolve(rest, [0.25, 0.75]), np.convolve(rest, [0.75, 0.25])
        expected = max(expected, np.maximum(np.outer(first, first) - math.exp(0.5) * np.outer(second, second), 0).sum())
    assert expected <= twice <= expected * 1.1  # which others there are may be chosen after the first is told
    _, both = bounds(Group(Part(one), num(2)), "1/2")
    assert both == pytest.approx((1 + math.exp(0.25)) * once, rel=1e-3)


# -- the sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("others", "least", "most"), [(0, 0, 0), (9, 0, 9), (300, 100, 200), (300, 0, 300)])
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 0.5, 0.999])
def test_the_sum_over_clones_is_its_definition_and_what_is_left_out_is_counted(others, least, most, epsilon):
    with precision(96):
        found = Clones(others, lambda: arb(1).exp(), least, most).profile(arb(epsilon))
    expected = clones(others + 1, math.e, 1 / math.e, epsilon)
    assert float(found.lower()) <= expected * (1 + 1e-9)
    assert expected <= float(found.upper()) * (1 + 1e-9) + 1e-18


# -- what is refused ------------------------------------------------------------------------------------------------


def of_part(part, epsilon="1", people="5", factor="1", **parameters):
    """What the rule makes of a part whose pure epsilon a premise bounds."""
    about = leaf(Run(part))
    premise = Fact("rule", about, (Bound("upper", parse(epsilon)),), (), (), {}, (), 64)
    return lambda: shuffling.infer(Run(Part(Shuffle(part, parse(people))), parse(factor)), {"range": [0, 4], **parameters}, (premise,))


def test_a_part_whose_every_two_records_may_be_neighbours_is_taken_by_its_premise():
    for part in (Part(KERNEL), Part(SCORES), Part(PostProcess(Part(table(BINARY)), "any"))):
        with precision(64):
            assert of_part(part)().upper.worst(arb(1) / 5) > 0


KERNEL = Kernel(parse("1"), (parse("0"), parse("1")), (parse("0"), parse("1")))
SCORES = Exponential(tuple(tuple(map(num, row)) for row in ((0, 1, 2), (1, 0, 1), (2, 1, 0))), num(1))
LISTED = ((0, 1), (1, 0), (1, 2), (2, 1))
NOT_EVERY_TWO, MANY_RECORDS = "not every two of its inputs are neighbours", "its neighbours differ by one of many records"
REFUSED: Refusals = {
    "two people": (of_part(Part(SCORES), factor="2"), "it is not shuffled, or neighbours differ by more than one person"),
    "very many people": (of_part(Part(SCORES), people="20000000"), "it wants an integer of at most 10000000"),
    "numbers that fall": (of_part(Part(SCORES), range=[3, 2]), "it does not rise"),
    "more clones than others": (of_part(Part(SCORES), range=[0, 5]), "not a whole number from 0 to 4"),
    "very many clones": (of_part(Part(SCORES), people="1000000", range=[0, 300_000]), "holds more than 200000 numbers"),
    "an exponential mechanism with listed neighbours": (of_part(Part(replace(SCORES, adjacent=LISTED))), NOT_EVERY_TWO),
    "a table with listed neighbours, and a map": (of_part(Part(PostProcess(Part(table(BINARY, ((0, 1),))), "any"))), NOT_EVERY_TWO),
    "a kernel of near inputs": (of_part(Part(KERNEL, parse("1/2"))), NOT_EVERY_TWO),
    "a shuffle of shuffles": (of_part(Part(shuffled(table(BINARY), 3))), MANY_RECORDS),
    "a sample": (of_part(Part(Subsample(Part(table(BINARY)), parse("1/2"), "without_replacement"))), MANY_RECORDS),
    "an epsilon with a parameter": (of_part(Part(SCORES), "e"), "whether the epsilon of the part is positive is not known"),
}


@each(REFUSED)
def test_what_hides_nobody_is_refused(asked, why):
    require_refused(asked, why)


def test_shuffling_is_about_records_that_are_replaced():
    part = Part(Shuffle(Part(table(BINARY)), num(5)))
    with pytest.raises(CertificateError, match="the claim of add-remove and shuffling of replace"):
        verify(Claim(Compose((part,)), parse("1"), adjacency="add-remove"))
