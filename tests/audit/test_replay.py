"""The line that a finding prints finds it again: the same finding, with the same samples and the same event."""

import shlex
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpverify
from dpverify.audits import audit
from dpverify.audits.replay import command_line, python_line
from dpverify.audits.schedule import Decision, Schedule, fewest
from dpverify.runtime.finding import FLOAT, MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, Norm, Radial

GRID = 2.0**20
ONE = Num(Fraction(1))
LAPLACE = Claim(Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), ONE), ONE, sensitivity=ONE)
GAUSS = Claim(Radial(parse("exp(-r**2/2)"), Norm("lp", Fraction(2)), ONE), None, Num(Fraction("1e-5")), ONE)
SAMPLES = 20_007  # so that one fewer divides in another way
PAIRS = [([0.0], [1.0]), ([0.0], [0.5]), ([1.0], [0.0])]


def scaled(scale):
    def sampler(data, size, rng):
        return np.round((data[0] + rng.laplace(0, scale, size)) * GRID) / GRID

    return sampler


half, short, wide, right, eleven = scaled(0.5), scaled(0.9), scaled(1.5), scaled(1), scaled(1.1)


def floats(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)


def thin(data, size, rng):
    return data[0] + rng.laplace(0, 0.85, size)


def gauss(data, size, rng):
    return np.round((data[0] + rng.normal(0, 0.8, size)) * GRID) / GRID


def replayed(finding, sampler, claim=None, **names):
    """What the line of a finding finds, and with how many samples."""
    asked = []

    def spy(*args, **arguments):
        asked.append(arguments["samples"])
        return audit(*args, **arguments)

    module = type("module", (), {"audit": staticmethod(spy)})
    found = eval(finding.replay, {"dpverify": module, "sampler": sampler, "claim": claim, sampler.__name__: sampler, **names})
    return (found, *found.also), asked[0]


def told(finding):
    """All that a finding says but its time, its line and what else its run found."""
    return replace(finding, seconds=0.0, also=(), replay="", outputs_seen=None)


CASES = {
    "half noise": (half, LAPLACE, {}, (VIOLATION, MODEL), 10_000),
    "a leak of floats": (floats, LAPLACE, {}, (VIOLATION, FLOAT), 15_000),
    "floats of a sampler that is wrong too": (thin, LAPLACE, {}, (VIOLATION, MODEL), SAMPLES),
    "another density": (wide, LAPLACE, {}, (NONCONFORMING, MODEL), SAMPLES),
    "another density, in the last stretch": (eleven, LAPLACE, {}, (NONCONFORMING, MODEL), SAMPLES),
    "a violation in the last stretch": (short, LAPLACE, {}, (VIOLATION, MODEL), SAMPLES),
    "nothing": (right, LAPLACE, {}, (NO_VIOLATION_SEEN, MODEL), SAMPLES),
    "all samples": (short, LAPLACE, {"stop": False}, (VIOLATION, MODEL), SAMPLES),
    "a curve": (gauss, GAUSS, {}, (VIOLATION, MODEL), SAMPLES),
    "black box": (half, None, {"epsilon": 1.5, "pairs": PAIRS}, (VIOLATION, MODEL), SAMPLES),
    "black box at once": (half, None, {"epsilon": Fraction(1, 10), "delta": 1e-6, "pairs": PAIRS}, (VIOLATION, MODEL), 10_000),
    "black box of floats": (floats, None, {"epsilon": "11/10", "pairs": PAIRS[:1]}, (VIOLATION, FLOAT), SAMPLES),
    "usual patterns": (half, None, {"epsilon": 1, "patterns": "usual", "length": 1}, (VIOLATION, MODEL), SAMPLES),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_every_finding_of_a_run_is_found_again_by_its_line(name):
    sampler, claim, rest, expected, most = CASES[name]
    finding = audit(sampler, claim, samples=SAMPLES, seed=5, confidence=0.999, **rest)
    every = (finding, *finding.also)
    assert expected in {(one.finding, one.level) for one in every}, finding.text()
    for one in every:
        again, asked = replayed(one, sampler, claim)
        assert told(one) in map(told, again)
        assert asked >= one.samples
        if (one.finding, one.level) == expected:
            assert asked <= most


def test_where_pairs_of_inputs_were_dropped_on_the_way_all_samples_are_asked_for():
    """Which of them show least is judged by how many samples are to come."""
    finding = audit(half, epsilon=1.5, pairs=PAIRS, samples=SAMPLES, seed=5, confidence=0.999)
    assert finding.finding == VIOLATION and 800 < finding.samples < 4000
    assert replayed(finding, half)[1] == SAMPLES


@pytest.mark.wide
def test_more_workers_find_the_same_as_the_line_does():
    finding = audit(floats, LAPLACE, samples=20_000, seed=6, workers=2)
    assert told(finding) in map(told, replayed(finding, floats, LAPLACE)[0])


def test_the_line_of_a_replay_is_that_line():
    finding = audit(half, LAPLACE, samples=1_000_000, seed=5)
    (again, *_), asked = replayed(finding, half, LAPLACE)
    assert asked < 20_000 and again.replay == finding.replay


def test_without_a_generator_there_is_no_line_and_the_text_says_why():
    finding = audit(lambda data: float(np.random.laplace(data[0])), LAPLACE, samples=500)
    assert finding.replay == "" and finding.seed is None
    assert "replay: not reproducible, for the sampler takes no generator" in finding.text()


def test_the_text_of_a_finding_ends_with_its_line():
    finding = audit(half, LAPLACE, samples=5000, seed=5)
    assert finding.text().splitlines()[-1] == f"  replay: {finding.replay}"
    assert finding.text().count("replay") == 1


# -- how the lines are written -----------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@given(TEXTS, TEXTS, st.floats(0.01, 1, exclude_max=True), st.booleans(), st.integers(0, 2**32), st.integers(1, 10**9))
def test_a_shell_reads_the_command_as_it_was_meant(file, claim, confidence, stop, seed, samples):
    words = shlex.split(command_line(file, claim, confidence, stop=stop)(seed, samples))
    path, rest = words[2], words[3:]
    assert words[:2] == ["dpverify", "audit"] and path in (file, f"./{file}") and not path.startswith("-")
    assert rest[:6] == ["--claim", claim, "--seed", str(seed), "--samples", str(samples)]
    assert rest[6] == "--confidence" and float(rest[7]) == confidence and rest[8:] == ([] if stop else ["--no-stop"])


def test_a_usual_command_needs_no_quotes_but_for_spaces():
    line = command_line("specs/x.toml", "d=3 nu=5", 0.999999, stop=True)(123, 528)
    assert line == "dpverify audit specs/x.toml --claim 'd=3 nu=5' --seed 123 --samples 528 --confidence 0.999999"


def test_arguments_are_written_out_where_they_are_short_and_named_where_they_are_not():
    arguments = {
        "epsilon": Fraction(1, 3), "pairs": [([0], [1])], "patterns": None, "claim": LAPLACE, "query": len, "length": 2,
        "sensitivity": 0.1,
    }  # fmt: skip
    line = python_line("noise:half", arguments)(7, 100)
    expected = "epsilon='1/3', pairs=[([0], [1])], claim=claim, query=query, length=2, sensitivity=0.1, seed=7, samples=100"
    assert line == f"dpverify.audit('noise:half', {expected})"
    long = python_line("noise:half", {"pairs": [([0] * 100, [1] * 100)]})(7, 100)
    assert long == "dpverify.audit('noise:half', pairs=pairs, seed=7, samples=100)"
    assert python_line("a:b", {"pairs": [(np.zeros(1), np.ones(1))]})(1, 1) == "dpverify.audit('a:b', pairs=pairs, seed=1, samples=1)"


@pytest.mark.parametrize("sampler", [lambda data, rng: 0, partial(right, [0])])
def test_a_sampler_without_a_name_is_called_sampler(sampler):
    assert python_line(sampler, {})(1, 2) == "dpverify.audit(sampler, seed=1, samples=2)"


def test_the_line_is_one_of_dpverify_itself():
    sampler = half
    finding = dpverify.audit(half, epsilon=1, pairs=[([0], [1])], samples=100_000, seed=1)
    assert finding.replay.startswith("dpverify.audit(sampler, epsilon=1, pairs=[([0], [1])], ")
    assert told(eval(finding.replay, {"dpverify": dpverify, "sampler": sampler})) == told(finding)


# -- how few samples are enough ----------------------------------------------------------------------------------


def beginning(schedule, rounds):
    """The decisions of the first rounds of a run that keeps all its pairs, and whether it came so far."""
    decisions, done = [], 0

    def decide(method, *arguments):
        decisions.append(Decision(method, arguments, getattr(schedule, method)(*arguments)))
        return decisions[-1].said

    alive = decide("beginning")
    for number in range(rounds):
        if not decide("goes_on", done, number) or decide("kept", done, alive) < alive:
            return decisions, False
        if alive == 1 and number:
            decide("settles", done)
        done += alive * decide("each", done, alive)
    return decisions, True


@given(st.integers(1, 10**7), st.integers(1, 12), st.sampled_from([48, 256]), st.integers(1, 6))
def test_with_the_fewest_samples_a_run_begins_in_the_same_way_and_with_one_fewer_it_does_not(samples, pairs, first, rounds):
    decisions, _ = beginning(Schedule(samples, pairs, first), rounds)
    few = fewest(Schedule(samples, pairs, first), decisions)
    assert 1 <= few <= samples
    assert beginning(Schedule(few, pairs, first), rounds)[0] == decisions
    assert few == 1 or beginning(Schedule(few - 1, pairs, first), rounds)[0] != decisions


@given(st.integers(1, 10**9))
def test_where_the_number_of_samples_decides_no_other_will_do(samples):
    schedule = Schedule(samples, 1, 256)
    assert fewest(schedule, [Decision("whole", (), samples)]) == samples
    assert fewest(schedule, []) == 1


@given(st.integers(16, 10**7), st.integers(1, 12), st.sampled_from([48, 256]), st.integers(0, 10**7))
def test_no_round_takes_more_than_the_samples_that_are_left_for_it_or_than_the_first(samples, pairs, first, done):
    schedule = Schedule(samples, pairs, first)
    alive = schedule.beginning()
    early = samples // (10 if pairs == 1 else 5)
    each = schedule.each(done, alive)
    assert each <= max(first, 16, (early - done) / alive)
    assert 1 <= schedule.kept(done, alive) <= alive and 2 * schedule.kept(done, alive) >= alive
    assert schedule.float_each(min(done, samples), 3) * 6 <= max(samples - done, 0)
