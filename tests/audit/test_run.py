"""One audit from the first block to the finding: what it says of right and wrong samplers, with how many samples, and always the same."""

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpverify.audits as package
from dpverify.audits import audit
from dpverify.audits.engine import Engine
from dpverify.audits.journal import Journal
from dpverify.audits.plan import make_plan
from dpverify.audits.run import Settings, run
from dpverify.audits.target import Target
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.finding import FLOAT, MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, KaryResponse, Norm, Product, Radial, Sampled, Table
from tests.effort import tries

GRID = 2.0**20


def number(value):
    return Num(Fraction(value))


LAPLACE = Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), number(1))
CLAIM = Claim(LAPLACE, number(1), sensitivity=number(1), name="laplace")
GAUSS = Radial(parse("exp(-r**2/2)"), Norm("lp", Fraction(2)), number(1))
CUBE = Radial(parse("exp(-r)"), Norm("lp", Fraction(2)), number(3))
SKEWED = Radial(parse("exp(-r)"), Norm("columns", matrix=((1, 0, 0), (0, 1, 0), (1, 1, 1))), number(3))
IN_CUBE = Claim(CUBE, number(1), sensitivity=number(1), name="d = 3")
IN_SKEWED = Claim(SKEWED, number(1), sensitivity=number(1), name="polytope")
TWO = Claim(Product(parse("exp(-abs(z))"), number(2)), number(1), sensitivity=number(1), name="product")
RESPONSE = Claim(KaryResponse(number(2), number("3/4")), parse("log(3)"), name="response")
ROWS = Claim(Table(((number("3/4"), number("1/4")), (number("1/4"), number("3/4")))), None, name="table")


def grid(y):
    """Rounded so coarsely that floats give nothing away that the model does not."""
    return np.round(y * GRID) / GRID


def noise(law):
    def sampler(data, size, rng):
        return grid(data[0] + law(rng, size))

    return sampler


def laplace(data, size, rng):
    return grid(data[0] + rng.laplace(0, 1, size))


def floats(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)


def half(data, size, rng):
    return grid(data[0] + rng.laplace(0, 0.5, size))


def short(data, size, rng):
    return grid(data[0] + rng.laplace(0, 0.9, size))


def directions(size, rng):
    normal = rng.standard_normal((size, 3))
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def cross(size, rng):
    """Uniform on the unit sphere of l1."""
    weights = rng.exponential(1, (size, 3))
    return weights / weights.sum(axis=1, keepdims=True) * rng.choice([-1.0, 1.0], (size, 3))


COLUMNS = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 1]])


def cube(data, size, rng):
    return grid(data + rng.gamma(3, 1, (size, 1)) * directions(size, rng))


def cube_by_the_ball(data, size, rng):
    """The other right way (theory#k-norm-mechanism): a radius of Gamma(d + 1) times a point of the ball."""
    return grid(data + rng.gamma(4, 1, (size, 1)) * rng.random((size, 1)) ** (1 / 3) * directions(size, rng))


def cube_mixed_up(data, size, rng):
    return grid(data + rng.gamma(3, 1, (size, 1)) * rng.random((size, 1)) ** (1 / 3) * directions(size, rng))


def skewed(data, size, rng):
    return grid(data + rng.gamma(3, 1, (size, 1)) * cross(size, rng) @ COLUMNS)


def skewed_mixed_up(data, size, rng):
    return grid(data + rng.gamma(3, 1, (size, 1)) * rng.random((size, 1)) ** (1 / 3) * cross(size, rng) @ COLUMNS)


def product(data, size, rng):
    return grid(data + rng.laplace(0, 1, (size, 2)))


def responder(p):
    def sampler(data, size, rng):
        truth = int(np.ravel(data)[0])
        return np.where(rng.random(size) < p, truth, 1 - truth)

    return sampler


def gauss(sigma):
    return noise(lambda rng, size: rng.normal(0, sigma, size))


def levels(finding):
    """The findings of a run by their level."""
    return {(one.finding, one.level) for one in (finding, *finding.also)}


def steady(finding):
    """A finding without what the clock says."""
    return replace(finding, seconds=0.0, also=tuple(steady(one) for one in finding.also))


# -- right samplers ----------------------------------------------------------------------------------------------

RIGHT = {
    "laplace": (CLAIM, laplace),
    "d = 3": (IN_CUBE, cube),
    "d = 3 by the ball": (IN_CUBE, cube_by_the_ball),
    "polytope": (IN_SKEWED, skewed),
    "product": (TWO, product),
    "response": (RESPONSE, responder(0.75)),
    "table, tight": (ROWS, responder(0.75)),
    "gauss at a point": (Claim(GAUSS, number(1), number("0.1269367375"), number(1)), gauss(1)),
    "gauss by its curve": (Claim(GAUSS, None, number("1e-5"), number(1)), gauss(1)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RIGHT)
def test_of_a_right_sampler_nothing_is_found_at_any_seed(name):
    claim, sampler = RIGHT[name]
    for seed in range(tries(2, 20)):
        finding = audit(sampler, claim, samples=8000, seed=seed, confidence=0.999)
        assert levels(finding) == {(NO_VIOLATION_SEEN, MODEL)}, finding.text()
        assert finding.as_expected and finding.also == ()


def test_the_lower_bound_is_below_the_true_epsilon_and_comes_near_it():
    finding = audit(laplace, CLAIM, samples=200_000, seed=1, confidence=0.95)
    assert 0.96 < finding.epsilon_lower < 1 < finding.detectable_epsilon < 1.04


# -- wrong samplers ----------------------------------------------------------------------------------------------


def clipped(data, size, rng):
    return np.clip(laplace(data, size, rng), data[0] - 4, data[0] + 4)


def atomic(data, size, rng):
    return np.where(rng.random(size) < 0.01, data[0], laplace(data, size, rng))


WRONG = {
    "half noise": (CLAIM, half),
    "noise 10 % too small": (CLAIM, short),
    "clipped tails": (CLAIM, clipped),
    "an atom at the truth": (CLAIM, atomic),
    "one-sided noise": (CLAIM, noise(lambda rng, size: rng.exponential(1, size))),
    "noise that is taken away": (CLAIM, noise(lambda rng, size: -rng.exponential(1, size))),
    "no noise": (CLAIM, noise(lambda rng, size: np.zeros(size))),
    "sensitivity forgotten": (Claim(LAPLACE, number(1), sensitivity=number(1)), noise(lambda rng, size: rng.laplace(0, 1 / 3, size))),
    "radius of Gamma(d) in the ball": (IN_CUBE, cube_mixed_up),
    "the same for a polytope": (IN_SKEWED, skewed_mixed_up),
    "product of half noise": (TWO, lambda data, size, rng: grid(data + rng.laplace(0, 0.5, (size, 2)))),
    "truth too often": (RESPONSE, responder(0.8)),
    "truth too often, tight": (ROWS, responder(0.8)),
    "gauss 10 % too small by its curve": (Claim(GAUSS, None, number("1e-5"), number(1)), gauss(1 / 1.1)),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", WRONG)
def test_a_planted_fault_is_a_violation_of_the_model(name):
    claim, sampler = WRONG[name]
    finding = audit(sampler, claim, samples=200_000, seed=2)
    assert (finding.finding, finding.level) == (VIOLATION, MODEL), finding.text()
    assert not finding.as_expected
    assert finding.detectable_epsilon is None and finding.samples <= 200_000
    assert finding.epsilon is None or finding.epsilon_lower >= finding.epsilon


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["half noise", "noise 10 % too small", "radius of Gamma(d) in the ball", "an atom at the truth"])
def test_without_a_declaration_a_planted_fault_is_found_too(name):
    claim, sampler = WRONG[name]
    width = 1 if claim is CLAIM else 3
    finding = audit(sampler, epsilon=1, pairs=[([0.0] * width, [1.0] + [0.0] * (width - 1))], samples=300_000, seed=3)
    assert (finding.finding, finding.level) == (VIOLATION, MODEL), finding.text()


@pytest.mark.wide
def test_half_noise_is_found_within_2000_samples():
    assert max(audit(half, CLAIM, seed=seed).samples for seed in range(10)) < 2000


def test_another_density_that_keeps_the_claim_is_nonconforming_and_no_violation():
    finding = audit(noise(lambda rng, size: rng.laplace(0, 1.2, size)), CLAIM, samples=50_000, seed=1)
    assert levels(finding) == {(NONCONFORMING, MODEL)}, finding.text()
    assert not finding.as_expected and 0.6 < finding.epsilon_lower < 1 / 1.2


def test_integers_instead_of_the_declared_density_are_nonconforming():
    finding = audit(lambda data, size, rng: np.rint(laplace(data, size, rng)).astype(int), CLAIM, samples=20_000, seed=1)
    assert finding.finding == NONCONFORMING, finding.text()


@pytest.mark.wide
def test_the_leak_of_floats_is_told_apart_from_the_model():
    for seed in range(3):
        finding = audit(floats, CLAIM, samples=20_000, seed=seed)
        assert (finding.finding, finding.level) == (VIOLATION, FLOAT), finding.text()
        assert [(one.finding, one.level) for one in finding.also] == [(NO_VIOLATION_SEEN, MODEL)], finding.also
        assert finding.samples < 2000 < finding.also[0].samples


def test_a_fault_of_the_model_in_floats_is_one_of_the_model():
    finding = audit(lambda data, size, rng: data[0] + rng.laplace(0, 0.5, size), CLAIM, samples=20_000, seed=1)
    assert (VIOLATION, MODEL) in levels(finding), finding.text()


# -- claims at their limits --------------------------------------------------------------------------------------

SCALARS = [(0, 1)]


def test_a_claim_of_epsilon_0_is_refuted_by_whatever_looks_at_the_data_and_by_nothing_else():
    assert audit(half, epsilon=0, pairs=[([0], [1])], samples=20_000, seed=1).finding == VIOLATION
    blind = audit(lambda data, size, rng: rng.laplace(0, 1, size), epsilon=0, pairs=[([0], [1])], samples=20_000, seed=1)
    assert blind.finding == NO_VIOLATION_SEEN and blind.epsilon_lower == 0


def test_an_epsilon_that_nothing_can_refute_is_said_to_be_out_of_sight():
    finding = audit(laplace, replace(CLAIM, epsilon=number(100)), samples=5000, seed=1)
    assert finding.finding == NO_VIOLATION_SEEN and finding.detectable_epsilon == math.inf
    assert "too few samples" in finding.text() and "inf" not in finding.text()


@pytest.mark.wide
def test_delta_is_what_may_be_lost_without_a_violation():
    """Under Laplace(1) noise delta(1/2) = 1 - exp(-1/4) = 0.2212 at sensitivity 1 (theory#laplace)."""
    right = audit(laplace, epsilon=0.5, delta=0.2213, pairs=[([0], [1])], samples=50_000, seed=1, confidence=0.999)
    wrong = audit(laplace, epsilon=0.5, delta=0.15, pairs=[([0], [1])], samples=50_000, seed=1, confidence=0.999)
    assert (right.finding, wrong.finding) == (NO_VIOLATION_SEEN, VIOLATION)


# -- what samplers may give and take -----------------------------------------------------------------------------

FORMS = {
    "an array": laplace,
    "a column": lambda data, size, rng: laplace(data, size, rng)[:, None],
    "a list": lambda data, size, rng: laplace(data, size, rng).tolist(),
    "a list of lists": lambda data, size, rng: laplace(data, size, rng)[:, None].tolist(),
    "one number a call": lambda data, rng: float(laplace(data, 1, rng)[0]),
    "one vector of length 1 a call": lambda data, rng: laplace(data, 1, rng),
    "one list of length 1 a call": lambda data, rng: [float(laplace(data, 1, rng)[0])],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
def test_outputs_may_be_in_any_form_of_numbers(form):
    finding = audit(FORMS[form], CLAIM, samples=4000, seed=1)
    assert finding.finding == NO_VIOLATION_SEEN, finding.text()


def test_inputs_may_be_plain_numbers():
    finding = audit(lambda x, size, rng: grid(x + rng.laplace(0, 1, size)), CLAIM, pairs=SCALARS, samples=4000, seed=1)
    assert finding.finding == NO_VIOLATION_SEEN and finding.pair == "0 and 1"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("constant", [None, "same", [], [None], {}, (), 0, True, [1, "a", None]])
def test_a_sampler_that_always_says_the_same_is_private(constant):
    finding = audit(lambda data, rng: constant, epsilon=0, pairs=SCALARS, samples=2000, seed=1)
    assert finding.finding == NO_VIOLATION_SEEN and finding.epsilon_lower == 0, finding.text()


@pytest.mark.parametrize(
    ("sampler", "said"),
    [
        (lambda data, size, rng: ["a"] * size, "gives str"),
        (lambda data, size, rng: np.zeros((size, 2)), "gives [number x 2]"),
        (lambda data, size, rng: [None if i % 2 else 1.0 for i in range(size)], "several shapes"),
    ],
)
def test_outputs_that_the_declaration_does_not_know_are_an_error(sampler, said):
    with pytest.raises(AuditError) as caught:
        audit(sampler, CLAIM, samples=1000, seed=1)
    assert said in str(caught.value) and "the mechanism that is declared gives one number" in str(caught.value)


def test_an_index_out_of_the_declared_table_is_an_error():
    with pytest.raises(AuditError, match="column's index, 0 to 1"):
        audit(lambda data, size, rng: np.full(size, 2), RESPONSE, samples=1000, seed=1)


def test_late_faults_of_the_sampler_are_errors_too():
    def late(data, size, rng):
        y = laplace(data, size, rng)
        y[rng.random(size) < 1e-4] = np.nan
        return y

    with pytest.raises(SamplerError, match="nan in output") as caught:
        audit(late, CLAIM, samples=100_000, seed=5)
    assert "seed 5, block" in str(caught.value)


# -- no more samples than asked ----------------------------------------------------------------------------------


class Counted:
    """How many outputs were asked of a sampler on each input."""

    def __init__(self, sampler):
        self.sampler, self.counts, self.__qualname__ = sampler, {}, sampler.__qualname__

    def __call__(self, data, size, rng):
        key = np.asarray(data).tobytes()
        self.counts[key] = self.counts.get(key, 0) + size
        return self.sampler(data, size, rng)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("pairs", [1, 8])
@pytest.mark.parametrize("samples", [1, 10, 100, 255, 256, 257, 1000, 4097, 20_500])
def test_no_more_samples_are_taken_than_asked_and_as_many_as_reported(samples, pairs):
    """But for a first segment of 16, below 256."""
    sampler = Counted(laplace)
    finding = audit(sampler, epsilon=1, pairs=[([float(2 * i)], [float(2 * i + 1)]) for i in range(pairs)], samples=samples, seed=1)
    assert finding.finding == NO_VIOLATION_SEEN
    assert sum(sampler.counts.values()) == 2 * finding.samples
    assert finding.samples <= (samples if samples >= 256 else max(samples, 16))
    assert finding.samples > 0.9 * samples - 32


@pytest.mark.wide
def test_floating_point_excursions_are_paid_from_the_same_samples():
    for samples in (5000, 10_250, 20_500):
        sampler = Counted(floats)
        finding = audit(sampler, replace(CLAIM, epsilon=number(4)), samples=samples, seed=1)
        assert sum(sampler.counts.values()) == 2 * (finding.also or (finding,))[-1].samples <= 2 * samples


def test_with_stop_a_violation_ends_the_sampling_and_without_it_all_samples_bound_epsilon():
    first, last = Counted(half), Counted(half)
    stopped = audit(first, CLAIM, samples=50_000, seed=1)
    spent = audit(last, CLAIM, samples=50_000, seed=1, stop=False)
    assert sum(first.counts.values()) < 2000 and stopped.samples < 1000
    assert sum(last.counts.values()) == 2 * spent.samples > 99_000 - 2 * 256
    assert stopped.finding == spent.finding == VIOLATION
    assert 1 <= stopped.epsilon_lower <= 2 and 1.8 < spent.epsilon_lower <= 2


def test_the_parts_of_the_false_alarm_budget_are_no_more_than_all_of_it():
    for stop in (True, False):
        parts = Settings(1, 0.01, stop)
        each = (parts.sequential, parts.anytime, parts.path, parts.witness, parts.batches, parts.fixed)
        assert min(each) > 0 and sum(each) == pytest.approx(0.01)


@pytest.mark.wide
def test_the_shares_of_all_tests_of_a_run_are_no_more_than_all_capital(monkeypatch):
    seen = []

    def watched(*arguments):
        seen.append(real(*arguments))
        return seen[-1]

    real = package.run
    monkeypatch.setattr(package, "run", watched)
    audit(floats, CLAIM, samples=100_000, seed=1)
    audit(floats, epsilon=4, pairs=[([0.0], [1.0]), ([0.0], [0.5])], samples=100_000, seed=1)
    audit(cube, IN_CUBE, samples=20_000, seed=1)
    for state in seen:
        conforming = [checked.share for both in state.conforming if both for checked in both]
        assert 0.5 < sum(test.share for test in state.tests) + sum(conforming) <= 1 + 1e-12


# -- false alarms ------------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_false_alarms_are_within_their_budget():
    """At alpha 1/10 over 40 seeds of a sampler on the very edge of its claim: at most alpha plus three standard errors."""
    found = [audit(responder(0.75), RESPONSE, samples=2000, seed=seed, confidence=0.9).finding for seed in range(40)]
    assert sum(name != NO_VIOLATION_SEEN for name in found) <= 40 * 0.1 + 3 * math.sqrt(40 * 0.1 * 0.9)


# -- always the same ---------------------------------------------------------------------------------------------


class Stopped(Exception):
    """What ends a run in the middle."""


def interrupted(blocks):
    """A progress that ends the run after so many blocks."""
    left = [blocks]

    def progress(done):
        left[0] -= done > 0  # the first word is that nothing is done yet
        if not left[0]:
            raise Stopped

    return progress


SAME = {
    "nothing found": (laplace, CLAIM, {}),
    "a leak of floats, then the model": (floats, CLAIM, {}),
    "a violation in the last stretch": (short, CLAIM, {}),
    "nonconformance in the last stretch": (noise(lambda rng, size: rng.laplace(0, 1.1, size)), CLAIM, {}),
    "without stop": (short, CLAIM, {"stop": False}),
    "black box": (half, None, {"epsilon": 1.9, "pairs": [([0.0], [1.0]), ([0.0], [0.5]), ([1.0], [0.0])]}),
    "lists": (lambda data, size, rng: [[x, None] for x in laplace(data, size, rng)], None, {"epsilon": 1, "pairs": [([0.0], [1.0])]}),
}


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["a leak of floats, then the model", "a violation in the last stretch", "black box"])
def test_the_finding_is_the_same_for_any_number_of_workers(name):
    sampler, claim, rest = SAME[name]
    arguments = {**rest, "samples": 16_000, "seed": 11}
    alone = steady(audit(sampler, claim, **arguments))
    for workers in (1, 2):
        assert steady(audit(sampler, claim, **arguments, workers=workers)) == alone


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", SAME)
def test_the_finding_is_the_same_wherever_the_run_was_stopped_and_taken_up(name, tmp_path):
    sampler, claim, rest = SAME[name]
    arguments = {**rest, "samples": 16_000, "seed": 11}
    blocks = []
    whole = steady(audit(sampler, claim, **arguments, progress=lambda done: blocks.append(done) if done else None))
    for after in {1, len(blocks) // 2, len(blocks) - 1} - {0}:
        file = tmp_path / f"after {after}"
        with pytest.raises(Stopped):
            audit(sampler, claim, **arguments, checkpoint=file, progress=interrupted(after))
        counted = Counted(sampler)
        assert steady(audit(counted, claim, **arguments, checkpoint=file)) == whole
        assert sum(counted.counts.values()) < 2 * blocks[-1]


@pytest.mark.wide
def test_a_run_may_be_stopped_again_and_again(tmp_path):
    arguments = {"samples": 10_000, "seed": 11, "checkpoint": tmp_path / "run"}
    for after in (3, 5, 7, 9):  # those that are known already count too
        with pytest.raises(Stopped):
            audit(floats, CLAIM, **arguments, progress=interrupted(after))
    assert steady(audit(floats, CLAIM, **arguments)) == steady(audit(floats, CLAIM, samples=10_000, seed=11))


def test_a_finished_run_is_told_again_without_sampling(tmp_path):
    whole = steady(audit(short, CLAIM, samples=5000, seed=1, checkpoint=tmp_path / "run"))
    counted = Counted(short)
    assert steady(audit(counted, CLAIM, samples=5000, seed=1, checkpoint=tmp_path / "run")) == whole
    assert counted.counts == {}


def test_a_checkpoint_brings_its_own_seed(tmp_path):
    first = audit(laplace, CLAIM, samples=3000, checkpoint=tmp_path / "run")
    again = audit(laplace, CLAIM, samples=3000, checkpoint=tmp_path / "run")
    assert steady(again) == steady(first) and first.seed is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "other",
    [
        {"confidence": 0.99},
        {"seed": 2},
        {"stop": False},
        {"claim": replace(CLAIM, epsilon=number(2))},
        {"pairs": [([0.0], [0.5])]},
        {"pairs": [([0.0] * 20 + [0.0], [0.0] * 20 + [1.0])], "claim": None, "epsilon": 1},
        {"sampler": half},
    ],
)
def test_a_checkpoint_of_another_run_is_refused(other, tmp_path):
    arguments = {"sampler": laplace, "claim": CLAIM, "samples": 3000, "seed": 1, "checkpoint": tmp_path / "run"}
    if "epsilon" in other:  # long inputs that are alike at first glance
        arguments |= {"claim": None, "epsilon": 1, "pairs": [([0.0] * 20 + [0.0], [0.0] * 20 + [2.0])]}
    audit(**arguments)
    with pytest.raises(AuditError, match="checkpoint of another audit"):
        audit(**{**arguments, **other})


def test_a_checkpoint_is_never_made_shorter(tmp_path):
    audit(laplace, CLAIM, samples=3000, seed=1, checkpoint=tmp_path / "run")
    with pytest.raises(AuditError, match="it is of 3000 samples, and 2999 are asked for"):
        audit(laplace, CLAIM, samples=2999, seed=1, checkpoint=tmp_path / "run")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("samples", [300, 5_000, 60_000, 122_000])
@pytest.mark.parametrize("pairs", [1, 8])
@pytest.mark.parametrize("white", [True, False])
def test_the_capital_that_is_handed_out_is_at_most_one(samples, pairs, white):
    given = [([0.0], [1.0])] * pairs if not white or pairs > 1 else None
    claim = CLAIM if white else replace(CLAIM, mechanism=Sampled(), sensitivity=None)
    settings, target = Settings(samples, 1e-6, stop=False), Target.of(laplace)
    with Engine(target, root=3) as engine:
        state = run(make_plan(claim, pairs=given), settings, engine, Journal())
    sides = [each.share for checked in state.conforming if checked for each in checked]
    spent = sum(test.share for test in state.tests) + sum(sides) + sum(pool.share for pool in state.pools)
    assert 0 < spent <= 1 + 1e-12


@pytest.mark.sampled(1)
@pytest.mark.parametrize("far", [1e9, 1e12, 1e15])
def test_pairs_of_very_different_magnitude_are_audited_together(far):
    pairs = [([0.0], [1.0]), ([far], [far + 1])]
    assert audit(laplace, CLAIM, pairs=pairs, samples=3000, seed=1).finding != VIOLATION
    assert audit(half, CLAIM, pairs=pairs, samples=3000, seed=1).finding == VIOLATION


@pytest.mark.wide
def test_the_python_call_searches_the_query_and_says_what_it_searched():
    found = audit(laplace, CLAIM, pairs=[([0.0], [1.0])], query=lambda data: [3 * data[0]], adjacency="l1", samples=500, seed=1)
    assert (found.finding, found.samples) == (VIOLATION, 0) and "a move of 3, declared 1" in found.event
    right = audit(laplace, CLAIM, pairs=[([0.0], [1.0])], query=lambda data: [data[0]], adjacency="l1", samples=500, seed=1)
    assert right.finding == NO_VIOLATION_SEEN and any("adjacency l1 tried" in note for note in right.notes)


NOISY = """
import ctypes, os, sys
import dpverify.audits
from hypothesis import strategies as st
print("mine")

def sampler(data, size, rng):
    print("python")
    print("kept name", file=sys.__stdout__)
    os.write(1, b"descriptor\\n")
    ctypes.CDLL(None).puts(b"C")
    return data[0] + rng.laplace(size=size)

def query(data):
    print("query")
    return [data[0]]

for workers in (0, 1):
    dpverify.audit(sampler, epsilon=1, sensitivity=1, pairs=[([0.0], [1.0])], query=query, samples=300, seed=1, workers=workers)
print("answer")
"""


@pytest.mark.wide
def test_what_samplers_and_queries_write_to_stdout_goes_to_stderr():
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=True)
    assert done.stdout == "mine\nanswer\n"
    assert all(word in done.stderr for word in ("python", "kept name", "descriptor", "C", "query"))
