"""Shuffles of tables with few people (theory#shuffled-histograms), held against convolutions and against all that may be told."""

import itertools
import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb, fmpz_poly

from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Guarantee, KaryResponse, Part, Shuffle, Table
from dpverify.trusted.theories.composition.histograms import gains, splits
from dpverify.trusted.theories.composition.rules import shuffled_histograms
from tests.refused import Refusals, each, require_refused
from tests.rules.test_shuffling import law_of_multiset, table, truth

BINARY = (("25/26", "1/26"), ("1/26", "25/26"))


def shuffled(local, people):
    return Shuffle(Part(local), num(people))


def bounds(mechanism, epsilon):
    judgement = verify(Claim(mechanism, parse(epsilon), None)).judgement
    assert "shuffled-histograms" in judgement.rules
    return tuple(float(constant(end)) for end in (judgement.delta_lower, judgement.delta_upper))


def by_convolution(rows, people, epsilon):
    """For each number of others with the first of two records, the greater delta of both orders."""
    found = []
    for ones in range(people):
        rest = np.ones(1)
        for row in [rows[0]] * ones + [rows[1]] * (people - 1 - ones):
            rest = np.convolve(rest, row)
        p, q = (np.convolve(rest, row) for row in rows)
        found.append(max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p))))
    return np.array(found)


@pytest.mark.parametrize("seed", range(12))
def test_two_rows_have_the_worst_of_all_splits(seed):
    draw = random.Random(seed)
    people = draw.randint(2, 40)
    rows = [[F(draw.randint(1, 99), 100)] for _ in range(2)] if seed % 2 else [[F(7 + seed, 30)], [1 - F(7 + seed, 30)]]
    rows = [[p, 1 - p] for [p] in rows]
    epsilon = F(draw.randint(0, 40), 50)
    true = by_convolution([[float(x) for x in row] for row in rows], people, float(epsilon)).max()
    assert bounds(shuffled(Table(tuple(tuple(map(parse, map(str, row))) for row in rows)), people), str(epsilon)) == pytest.approx(
        (true, true), rel=1e-9, abs=1e-13
    )


def test_the_worst_others_need_not_all_have_one_record():
    each = by_convolution([[25 / 26, 1 / 26], [1 / 26, 25 / 26]], 10, 0.2)
    assert each.max() > 1.002 * max(each[0], each[-1])
    assert bounds(shuffled(table(BINARY), 10), "1/5") == pytest.approx((each.max(),) * 2, rel=1e-12)


@pytest.mark.parametrize(("k", "p", "people"), [(3, "1/2", 6), (4, "2/5", 4), (3, "9/10", 3)])
def test_responses_are_the_table_that_they_are(k, p, people):
    rows = [[F(p) if x == y else (1 - F(p)) / (k - 1) for y in range(k)] for x in range(k)]
    true = truth([[str(entry) for entry in row] for row in rows], people, 0.2, [(0, 1)])
    assert bounds(shuffled(KaryResponse(num(k), parse(p)), people), "1/5") == pytest.approx((true, true), rel=1e-12)


def test_what_one_record_alone_tells_counts_at_every_epsilon():
    rows = (("1/2", "1/2", "0"), ("1/4", "1/2", "1/4"))
    for epsilon in ("1/5", "3", "20"):
        true = truth(rows, 4, float(F(epsilon)))
        assert bounds(shuffled(table(rows), 4), epsilon) == pytest.approx((true, true), rel=1e-12)
    assert true == pytest.approx(1 / 4)  # no other may tell the third output where all have the first record
    found = verify(Claim(shuffled(table(rows), 4), None, parse("1/5"))).judgement
    assert found.lower is not None and str(found.lower).startswith("Infinite")


def test_a_witness_names_the_records_and_the_histograms():
    found = verify(Claim(shuffled(table(BINARY), 10), parse("1/5"), parse("1/2"))).judgement
    assert found.verdict == "REFUTED"
    assert "one person with the record" in found.witness["pair"] and "8" in found.witness["pair"]
    law = law_of_multiset([[float(F(x)) for x in row] for row in BINARY], (0, *(0,) * 8, 1))
    other = law_of_multiset([[float(F(x)) for x in row] for row in BINARY], (1, *(0,) * 8, 1))
    inside = [told for told in law if max(law[told] / other[told], other[told] / law[told]) > math.exp(0.2)]
    assert inside and found.witness["event"].count("(") <= len(inside)


# -- the curve of several two laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_gains_are_the_greatest_of_all_two_laws(seed):
    draw = np.random.default_rng(seed)
    laws = []
    for _ in range(5):
        two = draw.multinomial(1000, draw.dirichlet(np.full(6, 0.5)), size=2)
        laws.append([list(map(int, row)) for row in two])
    found = gains([(fmpz_poly(p), fmpz_poly(q)) for p, q in laws], 1000)
    with precision(128):
        for epsilon in (0.0, 0.1, 0.5, 1.0, 4.0, 30.0):
            expected = max(np.maximum(np.array(p) - math.exp(epsilon) * np.array(q), 0).sum() / 1000 for p, q in laws)
            assert float(found.divergence(arb(epsilon)).mid()) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        alone = max(sum(p for p, q in zip(*two, strict=True) if not q) for two in laws) / 1000
        assert float(found.alone.mid()) == pytest.approx(alone, abs=1e-15)


@pytest.mark.parametrize(("others", "records"), [(0, 1), (0, 3), (4, 1), (5, 2), (4, 3)])
def test_the_splits_are_all_numbers_of_others(others, records):
    expected = sorted(split for split in itertools.product(range(others + 1), repeat=records) if sum(split) == others)
    assert sorted(splits(others, records)) == expected


# -- what is refused ----------------------------------------------------------------------------------------------------


def asked(local=None, people="5", factor="1", premises=(), **parameters):
    run = Run(Part(Shuffle(Part(local or table(BINARY)), parse(people))), parse(factor))
    return lambda: shuffled_histograms.infer(run, parameters, premises)


BELOW = {"pair": [0, 1], "others": [2, 2]}
REFUSED: Refusals = {
    "two people": (asked(factor="2"), "it is not shuffled, or neighbours differ by more than one person"),
    "a mechanism that is not shuffled": (lambda: shuffled_histograms.infer(Run(Part(table(BINARY))), {}, ()), "it is not shuffled"),
    "so many people": (asked(people="100000"), "too much to be listed"),
    "half a person": (asked(people="5/2"), "it wants an integer"),
    "an irrational entry": (asked(table((("1/2", "1/2"), ("exp(-1)", "1 - exp(-1)")))), "its entries are not all rational numbers"),
    "an irrational response": (asked(KaryResponse(num(3), parse("exp(-1)"))), "no response with rational numbers"),
    "a guarantee": (asked(Guarantee("approximate", ((num(1), num(0)),))), "it is no table"),
    "rows that are no neighbours": (
        asked(table((*BINARY, BINARY[0]), ((0, 1),)), below={"pair": [0, 2], "others": [2, 1, 1]}),
        "these rows are no neighbours",
    ),
    "a row by itself": (asked(below={**BELOW, "pair": [1, 1]}), "these rows are no neighbours"),
    "others that are too few": (asked(below={**BELOW, "others": [2, 1]}), "they are not as many as there are"),
    "others below 0": (asked(below={**BELOW, "others": [5, -1]}), "not a whole number"),
    "a row that is none": (asked(below={**BELOW, "pair": [0, 2]}), "not a whole number from 0 to 1"),
}


@each(REFUSED)
def test_what_cannot_be_listed_is_refused(asked, why):
    require_refused(asked, why)


def test_a_premise_is_refused():
    with precision(64), pytest.raises(CertificateError, match="it rests on no premise"):
        asked(premises=(None,))()
