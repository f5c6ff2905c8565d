"""The privacy blanket (theory#privacy-blanket), held against all that few people may tell, and against sums over binomials for more."""

import itertools
import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb
from scipy import stats

from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, KaryResponse, Part, Shuffle, Table
from dpverify.trusted.theories.composition import blanket
from dpverify.trusted.theories.composition.rules import privacy_blanket
from tests.refused import Refusals, each, require_refused

UNEVEN = ((6, 3, 1), (3, 4, 3), (2, 5, 3))
FOUR = ((5, 1, 1, 3), (1, 5, 1, 3), (2, 2, 3, 3))
APART = ((4, 4, 0), (6, 2, 0), (2, 2, 4))
"""Two records never tell the last output."""


def table(rows, adjacent=None):
    return Table(tuple(tuple(num(F(x, sum(row))) for x in row) for row in rows), adjacent)


def curve(local, people, epsilon, smoothing=5, **parameters):
    """What the rule says from below and from above at an epsilon, in the worse order."""
    with precision(64):
        found = privacy_blanket.infer(Run(Part(Shuffle(Part(local), num(people)))), {"smoothing": smoothing, **parameters}, ())
        sides = (None if pair is None else pair.worst(arb(epsilon)) for pair in (found.lower, found.upper))
        return tuple(None if side is None else (float(side.lower()), float(side.upper())) for side in sides)


def told(rows, inputs):
    """The law of how many people tell each output."""
    found = {(0,) * len(rows[0]): 1.0}
    for x in inputs:
        after = {}
        for counts, mass in found.items():
            for y, p in enumerate(rows[x]):
                more = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                after[more] = after.get(more, 0.0) + mass * p
        found = after
    return found


def hockey(first, second, epsilon):
    return sum(max(0.0, mass - math.exp(epsilon) * second.get(counts, 0.0)) for counts, mass in first.items())


def as_floats(rows):
    return [[x / sum(row) for x in row] for row in rows]


@pytest.mark.wide
@pytest.mark.parametrize("epsilon", [0.0, 0.25])
@pytest.mark.parametrize(("rows", "people"), [(UNEVEN, 2), (UNEVEN, 5), (FOUR, 4)])
def test_no_records_of_the_others_are_worse_and_one_for_all_is_exact(rows, people, epsilon):
    values, pairs = as_floats(rows), [*itertools.permutations(range(len(rows)), 2)]
    every = (
        (others, hockey(told(values, (i, *others)), told(values, (j, *others)), epsilon))
        for others in itertools.combinations_with_replacement(range(len(rows)), people - 1)
        for i, j in pairs
    )
    assert max(height for _, height in every) <= curve(table(rows), people, epsilon)[1][1] * (1 + 1e-9)
    for (i, j), z in itertools.product(pairs, range(len(rows))):
        laws = [told(values, (x, *(z,) * (people - 1))) for x in (i, j)]
        true = max(hockey(*laws, epsilon), hockey(*laws[::-1], epsilon))
        low, high = curve(table(rows), people, epsilon, below={"pair": [i, j], "others": z})[0]
        assert low * (1 - 1e-9) <= true <= high * (1 + 1e-9)
        assert high - low <= 1e-2 * high


@pytest.mark.parametrize("people", [1, 3, 6])
def test_outputs_that_neither_of_two_records_tells_hide_nothing_and_cost_nothing(people):
    values, two = as_floats(APART), ((0, 1),)
    others = itertools.combinations_with_replacement(range(3), people - 1)
    true = max(hockey(told(values, (i, *z)), told(values, (1 - i, *z)), 0.125) for z in others for i in (0, 1))
    low, high = curve(table(APART, two), people, 0.125, below={"pair": [0, 1], "others": 0})
    assert true <= high[1] * (1 + 1e-9)
    assert low[0] <= true


def by_binomials(people, epsilon, sorts):
    """(1/n) E max(0, sum), of two sorts with one mass, and of a third; the sums over how many are of the first two, and of all three."""
    (mass, up), (_, down), (other, third) = sorts
    total = 0.0
    for number in range(people + 1):
        share = stats.binom.pmf(number, people, min(1.0, 2 * mass + other))
        if share < 1e-18:
            continue
        two = np.arange(number + 1)
        weights = stats.binom.pmf(two, number, 2 * mass / (2 * mass + other))
        rest = down * two + third * (number - two)
        least = np.maximum(np.floor(-rest / (up - down)) + 1, 0)
        above = stats.binom.sf(least - 1, two, 0.5)
        heads = np.where(two > 0, two / 2 * stats.binom.sf(least - 2, np.maximum(two - 1, 0), 0.5), 0)
        total += share * (weights * ((up - down) * heads + rest * above)).sum()
    return total / people


@pytest.mark.parametrize(("people", "answers", "p", "epsilon"), [(400, 4, 0.5, 0.1), (400, 3, 0.625, 0.25), (1000, 10, 0.25, 0.1)])
def test_responses_of_many_people_have_the_sum_over_two_binomials(people, answers, p, epsilon):
    q, e = (1 - p) / (answers - 1), math.exp(epsilon)
    expected = by_binomials(people, epsilon, [(q, (p - e * q) / q), (q, (q - e * p) / q), ((answers - 2) * q, 1 - e)])
    low, high = curve(KaryResponse(num(answers), parse(str(F(p)))), people, epsilon)[1]
    assert low <= expected * (1 + 1e-6)
    assert expected <= high * (1 + 1e-6)
    assert high - low <= 1e-2 * expected


@pytest.mark.wide
def test_both_bounds_of_many_responses_are_near_each_other():
    found = verify(Claim(Shuffle(Part(KaryResponse(num(4), parse("1/2"))), num(10**4)), None, parse("1e-6"))).judgement
    low, high = (float(constant(end)) for end in (found.lower, found.upper))
    assert 0 < high - low <= 3e-4 * high
    assert 0.03 < low < high < 0.05


def clones(people, rho, share, epsilon):
    """H of the pair of clones (theory#shuffling), whose share is of a table."""
    c, e = np.arange(people), math.exp(epsilon)
    number = np.floor((c + 1) * (e * rho - 1) / ((1 + e) * (rho - 1))) + 1
    above, before = stats.binom.sf(number - 1, c, 0.5), stats.binom.pmf(number - 1, c, 0.5)
    return float(stats.binom.pmf(c, people - 1, share) @ ((rho - e) * (above + before) + (1 - e * rho) * above)) / (1 + rho)


@pytest.mark.wide
def test_no_table_has_a_smaller_bound_by_clones():
    chosen = random.Random(0)
    for _ in range(12):
        rows = [[chosen.randint(1, 9) for _ in range(3)] for _ in range(3)]
        people, values = chosen.choice([20, 100, 500]), as_floats(rows)
        best = 0.0
        for one, two in itertools.combinations(values, 2):
            rho = max(max(p / q, q / p) for p, q in zip(one, two, strict=True))
            share = min(2 * row[y] / (one[y] + two[y]) for row in values for y in range(3))
            best = max(best, clones(people, rho, share, 0.1) if rho > math.exp(0.1) else 0.0)
        assert curve(table(rows), people, 0.1, smoothing=5)[1][0] <= best * (1 + 1e-6)


@pytest.mark.parametrize("smoothing", [1, 2, 4, 8])
def test_any_smoothing_encloses_the_sum(smoothing):
    """Of one person: what is told by itself."""
    with precision(64):
        sorts = [(arb(1) / 4, arb(1) / 2, arb(1) / 4, 1), (arb(1) / 4, arb(1) / 4, arb(1) / 2, 1), (arb(1) / 4, arb(1) / 4, arb(1) / 4, 1)]
        found = blanket.divergence(1, sorts, smoothing, arb(1) / 8)
    true = 0.5 - math.exp(0.125) * 0.25
    assert float(found.lower()) <= true <= float(found.upper())
    assert float(found.upper() - found.lower()) <= 2.0**-smoothing


def test_beyond_all_that_one_output_loses_nothing_is_left():
    assert curve(KaryResponse(num(3), parse("1/2")), 50, 0.75)[1] == (0, 0)


def test_equal_rows_lose_nothing():
    assert curve(table(((1, 1, 2), (1, 1, 2))), 50, 0)[1] == (0, 0)


@pytest.mark.wide
@pytest.mark.parametrize(("answers", "p"), [(5, "1/50"), (6, "1/2"), (3, "1/9")])
def test_a_response_has_the_curve_of_its_table_also_where_lies_are_likelier_than_the_truth(answers, p):
    lie = (1 - F(p)) / (answers - 1)
    rows = tuple(tuple(num(F(p) if x == y else lie) for y in range(answers)) for x in range(answers))
    both = (KaryResponse(num(answers), num(F(p))), Table(rows))
    for others in range(3):
        found, expected = (curve(local, 6, 0.25, below={"pair": [0, 1], "others": others}) for local in both)
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-6)


# -- what is refused ------------------------------------------------------------------------------------------------


def asked(local=None, people="5", factor="1", **parameters):
    run = Run(Part(Shuffle(Part(local or table(UNEVEN)), parse(people))), parse(factor))
    return lambda: privacy_blanket.infer(run, {"smoothing": 4, **parameters}, ())


REFUSED: Refusals = {
    "two people": (asked(factor="2"), "it is not shuffled, or neighbours differ by more than one person"),
    "very many people": (asked(people="20000000"), "it wants an integer of at most 10000000"),
    "no smoothing": (asked(smoothing=0), "not a whole number from 1 to 64"),
    "an output of one record alone": (asked(table(((1, 0), (1, 1)))), "others may not tell what the one tells"),
    "others that never tell it": (asked(table(((2, 1, 1), (1, 2, 1), (0, 1, 1)), ((0, 1),))), "others may not tell what the one tells"),
    "others of a record that never tells it": (
        asked(table(APART, ((0, 1),)), below={"pair": [0, 1], "others": 3}),
        "not a whole number from 0 to 2",
    ),
    "a response that is the truth": (asked(KaryResponse(num(3), num(1))), "others may not tell what the one tells"),
    "responses of any number of answers": (asked(KaryResponse(parse("k"), parse("1/2"))), "no response with a number of answers"),
    "rows that are no neighbours": (asked(table(UNEVEN, ((0, 1),)), below={"pair": [0, 2], "others": 0}), "these rows are no neighbours"),
    "noise": (asked(Shuffle(Part(table(UNEVEN)), num(2))), "it is no table"),
}


@each(REFUSED)
def test_what_hides_nobody_is_refused(asked, why):
    require_refused(asked, why)


def test_a_premise_is_refused():
    with precision(64), pytest.raises(CertificateError, match="rests on no premise"):
        privacy_blanket.infer(Run(Part(Shuffle(Part(table(UNEVEN)), num(5)))), {"smoothing": 4}, (None,))
