"""Audits of comparisons that tell numbers: laws against samplers and closed forms, the pair, planted faults, alarms, other outputs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpverify.audits import audit
from dpverify.audits.declared import declared
from dpverify.audits.declared.numbered import Bins, Leads, NumberedLaw, Told
from dpverify.audits.declared.selections import Indices, patterns
from dpverify.audits.outputs import encode
from dpverify.audits.plan import make_plan
from dpverify.errors import AuditError
from dpverify.samplers import mechanisms
from tests.selections import GEOMETRIC, gaussian, laplace, largest, of, sparse

VALUE = largest(laplace(2), 3, report="value")
LEAD = largest(laplace(2), 3, report="index+gap")
GAP = sparse(laplace(2), laplace(4), 3, report="answers+gap")
SAME = sparse(laplace(2), laplace(4), 3, report="answers+value")
FRESH = sparse(laplace(3), laplace(6), 3, report="fresh", fresh=laplace(3))
ALL = [
    VALUE, LEAD, FRESH,
    sparse(laplace(2), gaussian(3), 3, 2, report="answers+gap"),
    sparse(laplace(2), laplace(3), 3, 2, report="answers+value", resample=True),
    sparse(None, gaussian(2), 2, None, report="answers+value"),
    largest(GEOMETRIC, 3, report="index+gap"), largest(GEOMETRIC, 2, report="value"),
    sparse(GEOMETRIC, GEOMETRIC, 2, 2, report="answers+gap"),
]  # fmt: skip


def law_of(mechanism, sensitivity=1):
    return declared(of(mechanism, 1, sensitivity))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mechanism", ALL, ids=range(len(ALL)))
def test_the_law_of_what_is_told_is_that_of_the_sampler(mechanism):
    law, size = law_of(mechanism), 2_000
    assert isinstance(law, NumberedLaw)
    answers = np.array([1.0, -1.0, 2.0, 0.0])[: law.dimension]
    outputs = mechanisms.sampler(mechanism)(answers.tolist(), size, np.random.default_rng(1))
    counts = np.bincount(law.reader.columns(encode(outputs, size)), minlength=law.reader.count + 1)
    expected = law.row(answers) * size
    assert not counts[-1] and law._columns(answers, 1.0).sum() == pytest.approx(1, abs=1e-7)
    common = expected > 5
    assert not counts[:-1][expected < 1e-6].any()
    assert stats.chisquare(counts[:-1][common], expected[common] * counts[:-1][common].sum() / expected[common].sum()).pvalue > 1e-4


def test_the_greatest_of_answers_far_apart_is_one_answer_with_noise():
    law = law_of(VALUE)
    edges = law.reader.edges
    assert law.row(np.array([0.0, -200.0, -300.0])).cumsum()[:-1] == pytest.approx(stats.laplace(scale=2).cdf(edges), abs=1e-9)
    assert law.row(np.zeros(3)).cumsum()[:-1] == pytest.approx(stats.laplace(scale=2).cdf(edges) ** 3, abs=1e-9)


def test_exponential_tails_forget_how_far_an_answer_is_ahead():
    # where the others are far below, the lead of a Laplace noise over them, given that it is beyond e, is beyond e + f with exp(-f/2)
    law, x = law_of(LEAD), np.array([0.0, -200.0, -200.0])
    row, bins = law.row(x).reshape(3, -1), law.reader.bins
    assert row[0, -1] == pytest.approx(1, abs=1e-9) and bins.edges[-1] < 100
    near = law.row(np.array([-60.0, 0.0, -300.0])).reshape(3, -1)[0]
    tails = near[::-1].cumsum()[::-1]
    assert tails[1:] / tails[0] == pytest.approx(np.exp(-bins.edges / 2), rel=1e-6)


def test_with_an_exact_threshold_gaps_values_and_patterns_are_those_of_one_noise():
    noise = stats.norm(scale=2)
    law = law_of(sparse(None, gaussian(2), 1, report="answers+gap"))
    row, edges = law.row(np.array([0.5])), law.reader.bins.edges
    assert row[:-1].sum() + row[-1] == pytest.approx(1)
    no = law.reader.starts[law.reader.patterns.patterns.index("N")]
    yes = law.reader.starts[law.reader.patterns.patterns.index("Y")]
    assert row[no] == pytest.approx(noise.cdf(-0.5), abs=1e-8)
    assert row[yes : yes + len(edges) + 1] == pytest.approx(np.diff([noise.cdf(-0.5), *noise.cdf(edges - 0.5), 1]), abs=1e-8)


# -- what is told, as a column ------------------------------------------------------------------------------------------


def test_numbers_are_sorted_into_bins_and_what_cannot_be_told_is_a_column_of_its_own():
    bins = Bins(np.array([0.0, 1.0]))
    assert bins.columns(encode(np.array([-1.0, 0.0, 0.5, 1.0, 7.0]), 5)).tolist() == [0, 1, 1, 2, 2]
    assert [bins.word(k) for k in range(3)] == ["below 0", "0 to 1", "from 1 on"]
    leads = Leads(Indices(2), Bins(np.array([1.0])))
    assert leads.columns(encode(np.array([[0, 0.5], [0, 1.5], [1, 0.0], [1, 2.0], [2, 1.0], [1, -0.1]]), 6)).tolist() == [0, 1, 2, 3, 4, 4]
    assert leads.word(3) == "1 with a lead from 1 on" and leads.count == 4
    told = Told(patterns(2, 1), Bins(np.array([1.0])), 1, False)
    rows = np.array([[0, 0, 0, 0], [1, 0.5, -1, 0], [1, 1.5, -1, 0], [0, 0, 1, 2], [0, 3, 1, 2], [1, -0.5, -1, 0], [1, 0.5, 1, 0.5]])
    found = told.columns(encode(rows, len(rows))).tolist()
    assert [told.word(k) if k < told.count else None for k in found] == [
        "NN", "Y with below 1", "Y with from 1 on", "NY with from 1 on", None, None, None,
    ]  # fmt: skip
    assert len(set(found[:4])) == 4 and found[4] == told.count


def test_of_several_positives_the_numbers_of_the_first_are_looked_at():
    told = Told(patterns(3, 3), Bins(np.array([0.0])), 2, True)
    rows = np.array([[1, -1, 1, 1, 1, -5.0], [1, -1, 1, 1, 1, 5.0], [1, 1, 1, -1, 1, 5.0], [0, 0, 1, 1, 0, 0]])
    found = told.columns(encode(rows, 4)).tolist()
    assert found[0] == found[1] and told.count == 1 + 3 * 2 + 3 * 4 + 4
    assert [told.word(k) for k in found[1:]] == ["YYY with below 0 with from 0 on", "YYY with from 0 on with below 0", "NYN with from 0 on"]


@pytest.mark.parametrize(
    ("reader", "outputs", "why"),
    [
        (Bins(np.zeros(1)), [[1.0, 2.0]] * 2, "the declaration tells one number"),
        (Leads(Indices(2), Bins(np.zeros(1))), [1.0, 2.0], "the index of the greatest, from 0, and its lead"),
        (Told(patterns(2, 1), Bins(np.zeros(1)), 1, False), [[1.0, 2.0]] * 2, "after it the number that is told, or 0. Return that"),
    ],
)
def test_outputs_of_another_form_are_refused_with_what_is_wanted(reader, outputs, why):
    with pytest.raises(AuditError, match=why):
        reader.columns(encode(np.array(outputs), 2))


# -- the pair -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("neighbours", "mechanism"),
    [("all", VALUE), ("monotone", LEAD), ("one", GAP), ("monotone", SAME), ("one", SAME), ("all", FRESH)],
    ids=range(6),
)
def test_the_pair_that_is_declared_is_the_pair_that_is_audited_and_one_of_neighbours(mechanism, neighbours):
    claim = of(replace(mechanism, neighbours=neighbours), 1)
    law, plan = declared(claim), make_plan(claim)
    [pair] = law.worst_pairs()
    assert law.neighbours(*pair) and [each.answers for each in plan.pairs] == [pair] and plan.declared is law


@pytest.mark.parametrize(("mechanism", "tight"), [(VALUE, 1.5), (LEAD, 1.0), (GAP, 0.75), (SAME, 0.75), (FRESH, 5 / 6)])
def test_the_pair_tells_much_of_what_there_is_and_never_more(mechanism, tight):
    law = law_of(mechanism)
    row, other = (law.row(side) for side in law.worst_pairs()[0])
    often = np.maximum(row, other) > 1e-9
    loss = np.abs(np.log(row[often] / other[often])).max()
    assert 0.4 * tight < loss <= tight + 1e-5


# -- audits -------------------------------------------------------------------------------------------------------------


def technique(told, rho=2, nu=4):
    """A sparse vector technique in floats: codes, and after each what is told of a positive."""

    def run(data, size, rng):
        limit = rng.laplace(0, rho, (size, 1))
        noisy = np.asarray(data) + rng.laplace(0, nu, (size, len(data)))
        hits = noisy >= limit
        before = np.cumsum(hits, axis=1) - hits
        codes = np.where(before < 1, hits, -1)
        numbers = np.where(codes == 1, told(np.asarray(data), noisy, limit, rng), 0.0)
        return np.stack([codes, numbers], axis=2).reshape(size, -1)

    return run


def greatest(told, scale=2):
    def run(data, size, rng):
        noisy = np.asarray(data) + rng.laplace(0, scale, (size, len(data)))
        rows = np.sort(noisy, axis=1)
        return told(noisy.argmax(axis=1), rows[:, -1], rows[:, -2], rng)

    return run


RIGHT = {
    "value": (VALUE, "3/2", greatest(lambda i, first, second, rng: first)),
    "lead": (LEAD, 1, greatest(lambda i, first, second, rng: np.stack([i, first - second], axis=1))),
    "gap": (GAP, 1, technique(lambda q, noisy, limit, rng: noisy - limit)),
    "same": (SAME, "3/4", technique(lambda q, noisy, limit, rng: noisy)),
    "fresh": (FRESH, 1, technique(lambda q, noisy, limit, rng: q + rng.laplace(0, 3, noisy.shape), 3, 6)),
}
WRONG = {
    "the lead over the least": (LEAD, 1, lambda data, size, rng: _over_the_least(data, size, rng)),
    "the lead with the wrong sign": (LEAD, 1, greatest(lambda i, first, second, rng: np.stack([i, second - first], axis=1))),
    "half the noise of the greatest": (VALUE, "3/2", greatest(lambda i, first, second, rng: first, 1)),
    "the gap with the wrong sign": (GAP, 1, technique(lambda q, noisy, limit, rng: limit - noisy)),
    "the value in place of the gap": (GAP, 1, technique(lambda q, noisy, limit, rng: np.abs(noisy))),
    "the noise of the comparison in place of fresh noise": (FRESH, 1, technique(lambda q, noisy, limit, rng: noisy, 3, 6)),
    "fresh noise in place of that of the comparison": (SAME, "3/4", technique(lambda q, noisy, _, rng: q + rng.laplace(0, 4, noisy.shape))),
    "no fresh noise": (FRESH, 1, technique(lambda q, noisy, limit, rng: q + rng.laplace(0, 0.3, noisy.shape), 3, 6)),
}  # fmt: skip


def _over_the_least(data, size, rng):
    noisy = np.asarray(data) + rng.laplace(0, 2, (size, len(data)))
    return np.stack([noisy.argmax(axis=1), noisy.max(axis=1) - noisy.min(axis=1)], axis=1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", WRONG)
def test_a_planted_fault_is_found(fault):
    mechanism, epsilon, sampler = WRONG[fault]
    finding = audit(sampler, of(mechanism, epsilon), samples=5_000, seed=1, level="model")
    assert finding.finding in ("NONCONFORMING", "VIOLATION") and finding.level == "model"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("told", RIGHT)
def test_no_alarm_is_raised_for_a_sampler_as_declared(told):
    mechanism, epsilon, sampler = RIGHT[told]
    for seed, run in enumerate((sampler, mechanisms.sampler(mechanism))):
        finding = audit(run, of(mechanism, epsilon), samples=1_500, confidence=0.99, seed=seed)
        assert (finding.finding, finding.also, finding.notes) == ("NO_VIOLATION_SEEN", (), ())


def test_outputs_of_another_form_and_rounded_numbers_are_audited_without_the_law_and_it_says_so():
    sentinel = lambda data, size, rng: np.full((size, 3), -1000.0) + rng.integers(0, 2, (size, 1))  # noqa: E731
    [note] = audit(sentinel, of(GAP, 1), samples=200, seed=1).notes
    assert "the declared law was not compared" in note and "after it the number that is told" in note
    rounded = lambda data, size, rng: np.rint(RIGHT["value"][2](data, size, rng))  # noqa: E731
    finding = audit(rounded, of(VALUE, "3/2"), samples=1_000, seed=1)
    assert finding.finding == "NO_VIOLATION_SEEN" and "multiples of 1." in finding.notes[0]
