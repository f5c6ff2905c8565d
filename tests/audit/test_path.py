"""What a finding keeps of the way to it: evidence and bounds over samples, a few outputs; and the same however the run was made."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.audits import audit
from dpverify.audits.bounds import epsilon_anytime, epsilon_so_far
from dpverify.audits.engine import Engine
from dpverify.audits.journal import Journal
from dpverify.audits.plan import make_plan
from dpverify.audits.run import Settings, run
from dpverify.audits.target import Target
from dpverify.audits.trail import MOST, Look, bounded_path, marks, path
from dpverify.report.findings import record
from dpverify.runtime.finding import FLOAT, MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, Norm, Radial, Sampled

GRID = 2.0**20
LAPLACE = Claim(Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), Num(Fraction(1))), Num(Fraction(1)), sensitivity=Num(Fraction(1)))
BLACK = Claim(Sampled(), Num(Fraction(1)))
PAIR = [([0.0], [1.0])]


def scaled(scale):
    def sampler(data, size, rng):
        return np.round((data[0] + rng.laplace(0, scale, size)) * GRID) / GRID

    return sampler


def floats(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)


def evidence(finding):
    return [known.log10_evidence for known in finding.path.known]


def lower(finding):
    return [known.epsilon_lower for known in finding.path.known]


def times(finding):
    return [known.samples for known in finding.path.known]


# -- what a path says --------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("sampler", "level"), [(scaled(0.5), MODEL), (floats, FLOAT)])
@pytest.mark.parametrize("seed", range(2))
def test_the_path_of_a_violation_ends_where_its_evidence_reaches_the_threshold(sampler, level, seed):
    finding = audit(sampler, LAPLACE, samples=20_000, seed=seed)
    assert (finding.finding, finding.level) == (VIOLATION, level)
    *before, last = finding.path.known
    assert last.samples == finding.samples and last.log10_evidence >= finding.path.threshold
    assert level == FLOAT or max(known.log10_evidence for known in before) < finding.path.threshold
    assert last.epsilon_lower >= 1, "the claim of epsilon 1 is refuted there"


@pytest.mark.wide
def test_with_all_samples_spent_the_path_goes_on_past_the_threshold():
    finding = audit(scaled(0.5), LAPLACE, samples=30_000, seed=1, stop=False)
    crossed = [known.samples for known in finding.path.known if known.log10_evidence >= finding.path.threshold]
    assert crossed[0] < 2000 and times(finding)[-1] == finding.samples > 29_000
    assert max(evidence(finding)) > 10 * finding.path.threshold
    assert 1.7 < lower(finding)[-1] < 2, "noise of half the scale has epsilon 2"


@pytest.mark.wide
@pytest.mark.parametrize("claim", [LAPLACE, BLACK])
def test_where_nothing_is_found_the_evidence_stays_below_the_threshold_and_the_bound_below_the_true_epsilon(claim):
    finding = audit(scaled(1), claim, pairs=PAIR, samples=50_000, seed=2)
    assert finding.finding == NO_VIOLATION_SEEN and times(finding)[-1] == finding.samples
    assert max(evidence(finding)) < finding.path.threshold
    assert 0.8 < lower(finding)[-1] < 1, "Laplace noise of scale 1 has epsilon 1"


@pytest.mark.wide
def test_the_threshold_is_one_over_the_false_alarm_budget_of_the_test():
    """The declared loss on the only pair has 55 % of the capital, and the tests 70 % of the budget."""
    finding = audit(scaled(1), LAPLACE, pairs=PAIR, samples=50_000, seed=2, confidence=0.999)
    assert finding.path.threshold == pytest.approx(math.log10(1 / (0.7 * 0.55 * 0.001)))


@pytest.mark.wide
def test_samples_grow_bounds_never_fall_and_there_are_few():
    for finding in (audit(scaled(1), LAPLACE, samples=150_000, seed=3), audit(scaled(0.9), BLACK, pairs=PAIR * 4, samples=50_000, seed=3)):
        assert 10 < len(finding.path.known) <= 100
        assert all(a < b for a, b in zip(times(finding), times(finding)[1:], strict=False))
        assert all(a <= b for a, b in zip(lower(finding), lower(finding)[1:], strict=False))


def test_nonconformance_has_the_path_of_its_own_evidence_and_no_bounds():
    finding = audit(scaled(1.5), LAPLACE, samples=20_000, seed=1)
    assert finding.finding == NONCONFORMING
    assert evidence(finding)[-1] >= finding.path.threshold > max(evidence(finding)[:-1], default=-math.inf)
    assert set(lower(finding)) == {None}


def test_every_finding_of_a_run_has_a_path_of_its_own():
    finding = audit(floats, LAPLACE, samples=20_000, seed=1)
    (model,) = finding.also
    assert (finding.level, model.level) == (FLOAT, MODEL)
    assert finding.path != model.path and times(model)[-1] == model.samples > 19_000 > times(finding)[-1]


def test_the_evidence_of_a_path_is_the_wealth_of_its_counts():
    with Engine(Target.of(scaled(0.9)), root=4) as engine:
        state = run(make_plan(LAPLACE), Settings(5_000, 1e-6, stop=False), engine, Journal())
    tests = [test for test in state.tests if test.trail]
    assert len(tests) >= 3
    for test in tests:
        moved = [look.log_wealth - float(test.bets.log_wealth(look.counts)) for look in test.trail]
        assert moved[0] == pytest.approx(0, abs=1e-9) or test.log_added, "before anything has moved on"
        assert len({round(each, 6) for each in moved}) <= state.rounds, "capital moves on between rounds alone"
        assert all(0 < look.counts.sum() <= look.samples for look in test.trail)


def test_a_very_small_run_has_a_path_too():
    finding = audit(scaled(1), LAPLACE, samples=1, seed=1)
    assert finding.samples > 0 and times(finding)[-1] == finding.samples and max(evidence(finding)) < finding.path.threshold


# -- bounds that hold at all times -------------------------------------------------------------------------------


def joint(rng, p, q, n):
    """Cells of n pairs of independent runs, in an event of probability p on x and q on x'."""
    cells = 2 * (rng.random(n) < p) + (rng.random(n) < q)
    return np.array([np.bincount(cells[:end], minlength=4).reshape(2, 2) for end in np.unique(np.geomspace(16, n, 24).astype(int))])


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_bounds_at_any_time_are_above_the_truth_no_more_often_than_their_risk(delta):
    """P(S) = 3/4, Q(S) = (P(S) - delta)/3: epsilon is log 3 exactly. 60 runs at risk 1/10: more than 14 have probability below 0.001."""
    rng = np.random.default_rng(5)
    wrong = sum(max(epsilon_so_far(joint(rng, 0.75, (0.75 - delta) / 3, 3000), risk=0.1, delta=delta)) > math.log(3) for _ in range(60))
    assert wrong <= 14


def test_bounds_over_time_never_fall_and_begin_as_the_bound_at_one_time():
    tables = joint(np.random.default_rng(6), 0.75, 0.25, 5000)
    bounds = epsilon_so_far(tables, risk=1e-3)
    assert bounds == sorted(bounds) and 0.8 < bounds[-1] < math.log(3)
    assert epsilon_so_far(tables[-1:], risk=1e-3) == [pytest.approx(epsilon_anytime(tables[-1], confidence=0.999), abs=2e-4)]
    assert bounds[-1] >= epsilon_anytime(tables[-1], confidence=0.999) - 2e-4, "what was known earlier is still known"


def test_of_a_cut_that_was_chosen_in_the_end_each_one_has_its_part_of_the_risk():
    """Of 4 cells there are 3 cuts: after the second there are two cells, and the bound is theirs at a third of the risk."""
    table = np.arange(16).reshape(4, 4) + np.diag([900, 0, 0, 300]) + np.outer([0, 0, 0, 1], [2000, 0, 0, 0])
    (known,) = bounded_path([Look(5000, 1.0, table)], 9.0, 5000, cut=2, risk=0.03, delta=0.01, refuted=0.0).known
    sides = [[int(table[a, b].sum()) for b in (slice(0, 2), slice(2, 4))] for a in (slice(0, 2), slice(2, 4))]
    alone = epsilon_anytime(np.array(sides), confidence=0.99, delta=0.01)
    more = epsilon_anytime(np.array(sides), confidence=0.97, delta=0.01)
    assert alone - 2e-3 <= known.epsilon_lower <= alone + 1e-9 < more - 2e-3


# -- when one looks ----------------------------------------------------------------------------------------------


@given(st.integers(0, 10**9), st.integers(1, 4096), st.sampled_from([1, 16]))
def test_one_looks_where_the_samples_pass_a_power_of_the_fourth_root_of_two(seen, size, segments):
    size *= segments
    ends = [seen + (segment + 1) * size // segments for segment in range(segments)]
    before = [seen, *ends[:-1]]
    assert marks(seen, size, segments) == [i for i in range(segments) if any(before[i] ** 4 < 2**k <= ends[i] ** 4 for k in range(200))]


def test_a_run_of_a_million_million_samples_has_few_looks():
    seen, looks = 0, 0
    while seen < 10**12:
        size = max(16, seen // 8)
        looks += len(marks(seen, size, 1))
        seen += size
    assert looks < 170


def test_of_too_many_looks_some_are_kept_the_first_the_last_and_the_greatest_among_them():
    looks = [Look(10 * i, float(-((i - 77) ** 2))) for i in range(1000)]
    known = path(looks, 1.0, 10**9).known
    assert len(known) <= MOST
    assert {0, 770, 9990} <= {one.samples for one in known}


def test_looks_after_the_finding_are_left_out_and_those_of_one_time_are_one():
    table = np.full((3, 3), 7)
    looks = [Look(16, 0.1, table), Look(32, 0.2, table), Look(32, 0.3, table), Look(64, 9.0, table)]
    known = bounded_path(looks, 1.0, 32, cut=1, risk=0.01, delta=0.0, refuted=0.5).known
    assert [one.samples for one in known] == [16, 32]
    assert known[1].log10_evidence == pytest.approx(0.3 / math.log(10))
    assert [one.epsilon_lower for one in known] == [0.0, 0.0]


# -- the same however the run was made ---------------------------------------------------------------------------


class Stopped(Exception):
    pass


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("after", [3, 88])
def test_a_path_is_the_same_where_a_long_run_was_taken_up_again_in_its_last_stretch(after, tmp_path):
    blocks = []
    arguments = {"samples": 250_000, "seed": 7, "stop": False}
    whole = audit(scaled(0.99), LAPLACE, **arguments, progress=blocks.append)
    assert len(blocks) > after

    def interrupt(done):
        if done >= blocks[after]:
            raise Stopped

    with pytest.raises(Stopped):
        audit(scaled(0.99), LAPLACE, **arguments, checkpoint=tmp_path / "run", progress=interrupt)
    again = audit(scaled(0.99), LAPLACE, **arguments, checkpoint=tmp_path / "run", workers=1)
    assert replace(again, seconds=0, also=()) == replace(whole, seconds=0, also=())
    told = audit(scaled(0.99), LAPLACE, **arguments, checkpoint=tmp_path / "run")
    assert told.path == whole.path


# -- outputs -----------------------------------------------------------------------------------------------------


def test_the_outputs_that_are_kept_are_the_first_that_the_sampler_gave():
    finding = audit(floats, LAPLACE, samples=20_000, seed=8)
    assert finding.pair == "[0.0] and [1.0]"
    for side, stream in enumerate(np.random.SeedSequence(8, spawn_key=(0,)).spawn(2)):
        expected = floats([float(side)], 256, np.random.default_rng(stream))[:200]
        assert finding.outputs_seen[side] == tuple((y,) for y in expected.tolist())


@pytest.mark.wide
def test_pairs_of_numbers_are_kept_and_all_else_is_not():
    def outputs(give):
        return audit(give, BLACK, pairs=PAIR, samples=2000, seed=1).outputs_seen

    two = outputs(lambda data, size, rng: rng.normal(size=(size, 2)).astype(np.float32))
    assert {len(point) for side in two for point in side} == {2} and 0 < len(two[0]) == len(two[1]) <= 200
    assert all(np.float32(value) == value for side in two for point in side for value in point)
    assert outputs(lambda data, size, rng: rng.normal(size=(size, 3))) is None
    assert outputs(lambda data, size, rng: ["a"] * size) is None
    assert outputs(lambda data, size, rng: [None if value > 0 else 1.0 for value in rng.normal(size=size)]) is None
    assert outputs(lambda data, size, rng: rng.normal(size=size) > 0) is None


# -- as JSON -----------------------------------------------------------------------------------------------------


def test_the_record_has_the_path_as_lists_of_one_length():
    finding = audit(scaled(0.5), LAPLACE, samples=20_000, seed=1)
    entry = record(finding)["path"]
    assert entry["samples"] == times(finding)
    assert len(entry["samples"]) == len(entry["log10_evidence"]) == len(entry["epsilon_lower"])
    assert entry["log10_evidence"] == pytest.approx(evidence(finding), abs=1.1e-4)
    assert entry["log10_evidence"][-1] >= entry["threshold"] > max(entry["log10_evidence"][:-1])
    assert all(-1e-12 <= exact - told < 1.1e-6 for exact, told in zip(lower(finding), entry["epsilon_lower"], strict=True))
    assert len(str(record(finding))) < 5000 and "outputs_seen" not in record(finding)


def test_infinite_evidence_and_missing_bounds_can_be_written_in_json():
    finding = audit(scaled(1), LAPLACE, samples=500, seed=1)
    looks = path([Look(16, -0.5 * math.log(10)), Look(32, math.inf)], math.log(10), 32)
    entry = record(replace(finding, path=looks))["path"]
    assert entry == {"threshold": 1.0, "samples": [16, 32], "log10_evidence": [-0.5, "inf"], "epsilon_lower": [None, None]}
