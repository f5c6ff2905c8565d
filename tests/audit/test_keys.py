"""Audits of noisy keys: the law of what is told against samplers and closed forms, worst pairs, planted faults, alarms."""

import math

import numpy as np
import pytest
from scipy import stats

from dpverify.audits import audit
from dpverify.audits.batches import Batches
from dpverify.audits.declared import declared
from dpverify.audits.declared.keys import UNTOLD, Keys, told_as
from dpverify.audits.outputs import encode
from dpverify.audits.plan import make_plan
from dpverify.errors import AuditError
from dpverify.samplers import mechanisms
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import NoisyKeys
from tests.selections import GEOMETRIC, gaussian, laplace, of


def keyed(noise, threshold, keys=1, report="counts"):
    return NoisyKeys(noise, parse(str(threshold)), parse(str(keys)), report)


def law_of(mechanism, sensitivity=1):
    return declared(of(mechanism, 1, sensitivity, delta=parse("1/100")))


# -- the law -----------------------------------------------------------------------------------------------------------


def test_a_laplace_key_is_told_with_the_probability_of_its_tail():
    law = law_of(keyed(laplace(2), 12))
    assert law.untold(1) == pytest.approx(1 - math.exp(-11 / 2) / 2, rel=1e-9)
    assert law.untold(12) == pytest.approx(1 / 2, rel=1e-9)
    assert law.untold(0) == 1


def test_a_key_on_the_integers_is_told_from_the_threshold_on_by_enumeration():
    mass = np.exp(-np.abs(np.arange(-90, 91)) / 2)
    mass /= mass.sum()
    for threshold in (4, 3.5):
        law = law_of(keyed(GEOMETRIC, threshold, report="keys"))
        assert law.untold(3) == pytest.approx(mass[np.arange(-90, 91) + 3 < threshold].sum(), abs=1e-9)


@pytest.mark.parametrize("report", ["counts", "keys"])
@pytest.mark.parametrize("noise", [laplace(2), gaussian(3), GEOMETRIC], ids=["laplace", "gaussian", "integers"])
def test_the_law_of_what_is_told_is_that_of_the_sampler(noise, report):
    mechanism, size = keyed(noise, 4, 3, report), 3_000
    law, counts = law_of(mechanism), [0, 1, 5]
    told = law.reader(3).columns(encode(mechanisms.sampler(mechanism)(counts, size, np.random.default_rng(1)), size))
    for key, count in enumerate(counts):
        edges = law.edges(float(count))
        expected = np.append(law.columns(float(count), edges), 0.0) * size
        seen = np.bincount(told_as(told[:, key], edges), minlength=len(expected))
        assert not seen[expected < 1e-9].any()
        common = expected > 5
        if common.sum() > 1:
            assert stats.chisquare(seen[common], expected[common] * seen[common].sum() / expected[common].sum()).pvalue > 1e-4


@pytest.mark.parametrize("report", ["counts", "keys"])
def test_cells_of_several_keys_have_the_frequencies_of_the_sampler_and_none_is_told_without_the_record_for_certain(report):
    mechanism, size = keyed(gaussian(3), 4, 3, report), 20_000
    law = law_of(mechanism)
    x, more = np.array([0.0, 3.0, 4.0]), np.array([1.0, 4.0, 5.0])
    cells = law.partition(x, more)
    for side, expected in zip((x, more), law.law(x, more), strict=True):
        drawn = encode(mechanisms.sampler(mechanism)(side.tolist(), size, np.random.default_rng(2)), size)
        seen = np.bincount(cells.codes(drawn), minlength=cells.size) / size
        assert seen == pytest.approx(expected, abs=0.02)
    alone = law.law(np.array([0.0]), np.array([1.0]))
    assert alone[0] == pytest.approx([0, 1])
    assert alone[1][0] == pytest.approx(1 - law.untold(1))


# -- what is told --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outputs", "wanted"),
    [
        ([[30.5, None], [None, None], [None, 27]], [[30.5, UNTOLD], [UNTOLD, UNTOLD], [UNTOLD, 27]]),
        (np.array([[30.5, -1], [-1, -1], [0, 27]]), [[30.5, UNTOLD], [UNTOLD, UNTOLD], [UNTOLD, 27]]),
        (np.array([[1, 30.5, 0, 0], [0, 0, 1, 27], [0, 0, 0, 0]]), [[30.5, UNTOLD], [UNTOLD, 27], [UNTOLD, UNTOLD]]),
    ],
    ids=["None", "-1", "flags beside numbers"],
)
def test_counts_are_read_in_the_forms_that_samplers_tell_them_in(outputs, wanted):
    assert Keys(2, True, 25.0).columns(encode(outputs, 3)).tolist() == wanted


def test_keys_alone_are_read_as_yes_and_no_and_one_key_by_whether_anything_is_told():
    read = Keys(2, False, 25.0).columns(encode([[True, False], [False, False]], 2))
    assert read.tolist() == [[0, UNTOLD], [UNTOLD, UNTOLD]]
    assert Keys(1, True, -3.0).columns(encode([{}, {"word": -2.5}, []], 3)).tolist() == [[UNTOLD], [-2.5], [UNTOLD]]
    assert Keys(1, False, 5.0).columns(encode([["word"], []], 2)).tolist() == [[0], [UNTOLD]]


@pytest.mark.parametrize("outputs", [[{"a": 30}, {"b": 30}], [[30], [30]], [["a", "b"], ["a", "b"]]])
def test_outputs_of_another_form_are_refused_with_what_is_wanted(outputs):
    with pytest.raises(AuditError, match="wants for each of 2 keys, in the order of their counts, its noisy count where it is told"):
        Keys(2, True, 25.0).columns(encode(outputs, 2))


def test_a_number_that_floats_round_below_the_threshold_is_told_and_one_that_is_less_is_wrong():
    edges = np.array([24.8368, 30.0])
    told = np.array([UNTOLD, float(np.nextafter(np.float32(24.8368), np.float32(0))), 24.8, 29.0, 31.0])
    assert told_as(told, edges).tolist() == [0, 1, 3, 1, 2]


def test_where_the_threshold_is_not_above_0_a_number_says_nothing_of_whether_a_key_is_told():
    with pytest.raises(AuditError, match="None"):
        Keys(2, True, 0.0).columns(encode(np.zeros((2, 2)), 2))


# -- neighbours ------------------------------------------------------------------------------------------------------------


def test_neighbours_have_one_record_more_which_has_so_many_keys_at_most():
    def near(x, y, keys=2, sensitivity=1):
        return law_of(keyed(laplace(2), 12, keys), sensitivity).neighbours(np.array(x, float), np.array(y, float))

    assert near([0, 0], [1, 1]) and near([5, 3, 9], [5, 2, 8]) and near([0], [0.5])
    assert not near([0, 1], [1, 0]) and not near([0, 0, 0], [1, 1, 1]) and not near([0], [2]) and not near([0, -1], [0, 0])
    assert near([0], [2], sensitivity=2)


@pytest.mark.parametrize("report", ["counts", "keys"])
@pytest.mark.parametrize(("noise", "keys"), [(laplace(2), 1), (gaussian(3), 4), (GEOMETRIC, 2), (laplace(2), 40)])
def test_of_the_pairs_one_is_of_new_keys_alone_and_one_of_keys_that_others_have(noise, keys, report):
    law = law_of(keyed(noise, 12, keys, report))
    pairs = law.worst_pairs()
    assert all(law.neighbours(*pair) for pair in pairs)
    new = [int((x == 0).sum()) for x, _ in pairs]
    assert {0, keys} <= set(new)
    old = pairs[new.index(0)]
    if noise is not GEOMETRIC and keys == 1:  # all that Laplace noise can lose is lost by whether the key is told
        p, q = (1 - law.untold(float(side[0])) for side in old)
        assert math.log(q / p) == pytest.approx(1 / 2, rel=1e-6)


# -- audits ----------------------------------------------------------------------------------------------------------------


def told(threshold=4, scale=2, *, looks=True, first=False, report="counts"):
    """Counts by key with Laplace noise, in floats. looks: whether keys of count 0 are left out. first: the threshold before the noise."""

    def run(data, size, rng):
        counts = np.asarray(data, float)
        noisy = counts + rng.laplace(0, scale, (size, len(counts)))
        over = (np.broadcast_to(counts, noisy.shape) if first else noisy) >= threshold
        over = over & (counts > 0) if looks else over
        return np.where(over, noisy, -1) if report == "counts" else over

    return run


def audited(sampler, keys, report="counts", samples=6_000, **options):
    delta = 1 - (1 - math.exp(-3 / 2) / 2) ** keys  # a new key of count 1 is told from 4 on
    claim = of(keyed(laplace(2), 4, keys, report), keys / 2, delta=parse(f"{delta + 1e-3:.4f}"))
    return audit(sampler, claim, samples=samples, seed=1, **options)


def kinds_of(finding):
    return {each.finding for each in (finding, *finding.also)}


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("report", ["counts", "keys"])
@pytest.mark.parametrize("keys", [1, 3])
@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 3}, {"looks": False}, {"scale": 1}, {"first": True}],
    ids=["threshold too low", "looks at keys that nobody has", "half of the noise", "threshold before the noise"],
)
def test_a_planted_fault_is_found_at_a_few_thousand_samples(wrong, keys, report):
    found = kinds_of(audited(told(**wrong, report=report), keys, report))
    assert found & {"VIOLATION", "NONCONFORMING"}
    if wrong.get("first") and keys == 1:
        assert "VIOLATION" in found or report == "keys"


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("noise", "keys", "report"), [(laplace(2), 1, "counts"), (gaussian(3), 3, "counts"), (GEOMETRIC, 2, "keys")])
def test_no_alarm_is_raised_for_a_sampler_as_declared(noise, keys, report, seed):
    mechanism = keyed(noise, 6, keys, report)
    finding = audit(mechanisms.sampler(mechanism), of(mechanism, 5, delta=parse("1/2")), samples=2_000, confidence=0.99, seed=seed)
    assert kinds_of(finding) == {"NO_VIOLATION_SEEN"}


@pytest.mark.wide
def test_rows_that_a_sampler_counts_itself_and_outputs_of_its_own_form_are_audited_without_the_law():
    def words(data, size, rng):
        noisy = data.count("a") + rng.laplace(0, 2, size)
        return [[("a", float(y))] if data and y >= 12 else [] for y in noisy]

    claim = of(keyed(laplace(2), 12), 1, delta=parse("1/100"))
    assert make_plan(claim, pairs=[(["a", "b"], ["b"])]).declared is None
    assert audit(words, claim, pairs=[(["a"] * 12, ["a"] * 11)], samples=1_000, seed=1).finding == "NO_VIOLATION_SEEN"

    def named(data, size, rng):
        noisy = np.asarray(data) + rng.laplace(0, 2, (size, len(data)))
        return [{str(key): float(y) for key, y in enumerate(row) if data[key] > 0 and y >= 12} for row in noisy]

    finding = audit(named, of(keyed(laplace(2), 12, 2), 1, delta=parse("1/100")), samples=1_000, seed=1)
    assert finding.finding == "NO_VIOLATION_SEEN" and any("the declared law was not compared" in note for note in finding.notes)


def test_lists_with_gaps_are_not_taken_for_outputs_that_depend_on_each_other():
    rng, seen = np.random.default_rng(0), Batches()
    outputs = [[y if y > 0 else None for y in row] for row in rng.normal(size=(512, 30)).tolist()]
    seen.see([encode(outputs[:256], 256), encode(outputs[256:], 256)])
    assert seen.log_wealth() < 3
