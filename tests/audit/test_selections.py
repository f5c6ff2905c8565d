"""Audits of comparisons of noisy answers: laws by quadrature against samplers and enumeration, worst pairs, planted faults, alarms."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.audits import audit
from dpverify.audits.conformance import conformance
from dpverify.audits.declared import compared_pairs, declared
from dpverify.audits.declared.selections import Patterns, patterns
from dpverify.audits.outputs import Outputs, encode
from dpverify.audits.plan import make_plan
from dpverify.errors import AuditError
from dpverify.samplers import mechanisms
from dpverify.trusted.language.expr import ONE, ZERO, parse
from dpverify.trusted.language.model import Branch, Drawn, Guard, Named, Stream
from tests.selections import EXPONENTIAL, GEOMETRIC, GUMBEL, gaussian, laplace, largest, of, sparse

SPARSE = sparse(laplace(2), laplace(4), 4)
LARGEST = largest(laplace(2), 4)
BOX = (ZERO, ONE)


def law_of(mechanism, sensitivity=1):
    return declared(of(mechanism, 1, sensitivity))


# -- laws ------------------------------------------------------------------------------------------------------------


def test_the_index_of_the_greatest_score_with_gumbel_noise_is_that_of_the_exponential_mechanism():
    scores = np.array([0.0, 1.0, 1.0, -2.5])
    weights = np.exp(scores / 2)
    assert law_of(largest(GUMBEL, 4)).row(scores) == pytest.approx(weights / weights.sum(), abs=1e-9)


def test_exponential_noise_has_the_probabilities_of_permute_and_flip():
    answers, row = np.array([0.0, 1.5, 4.0]), law_of(largest(EXPONENTIAL, 3)).row(np.array([0.0, 1.5, 4.0]))
    flips = np.exp((answers - answers.max()) / 2)
    law = np.zeros(3)
    for order in itertools.permutations(range(3)):
        left = 1 / 6
        for i in order:
            law[i] += left * flips[i]
            left *= 1 - flips[i]
    assert row == pytest.approx(law, abs=1e-9)


def test_of_equal_integers_the_first_one_is_told_by_enumeration():
    mass = np.exp(-np.abs(np.arange(-80, 81)) / 2)
    mass /= mass.sum()
    joint = np.outer(mass, mass)
    first = np.add.outer(np.arange(-80, 81), -np.arange(-80, 81)) >= 1  # 0 + z >= 1 + w
    assert law_of(largest(GEOMETRIC, 2)).row(np.array([0, 1]))[0] == pytest.approx(joint[first].sum(), abs=1e-9)
    law, above = law_of(sparse(GEOMETRIC, GEOMETRIC, 1)), np.subtract.outer(np.arange(-80, 81), np.arange(-80, 81)) >= -2
    assert law.row(np.array([2]))[law.reader.patterns.index("Y")] == pytest.approx(joint[above].sum())


@pytest.mark.parametrize(
    "mechanism",
    [
        SPARSE,
        sparse(laplace(2), gaussian(3), 4, 2),
        sparse(laplace(3), laplace(1), 4, 2, resample=True),
        sparse(laplace(2), None, 3, None),
        sparse(None, gaussian(2), 3, None),
        largest(laplace(2), 3),
    ],
)
def test_the_law_of_what_is_told_is_that_of_the_sampler(mechanism):
    law, size = law_of(mechanism), 3_000
    answers = np.array([0.5, -1.0, 2.0, 0.5])[: law.dimension]
    outputs = mechanisms.sampler(mechanism)(answers.tolist(), size, np.random.default_rng(1))
    counts = np.bincount(law.reader.columns(encode(outputs, size)), minlength=law.reader.count + 1)
    expected = law.row(answers) * size
    assert not counts[-1] and expected.sum() == pytest.approx(size)
    common = expected > 5
    assert not counts[:-1][expected < 1e-6].any()
    assert stats.chisquare(counts[:-1][common], expected[common] * counts[:-1][common].sum() / expected[common].sum()).pvalue > 1e-4


def test_wider_noise_is_that_of_answers_that_are_nearer_to_each_other():
    law = law_of(LARGEST)
    answers = np.array([0.0, 1.0, 2.0, 4.0])
    assert law.row(answers, 2.0) == pytest.approx(law.row(answers / 2), abs=1e-8)


# -- what is told, as a column ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("queries", "positives"), [(1, 1), (4, 1), (4, 2), (5, 5), (10**6, 1), (40, 2), (50, 50)])
def test_the_patterns_are_all_that_may_be_told_of_the_first_queries(queries, positives):
    read = patterns(queries, positives)

    def counted(told):
        stopped = sum(math.comb(k, positives - 1) for k in range(positives - 1, told))
        return sum(math.comb(told, y) for y in range(positives)) + stopped

    assert read.count == len(set(read.patterns)) == counted(read.told) <= 1024
    assert read.told == queries or counted(read.told + 1) > 1024
    assert all((p.count("Y") == positives and p[-1] == "Y") or len(p) == read.told for p in read.patterns)


def columns(read, outputs):
    found = read.columns(encode(outputs, len(outputs)))
    return [read.patterns[column] if column < read.count else None for column in found]


def test_patterns_are_read_from_arrays_from_lists_and_from_how_many_come_before_the_positive():
    read = patterns(3, 1)
    wanted = ["NNN", "Y", "NY"]
    assert columns(read, np.array([[0, 0, 0], [1, -1, -1], [0, 1, -1]], np.int8)) == wanted
    assert columns(read, [[False, False, False], [True], [False, True]]) == wanted
    assert columns(read, [[0, 0, 0], [1], [0, 1]]) == wanted
    assert columns(read, [[False, False, False], [True, None, None], [False, True, None]]) == wanted
    assert columns(read, np.array([3, 0, 1])) == wanted
    assert columns(patterns(1, 1), np.array([0, 1])) == ["N", "Y"]


def test_what_cannot_be_told_is_a_column_of_its_own():
    read = patterns(3, 1)
    assert columns(read, np.array([[1, 0, -1], [0, -1, -1], [0, 0, 7], [1, 1, -1], [-1, 0, 0]])) == [None] * 5
    assert columns(read, [[False], [False, False, False]]) == [None, "NNN"]
    assert columns(read, np.array([4, -1, 0, 3])) == [None, None, "Y", "NNN"]
    law = law_of(LARGEST)
    assert law.reader.columns(Outputs(np.array([[4.0], [0.5], [-1.0], [3.0]]))).tolist() == [4, 4, 4, 3]
    assert columns(patterns(3, 3), np.array([[1, 1, 1]])) == ["YYY"]


@pytest.mark.parametrize("outputs", [["yes", "no"], [[None, True], [True, None]], [[0, 0, 0, 0], [0, 0, 0, 1]], [{"a": 1}, {"a": 2}]])
def test_outputs_that_are_no_pattern_are_refused_with_what_is_wanted(outputs):
    with pytest.raises(AuditError, match=r"for each query 1 \(or True\) for yes.*or how many come before the only yes\. Return that"):
        patterns(3, 1).columns(encode(outputs, 2))
    with pytest.raises(AuditError, match="the declaration tells the index of the greatest, from 0"):
        law_of(LARGEST).reader.columns(encode(outputs, 2))


def test_a_pattern_of_which_only_the_beginning_is_looked_at_says_so():
    read = patterns(60, 2)
    assert isinstance(read, Patterns) and read.told < 60 and read.word(read.patterns.index("N" * read.told)).endswith("N...")
    assert patterns(3, 1).word(patterns(3, 1).patterns.index("NY")) == "NY"


# -- the pair ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "start", "end"),
    [
        (largest(laplace(2), 3, bounds=BOX), [1, 0, 0], [0, 1, 1]),
        (largest(laplace(2), 3, bounds=BOX, neighbours="one"), [1, 1, 1], [0, 1, 1]),
        (largest(laplace(2), 3, report="value"), [0, 0, 0], [1, 1, 1]),
        (sparse(laplace(2), laplace(4), 3, 3, bounds=BOX), [0, 0, 1], [1, 1, 0]),
        (sparse(laplace(2), None, 2, None), [-0.5, 0.5], [0.5, -0.5]),
    ],
)
def test_the_pair_is_the_worst_one_between_bounds_and_where_an_output_is_impossible(mechanism, start, end):
    [pair] = compared_pairs(of(mechanism, 1))
    assert [side.tolist() for side in pair] == [start, end]


@pytest.mark.parametrize("neighbours", ["all", "monotone", "one"])
@pytest.mark.parametrize("patterned", [False, True])
def test_the_pair_is_one_of_neighbours_and_tells_much_of_what_there_is(patterned, neighbours):
    words = {"neighbours": neighbours}
    mechanism = sparse(laplace(2), laplace(2), 4, 2, **words) if patterned else largest(laplace(2), 4, **words)
    law = law_of(mechanism)
    [pair] = law.worst_pairs()
    assert law.neighbours(*pair) and law.neighbours(*pair[::-1])
    tight = {"all": (1.0, 2.5), "monotone": (0.5, 1.5), "one": (0.5, 0.5)}[neighbours][patterned]
    loss = np.abs(law._loss(*pair)).max()
    assert 0.5 * tight < loss <= tight + 1e-6


def test_neighbours_are_as_declared_and_between_the_bounds():
    def near(x, y, **words):
        return law_of(largest(laplace(1), 2, **words)).neighbours(np.array(x, float), np.array(y, float))

    assert near([0, 0], [1, -1]) and not near([0, 0], [1.1, 0]) and not near([0, 0, 0], [0, 0, 0])
    assert near([0, 0], [1, 0.5], neighbours="monotone") and near([0, 0], [-1, 0], neighbours="monotone")
    assert not near([0, 0], [1, -1], neighbours="monotone")
    assert near([0, 0], [1, 0], neighbours="one") and not near([0, 0], [1, 1], neighbours="one")
    assert near([0, 1], [1, 0], bounds=BOX) and not near([0, 1], [1, 2], bounds=BOX) and not near([0, -1], [0, 0], bounds=BOX)


def test_a_stream_is_audited_on_the_run_that_its_proof_names_and_else_on_the_usual_patterns():
    told_again = Stream(
        ("q",), (Drawn("rho", laplace(2)),), (Drawn("nu", laplace(4)),), (Named("t", parse("rho")),), (Named("n", ONE),),
        (Branch((Guard(parse("q + nu - t")),), "above", (parse("q + nu"),), (), (Named("n", ONE),)), Branch(emit="below")),
        parse("6"),
    )  # fmt: skip
    pairs = compared_pairs(of(told_again, 1))
    assert [(y - x).tolist() for x, y in pairs] == [[1, 1, 1, 1, 1, -1]] * 3
    assert pairs[0][0].tolist() == [0] * 6 and (pairs[2][0][:5] < pairs[1][0][:5]).all()
    unknown = Stream(("q",), (), (), (), (), (Branch(tell=(parse("q"),)),), parse("3"), "one")
    plain = [(x.tolist(), y.tolist()) for x, y in compared_pairs(of(unknown, 1))]
    assert plain and all(sum(a != b for a, b in zip(x, y, strict=True)) == 1 and len(x) == 3 for x, y in plain)


@pytest.mark.parametrize("neighbours", ["increasing", "decreasing"])
def test_a_claim_about_one_order_of_neighbours_is_not_audited(neighbours):
    stream = Stream(("q",), (), (), (), (), (Branch(emit="x"),), ONE, neighbours)
    for mechanism in (sparse(laplace(2), laplace(4), 3, neighbours=neighbours), stream):
        for inputs in ({}, {"pairs": [([0.0], [1.0])]}):
            with pytest.raises(AuditError, match=f'neighbours = "{neighbours}" is a claim about one'):
                make_plan(of(mechanism, 1), **inputs)


def sums(neighbours, hull=()):
    """A stream that reads two answers a step and tells one of them."""
    return Stream(("a", "b"), (), (), (), (), (Branch(tell=(parse("a"),)),), parse("2"), neighbours, hull)


TRIANGLE = tuple(tuple(map(Fraction, row)) for row in ((0, 0), (1, 0), (0, 1)))


@pytest.mark.parametrize(
    ("mechanism", "near", "far"),
    [
        (sums("all"), [1, -1, 1, 0], [1, -1, 2, 0]),
        (sums("all"), [1, -1], [1, -1, 1, 0, 1, 0]),
        (sums("monotone"), [-1, 0, -1, -1], [-1, 0, 1, 0]),
        (sums("one"), [0, 0, -1, 0], [0, 0, -1, 1]),
        (sums("hull", TRIANGLE), [0.5, 0.5, 1, 0], [1, 1, 0, 0]),
        (sums("hull", TRIANGLE), [-0.5, -0.5, 0, -1], [-0.5, -0.5, 1, 0]),
        (sparse(laplace(2), None, 3, report="answers+gap"), [1, -1, 1], [1, -1, 1.5]),
        (largest(laplace(2), 65, report="value", neighbours="one"), [1, *[0] * 64], [1, 1, *[0] * 63]),
    ],
)
def test_pairs_that_are_no_neighbours_are_refused_where_no_law_is_declared_either(mechanism, near, far):
    assert len(make_plan(of(mechanism, 1), pairs=[(np.zeros(len(near)).tolist(), near)]).pairs) == 1
    with pytest.raises(AuditError, match="they are no neighbours of this claim"):
        make_plan(of(mechanism, 1), pairs=[(np.zeros(len(far)).tolist(), far)])


def test_of_the_usual_patterns_those_of_neighbours_are_run():
    plan = make_plan(of(sums("one"), 1), patterns="usual", length=4)
    assert plan.pairs and all(sum(a != b for a, b in zip(pair.left, pair.right, strict=True)) == 1 for pair in plan.pairs)
    assert len(make_plan(of(sums("all"), 1), patterns="usual", length=4).pairs) == 8


# -- audits ------------------------------------------------------------------------------------------------------------


def above(rho, nu, positives=1, stops=True):
    """A sparse vector technique in floats, with noise of these scales."""

    def run(data, size, rng):
        limit = rng.laplace(0, rho, (size, 1)) if rho else 0.0
        hits = np.asarray(data) + rng.laplace(0, nu, (size, len(data))) >= limit
        before = np.cumsum(hits, axis=1) - hits
        return np.where((before < positives) | (not stops), hits, -1).astype(np.int8)

    return run


def index(scale):
    return lambda data, size, rng: (np.asarray(data) + rng.laplace(0, scale, (size, len(data)))).argmax(axis=1)


def audited(sampler, mechanism, epsilon=1, samples=20_000, **options):
    return audit(sampler, of(mechanism, epsilon), samples=samples, seed=1, **options)


def kinds_of(finding):
    return {(each.finding, each.level) for each in (finding, *finding.also)}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("sampler", "mechanism", "kind"),
    [
        (index(1), LARGEST, "VIOLATION"),
        (above(1, 1), SPARSE, "VIOLATION"),
        (above(2, 4, stops=False), SPARSE, "NONCONFORMING"),
        (above(0, 4), SPARSE, "NONCONFORMING"),
    ],
    ids=["index with half the noise", "less noise", "does not stop", "threshold forgotten"],
)
def test_a_planted_fault_is_found(sampler, mechanism, kind):
    assert (kind, "model") in kinds_of(audited(sampler, mechanism))


def test_a_number_that_is_told_with_less_noise_than_declared_is_found():
    def short(data, size, rng):
        codes = above(2, 4)(data, size, rng)
        told = np.where(codes == 1, np.asarray(data) + rng.laplace(0, 1 / 4, codes.shape), 0)
        return np.stack([codes, told], axis=2).reshape(size, -1)

    declared_as = sparse(laplace(2), laplace(4), 3, report="fresh", fresh=laplace(4))
    finding = audited(short, declared_as, Fraction(5, 4), level="model")
    assert finding.finding == "VIOLATION" and finding.pair


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "mechanism", [LARGEST, SPARSE, sparse(GEOMETRIC, GEOMETRIC, 3, 2)], ids=["index", "yes and no", "on the integers"]
)
def test_no_alarm_is_raised_for_a_sampler_as_declared(mechanism, seed):
    sampler = mechanisms.sampler(mechanism)
    claim = {LARGEST: 1, SPARSE: 1}.get(mechanism, Fraction(5, 2))
    finding = audit(sampler, of(mechanism, claim), samples=2_000, confidence=0.99, seed=seed)
    assert kinds_of(finding) == {("NO_VIOLATION_SEEN", "model")}


def test_conformance_wants_what_the_declaration_tells():
    tester = conformance(law_of(SPARSE), np.zeros(4))
    outputs = encode(mechanisms.sampler(SPARSE)([0, 0, 0, 0], 500, np.random.default_rng(3)), 500)
    wealth, _ = tester.log_wealth(tester.statistics(outputs), 500)
    assert wealth < 3
    wrong = encode(np.array([[1, 1, -1, -1]]), 1)
    assert tester.log_wealth(tester.statistics(wrong), 1) == (math.inf, "what is told: outside the declared support")
